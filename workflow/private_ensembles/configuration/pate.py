"""The slices of the configuration's `pate` section that its rules need.

Beside `check`, which checks everything (`pate_checks` across keys) and cuts the other slices.
"""

from collections.abc import Mapping


def tasks(config: Mapping, available=lambda dataset: True) -> list[str]:
    """Return the tasks that this configuration runs, in the order of config.yaml.

    available: whether the files of an optional data set can be had (`datasets.available`).
    """
    wanted = ("any", config["data"])
    return [
        name
        for name, task in config["pate"]["tasks"].items()
        if task is not None
        and task["data"] in wanted
        and (task["kind"] == "synthetic" or available(task["dataset"]))
    ]


def task_of(config: Mapping, dataset: str) -> dict | None:
    """Return the settings of the task whose votes are cast on `dataset`, or None."""
    found = [task for task in config["pate"]["tasks"].values() if task]
    return next((task for task in found if task["dataset"] == dataset), None)


def ensemble(config: Mapping, task: str) -> dict:
    """Return kind, K and seed, which name a task's ensemble."""
    settings = config["pate"]["tasks"][task]
    return {"kind": settings["kind"], "K": settings["K"], "seed": config["pate"]["training_seed"]}


def accounting(config: Mapping, task: str) -> dict:
    """Return what the accounting of one task depends on: all but how votes and students train."""
    settings = config["pate"]["tasks"][task]
    keys = ("pool", "delta", "confident", "lnmax", "printed")
    shared = {
        "draws": settings.get("draws", config["pate"]["draws"]),
        "orders": config["pate"]["orders"],
        "release": config["pate"]["release"],
        "two_rounds": settings.get("two_rounds"),
    }
    return {key: settings[key] for key in keys} | shared


def answers(config: Mapping, task: str) -> dict:
    """Return what the labels bought for a task's students depend on."""
    settings = config["pate"]["tasks"][task]
    cap = config["pate"]["release"]["answer_cap"]
    return {key: settings[key] for key in ("pool", "confident", "lnmax")} | {"answer_cap": cap}


def student(config: Mapping, task: str) -> dict:
    """Return method, pool and parameters of a task's student."""
    settings = config["pate"]["tasks"][task]
    method = settings["student"]
    return {
        "method": method,
        "pool": settings["pool"],
        "parameters": config["pate"]["students"][method] | settings.get("student_parameters", {}),
    }


def student_seeds(config: Mapping, task: str) -> list[int]:
    """Return the training seeds of a task's students: its own, or those of all tasks."""
    return config["pate"]["tasks"][task].get("student_seeds", config["pate"]["student_seeds"])


def aggregators(config: Mapping, task: str) -> list[str]:
    """Return the names of what labels a task's students: `confident`, and `lnmax-Q` for each Q."""
    queries = config["pate"]["tasks"][task]["lnmax"]["queries"]
    return [*(f"lnmax-{q}" for q in queries), "confident"]


def baseline(config: Mapping, task: str) -> dict:
    """Return method, pool and parameters of a task's non-private baseline."""
    settings = student(config, task)
    parameters = dict(config["pate"]["baselines"][settings["method"]])
    parameters |= config["pate"]["tasks"][task].get("baseline_parameters", {})
    return settings | {"method": parameters.pop("method"), "parameters": parameters}


def descriptions(config: Mapping, names: list[str]) -> dict[str, dict]:
    """Return, by task, what tables say about it: data set, stand-in or not, synthetic or not."""
    datasets = config["datasets"]
    found = {}
    for name in names:
        task = config["pate"]["tasks"][name]
        stand_in = bool(datasets.get(task["dataset"], {}).get("stand_in", False))
        synthetic = task["kind"] == "synthetic"
        found[name] = {"stand_in": stand_in, "synthetic": synthetic, "K": task["K"]}
    return found


def students_figure(config: Mapping, task: str) -> dict:
    """Return what Figure 1 depends on beside its inputs."""
    settings = accounting(config, task)
    return {key: settings[key] for key in ("pool", "delta", "confident", "lnmax", "orders")}


def parameters(config: Mapping, names: list[str]) -> dict[str, dict]:
    """Return, by task, the parameters that Table 1 prints, and those of two rounds if any."""
    keys = ("K", "delta", "confident", "lnmax", "two_rounds")
    found = {}
    for name in names:
        task = config["pate"]["tasks"][name]
        found[name] = {key: task[key] for key in keys if key in task}
    return found


def budgets(config: Mapping, names: list[str]) -> dict[str, dict]:
    """Return, by task, what the comparison at equal budgets depends on."""
    found = {}
    for name, facts in descriptions(config, names).items():
        task = config["pate"]["tasks"][name]
        found[name] = {key: task[key] for key in ("pool", "delta")}
        found[name] |= {"queries": task["lnmax"]["queries"], **config["pate"]["equal_budget"]}
        found[name] |= {key: facts[key] for key in ("stand_in", "synthetic")}
    return found


def with_orders(config: Mapping, figure: str) -> dict:
    """Return a figure's settings and the grid of orders."""
    return {**(config["pate"][figure] or {}), "orders": config["pate"]["orders"]}


def figure_teachers(config: Mapping, figure: str) -> list[int]:
    """Return the sizes of the synthetic ensembles that a figure shows; none without the figure."""
    teachers = (config["pate"][figure] or {"teachers": []})["teachers"]
    return teachers if isinstance(teachers, list) else [teachers]
