"""What a run makes of DPBag: which tables and figures, and the names of its files."""

from private_ensembles.base.parameter_names import join_parameters
from private_ensembles.papers.dpbag.section import Dpbag


def tables(dpbag: Dpbag) -> list[str]:
    """Return the names of the tables that are made."""
    items = [*dpbag.run_tables("students"), *dpbag.run_tables("labels")]
    return [*items, *(f"{item}_by_split" for item in items), "labels", "conjecture"]


def figures(dpbag: Dpbag) -> list[str]:
    """Return the names of the figures that are made."""
    return ["label_counts", "student_accuracy"] if dpbag.active_section.models() else []


def datasets(dpbag: Dpbag) -> list[str]:
    """Return the paper's data set, whose records are counted; nothing if a stand-in is used."""
    return [dpbag.dataset] if dpbag.active_section is dpbag else []


def claims(dpbag: Dpbag, covered: bool) -> dict:
    """Return the parameters that the printed numbers rest on; none if the paper is not covered."""
    return dpbag.claims() if covered else {}


# Names of files -----------------------------------------------------------------------------------


def split_files(dpbag: Dpbag, kind: str, model: str, dataset: str, seed) -> list[str]:
    """Return the files of one split's counts ("privacy") or costs ("costs"), for every n shards."""
    suffix = {"privacy": "csv", "costs": "npz"}[kind]
    names = (join_parameters(model=model, n=n, seed=int(seed)) for n in dpbag.grid(model)["n"])
    return [f"results/dpbag/{kind}/{dataset}/{name}.{suffix}" for name in names]


def vote_files(dpbag: Dpbag, model: str, dataset: str, n, seed) -> list[str]:
    """Return the files of votes of one split into n shards, in the order of the partitions."""
    point = {"model": model, "n": int(n), "seed": int(seed)}
    firsts = dpbag.first_partitions(model)
    return [
        f"results/dpbag/votes/{dataset}/{join_parameters(**point, first=first)}.npz"
        for first in firsts
    ]


def student_files(dpbag: Dpbag, model: str) -> list[str]:
    """Return the files that say what the students of every split of one model achieve."""
    names = (join_parameters(model=model, seed=seed) for seed in dpbag.grid(model)["seeds"])
    return [f"results/dpbag/students/{dpbag.active_section.dataset}/{name}.csv" for name in names]
