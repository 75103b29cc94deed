"""What a run makes of DPBag: which tables and figures, and the names of its files."""

from private_ensembles.base.parameter_names import join_parameters
from private_ensembles.papers.dpbag.section import Dpbag


def tables(dpbag: Dpbag) -> list[str]:
    """The tables that are made."""
    items = [*dpbag.run_tables("students"), *dpbag.run_tables("labels")]
    return [*items, *(f"{item}_by_split" for item in items), "labels", "conjecture"]


def figures(dpbag: Dpbag) -> list[str]:
    """The figures that are made."""
    return ["label_counts", "student_accuracy"] if dpbag.active_section.models() else []


def datasets(dpbag: Dpbag) -> list[str]:
    """The paper's data set, whose records are counted; nothing if a stand-in is used."""
    return [dpbag.dataset] if dpbag.active_section is dpbag else []


def claims(dpbag: Dpbag, covered: bool) -> dict:
    """What the printed numbers rest on."""
    return dpbag.claims() if covered else {}


# Names of files -----------------------------------------------------------------------------------


def split_files(dpbag: Dpbag, kind: str, model: str, dataset: str, seed) -> list[str]:
    """Counts ("privacy", CSV) or costs ("costs", npz) of one split's labels, for every n shards."""
    suffix = {"privacy": "csv", "costs": "npz"}[kind]
    names = (join_parameters(model=model, n=n, seed=int(seed)) for n in dpbag.grid(model)["n"])
    return [f"results/dpbag/{kind}/{dataset}/{name}.{suffix}" for name in names]


def vote_files(dpbag: Dpbag, model: str, dataset: str, n, seed) -> list[str]:
    """The votes of all partitions of one split into n shards, in the order of the partitions."""
    point = {"model": model, "n": int(n), "seed": int(seed)}
    firsts = dpbag.first_partitions(model)
    return [
        f"results/dpbag/votes/{dataset}/{join_parameters(**point, first=first)}.npz"
        for first in firsts
    ]


def student_files(dpbag: Dpbag, model: str) -> list[str]:
    """What the students of every split of one model achieve."""
    names = (join_parameters(model=model, seed=seed) for seed in dpbag.grid(model)["seeds"])
    return [f"results/dpbag/students/{dpbag.active_section.dataset}/{name}.csv" for name in names]
