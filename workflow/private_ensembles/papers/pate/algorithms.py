"""PATE's Algorithms 1 and 2 as its sections use them: labels of Confident- and Interactive-GNMax.

counts: votes per class, integers (queries, classes), every row adding up to the teachers. Labels
are int64, -1 for no answer. Renyi bounds hold for seeded and secure noise, everything else has its
own account (docs/discrete-noise.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.mechanisms.checks.checked import CheckedNoise, check_and_label, stopped
from private_ensembles.mechanisms.laws.gaussian import WHOLE
from private_ensembles.noise.sources import Source
from private_ensembles.pate.consensus import (
    NO_ANSWER,
    check_confidence,
    check_scores,
    student_excess,
)
from private_ensembles.pate.rdp import check_counts


def confident_gnmax(
    counts: ArrayLike,
    noise: CheckedNoise,
    source: Source,
    *,
    query_cap: int | None = None,
    answer_cap: int | None = None,
) -> NDArray[np.int64]:
    """Release labels by Confident-GNMax (PATE, Algorithm 1), (queries,), -1 if there is no answer.

    A query is answered by GNMax with sigma2 if max_j n_j + N(0, sigma1^2) >= threshold, else not
    at all. After query_cap queries or answer_cap answers the mechanism stops; the caps of `noise`
    are not looked at.

    Raises ValueError like `check_counts` and for a threshold, sigma or cap out of range.
    """
    counts = check_counts(counts)
    passed, labels = check_and_label(counts, counts.max(axis=1), noise, WHOLE, source)
    return stopped(np.where(passed, labels, NO_ANSWER), passed, query_cap, answer_cap)


def interactive_gnmax(
    counts: ArrayLike,
    scores: ArrayLike,
    confidence: float,
    noise: CheckedNoise,
    source: Source,
    *,
    query_cap: int | None = None,
    answer_cap: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Release labels by Interactive-GNMax (PATE, Algorithm 2): (labels, reinforced), (queries,).

    scores: the student's p, (queries, classes), rows summing to 1; public, as the student is
    trained on released labels only. With M teachers, a query is answered by GNMax with sigma2 if
    max_j (n_j - M p_j) + N(0, sigma1^2) >= threshold; otherwise the student's own label is
    reinforced if max_j p_j > confidence; otherwise there is no answer. One teacher moves max_j
    (n_j - M p_j) by at most 1, so the cost is Confident-GNMax's. answer_cap counts the teachers'
    answers only: a reinforced label has looked at votes for the threshold alone.

    Secure noise is whole, so M p_j is rounded to a whole number there, which is public as well.
    Raises ValueError like `confident_gnmax`, and for scores or confidence out of range.
    """
    counts = check_counts(counts)
    scores = check_scores(scores, counts)
    confidence = check_confidence(confidence)
    excess = student_excess(counts, scores, whole=source.secure)
    passed, labels = check_and_label(counts, excess, noise, WHOLE, source)
    reinforced = ~passed & (scores.max(axis=1) > confidence)
    labels = np.where(passed, labels, np.where(reinforced, scores.argmax(axis=1), NO_ANSWER))
    labels = stopped(labels, passed, query_cap, answer_cap)
    return labels, reinforced & (labels != NO_ANSWER)
