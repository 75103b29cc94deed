"""What labels are wanted of an ensemble, and what they may cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace

from private_ensembles import checks
from private_ensembles.accounting.budgets import majority_cost
from private_ensembles.accounting.composition import Composition
from private_ensembles.accounting.limits import MOST_EPSILON, check_budget, check_size
from private_ensembles.mechanisms.registry import ADJACENCIES
from private_ensembles.votes.cache import Votes
from private_ensembles.votes.synthetic import ConsensusProfile

# Fields that a text leaves out unless they are told.
_OF_BALLOTS = ("absent", "most_ones")

PRIVACY_MODELS = frozenset({"shared_data", "disjoint_shards"})


def sizes_of(votes: Votes) -> dict[str, object]:
    """Return the fields of a task that say how many teachers and classes, and what a ballot is.

    >>> sizes = sizes_of(Votes(2, [-1], counts=[[3, 2]]))
    >>> sizes["n_teachers"], sizes["n_classes"], sizes["absent"]
    (5, 2, False)
    """
    return {
        "n_teachers": votes.n_teachers,
        "n_classes": votes.n_classes,
        "absent": votes.absent,
        "most_ones": votes.most_ones,
    }


@dataclass(frozen=True)
class Task:
    """Labels wanted of an ensemble, and what all of them together may cost.

    epsilon, delta: the total budget. queries: how many are in the pool; labels: how many answers
    are wanted at most. privacy_model: "shared_data" if every teacher may see every record;
    "disjoint_shards" if one record reaches one teacher only (of each partition, if there are
    several). adjacency: the neighbouring relation; "add_remove" with disjoint shards needs an
    assignment that moves no other record (`datasets.shards.keyed_hash_shards`). teacher_epsilon,
    teacher_Delta: what one teacher costs for add_remove, if the teachers are private themselves.
    secure: labels are drawn from the system's entropy, by exact samplers that only some mechanisms
    have, and accounted for as the discrete noise that it is. counts_only: of the votes only
    how many each class has is known. profile: how the teachers are thought to agree, on which no
    cost depends. reach: how many teachers the unit that is protected may reach at most: the shards
    that one person's records are in, or the records that are to be protected together.

    absent: whether a teacher may say nothing about a query, so that only the number of teachers is
    public; its vote is then dealt out to the classes (docs/ballots.md). most_ones: how many of all
    queries one teacher votes 1 on at most, of two classes; None: any number (docs/multi-label.md).

    Raises ValueError for a value out of range.
    """

    epsilon: float
    delta: float
    queries: int
    labels: int
    n_teachers: int
    n_classes: int
    privacy_model: str = "disjoint_shards"
    adjacency: str = "replace_one"
    teacher_epsilon: float | None = None
    teacher_Delta: float = 0.0
    secure: bool = False
    counts_only: bool = False
    profile: ConsensusProfile | None = None
    reach: int = 1
    absent: bool = False
    most_ones: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta)
        counted = {"queries": self.queries, "labels": self.labels, "n_teachers": self.n_teachers}
        checks.integer(at_least=1, **counted)
        checks.integer(at_least=1, at_most=self.n_teachers, reach=self.reach)
        checks.integer(at_least=2, n_classes=self.n_classes)
        if self.most_ones is not None:
            self._check_ones()
        check_size(self.n_teachers, self.n_classes)
        if self.labels > self.queries:
            raise ValueError(f"labels = {self.labels}: must be at most queries = {self.queries}")
        checks.one_of(sorted(PRIVACY_MODELS), privacy_model=self.privacy_model)
        checks.one_of(sorted(ADJACENCIES), adjacency=self.adjacency)
        if self.teacher_epsilon is not None and not 0 < self.teacher_epsilon <= MOST_EPSILON:
            raise ValueError(
                f"teacher_epsilon = {self.teacher_epsilon}: must be > 0 and <= {MOST_EPSILON:g}"
            )
        checks.probability(teacher_Delta=self.teacher_Delta, one=False)
        if self.profile is not None and self.profile.absent_share and not self.absent:
            raise ValueError(
                f"absent_share = {self.profile.absent_share}: must be 0, unless ballots may be "
                "absent (absent=yes)"
            )

    def _check_ones(self) -> None:
        checks.integer(at_least=1, most_ones=self.most_ones)
        if self.n_classes != 2:
            raise ValueError(
                f"most_ones = {self.most_ones}: must be left out with {self.n_classes} classes, as "
                "it counts votes for class 1 of two"
            )
        if self.absent:
            raise ValueError(
                f"most_ones = {self.most_ones}: must be left out where ballots may be absent, as a "
                "teacher that vanishes may change every query; or let an absent ballot vote 0"
            )

    @property
    def changed(self) -> int:
        """Return on how many queries the unit can change votes at most.

        A teacher whose votes turn into others changes no query on which both are 0: twice most_ones
        at most (docs/multi-label.md, theorem 1).

        >>> Task(1.0, 1e-5, 28, 28, 50, 2, most_ones=3).changed
        6
        """
        if self.most_ones is None:
            return self.queries
        return min(self.queries, 2 * self.most_ones * self.reach)

    @property
    def moved(self) -> int:
        """Return how many votes of a query the unit that is protected may move at most.

        One of each teacher that it reaches.
        """
        return self.reach

    def of_one_vote(self) -> Task:
        """Return the same task if one vote moves."""
        return replace(self, reach=1)

    def stated(self) -> dict:
        """Return the fields for a text; of those that say what a ballot is, only what is told."""
        stated = asdict(self)
        for field in fields(self):
            if field.name in _OF_BALLOTS and stated[field.name] == field.default:
                del stated[field.name]
        return stated

    def teacher_cost(self) -> Composition:
        """Return what one private teacher costs for the task's adjacency."""
        return majority_cost(self.teacher_epsilon, self.teacher_Delta, self.adjacency)

    def teacher_refusal(self) -> str | None:
        """Return that one private teacher costs more than the budget, or None if it does not."""
        cost = self.teacher_cost()
        if cost.epsilon <= self.epsilon and cost.delta <= self.delta:
            return None
        return f"one teacher costs ({cost.epsilon:.4g}, {cost.delta:.4g}), more than the budget"
