"""What labels are wanted of an ensemble, and what they may cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace

from private_ensembles import checks
from private_ensembles.accounting.budgets import majority_cost
from private_ensembles.accounting.composition import Composition
from private_ensembles.accounting.limits import (
    MOST_EPSILON,
    MOST_PARTS,
    check_budget,
    check_size,
)
from private_ensembles.mechanisms.registry import ADJACENCIES
from private_ensembles.votes.cache import Votes
from private_ensembles.votes.synthetic import ConsensusProfile

# Fields that texts from before there were ballots of several votes do not have.
_OF_BALLOTS = ("ballot", "split", "n_votes", "absent", "findings", "most_ones")

PRIVACY_MODELS = frozenset({"shared_data", "disjoint_shards"})


def split_ballots(n_teachers: int, resolution: int | None) -> dict[str, int | bool]:
    """Return the fields of a task whose ballots are of so many parts; None or 1: they are whole.

    >>> split_ballots(50, 100)
    {'n_votes': 5000, 'ballot': 100, 'split': True}

    Raises ValueError for a resolution that is not 1 to MOST_PARTS.
    """
    if resolution is None:
        return {}
    checks.integer(resolution=resolution, at_least=1, at_most=MOST_PARTS)
    if resolution == 1:
        return {}
    return {"n_votes": n_teachers * resolution, "ballot": resolution, "split": True}


def sizes_of(votes: Votes) -> dict[str, object]:
    """Return the fields of a task that say how many teachers and classes, and what a ballot is.

    >>> sizes = sizes_of(Votes(2, [-1], counts=[[30, 20]], teachers=5, resolution=10))
    >>> sizes["n_teachers"], sizes["n_votes"], sizes["ballot"]
    (5, 50, 10)
    """
    return {
        "n_teachers": votes.n_teachers,
        "n_classes": votes.n_classes,
        "absent": votes.absent,
        "ballot": votes.ballot,
        "split": votes.split,
        "n_votes": None if votes.n_votes == votes.n_teachers else votes.n_votes,
        "findings": votes.findings,
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

    ballot: votes of the largest ballot, which is all that one teacher says about a query. split:
    whether a ballot's votes may go to several classes; else all of them are for one. n_votes: votes
    on each query, which all its counts add up to; None: one for each teacher. absent: whether a
    teacher may say nothing, so that only the number of teachers is public; its votes are then dealt
    out to the classes (docs/ballots.md). findings: yes/no questions that a ballot answers at
    once: so many queries of two classes, one after the other, are one vector (docs/multi-label.md).
    most_ones: how many of them a ballot answers with yes at most; None: all.

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
    ballot: int = 1
    split: bool = False
    n_votes: int | None = None
    absent: bool = False
    findings: int = 1
    most_ones: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta)
        counted = {"queries": self.queries, "labels": self.labels, "n_teachers": self.n_teachers}
        checks.integer(at_least=1, **counted)
        checks.integer(at_least=1, at_most=self.n_teachers, reach=self.reach)
        checks.integer(at_least=2, n_classes=self.n_classes)
        self._check_findings()
        checks.integer(at_least=1, ballot=self.ballot)
        if self.n_votes is not None:
            checks.integer(at_least=self.n_teachers, n_votes=self.n_votes)
        check_size(self.n_teachers, self.n_classes)
        check_size(self.votes_in_all, self.n_classes, "n_votes")
        if self.ballot > (most := self.votes_in_all - self.n_teachers + 1):
            raise ValueError(
                f"ballot = {self.ballot}: must be at most {most}, as {self.n_teachers} teachers "
                f"cast {self.votes_in_all} votes (n_votes) on each query, each at least one"
            )
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

    def _check_findings(self) -> None:
        checks.integer(at_least=1, findings=self.findings)
        if self.findings > 1 and self.n_classes != 2:
            raise ValueError(f"n_classes = {self.n_classes}: must be 2, as findings are yes or no")
        if self.most_ones is None:
            return
        checks.integer(at_least=1, at_most=self.findings, most_ones=self.most_ones)
        if self.absent:
            raise ValueError(
                f"most_ones = {self.most_ones}: must be left out where ballots may be absent, as "
                "one that vanishes may change every finding; or let an absent ballot say no to all"
            )

    @property
    def vectors(self) -> int:
        """Return how many vectors of findings are wanted at most: labels, if there is one each."""
        return self.labels // self.findings

    def changed(self, labels: int) -> int:
        """Return how many of so many labels, in their order, the unit can change at most.

        A ballot that turns into another one changes no finding to which both say no: of k findings
        min(k, 2 most_ones) at most (docs/multi-label.md, theorem 1).

        >>> Task(1.0, 1e-5, 28, 28, 50, 2, findings=14, most_ones=3).changed(28)
        12
        """
        if self.most_ones is None:
            return labels
        whole, rest = divmod(labels, self.findings)
        most = min(self.findings, 2 * self.most_ones * self.reach)
        return whole * most + min(rest, most)

    @property
    def votes_in_all(self) -> int:
        """Return how many votes the counts of every query add up to."""
        return self.n_teachers if self.n_votes is None else self.n_votes

    @property
    def moved(self) -> int:
        """Return how many votes of a query the unit that is protected may move at most."""
        return min(self.reach * self.ballot, self.votes_in_all)

    @property
    def resolution(self) -> int:
        """Return of how many parts a ballot of scores is; 1 if ballots are no scores."""
        return self.ballot

    def of_one_vote(self) -> Task:
        """Return the same task if one vote moves."""
        return replace(self, reach=1, ballot=1, split=False)

    def stated(self) -> dict:
        """Return the fields for a text; of those that say what a ballot is, only what is said."""
        stated = asdict(self)
        if self.profile is not None:
            stated["profile"] = self.profile.stated()
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
