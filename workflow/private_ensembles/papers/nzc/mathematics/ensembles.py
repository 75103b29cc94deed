"""NZC's Tables 1 and 2 and Figures 2a-c as functions of vote counts; none of it is for release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.papers.nzc.mathematics.mechanism import check_counts


def leads(counts: ArrayLike) -> NDArray[np.int64]:
    """Largest minus second largest count of each row (Q, C); its distance in Definition 4."""
    ordered = np.sort(check_counts(counts), axis=1)
    return ordered[:, -1] - ordered[:, -2]


def distance_shares(counts: ArrayLike, distances: Iterable[int]) -> NDArray[np.float64]:
    """Share of queries whose lead is larger than n, for each n of ``distances`` (Definition 4).

    Figure 2b (n = 0, 1, ...) and Figure 2c (n = 2).
    """
    lead = leads(counts)
    return np.array([float((lead > n).mean()) for n in distances])


def plurality_accuracy(counts: ArrayLike, labels: ArrayLike) -> float:
    """Share of queries whose largest count (the first of several) is the true label.

    labels: (Q,), -1 if unknown; those queries do not count. Raises ValueError if none is
    known or the shapes differ.
    """
    counts, labels = _check_labelled(counts, labels)
    known = labels >= 0
    return float((np.argmax(counts, axis=1) == labels)[known].mean())


def label_accuracies(
    counts: ArrayLike, labels: ArrayLike, distributions: Mapping[str, ArrayLike]
) -> dict[str, float]:
    """Table 2: expected share of right labels of each mechanism, and ``clean`` without noise.

    distributions: by name, Pr[label] (Q, C) of one query's released label (LNMax's by quadrature,
    NZC's by `nzc.label_distribution`). Raises ValueError for shapes that differ.
    """
    counts, labels = _check_labelled(counts, labels)
    known = np.nonzero(labels >= 0)[0]
    accuracies = {}
    for name, probabilities in distributions.items():
        distribution = np.asarray(probabilities, dtype=np.float64)
        if distribution.shape != counts.shape:
            raise ValueError(f"{name}: shape {distribution.shape} must be {counts.shape}")
        accuracies[name] = float(distribution[known, labels[known]].mean())
    return accuracies | {"clean": plurality_accuracy(counts, labels)}


def teacher_curve(
    ensembles: Mapping[int, tuple[ArrayLike, ArrayLike]], distance: int = 2
) -> list[dict[str, float]]:
    """Figures 2a and 2c: one row per number of teachers, ascending.

    ensembles: {teachers: (counts (Q, C), labels (Q,))}, every one trained on its own partition of
    the same data. Columns teachers, accuracy (of the plurality), qualified (share of queries whose
    lead is larger than ``distance``), qualified_wrong (share of all queries that qualify and whose
    plurality is wrong). Raises ValueError if counts do not add up to the number of teachers.
    """
    rows = []
    for teachers, (votes, truth) in sorted(ensembles.items()):
        counts, labels = _check_labelled(votes, truth)
        if (counts.sum(axis=1) != teachers).any():
            raise ValueError(f"counts: every row must add up to {teachers} teachers")
        known = labels >= 0
        qualified = leads(counts) > distance
        wrong = np.argmax(counts, axis=1) != labels
        rows.append(
            {
                "teachers": teachers,
                "accuracy": plurality_accuracy(counts, labels),
                "qualified": float(qualified.mean()),
                "qualified_wrong": float((qualified & wrong)[known].mean()),
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
