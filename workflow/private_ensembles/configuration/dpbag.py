"""The configuration's section `dpbag`: what no single key can show, and the slices rules need."""

from collections.abc import Iterator

from private_ensembles.configuration.datasets import TABLES
from private_ensembles.configuration.naming import instance

# Model -> its settings that are no parameters of training.
MODELS = ("logistic", "boosted_trees")
_GRID = ("n", "k", "seeds")
# Which tables of the supplement hold what, for UCI Adult.
ACCURACY_TABLES = {"table5": "logistic", "table7": "boosted_trees"}
LABEL_TABLES = {"table6": "logistic", "table8": "boosted_trees"}


def mistakes(config: dict) -> Iterator[tuple]:
    """Yield (path, value, allowed) for what the schema lets pass and must not be."""
    section, datasets = config["dpbag"], config["datasets"]
    tables = [name for name in datasets if datasets[name]["format"] in TABLES]
    for path, owner, wanted in (
        ("dpbag", section, False),
        ("dpbag.embedded", section["embedded"], True),
    ):
        name = owner["dataset"]
        known = [each for each in tables if datasets[each].get("stand_in", False) == wanted]
        if name not in known:
            kind = "stand-ins" if wanted else "data sets"
            yield f"{path}.dataset", name, f"one of the {kind} that are tables: {', '.join(known)}"
            continue
        third = (datasets[name]["n_train"] + datasets[name]["n_test"]) // 3
        for model in MODELS:
            for index, n in enumerate((owner[model] or {}).get("n", ())):
                if n > third:
                    allowed = f"at most {third}, a third of the records of {name}"
                    yield f"{path}.{model}.n[{index}]", n, allowed


def _owner(config: dict) -> dict:
    section = config["dpbag"]
    return section if config["data"] == "paper" else section["embedded"]


def dataset(config: dict) -> str:
    """Return the data set of this configuration."""
    return _owner(config)["dataset"]


def models(config: dict) -> list[str]:
    """Return the models whose teachers are trained."""
    return [model for model in MODELS if _owner(config)[model] is not None]


def tables(config: dict, kind: str) -> list[str]:
    """Return the tables of ``students`` or of ``labels`` that the models of this run fill."""
    found = {"students": ACCURACY_TABLES, "labels": LABEL_TABLES}[kind]
    return [item for item, model in found.items() if model in models(config)]


def grid(config: dict, model: str) -> dict[str, list[int]]:
    """Return n, k (increasing) and seeds of a model."""
    found = {key: _owner(config)[model][key] for key in _GRID}
    return found | {"k": sorted(found["k"])}


def training(config: dict, model: str) -> dict:
    """Return the parameters with which a model is trained."""
    return {key: value for key, value in _owner(config)[model].items() if key not in _GRID}


def budget(config: dict) -> dict:
    """Return epsilon (list), delta, delta_of_counts, noise and order_max."""
    keys = ("epsilon", "delta", "delta_of_counts", "noise", "order_max")
    return {key: config["dpbag"][key] for key in keys}


def claims(config: dict) -> dict:
    """Return what the printed numbers rest on, as `workflow/published/dpbag.yaml` names it.

    Of training only where it is on the paper's data; how exactly a model is fitted and how often
    the noise is drawn makes our numbers more precise and is not in it.
    """
    found = budget(config)
    del found["epsilon"]  # every budget has numbers of its own
    if config["data"] == "paper":
        found["scaling"] = config["dpbag"]["scaling"]
        for model in models(config):
            found[model] = training(config, model)
    return found


def first_partitions(config: dict, model: str) -> range:
    """Return the first partition of each job that casts votes."""
    return range(0, max(grid(config, model)["k"]), config["dpbag"]["partitions_per_job"])


def partitions(config: dict, model: str, first: int) -> list[int]:
    """Return the numbers of the partitions of the job that starts with partition `first`."""
    last = min(first + config["dpbag"]["partitions_per_job"], max(grid(config, model)["k"]))
    return list(range(first, last))


def label_counts(config: dict, model: str) -> list[str]:
    """Return the files that say how many labels each budget buys, for all n and seeds."""
    found = grid(config, model)
    folder = f"results/dpbag/privacy/{dataset(config)}"
    points = (instance(model=model, n=n, seed=seed) for n in found["n"] for seed in found["seeds"])
    return [f"{folder}/{point}.csv" for point in points]


def shards(config: dict) -> list[int]:
    """Return every number n of shards of the paper's grid and of its stand-in's."""
    owners = config["dpbag"], config["dpbag"]["embedded"]
    sections = (owner[model] for owner in owners for model in MODELS)
    return sorted({n for section in sections if section for n in section["n"]})
