"""The settings of DPBag that the study of the intercept needs."""

from private_ensembles.papers.dpbag.section import Dpbag


def teacher_settings(dpbag: Dpbag) -> dict:
    """Return n (the most shards), k, seeds and C of logistic teachers on DPBag's own data.

    Empty for a stand-in, of which nothing is printed, and without such teachers.
    """
    if dpbag.active_section is not dpbag or dpbag.logistic is None:
        return {}
    grid = dpbag.grid("logistic")
    return grid | {"n": max(grid["n"]), "C": dpbag.training("logistic")["C"]}
