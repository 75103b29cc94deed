"""What no single key of the configuration's `pate` section can show, checked across keys."""

from collections.abc import Iterator, Mapping

Mistake = tuple[str, object, str]
# The kinds of students and the data that they and each kind of teachers learn from.
_TABLES, _IMAGES = "a table", "images"
_LEARNS = {"plain": _IMAGES, "forest": _TABLES}
_STUDIES = {"vat": _IMAGES, "forest": _TABLES}


def mistakes(config: Mapping) -> Iterator[Mistake]:
    """Yield (path, value, allowed) for what the schema lets pass and must not be."""
    tasks = {name: task for name, task in config["pate"]["tasks"].items() if task is not None}
    for name, task in tasks.items():
        path = f"pate.tasks.{name}"
        found = _source(config, path, task)
        yield from found
        if not found:  # what follows needs the data set
            yield from _student(config, path, task)
            yield from _queries(path, task)
            if task["data"] in ("any", config["data"]):
                yield from _sizes(config, path, task)
    yield from _shared(config, tasks)
    yield from _methods(config["pate"])
    yield from _figures(config, tasks)
    grid = config["pate"]["orders"]
    least = 1 + grid["order_step"]
    if grid["order_max"] <= least:
        yield "pate.orders.order_max", grid["order_max"], f"above 1 + order_step = {least:g}"


def _source(config: Mapping, path: str, task: Mapping) -> list[Mistake]:
    """Whose votes: the data set, or the profile of synthetic votes, and how teachers train."""
    kind, dataset = task["kind"], task["dataset"]
    synthetic = kind == "synthetic"
    section = "synthetic_votes" if synthetic else "datasets"
    found: list[Mistake] = []
    if dataset not in config[section]:
        known = ", ".join(config[section]) or "none"
        allowed = f"one of those under {section}, since kind is {kind}: {known}"
        return [(f"{path}.dataset", dataset, allowed)]
    if not synthetic and _holds(config, dataset) != _LEARNS[kind]:
        allowed = f"one that holds {_LEARNS[kind]}, since kind is {kind}"
        found.append((f"{path}.dataset", dataset, allowed))
    if kind == "plain" and "teachers" not in task:
        found.append((f"{path}.teachers", None, "given, since kind is plain"))
    if kind != "plain" and "teachers" in task:
        found.append((f"{path}.teachers", dict(task["teachers"]), f"left out where kind is {kind}"))
    return found


def _student(config: Mapping, path: str, task: Mapping) -> Iterator[Mistake]:
    """A student needs inputs of its kind, and parameters of its own method."""
    method, kind = task["student"], task["kind"]
    if kind == "synthetic":
        if method is not None:
            yield f"{path}.student", method, "null, since synthetic votes have no inputs"
    elif method is not None and _STUDIES[method] != _holds(config, task["dataset"]):
        fit = [name for name, needs in _STUDIES.items() if needs == _holds(config, task["dataset"])]
        yield f"{path}.student", method, f"null or {fit[0]} for {task['dataset']}"
    for key in ("student_parameters", "baseline_parameters"):
        # They are those of networks; a forest's are the same for all tasks.
        if key in task and method == "forest":
            yield f"{path}.{key}", dict(task[key]), "left out where student is forest"


def _sizes(config: Mapping, path: str, task: Mapping) -> Iterator[Mistake]:
    """Teachers and the pool fit into the data set of a task that is run."""
    dataset, pool = task["dataset"], task["pool"]
    if task["kind"] == "synthetic":
        most = config["synthetic_votes"][dataset]["n_queries"]
        if pool > most:
            yield f"{path}.pool", pool, f"at most synthetic_votes.{dataset}.n_queries = {most}"
    else:
        facts = config["datasets"][dataset]
        if task["K"] > facts["n_train"]:
            most = facts["n_train"]
            yield f"{path}.K", task["K"], f"at most datasets.{dataset}.n_train = {most}"
        if pool > facts["n_test"] or (task["student"] and pool == facts["n_test"]):
            # What the pool leaves over is what the student is evaluated on.
            limit = "below" if task["student"] else "at most"
            yield f"{path}.pool", pool, f"{limit} datasets.{dataset}.n_test = {facts['n_test']}"


def _queries(path: str, task: Mapping) -> Iterator[Mistake]:
    """The pool has as many queries as each aggregator asks."""
    pool = task["pool"]
    asked = {"confident.queries": task["confident"]["queries"]}
    asked |= {f"lnmax.queries[{i}]": q for i, q in enumerate(task["lnmax"]["queries"])}
    for key, queries in asked.items():
        if queries > pool:
            yield f"{path}.{key}", queries, f"at most {path}.pool = {pool}"
    if rounds := task.get("two_rounds"):
        first, second = rounds["first"]["queries"], rounds["second"]["queries"]
        if first + second > pool:
            allowed = f"at most {path}.pool = {pool} together with the first round's {first}"
            yield f"{path}.two_rounds.second.queries", second, allowed


def _shared(config: Mapping, tasks: Mapping) -> Iterator[Mistake]:
    """Teachers are looked up by their data set, which therefore has one kind of plain teachers."""
    darrm = config["darrm"]
    darrms = [*darrm["datasets"], darrm["embedded"]["dataset"]]
    owners: dict[str, str] = {}
    for name, task in tasks.items():
        if task["kind"] != "plain":
            continue
        path, dataset = f"pate.tasks.{name}", task["dataset"]
        if dataset in darrms:
            allowed = "another data set than DaRRM's, whose plain teachers are others"
            yield f"{path}.dataset", dataset, allowed
        owner = owners.setdefault(dataset, name)
        if task.get("teachers") != tasks[owner].get("teachers"):
            allowed = f"those of pate.tasks.{owner}, whose data set it shares"
            yield f"{path}.teachers", dict(task.get("teachers", {})), allowed


def _methods(pate: Mapping) -> Iterator[Mistake]:
    """A baseline says how it learns; a student's method is its task's `student`."""
    for name, parameters in pate["students"].items():
        if "method" in parameters:
            yield f"pate.students.{name}.method", parameters["method"], "left out"
    for name, parameters in pate["baselines"].items():
        if "method" not in parameters:
            yield f"pate.baselines.{name}.method", None, "given"


def _figures(config: Mapping, tasks: Mapping) -> Iterator[Mistake]:
    """Figure 1 shows tasks with students, Figures 4 and 5 synthetic votes."""
    pate = config["pate"]
    # A null task is left out, here as elsewhere.
    known = [name for name in pate["tasks"] if name not in tasks or tasks[name]["student"]]
    for index, name in enumerate(pate["figure1"] or ()):
        if name not in known:
            allowed = f"one of the tasks that have a student: {', '.join(known)}"
            yield f"pate.figure1[{index}]", name, allowed
    profile = config["synthetic_votes"].get("glyph")
    for name in ("figure4", "figure5"):
        figure = pate[name]
        if figure is None:
            continue
        if profile is None:
            yield f"pate.{name}", dict(figure), "null where synthetic_votes has no glyph"
        elif figure["queries"] > profile["n_queries"]:
            allowed = f"at most synthetic_votes.glyph.n_queries = {profile['n_queries']}"
            yield f"pate.{name}.queries", figure["queries"], allowed
    figure = pate["figure4"]
    if figure and figure["laplace_teachers"] not in figure["teachers"]:
        allowed = f"one of pate.figure4.teachers: {', '.join(map(str, figure['teachers']))}"
        yield "pate.figure4.laplace_teachers", figure["laplace_teachers"], allowed


def _holds(config: Mapping, dataset: str) -> str:
    return _TABLES if config["datasets"][dataset]["format"] == "adult" else _IMAGES
