"""Anybody's mechanism, audited exactly: what its table of probabilities says about its privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from numpy.typing import ArrayLike, NDArray

from private_ensembles.audit.finite import FiniteMechanism, audit_function


@dataclass(frozen=True)
class Audited:
    """What one label costs, and for which votes.

    epsilon, epsilon_lower: bounds on the least epsilon at delta. rho: of zero-concentrated DP; mu:
    of Gaussian DP; both are upper bounds. worst_counts: the neighbouring counts of classes at which
    epsilon arises, worst_labels: the event. table: answers further questions (`curve`, `renyi`,
    `trade_off`, `verdict`).
    """

    epsilon: float
    epsilon_lower: float
    delta: float
    rho: float
    mu: float
    worst_counts: tuple[tuple[int, ...], tuple[int, ...]]
    worst_labels: tuple[int, ...]
    table: FiniteMechanism = field(repr=False)


def audit_mechanism(
    probabilities: Callable[[NDArray], ArrayLike],
    *,
    teachers: int,
    classes: int,
    delta: float,
    adjacency: str = "replace_one",
) -> Audited:
    """Audit a mechanism over every histogram of votes and every move of one.

    >>> def respond(counts):  # randomised response on the vote of one teacher
    ...     return 0.25 + 0.5 * (counts > 0)
    >>> audited = audit_mechanism(respond, teachers=1, classes=2, delta=1e-9)
    >>> round(audited.epsilon, 4), audited.worst_counts  # ln 3
    (1.0986, ((1, 0), (0, 1)))

    probabilities: counts (n, classes) -> (n, labels), the chances of each label; rows add up to 1
    (an outcome without a label is one more column). Errors of its floats up to 1e-12 of a
    probability are covered. delta: in [0, 1]. adjacency: ``replace_one`` (a vote moves) or
    ``add_remove`` (one more or less). Raises ValueError for values out of range, for a table that
    is not one of probabilities, and for too many histograms to list (`audit.vote_neighbours`).
    """
    audited = audit_function(probabilities, teachers, classes, adjacency=adjacency)
    worst = audited.worst(delta)
    ends = tuple(
        tuple(int(count) for count in audited.inputs[row]) for row in (worst.first, worst.second)
    )
    lower = audited.epsilon(delta, "lower")
    return Audited(
        worst.value, lower, delta, audited.rho(), audited.mu(), ends, tuple(worst.labels), audited
    )
