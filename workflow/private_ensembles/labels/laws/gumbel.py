"""The exponential mechanism on vote counts: the largest of rate n_j plus Gumbel noise."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive_composition.dominating_pairs import bounded_range_pairs
from private_ensembles.base import secure
from private_ensembles.labels.histograms import MergedHistograms
from private_ensembles.labels.laws.selection import Selection, exponential_weights, validate_counts


def label_probabilities(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    """Return Pr[label j] = e^(rate n_j) / sum of e^(rate n_i), (queries, classes).

    Raises ValueError like `checked`.

    >>> label_probabilities([[3, 1]], 1.0).round(4).tolist()
    [[0.8808, 0.1192]]
    """
    weights = exponential_weights(counts, rate)
    return weights / weights.sum(axis=1, keepdims=True)


def merged_label_probabilities(
    merged: MergedHistograms, wanted: NDArray[np.bool_], rate: float
) -> NDArray[np.float64]:
    """Return entries of `weigh` of the pairs of merged counts, (pairs,), all of them.

    >>> from private_ensembles.labels.histograms import merge_histograms
    >>> merged_label_probabilities(merge_histograms([[3, 1]]), np.array([True, True]), 1.0).round(4).tolist()
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
    """Choose by the law itself, for the very floats, (queries,)."""
    return secure.softmax_classes(exponents)


LAW = Selection(
    "exponential",
    label_probabilities,
    choose,
    merged_label_probabilities,
    bounded_range_pairs,
    draw_exactly=draw_exactly,
)
