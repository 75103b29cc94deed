"""The settings of DPBag that the study of the intercept needs."""

from private_ensembles.papers.dpbag.section import Dpbag

# As many splits as the authors' version of April 2020 has by default (`exp_iteration`).
_SPLITS = 5


def teacher_settings(dpbag: Dpbag) -> dict:
    """Return n (the most shards), k, seeds and training of logistic teachers on DPBag's own data.

    Empty for a stand-in, of which nothing is printed, and without such teachers.
    """
    if dpbag.active_section is not dpbag or dpbag.logistic is None:
        return {}
    grid = dpbag.grid("logistic")
    return {
        "n": max(grid["n"]),
        "k": grid["k"],
        "seeds": grid["seeds"][:_SPLITS],
        "training": dpbag.training("logistic"),
    }
