"""The exact audit of anybody's mechanism: what its table of probabilities says about privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from numpy.typing import ArrayLike, NDArray

from private_ensembles.audit.finite_mechanism import FiniteMechanism, audit_function
from private_ensembles.base import checks
from private_ensembles.base.stated_bounds import lower_bound, upper_bound


@upper_bound
@lower_bound
@dataclass(frozen=True)
class Audited:
    """What one label costs, and for which votes.

    Attributes:
        epsilon: upper bound on the least epsilon at delta.
        epsilon_lower: lower bound on it.
        delta: as it was asked for.
        rho: upper bound on the least rho of zero-concentrated DP.
        mu: upper bound on the least mu of Gaussian DP.
        worst_counts: the neighbouring counts of classes at which epsilon arises.
        worst_labels: the event at which it arises.
        table: answers further questions (`curve`, `renyi`, `trade_off`, `verdict`).
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
    neighbours: str = "moved_vote",
) -> Audited:
    """Audit a mechanism over every histogram of votes and every move of one vote.

    >>> def respond(counts):  # randomised response on the vote of one teacher
    ...     return 0.25 + 0.5 * (counts > 0)
    >>> audited = audit_mechanism(respond, teachers=1, classes=2, delta=1e-9)
    >>> round(audited.epsilon, 4), audited.worst_counts  # ln 3
    (1.0986, ((1, 0), (0, 1)))

    Args:
        probabilities: counts (n, classes) -> (n, labels), the probability of each label; rows add
            up to 1 (an outcome without a label is one more column). Errors of its floats up to
            1e-12 of a probability are covered.
        teachers: how many teachers vote.
        classes: how many classes they choose from.
        delta: in [0, 1].
        adjacency: of records, as in `plan`: ``replace_one``. ``add_remove`` is refused, because a
            record that is added or removed moves a vote, too.
        neighbours: ``moved_vote``, all that a record of disjoint shards can do, or
            ``missing_vote`` (a teacher comes or goes with its vote).

    Raises:
        ValueError: for values out of range, for a table that is not one of probabilities, and for
            too many histograms to list (`audit.vote_neighbours`).
    """
    if adjacency == "add_remove":
        raise ValueError(
            "adjacency = 'add_remove': of records, where it moves a vote as 'replace_one' does; "
            "for a teacher that comes or goes say neighbours='missing_vote'"
        )
    checks.check_choice(("replace_one",), adjacency=adjacency)
    audited = audit_function(probabilities, teachers, classes, neighbours=neighbours)
    worst = audited.worst_pair(delta)
    ends = tuple(
        tuple(int(count) for count in audited.inputs[row]) for row in (worst.first, worst.second)
    )
    lower = audited.epsilon(delta, "lower")
    return Audited(
        worst.value, lower, delta, audited.rho(), audited.mu(), ends, tuple(worst.labels), audited
    )
