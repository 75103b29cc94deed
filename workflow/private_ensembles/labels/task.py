"""What labels are wanted of an ensemble, and what they may cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from private_ensembles.base import checks
from private_ensembles.base.limits import MOST_EPSILON, check_budget, check_size
from private_ensembles.labels.registry import ADJACENCIES

if TYPE_CHECKING:  # --help needs the names of things, and no NumPy
    from private_ensembles.accounting.composition import Composition
    from private_ensembles.labels.profile import ConsensusProfile

# Tables call the shards that are stated by these names.
PRIVACY_MODELS = {"disjoint": "disjoint_shards", "shared": "shared_data"}
# The word for what one record is has at most so many characters, so that it fits in a sentence.
LONGEST_UNIT = 100


@dataclass(frozen=True)
class Budget:
    """What may be spent, or what is: (epsilon, delta), for which a pair is taken, too.

    >>> Budget.coerce((2, 1e-5))
    Budget(epsilon=2, delta=1e-05)

    Who is given a budget says what it allows of epsilon and delta, and raises ValueError for more.

    Attributes:
        epsilon: >= 0.
        delta: From 0 to 1.
    """

    epsilon: float
    delta: float

    @classmethod
    def coerce(cls, budget: Budget | Sequence[float]) -> Budget:
        """Return a budget, for which a pair is taken, too.

        Raises:
            ValueError: For anything else.
        """
        if isinstance(budget, cls):
            return budget
        if not isinstance(budget, Sequence) or isinstance(budget, str) or len(budget) != 2:
            raise ValueError(f"budget = {budget!r}: must be (epsilon, delta)")
        return cls(*budget)


@dataclass(frozen=True)
class Ensemble:
    """Who votes, and on what.

    >>> Ensemble(100, 10)
    Ensemble(teachers=100, classes=10, absent=False, private=None, names=None)
    >>> Ensemble(40, ["healthy", "ill"]).classes
    2

    Args:
        teachers: The number of teachers, which is public.
        classes: The number of classes, which is public, or their names, which then stand in
            `names`.
        absent: Whether a teacher may say nothing about a query; its vote is then dealt out to the
            classes (docs/own-votes.md).
        private: What one teacher costs for add_remove, if the teachers are private themselves: a
            Budget, or (epsilon, delta).
        names: The classes' names, if `classes` is their number.

    Raises:
        ValueError: For a value out of range.
    """

    teachers: int
    classes: int
    absent: bool = False
    private: Budget | None = None
    names: tuple[str, ...] | None = None

    if TYPE_CHECKING:  # what is taken, of which the fields above are made

        def __init__(
            self,
            teachers: int,
            classes: int | Sequence[str],
            absent: bool = False,
            private: Budget | tuple[float, float] | None = None,
            names: tuple[str, ...] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.classes, Sequence) and not isinstance(self.classes, str):
            names = tuple(map(str, self.classes))
            object.__setattr__(self, "names", names)
            object.__setattr__(self, "classes", len(names))
        checks.check_integer(at_least=1, n_teachers=self.teachers)
        checks.check_integer(at_least=2, n_classes=self.classes)
        check_size(self.teachers, self.classes)
        if self.private is not None:
            object.__setattr__(self, "private", Budget.coerce(self.private))
            epsilon = self.private.epsilon
            if not 0 < epsilon <= MOST_EPSILON:
                allowed = f"> 0 and <= {MOST_EPSILON:g}"
                raise ValueError(f"teacher_epsilon = {epsilon}: must be {allowed}")
            checks.check_probability(teacher_Delta=self.private.delta, one=False)


@dataclass(frozen=True)
class Protection:
    """Whom the guarantee protects, as the user has stated it: nothing in the votes shows it.

    >>> Protection.disjoint("patient", reach=2).description
    'one patient, whose data are in 2 shards at most'

    Args:
        shards: "disjoint" if no record is in the data of two teachers (of each partition, if there
            are several), "shared" if every teacher may see every record.
        unit: What is protected, such as "patient"; at most 100 printable characters.
        reach: How many teachers the unit may reach at most, if shards are disjoint: the shards that
            one person's records are in, or the records that are to be protected together.
        adjacency: The neighbouring relation, "replace_one" or "add_remove"; the latter with
            disjoint shards needs an assignment that moves no other record
            (`training.data.shards.keyed_hash_shards`).

    Raises:
        ValueError: In one line, for a value out of range, and for a reach above 1 of shared data,
            where it is all teachers.
    """

    shards: str
    unit: str = "record"
    reach: int = 1
    adjacency: str = "replace_one"

    def __post_init__(self) -> None:
        checks.check_choice(sorted(PRIVACY_MODELS), shards=self.shards)
        text = isinstance(self.unit, str) and self.unit.isprintable() and self.unit.strip()
        if not text or len(self.unit) > LONGEST_UNIT:
            allowed = f"what one record is, as patient: at most {LONGEST_UNIT} printable characters"
            raise ValueError(f"unit = {self.unit!r}: must be {allowed}")
        checks.check_choice(sorted(ADJACENCIES), adjacency=self.adjacency)
        checks.check_integer(at_least=1, reach=self.reach)
        if self.shards == "shared" and self.reach > 1:
            raise ValueError(
                f"reach = {self.reach}: must be 1 for shards = shared, where a {self.unit} may be "
                "in the data of every teacher anyway"
            )

    @classmethod
    def disjoint(cls, unit: str = "record", **more) -> Protection:
        """Return the protection of a unit where no two shards have a record in common.

        Args:
            unit: What is protected.
            more: Other fields.
        """
        return cls("disjoint", unit, **more)

    @classmethod
    def shared(cls, unit: str = "record", **more) -> Protection:
        """Return the protection of a unit where every teacher may see all data.

        Args:
            unit: What is protected.
            more: Other fields.
        """
        return cls("shared", unit, **more)

    @property
    def privacy_model(self) -> str:
        """What tables call these shards."""
        return PRIVACY_MODELS[self.shards]

    @property
    def description(self) -> str:
        """Who is protected, in words."""
        if self.shards == "shared":
            return f"one {self.unit}, whose data any teacher may have"
        if self.reach == 1:
            return f"one {self.unit}, whose data one teacher has"
        return f"one {self.unit}, whose data are in {self.reach} shards at most"


def require_protection(protection: Protection | None, *, secure: bool) -> Protection:
    """Return who is protected; a rehearsal for which nobody has said protects a record in disjoint
    shards.

    Args:
        protection: What the user has stated, if anything.
        secure: Whether labels are for release. A rehearsal releases nothing.

    Raises:
        ValueError: If labels are for release and nobody has said.
    """
    if protection is None and secure:
        raise ValueError(
            "protection: must be stated, Protection.disjoint(UNIT) (no record is in the data of "
            "two teachers) or Protection.shared(UNIT)"
        )
    return Protection.disjoint() if protection is None else protection


def protection_from_options(
    shards: str | None, unit: str, reach: int, adjacency: str, *, secure: bool
) -> Protection:
    """Return who is protected, from options of which `shards` may be missing for a rehearsal.

    Raises:
        ValueError: If labels are for release and `shards` is missing, or for a value out of range.

    >>> protection_from_options(None, "record", 1, "replace_one", secure=True)
    Traceback (most recent call last):
    ValueError: shards: must be stated, "disjoint" (no record is in the data of two teachers) or \
"shared"
    """
    if shards is None and secure:
        raise ValueError(
            'shards: must be stated, "disjoint" (no record is in the data of two teachers) or '
            '"shared"'
        )
    return Protection("disjoint" if shards is None else shards, unit, reach, adjacency)


def shards_for_privacy_model(privacy_model: str) -> str:
    """Return the shards of a privacy model, as `Protection` calls them.

    Raises:
        ValueError: For an unknown privacy model.

    >>> shards_for_privacy_model("shared_data")
    'shared'
    """
    shards_by_model = {model: shards for shards, model in PRIVACY_MODELS.items()}
    checks.check_choice(sorted(shards_by_model), privacy_model=privacy_model)
    return shards_by_model[privacy_model]


@dataclass(frozen=True)
class Wanted:
    """How many labels are wanted.

    >>> Wanted(20), Wanted.coerce(20, queries=60).queries
    (Wanted(labels=20, queries=20, most_ones=None), 60)

    Args:
        labels: How many answers at most.
        queries: How many are in the pool; None: as many as labels.
        most_ones: On how many of all queries one teacher votes 1 at most, of two classes; None: any
            number (docs/other-labels.md).

    Raises:
        ValueError: For a number out of range.
    """

    labels: int
    queries: int = None  # type: ignore[assignment]  # __post_init__ puts a number there
    most_ones: int | None = None

    if TYPE_CHECKING:  # what is taken, of which the fields above are made

        def __init__(
            self, labels: int, queries: int | None = None, most_ones: int | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.queries is None:
            object.__setattr__(self, "queries", self.labels)
        checks.check_integer(at_least=1, labels=self.labels, queries=self.queries)
        if self.labels > self.queries:
            raise ValueError(f"labels = {self.labels}: must be at most queries = {self.queries}")
        if self.most_ones is not None:
            checks.check_integer(at_least=1, most_ones=self.most_ones)

    @classmethod
    def coerce(cls, labels: Wanted | int, queries: int | None = None) -> Wanted:
        """Return what is wanted, for which a number of labels, and of queries, is taken, too."""
        return labels if isinstance(labels, Wanted) else cls(labels, queries)


@dataclass(frozen=True)
class Rehearsal:
    """Noise that anybody can draw again from the seed: labels that must not be released.

    >>> Rehearsal(7).seed
    7

    Args:
        seed: A whole number from 0.

    Raises:
        ValueError: For another seed.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        checks.check_integer(at_least=0, seed=self.seed)


@dataclass(frozen=True)
class Task:
    """Labels wanted of an ensemble, and what all of them together may cost.

    >>> task = Task(Ensemble(100, 10), Budget(2, 1e-5), Wanted(20))
    >>> task.ensemble.teachers, task.wanted.queries, task.protection.adjacency
    (100, 20, 'replace_one')

    Args:
        ensemble: Who votes.
        budget: What all labels together may cost.
        wanted: How many labels.
        protection: Whom the guarantee protects.
        secure: Whether labels are drawn from the system's entropy, by exact samplers that only some
            mechanisms have, and accounted for as the discrete noise that it is.
        profile: How the teachers are thought to agree, on which no cost depends.
        counts_only: Whether nothing of the votes is known but how many each class has.

    Raises:
        ValueError: For a budget out of range, and for what does not fit together.
    """

    ensemble: Ensemble
    budget: Budget
    wanted: Wanted
    protection: Protection = Protection("disjoint")
    secure: bool = False
    profile: ConsensusProfile | None = None
    counts_only: bool = False

    def __post_init__(self) -> None:
        check_budget(self.budget.epsilon, self.budget.delta)
        checks.check_integer(
            at_least=1, at_most=self.ensemble.teachers, reach=self.protection.reach
        )
        if self.wanted.most_ones is not None:
            self._check_ones(self.wanted.most_ones)
        if self.profile is not None and self.profile.absent_share and not self.ensemble.absent:
            raise ValueError(
                f"absent_share = {self.profile.absent_share}: must be 0, unless ballots may be "
                "absent (absent=yes)"
            )

    def _check_ones(self, most_ones: int) -> None:
        if self.ensemble.classes != 2:
            raise ValueError(
                f"most_ones = {most_ones}: must be left out with {self.ensemble.classes} classes, "
                "as it counts votes for class 1 of two"
            )
        if self.ensemble.absent:
            raise ValueError(
                f"most_ones = {most_ones}: must be left out where ballots may be absent, as a "
                "teacher that vanishes may change every query; or let an absent ballot vote 0"
            )

    @property
    def changed_queries(self) -> int:
        """On how many queries the protected unit can change votes at most.

        A teacher whose votes turn into others changes no query on which both are 0: twice most_ones
        at most (docs/other-labels.md, theorem 3).

        >>> Task(Ensemble(50, 2), Budget(1.0, 1e-5), Wanted(28, most_ones=3)).changed_queries
        6
        """
        if self.wanted.most_ones is None:
            return self.wanted.queries
        return min(self.wanted.queries, 2 * self.wanted.most_ones * self.protection.reach)

    def single_vote_task(self) -> Task:
        """Return the same task for a unit that moves one vote."""
        return replace(self, protection=replace(self.protection, reach=1))

    def to_dict(self) -> dict[str, Any]:
        """Return the task as a flat dictionary of numbers and texts.

        Of ballots, only what is not usual stands there.

        >>> Task(Ensemble(50, 2), Budget(1.0, 1e-5), Wanted(28)).to_dict()["n_teachers"]
        50
        """
        private = self.ensemble.private
        facts = {
            "epsilon": self.budget.epsilon,
            "delta": self.budget.delta,
            "queries": self.wanted.queries,
            "labels": self.wanted.labels,
            "n_teachers": self.ensemble.teachers,
            "n_classes": self.ensemble.classes,
            "privacy_model": self.protection.privacy_model,
            "unit": self.protection.unit,
            "reach": self.protection.reach,
            "adjacency": self.protection.adjacency,
            "teacher_epsilon": None if private is None else private.epsilon,
            "teacher_Delta": 0.0 if private is None else private.delta,
            "secure": self.secure,
            "counts_only": self.counts_only,
            "profile": None if self.profile is None else asdict(self.profile),
        }
        if self.ensemble.absent:
            facts["absent"] = True
        if self.wanted.most_ones is not None:
            facts["most_ones"] = self.wanted.most_ones
        return facts

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Task:
        """Return the task that `to_dict` has made a dictionary of.

        Raises:
            KeyError: If a fact is missing.
            ValueError: For a value out of range.
        """
        from private_ensembles.labels.profile import ConsensusProfile  # late: NumPy

        rest = dict(facts)
        profile = rest.pop("profile", None)
        private = private_teacher_budget(
            rest.pop("teacher_epsilon", None), rest.pop("teacher_Delta", 0.0)
        )
        ensemble = Ensemble(
            rest.pop("n_teachers"),
            rest.pop("n_classes"),
            absent=rest.pop("absent", False),
            private=private,
        )
        budget = Budget(rest.pop("epsilon"), rest.pop("delta"))
        wanted = Wanted(rest.pop("labels"), rest.pop("queries"), rest.pop("most_ones", None))
        switches = {name: rest.pop(name) for name in ("secure", "counts_only") if name in rest}
        profile = None if profile is None else ConsensusProfile(**profile)
        shards = shards_for_privacy_model(rest.pop("privacy_model", PRIVACY_MODELS["disjoint"]))
        protection = Protection(shards, **rest)
        return cls(ensemble, budget, wanted, protection, profile=profile, **switches)

    def teacher_cost(self) -> Composition:
        """Return what one private teacher costs for the task's adjacency."""
        from private_ensembles.accounting.budgets import (
            disjoint_shards_majority_cost,
        )  # late: NumPy

        private = self.ensemble.private
        assert private is not None  # asked of private teachers alone
        return disjoint_shards_majority_cost(
            private.epsilon, private.delta, self.protection.adjacency
        )

    def teacher_refusal(self) -> str | None:
        """Return that one private teacher costs more than the budget, or None if it does not."""
        cost = self.teacher_cost()
        if cost.epsilon <= self.budget.epsilon and cost.delta <= self.budget.delta:
            return None
        return f"one teacher costs ({cost.epsilon:.4g}, {cost.delta:.4g}), more than the budget"


def private_teacher_budget(epsilon: float | None, delta: float) -> Budget | None:
    """Return what one private teacher costs; None if the teachers are not private.

    Raises:
        ValueError: For a delta that is no probability.
    """
    checks.check_probability(teacher_Delta=delta, one=False)
    return None if epsilon is None else Budget(epsilon, delta)
