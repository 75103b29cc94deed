"""NZC's Tables 1 and 2 and Figures 2a-c as functions of vote counts; none of it is for release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.papers.nzc.mathematics.mechanism import check_counts


def leads(counts: ArrayLike) -> NDArray[np.int64]:
    """Return the largest count less the second largest of each query, (queries,).

    Args:
        counts: (queries, classes) int.

    References:
        NZC, Definition 4, which calls it the distance.
    """
    ordered = np.sort(check_counts(counts), axis=1)
    return ordered[:, -1] - ordered[:, -2]


def distance_shares(counts: ArrayLike, distances: Iterable[int]) -> NDArray[np.float64]:
    """Return the share of queries whose lead is larger than n, for each n of ``distances``.

    Args:
        counts: (queries, classes) int.
        distances: values of n: 0, 1, ... for Figure 2b, 2 for Figure 2c.

    References:
        NZC, Definition 4.
    """
    lead = leads(counts)
    return np.array([float((lead > n).mean()) for n in distances])


def plurality_accuracy(counts: ArrayLike, labels: ArrayLike) -> float:
    """Return the share of queries whose largest count (the first of several) is the true label.

    Args:
        counts: (queries, classes) int.
        labels: (queries,) int, -1 if unknown; those queries do not count.

    Raises:
        ValueError: no label is known, or the shapes differ.
    """
    counts, labels = _check_labelled(counts, labels)
    is_labelled = labels >= 0
    return float((np.argmax(counts, axis=1) == labels)[is_labelled].mean())


def label_accuracies(
    counts: ArrayLike, labels: ArrayLike, distributions: Mapping[str, ArrayLike]
) -> dict[str, float]:
    """Return each mechanism's expected share of right labels, and ``clean`` without noise: Table 2.

    Args:
        counts: (queries, classes) int.
        labels: (queries,) int, -1 if unknown.
        distributions: Pr[label] of each query's released label, (queries, classes), by name.

    Raises:
        ValueError: the shapes differ.
    """
    counts, labels = _check_labelled(counts, labels)
    labelled = np.nonzero(labels >= 0)[0]
    accuracies = {}
    for name, probabilities in distributions.items():
        distribution = np.asarray(probabilities, dtype=np.float64)
        if distribution.shape != counts.shape:
            raise ValueError(f"{name}: shape {distribution.shape} must be {counts.shape}")
        accuracies[name] = float(distribution[labelled, labels[labelled]].mean())
    return accuracies | {"clean": plurality_accuracy(counts, labels)}


def teacher_curve(
    ensembles: Mapping[int, tuple[ArrayLike, ArrayLike]], distance: int = 2
) -> list[dict[str, float]]:
    """Return how labels change with the number of teachers: Figures 2a and 2c.

    Args:
        ensembles: {teachers: (counts (queries, classes), labels (queries,))}, each trained on its
            own partition of the same data.
        distance: the lead beyond which a query qualifies.

    Returns:
        One row per number of teachers, ascending: teachers, accuracy (of the plurality), qualified
        (share of queries whose lead is larger than ``distance``) and qualified_wrong (share of all
        queries that qualify and whose plurality is wrong).

    Raises:
        ValueError: counts do not add up to the number of teachers.
    """
    rows = []
    for teachers, (votes, truth) in sorted(ensembles.items()):
        counts, labels = _check_labelled(votes, truth)
        if (counts.sum(axis=1) != teachers).any():
            raise ValueError(f"counts: every row must add up to {teachers} teachers")
        is_labelled = labels >= 0
        qualified = leads(counts) > distance
        wrong = np.argmax(counts, axis=1) != labels
        rows.append(
            {
                "teachers": teachers,
                "accuracy": plurality_accuracy(counts, labels),
                "qualified": float(qualified.mean()),
                "qualified_wrong": float((qualified & wrong)[is_labelled].mean()),
            }
        )
    return rows


def _check_labelled(counts: ArrayLike, labels: ArrayLike) -> tuple[NDArray, NDArray]:
    counts, labels = check_counts(counts), np.asarray(labels)
    if labels.shape != counts.shape[:1] or not (labels >= 0).any():
        raise ValueError(
            f"labels: shape {labels.shape} must be ({len(counts)},), one known at least"
        )
    return counts, labels.astype(np.int64)
