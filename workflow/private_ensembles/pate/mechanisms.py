"""PATE's mechanisms over a matrix of votes: who answers a query, and with which label.

counts: votes per class, integers (queries, classes), every row adding up to the teachers. Labels
are int64, -1 for no answer. generator: a NumPy generator, or None for noise from the operating
system's entropy by exact discrete samplers (see `noise.secure`). Renyi bounds hold for both,
everything else has its own account (docs/discrete-noise.md). Continuous ties have probability 0;
discrete ones are broken by fair dice.

Noise is drawn query by query, so an answer depends on the queries before it, if at all, and never
on how many follow. A cap on queries or answers stops the mechanism: no later query is looked at,
whatever the votes, so that the privacy cost at the caps is a bound for every data set.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles import checks
from private_ensembles.noise.sources import Secure, Seeded, source
from private_ensembles.pate.gnmax import check_sigma, noisy_plurality
from private_ensembles.pate.lnmax_quadrature import check_scale
from private_ensembles.pate.rdp import check_counts

NO_ANSWER = -1


def lnmax(
    counts: ArrayLike,
    scale: float,
    generator: np.random.Generator | None,
    *,
    query_cap: int | None = None,
) -> NDArray[np.int64]:
    """Release every query's label by LNMax (PATE, section 3.1): argmax_j n_j + Lap(scale).

    scale: of the Laplace noise, in votes, > 0. query_cap: later queries get no answer. Returns
    (queries,). Raises ValueError like `check_counts`, for scale or query_cap out of range, and for
    generator None: its noise is continuous only.
    """
    counts, scale = check_counts(counts), check_scale(scale)
    if generator is None:
        raise ValueError("generator = None: must be given, because LNMax has no secure noise")
    noise = scale * generator.laplace(size=counts.shape)
    labels = noisy_plurality(counts, noise).astype(np.int64)
    return _stop(labels, np.zeros(len(labels), bool), query_cap, None)


def gnmax(counts: ArrayLike, sigma: float, noise: Seeded | Secure) -> NDArray[np.int64]:
    """Release every query's label by GNMax (PATE, section 4.1): argmax_j n_j + N(0, sigma^2).

    sigma in votes, > 0. Returns (queries,). Raises ValueError like `check_counts` and for sigma out
    of range.
    """
    counts, sigma = check_counts(counts), check_sigma(sigma)
    return noise.largest(noise.add_gaussian(counts, sigma)).astype(np.int64)


def confident_gnmax(
    counts: ArrayLike,
    threshold: float,
    sigma1: float,
    sigma2: float,
    generator: np.random.Generator | None,
    *,
    query_cap: int | None = None,
    answer_cap: int | None = None,
) -> NDArray[np.int64]:
    """Release labels by Confident-GNMax (PATE, Algorithm 1).

    A query is answered by GNMax with sigma2 if max_j n_j + N(0, sigma1^2) >= threshold, else not
    at all. All in votes; sigmas > 0. After query_cap queries or answer_cap answers the mechanism
    stops. Returns (queries,), -1 if there is no answer.

    Raises ValueError like `check_counts` and for a threshold, sigma or cap out of range.
    """
    counts = check_counts(counts)
    passed, labels = _check_and_label(
        counts, counts.max(axis=1), threshold, sigma1, sigma2, generator
    )
    return _stop(np.where(passed, labels, NO_ANSWER), passed, query_cap, answer_cap)


def interactive_gnmax(
    counts: ArrayLike,
    scores: ArrayLike,
    confidence: float,
    threshold: float,
    sigma1: float,
    sigma2: float,
    generator: np.random.Generator | None,
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
    excess = student_excess(counts, scores, whole=generator is None)
    passed, labels = _check_and_label(counts, excess, threshold, sigma1, sigma2, generator)
    reinforced = ~passed & (scores.max(axis=1) > confidence)
    labels = np.where(passed, labels, np.where(reinforced, scores.argmax(axis=1), NO_ANSWER))
    labels = _stop(labels, passed, query_cap, answer_cap)
    return labels, reinforced & (labels != NO_ANSWER)


def student_excess(
    counts: NDArray[np.int64], scores: NDArray[np.float64], *, whole: bool = False
) -> NDArray:
    """max_j (n_j - M p_j), (queries,), of M teachers; whole: with M p_j rounded."""
    expected = counts.sum(axis=1, keepdims=True) * scores
    return (counts - (np.rint(expected).astype(np.int64) if whole else expected)).max(axis=1)


def check_scores(scores: ArrayLike, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """scores as float64; ValueError unless they are distributions, one per query of counts."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != counts.shape:
        raise ValueError(f"scores: shape {scores.shape} must be that of counts, {counts.shape}")
    if not ((scores >= 0).all() and (np.abs(scores.sum(axis=1) - 1) <= 1e-5).all()):
        raise ValueError("scores: every row must be >= 0 and sum to 1")
    return scores


def check_confidence(confidence: float) -> float:
    """Return confidence; ValueError unless it is in [0, 1]."""
    checks.probability(confidence=confidence)
    return float(confidence)


def check_threshold(threshold: float) -> float:
    """Return the threshold as a float; ValueError unless it is finite."""
    checks.finite(threshold=threshold)
    return float(threshold)


def check_cap(name: str, cap: int | None) -> int | None:
    """Return a cap, None for none; ValueError unless it is None or an integer >= 0."""
    if cap is None:
        return None
    checks.integer(at_least=0, **{name: cap})
    return int(cap)


def _check_and_label(counts, consensus, threshold, sigma1, sigma2, generator):
    """Whether consensus (queries,) plus noise reaches the threshold, and GNMax's labels."""
    threshold = check_threshold(threshold)
    sigma1, sigma2 = check_sigma(sigma1), check_sigma(sigma2)
    if generator is None:
        passed = source(None).add_gaussian(consensus, sigma1) >= threshold
        return passed, gnmax(counts, sigma2, source(None))
    noise = generator.standard_normal((len(counts), 1 + counts.shape[1]))
    passed = consensus + sigma1 * noise[:, 0] >= threshold
    return passed, noisy_plurality(counts, sigma2 * noise[:, 1:]).astype(np.int64)


def _stop(labels, answered, query_cap, answer_cap):
    """The labels up to the caps; what comes after query_cap queries or answer_cap answers is -1."""
    query_cap = check_cap("query_cap", query_cap)
    answer_cap = check_cap("answer_cap", answer_cap)
    running = np.ones(len(labels), dtype=bool)
    if query_cap is not None:
        running[query_cap:] = False
    if answer_cap is not None:
        running &= np.cumsum(answered) - answered < answer_cap
    return np.where(running, labels, NO_ANSWER)
