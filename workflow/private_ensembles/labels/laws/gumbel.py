"""The exponential mechanism on vote counts: the largest of rate n_j plus Gumbel noise."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive_composition.dominating_pairs import bounded_range_pairs
from private_ensembles.base import secure
from private_ensembles.labels.histograms import MergedHistograms
from private_ensembles.labels.laws.selection import Selection, exponential_weights, validate_counts


def label_probabilities(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    """Return Pr[label j] = e^(rate n_j) / sum of e^(rate n_i).

    Args:
        counts: (queries, classes) int, votes for each class.
        rate: The factor of the counts in the exponent, > 0.

    Returns:
        (queries, classes) float64.

    Raises:
        ValueError: As `validate_counts` does.

    >>> label_probabilities([[3, 1]], 1.0).round(4).tolist()
    [[0.8808, 0.1192]]
    """
    weights = exponential_weights(counts, rate)
    return weights / weights.sum(axis=1, keepdims=True)


def merged_label_probabilities(
    merged: MergedHistograms, wanted: NDArray[np.bool_], rate: float
) -> NDArray[np.float64]:
    """Return entries of `label_probabilities` for the pairs of merged counts.

    Args:
        merged: The votes, as `merge_histograms` returns them.
        wanted: (pairs,) bool, of which pairs probabilities are needed.
        rate: The factor of the counts in the exponent, > 0.

    Returns:
        (pairs,) float64, of all pairs.

    >>> from private_ensembles.labels.histograms import merge_histograms
    >>> merged, wanted = merge_histograms([[3, 1]]), np.array([True, True])
    >>> merged_label_probabilities(merged, wanted, 1.0).round(4).tolist()
    [0.8808, 0.1192]
    """
    weights = np.exp(-rate * merged.gap)
    sums = np.add.reduceat(merged.multiplicity * weights, merged.starts)
    return weights / sums[merged.row]


def choose(counts: ArrayLike, generator: np.random.Generator, rate: float) -> NDArray[np.int64]:
    """Choose the largest of rate n_j plus Gumbel noise, (queries,)."""
    scores = rate * validate_counts(counts, rate)
    return np.argmax(scores + generator.gumbel(size=scores.shape), axis=1)


def draw_exactly(exponents: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw from the law of the very floats, by an exact sampler, (queries,)."""
    return secure.softmax_classes(exponents)


LAW = Selection(
    "exponential",
    label_probabilities,
    choose,
    merged_label_probabilities,
    bounded_range_pairs,
    draw_exactly=draw_exactly,
)
