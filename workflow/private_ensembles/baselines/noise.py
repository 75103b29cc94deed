"""How much noise each tight baseline needs for one label of a budget: two classes, K teachers."""

from __future__ import annotations

from private_ensembles.baselines.exponential import (
    exponential_distribution,
    permute_and_flip_distribution,
    selection_rate,
)
from private_ensembles.baselines.laplace import lnmax_scale

NAMES = ("lnmax_pure", "lnmax_exact", "exponential", "permute_and_flip", "ladder")


def noise_parameters(epsilon: float, delta: float, n_teachers: int) -> dict[str, dict[str, float]]:
    """Arguments of each of NAMES with which one label is proven (epsilon, delta)-DP.

    `lnmax_pure` is PATE 2017's 2 / epsilon, the others are exact for this number of teachers and
    two classes (DESIGN 5.5); GNMax's sigmas are `gnmax_sigma`'s. Raises ValueError for epsilon not
    finite and > 0, delta outside [0, 1), n_teachers < 1.
    """
    budget = epsilon, delta

    def rate(distribution):
        return selection_rate(*budget, distribution, method="exact", n_teachers=n_teachers)

    return {
        "lnmax_pure": {"scale": lnmax_scale(*budget, method="pure")},
        "lnmax_exact": {"scale": lnmax_scale(*budget, method="exact", n_teachers=n_teachers)},
        "exponential": {"rate": rate(exponential_distribution)},
        "permute_and_flip": {"rate": rate(permute_and_flip_distribution)},
        "ladder": {"epsilon": epsilon, "delta": delta},
    }
