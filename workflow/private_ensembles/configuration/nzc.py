"""The slices of the configuration's `nzc` and `audit` sections that their rules need."""

from collections.abc import Mapping

from private_ensembles.configuration.datasets import CLASSES
from private_ensembles.configuration.pate import task_of


def tasks(config: Mapping, available=lambda dataset: True) -> list[str]:
    """Return the tasks that this configuration runs, in the order of config.yaml.

    available: whether the files of an optional data set can be had (`datasets.available`).
    """
    return [
        name
        for name, task in config["nzc"]["tasks"].items()
        if task is not None
        and task["data"] == config["data"]
        and task_of(config, task["dataset"]) is not None  # whose teachers it shares
        and available(task["dataset"])
    ]


def ensemble(config: Mapping, K: int) -> dict:
    """Return kind, K and seed, which name an ensemble; the largest are those of PATE's tasks."""
    return {"kind": "plain", "K": K, "seed": config["pate"]["training_seed"]}


def sizes(config: Mapping, task: str) -> list[int]:
    """Return the sizes of a task's ensembles, ascending: Figure 2's, and the two of Table 1."""
    settings = config["nzc"]["tasks"][task]
    return sorted({largest(config, task), *(each["K"] for each in settings["ensembles"])})


def largest(config: Mapping, task: str) -> int:
    """Return the teachers of Tables 1 and 2: those of PATE's task on the same data set."""
    return task_of(config, config["nzc"]["tasks"][task]["dataset"])["K"]


def retraining(config: Mapping, dataset: str, K: int) -> dict:
    """Return what else than PATE's parameters an ensemble of K teachers trains with: its epochs.

    Nothing for the ensemble of PATE's task itself.
    """
    task = task_of(config, dataset)
    if task is None or task["K"] == K:
        return {}
    for task in config["nzc"]["tasks"].values():
        if task is not None and task["dataset"] == dataset:
            for each in task["ensembles"]:
                if each["K"] == K:
                    return {"epochs": each["epochs"]}
    return {}


def mechanism(config: Mapping) -> dict:
    """Return constant, gamma, noise and ties of the immutable noisy ArgMax."""
    return {key: config["nzc"][key] for key in ("constant", "gamma", "noise", "ties")}


def labels(config: Mapping, task: str) -> dict:
    """Return what labels of a task cost and how they are drawn: all but how anything trains."""
    settings = config["nzc"]["tasks"][task]
    keys = ("few", "pool", "delta", "lnmax")
    found = {key: settings[key] for key in keys}
    return found | {"K": largest(config, task), "mechanism": mechanism(config)}


def student(config: Mapping, task: str) -> dict:
    """Return method, pool and parameters of a task's students, which see labelled queries only."""
    settings = config["nzc"]["tasks"][task]
    parameters = config["nzc"]["student"] | settings.get("student_parameters", {})
    return {"method": "supervised", "pool": settings["pool"], "parameters": parameters}


def student_seeds(config: Mapping, task: str) -> list[int]:
    """Return the training seeds of a task's students: its own, or those of all tasks."""
    return config["nzc"]["tasks"][task].get("student_seeds", config["nzc"]["student_seeds"])


def descriptions(config: Mapping, names: list[str]) -> dict[str, dict]:
    """Return, by task, what tables say about it: stand-in or not, sizes of ensembles."""
    found = {}
    for name in names:
        task = config["nzc"]["tasks"][name]
        stand_in = bool(config["datasets"][task["dataset"]].get("stand_in", False))
        found[name] = {"stand_in": stand_in, "K": largest(config, name), "few": task["few"]}
    return found


def facts(config: Mapping, names: list[str]) -> dict[str, dict]:
    """Return, by task, the sizes that section 5.1 prints: n_train, n_test and pool."""
    found = {}
    for name in names:
        task = config["nzc"]["tasks"][name]
        sizes = config["datasets"][task["dataset"]]
        found[name] = {"n_train": sizes["n_train"], "n_test": sizes["n_test"], "pool": task["pool"]}
    return found


def ensembles(config: Mapping, names: list[str]) -> dict[str, dict]:
    """Return sizes and pool by task, for Figure 2."""
    pools = {name: config["nzc"]["tasks"][name]["pool"] for name in names}
    return {name: {"sizes": sizes(config, name), "pool": pool} for name, pool in pools.items()}


def audit(config: Mapping) -> dict:
    """Return what the ledger depends on: budgets, the noise of PATE's tasks, and NZC's claim."""
    names = ("K", "delta", "confident", "lnmax", "two_rounds")
    found = {"budgets": {}, "student_score": None, "totals": None} | (config["audit"] or {})
    noise = {
        name: {key: task[key] for key in names if key in task}
        | {"n_classes": n_classes(config, task["dataset"])}
        for name, task in config["pate"]["tasks"].items()
        if task is not None
    }
    votes = config["dpbag"]["logistic"]
    bagging = {
        "n": max(votes["n"]),
        "k": max(votes["k"]),
        "noise": config["dpbag"]["noise"],
        "delta": config["dpbag"]["delta"],
    }
    queries = {
        name: {"pool": task["pool"], "delta": task["delta"]}
        for name, task in config["nzc"]["tasks"].items()
        if task is not None
    }
    common = {"dpbag": bagging, "mechanism": mechanism(config)}
    return found | {"pate": noise, "nzc": queries} | common


def gammas(config: Mapping) -> list[dict]:
    """Return K, m, epsilon and Delta of the noise functions that the ledger's budgets need."""
    budgets = audit(config)["budgets"].values()
    return [{key: budget[key] for key in ("K", "m", "epsilon", "Delta")} for budget in budgets]


def n_classes(config: Mapping, dataset: str) -> int:
    """Return the number of classes of a data set, or of synthetic votes that go by its name."""
    if dataset in config["synthetic_votes"]:
        return config["synthetic_votes"][dataset]["n_classes"]
    settings = config["datasets"][dataset]
    return CLASSES.get(settings["format"], len(settings.get("classes", ())))


def mistakes(config: Mapping):
    """Yield (path, value, allowed) for what the schema lets pass and must not be."""
    for name, budget in (config["audit"] or {"budgets": {}})["budgets"].items():
        if budget["m"] > budget["K"]:
            yield f"audit.budgets.{name}.m", budget["m"], f"at most K = {budget['K']}"
    if "nzc" not in config["papers"]:
        return  # its ensembles are PATE's, which may have been changed without it in mind
    plain = [
        task["dataset"]
        for task in config["pate"]["tasks"].values()
        if task is not None and task["kind"] == "plain"
    ]
    for name, task in config["nzc"]["tasks"].items():
        if task is None or task["data"] != config["data"]:
            continue  # not run
        path, sizes = f"nzc.tasks.{name}", config["datasets"].get(task["dataset"])
        if task["dataset"] not in plain:
            known = ", ".join(plain) or "none"
            yield f"{path}.dataset", task["dataset"], f"that of a plain task of PATE: {known}"
            continue
        trained = [each["K"] for each in task["ensembles"]]
        for index, K in enumerate(trained):
            if sizes["n_train"] < K:
                most = f"datasets.{task['dataset']}.n_train = {sizes['n_train']}"
                yield f"{path}.ensembles[{index}].K", K, f"at most {most}"
            if K in trained[:index]:
                yield f"{path}.ensembles[{index}].K", K, "a size that is not there yet"
        if task["few"] not in trained:
            yield f"{path}.few", task["few"], f"one of the sizes of {path}.ensembles"
        if task["pool"] >= sizes["n_test"]:
            most = f"datasets.{task['dataset']}.n_test = {sizes['n_test']}"
            yield f"{path}.pool", task["pool"], f"below {most}"
        for index, queries in enumerate(task["lnmax"]["queries"]):
            if queries > task["pool"]:
                allowed = f"at most {path}.pool = {task['pool']}"
                yield f"{path}.lnmax.queries[{index}]", queries, allowed
