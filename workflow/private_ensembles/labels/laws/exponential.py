"""Permute-and-flip (McKenna and Sheldon 2020), report-noisy-max with exponential noise of 1 / rate.

That both are one law is by Ding et al. 2021. At equal rates it never has more expected error than
the exponential mechanism.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive_composition.dominating_pairs import pure_pair
from private_ensembles.base import secure
from private_ensembles.labels.histograms import MergedHistograms
from private_ensembles.labels.laws.selection import Selection, exponential_weights
from private_ensembles.labels.product_integrals import gauss_legendre, leave_one_out_integrals


def label_probabilities(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    """Return Pr[label] by Algorithm 1: visit the classes in random order until one is taken.

    Class j is taken with probability q_j = e^(rate (n_j - max)). With uniform arrival times Pr[j] =
    q_j times the integral over t in [0, 1] of the product over i != j of (1 - q_i t), a polynomial
    of degree C - 1 that Gauss-Legendre quadrature with ceil(C / 2) nodes integrates exactly, all
    terms positive.

    Args:
        counts: (queries, classes) int, votes for each class.
        rate: The factor of the counts in the exponent, > 0.

    Returns:
        (queries, classes) float64.

    Raises:
        ValueError: As `validate_counts` does.

    >>> label_probabilities([[3, 1]], 1.0).round(4).tolist()
    [[0.9323, 0.0677]]
    """
    weights = exponential_weights(counts, rate)
    n_classes = weights.shape[1]
    nodes, shares = gauss_legendre(-(-n_classes // 2))
    probabilities = np.zeros_like(weights)
    for t, share in zip((nodes + 1) / 2, shares / 2, strict=True):  # C / 2 nodes inside (0, 1)
        refusals = 1 - t * weights
        probabilities += share * weights * (refusals.prod(axis=1, keepdims=True) / refusals)
    return probabilities


def merged_label_probabilities(
    merged: MergedHistograms, wanted: NDArray[np.bool_], rate: float
) -> NDArray[np.float64]:
    """Return entries of `label_probabilities` for the pairs of merged counts.

    Args:
        merged: The votes, as `merge_histograms` returns them.
        wanted: (pairs,) bool, of which pairs probabilities are needed.
        rate: The factor of the counts in the exponent, > 0.

    Returns:
        (pairs,) float64, 0 of the pairs that are not wanted.

    >>> from private_ensembles.labels.histograms import merge_histograms
    >>> merged, wanted = merge_histograms([[3, 1]]), np.array([True, True])
    >>> merged_label_probabilities(merged, wanted, 1.0).round(4).tolist()
    [0.9323, 0.0677]
    """
    weights = np.exp(-rate * merged.gap)
    return weights * leave_one_out_integrals(merged, weights, wanted)


def choose(counts: ArrayLike, generator: np.random.Generator, rate: float) -> NDArray[np.int64]:
    """Draw by Algorithm 1 as it is written, (queries,)."""
    weights = exponential_weights(counts, rate)
    arrival = generator.random(weights.shape)
    accepted = (
        generator.random(weights.shape) < weights
    )  # the largest always is, as its weight is 1
    return np.argmin(np.where(accepted, arrival, np.inf), axis=1)


def draw_exactly(exponents: NDArray[np.float64]) -> NDArray[np.int64]:
    """Toss every class's coin and take one of those that say yes, (queries,).

    That is Algorithm 1: its order is independent of the coins, so that the first to say yes is any
    of them with the same probability.
    """
    return secure.choose_uniformly(secure.draw_bernoulli_exp(exponents))


LAW = Selection(
    "permute_and_flip",
    label_probabilities,
    choose,
    merged_label_probabilities,
    pure_pair,
    draw_exactly=draw_exactly,
    draws_query_by_query=False,
)
