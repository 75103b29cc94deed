"""The profile of a consensus, from votes on public data with known labels.

A plan rests on a stated profile (`profile.ConsensusProfile`). Whoever has votes of such an ensemble
on a public validation set need not guess it. Votes that are private must not be used: the plan
would reveal something about them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import betaln, expit, gammaln, logit

from private_ensembles.base import checks
from private_ensembles.labels.profile import ConsensusProfile

# With fewer labelled queries the five numbers of the mixture say next to nothing.
MIN_LABELLED_QUERIES = 20
# The search stays within these ranges: a Beta distribution's mean and a + b, the share of easy
# queries, and the confusion.
_MEAN, _SIZE, _SHARE, _CONFUSION = (0.005, 0.995), (0.2, 2000.0), (0.01, 0.99), (0.01, 1000.0)
# The search starts here: share of easy queries, and mean and a + b of easy and of hard ones.
_STARTS = (
    (0.7, 0.9, 20.0, 0.5, 4.0),
    (0.5, 0.8, 5.0, 0.3, 5.0),
    (0.9, 0.95, 50.0, 0.6, 3.0),
    (0.3, 0.97, 100.0, 0.7, 10.0),
)


def fit_profile(
    counts: ArrayLike, labels: ArrayLike, teachers: int | None = None
) -> ConsensusProfile:
    """Return the profile under which these votes are likeliest (maximum likelihood).

    Given its true class, a query's votes have two independent parts. The number of correct votes is
    beta-binomial, with Beta(easy) or Beta(hard); its five numbers are searched for together. The
    wrong votes are Dirichlet-multinomial with one number, `confusion`; two classes say nothing of
    it, and it is 1. `easy` is the distribution of the larger mean. Numbers are rounded to four
    significant digits, so that whoever states them as printed has the same plan.

    Args:
        counts: (queries, classes) int, each row adding up to the same number of teachers, two at
            least. It may be another number than that of the ensemble to be planned, for the profile
            says what share of the teachers is right.
        labels: (queries,) int, the true classes, -1 where they are unknown; such queries are left
            out.
        teachers: How many teachers there are, if ballots are absent; rows then add up to at most so
            many, and the profile has the share that is missing.

    Raises:
        ValueError: In one line, for another shape, and for fewer than 20 labelled queries.

    >>> from private_ensembles.labels.profile import synthetic_counts
    >>> stated = ConsensusProfile(4, easy_share=0.7, easy=(20, 2), hard=(2, 2), confusion=1)
    >>> counts, labels = synthetic_counts(stated, 100, 3000, np.random.default_rng(0))
    >>> profile = fit_profile(counts, labels)
    >>> round(profile.easy_share, 1), [round(value) for value in profile.hard]
    (0.7, [2, 2])
    """
    counts, labels = np.asarray(counts), np.asarray(labels)
    if counts.ndim != 2 or counts.shape[1] < 2 or labels.shape != counts.shape[:1]:
        raise ValueError(
            f"counts {counts.shape}, labels {labels.shape}: must be (queries, classes), (queries,)"
        )
    cast = counts.sum(axis=1)
    if teachers is not None:
        checks.check_integer(teachers=teachers, at_least=2)
        if (cast > teachers).any():
            raise ValueError(f"counts: every row must add up to at most {teachers} teachers")
    elif not len(counts) or (cast != cast[0]).any() or cast[0] < 2:
        raise ValueError("counts: every row must add up to the same number of teachers, 2 at least")
    labelled = labels >= 0
    if labelled.sum() < MIN_LABELLED_QUERIES:
        raise ValueError(
            f"labels: {labelled.sum()} queries have a known one: must be at least "
            f"{MIN_LABELLED_QUERIES}"
        )
    counts, labels = counts[labelled].astype(np.int64), labels[labelled]
    rows = np.arange(len(counts))
    mixture = _fit_mixture(counts[rows, labels], cast[labelled])
    wrong = counts.copy()
    wrong[rows, labels] = -1
    wrong = wrong[wrong >= 0].reshape(len(counts), -1)
    confusion = 1.0 if wrong.shape[1] == 1 else _fit_confusion(wrong)
    missing = 0.0 if teachers is None else 1 - float(cast.mean()) / teachers
    return ConsensusProfile(
        counts.shape[1],
        _round_to_four_digits(mixture.easy_share),
        (_round_to_four_digits(mixture.easy[0]), _round_to_four_digits(mixture.easy[1])),
        (_round_to_four_digits(mixture.hard[0]), _round_to_four_digits(mixture.hard[1])),
        _round_to_four_digits(confusion),
        absent_share=_round_to_four_digits(missing),
    )


class _Mixture(NamedTuple):
    """The share of easy queries, and the Beta distributions of easy and of hard ones."""

    easy_share: float
    easy: tuple[float, float]
    hard: tuple[float, float]


def _fit_mixture(correct: NDArray[np.int64], cast: NDArray[np.int64]) -> _Mixture:
    """Return the mixture of easy and hard queries under which the correct votes are likeliest.

    Args:
        correct: (queries,) correct votes.
        cast: (queries,) votes that are not absent.
    """
    (teachers, correct), weights = np.unique([cast, correct], axis=1, return_counts=True)

    def beta_log_likelihood(a: float, b: float) -> NDArray:
        return betaln(correct + a, teachers - correct + b) - betaln(a, b)

    def loss(x: NDArray) -> float:
        share, easy, hard = _mixture_parameters(x)
        logs = np.logaddexp(
            np.log(share) + beta_log_likelihood(*easy),
            np.log1p(-share) + beta_log_likelihood(*hard),
        )
        return -float(weights @ logs) / weights.sum()

    ranges = [_SHARE, _MEAN, _SIZE, _MEAN, _SIZE]
    bounds = [tuple(_unconstrain(index, limits)) for index, limits in enumerate(ranges)]
    best = min(
        (
            minimize(loss, _unconstrain_start(start), method="L-BFGS-B", bounds=bounds, tol=1e-10)
            for start in _STARTS
        ),
        key=lambda search: search.fun,
    )
    share, easy, hard = _mixture_parameters(best.x)
    if easy[0] / sum(easy) < hard[0] / sum(hard):
        share, easy, hard = 1 - share, hard, easy
    return _Mixture(share, easy, hard)


def _unconstrain(index: int, values: ArrayLike) -> NDArray:
    """Return numbers of the mixture on the scale on which they are searched for."""
    return np.log(values) if index in (2, 4) else logit(values)


def _unconstrain_start(start: tuple[float, ...]) -> NDArray:
    return np.array([float(_unconstrain(index, value)) for index, value in enumerate(start)])


def _mixture_parameters(x: NDArray[np.float64]) -> _Mixture:
    share, means, sizes = expit(x[0]), expit(x[[1, 3]]), np.exp(x[[2, 4]])
    easy, hard = (
        (float(mean * size), float((1 - mean) * size))
        for mean, size in zip(means, sizes, strict=True)
    )
    return _Mixture(float(share), easy, hard)


def _fit_confusion(wrong: NDArray) -> float:
    """Return the parameter of the wrong votes, (queries, classes - 1)."""
    classes = wrong.shape[1]
    cells, totals = np.bincount(wrong.ravel()), np.bincount(wrong.sum(axis=1))

    def likelihood(times: NDArray, parameter: float) -> float:
        values = np.flatnonzero(times)
        return float(times[values] @ (gammaln(values + parameter) - gammaln(parameter)))

    def loss(x: float) -> float:
        confusion = float(np.exp(x))
        return likelihood(totals, confusion) - likelihood(cells, confusion / classes)

    search = minimize_scalar(loss, bounds=np.log(_CONFUSION), method="bounded")
    return float(np.exp(search.x))


def _round_to_four_digits(value: float) -> float:
    return float(f"{value:.4g}")
