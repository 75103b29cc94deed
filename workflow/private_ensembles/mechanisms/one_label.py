"""How much noise each tight baseline needs for one label of a budget: two classes, K teachers."""

from __future__ import annotations

from private_ensembles.mechanisms.laplace import lnmax_scale
from private_ensembles.mechanisms.selection import (
    exponential_distribution,
    permute_and_flip_distribution,
    selection_rate,
)

# LNMax's, and the ways of `lnmax_scale` by which each finds its noise.
SCALES = {
    "lnmax_pure": "pure",
    "lnmax_improved": "improved_rdp",
    "lnmax_analytic": "noisy_counts",
    "lnmax_exact": "exact",
}
NAMES = (*SCALES, "exponential", "permute_and_flip", "ladder")


def noise_parameters(epsilon: float, delta: float, n_teachers: int) -> dict[str, dict[str, float]]:
    """Arguments of each of NAMES with which one label is proven (epsilon, delta)-DP.

    `lnmax_pure` is PATE 2017's 2 / epsilon, `lnmax_improved` and `lnmax_analytic` rest on the noisy
    counts, the others are exact for this number of teachers and two classes (DESIGN 5.5); GNMax's
    sigmas are `gnmax_sigma`'s. Raises ValueError for epsilon not
    finite and > 0, delta outside [0, 1), n_teachers < 1.
    """
    budget = epsilon, delta

    def rate(distribution):
        return selection_rate(*budget, distribution, method="exact", n_teachers=n_teachers)

    scales = {
        name: {"scale": lnmax_scale(*budget, method=method, n_teachers=n_teachers)}
        for name, method in SCALES.items()
    }
    return {
        **scales,
        "exponential": {"rate": rate(exponential_distribution)},
        "permute_and_flip": {"rate": rate(permute_and_flip_distribution)},
        "ladder": {"epsilon": epsilon, "delta": delta},
    }
