"""The plan of labels that may be released: their noise, as text and back, and what it costs.

A release is one batch; a session (`session`) is many. The noise never changes, so that the cost
depends only on how many queries and labels there may be. The account covers queries chosen after
seeing all labels so far (docs/many-labels.md, theorem 1; docs/other-labels.md), and therefore
every way to cut them into batches, and every rule by which somebody stops early
(docs/many-labels.md, "What may be decided while looking").
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from private_ensembles import __version__
from private_ensembles.accounting.adaptive_composition.account import Bounds, adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.scales import grid_fineness
from private_ensembles.base import checks
from private_ensembles.labels.accounts.label import MOST_LABELS, LabelAccount
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.laws.selection import SelectionRate
from private_ensembles.labels.mechanism import Mechanism, load_mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.planner.ranking import Plan
from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.task import Task, Wanted


@dataclass(frozen=True)
class ReleasePlan:
    """What may be released, and with which noise.

    Attributes:
        task: Its sizes, caps and total budget.
        name: The name of the mechanism.
        parameters: Its noise.
        correct: How many labels are expected to be right on the stated profile, if all are used.
        seed: The seed of a rehearsal's noise; None for secure noise.
        version: The version of the program that made the plan.
    """

    task: Task
    name: str
    parameters: Parameters
    correct: float
    seed: int | None
    version: str

    @property
    def mechanism(self) -> Mechanism:
        """Return the mechanism, which has a law and an account."""
        return load_mechanism(self.name)

    @property
    def may_abstain(self) -> bool:
        """Return whether a query may get no label, because a threshold is asked first."""
        return self.mechanism.law.may_abstain

    @property
    def labels(self) -> int:
        """Return how many labels the noise is for: fewer than asked for, if that gives more."""
        return int(self.parameters.labels)

    @property
    def queries(self) -> int:
        """Return how many queries may be asked: each takes a label, unless a threshold is first."""
        if not self.may_abstain:
            return self.labels
        assert isinstance(self.parameters, CheckedNoise)  # only thresholds may leave a query open
        return int(self.parameters.queries)

    @property
    def has_fresh_noise(self) -> bool:
        """Whether each label has noise of its own, so that labels of several releases compose.

        This is false if a teacher votes 1 on few queries of a release, because nobody has said on
        how many of all releases' queries.
        """
        entry, law = self.mechanism.entry, self.mechanism.law
        return (
            entry.guarantee.hides_votes
            and law.needs_only_counts
            and self.task.wanted.most_ones is None
        )

    @property
    def account_key(self) -> tuple:
        """Return what plans have in common whose labels are charged together: noise and sizes."""
        task = self.task
        sizes = (
            task.ensemble.teachers,
            task.ensemble.classes,
            task.protection.privacy_model,
            task.protection.adjacency,
            task.secure,
            task.protection.reach,
            task.ensemble.absent,
        )
        return self.name, self.parameters_for(1, 1), *sizes

    def parameters_for(self, queries: int, labels: int) -> Parameters:
        """Return the noise for at most so many queries and labels."""
        caps: dict[str, Any] = {"labels": labels}
        if self.may_abstain:
            caps["queries"] = queries
        return replace(self.parameters, **caps)

    def epsilon(self, queries: int, labels: int, delta: float | None = None) -> float:
        """Return an upper bound on what so many queries and labels cost together.

        Args:
            queries: How many were asked.
            labels: How many were released. After a threshold this is an outcome, so that as many
                are charged as there might have been, up to the cap.
            delta: The delta of the cost; None: the task's.

        Returns:
            Epsilon: 0 if nothing was asked, infinite if nothing is proven at this delta.
        """
        if delta is None:
            delta = self.task.budget.delta
        checks.check_probability(delta=delta, zero=False, one=False)
        if queries == 0:
            return 0.0
        if delta > self.task.budget.delta and not self._holds_at_every_delta:
            delta = self.task.budget.delta  # a cost at a smaller delta holds here, too
        if self.may_abstain:  # how many labels there are is an outcome: there might have been more
            labels = max(labels, min(queries, self.labels))
        task = self._task(queries, labels, delta)
        epsilon = math.inf
        if delta == self.task.budget.delta or self._holds_at_every_delta:
            epsilon = self.mechanism.cost(task, self.parameters_for(queries, labels)).proven
        # For one label, accounts return the budget, and the label account may prove less.
        if labels == 1 or not math.isfinite(epsilon):
            epsilon = min(epsilon, self._label_account_bounds(queries, labels, delta).upper)
        return epsilon

    def bounds(self, queries: int, labels: int, delta: float) -> Bounds:
        """Return bounds on the epsilon of so many queries and labels at `delta`.

        Returns:
            upper: As `epsilon`, or less. lower: What no account of these labels can be below; 0 if
            the mechanism is not charged for what its labels release.
        """
        upper = self.epsilon(queries, labels, delta)
        if queries == 0:
            return Bounds(0.0, upper)
        by_labels = self._label_account_bounds(queries, max(labels, 1), delta)
        return Bounds(by_labels.lower, min(by_labels.upper, upper))

    @property
    def _holds_at_every_delta(self) -> bool:
        """Whether the account depends on the noise alone, so that it holds at every delta.

        A label that was calibrated for one delta has a known cost at that delta only.
        """
        noise = self.parameters
        pure = isinstance(noise, SelectionRate) and noise.leak is None
        return pure or bool(noise.noisy_counts)

    def _task(self, queries: int, labels: int, delta: float) -> Task:
        """Return the task with other caps, at another delta."""
        budget = replace(self.task.budget, delta=delta)
        wanted = Wanted(labels, queries, self.task.wanted.most_ones)
        return replace(self.task, budget=budget, wanted=wanted)

    def _label_account_bounds(self, queries: int, labels: int, delta: float) -> Bounds:
        """Return bounds by the account of labels; (0, infinity) if it does not apply."""
        mechanism = self.mechanism
        account, law = mechanism.account, mechanism.law
        task = self._task(queries, labels, delta)
        covered = isinstance(account, LabelAccount) and labels <= MOST_LABELS
        if not covered or not law.has_dominating_pairs(task):
            return Bounds(0.0, math.inf)
        charged, noise = mechanism.charged_task_and_noise(
            task, self.parameters_for(queries, labels)
        )
        pairs = law.dominating_pairs(charged, noise)
        fineness = grid_fineness(task.ensemble.classes, charged.wanted.labels)
        return adaptive_epsilon(pairs, charged.wanted.labels, delta, fineness=fineness)

    def to_json(self) -> str:
        """Return the plan as JSON, from which `read_plan` makes it again, float for float."""
        plan = asdict(self) | {
            "parameters": _serialize_parameters(self.parameters),
            "task": self.task.to_dict(),
        }
        return json.dumps(plan, sort_keys=True, allow_nan=False, default=lambda x: x.item())


def read_plan(text: str) -> ReleasePlan:
    """Return the plan that `ReleasePlan.to_json` wrote; ValueError for any other text."""
    try:
        plan = json.loads(text)
        mechanism = load_mechanism(plan["name"])  # its module defines the class of its parameters
        return ReleasePlan(
            task=Task.from_dict(plan["task"]),
            name=mechanism.name,
            parameters=_deserialize_parameters(plan["parameters"]),
            correct=float(plan["correct"]),
            seed=plan["seed"],
            version=str(plan["version"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the plan of the labels cannot be read: {error}") from None


def _serialize_parameters(parameters: Parameters) -> dict:
    """Return parameters and their kind for JSON."""
    return {"kind": type(parameters).__name__} | asdict(parameters)


def _deserialize_parameters(fields: dict) -> Parameters:
    """Return the parameters that `_serialize_parameters` wrote."""
    fields = dict(fields)
    kind = _kinds(Parameters)[fields.pop("kind")]
    if fields.get("profile") is not None:
        fields["profile"] = ConsensusProfile(**fields["profile"])
    return kind(**fields)


def _kinds(base: type[Parameters]) -> dict[str, type[Parameters]]:
    """Return all classes derived from one, by name."""
    kinds: dict[str, type[Parameters]] = {}
    for kind in base.__subclasses__():
        kinds |= {kind.__name__: kind} | _kinds(kind)
    return kinds


def make_plan(task: Task, chosen: Plan, seed: int | None) -> ReleasePlan:
    """Return the plan of a release from what the planner has chosen.

    Args:
        task: What is wanted.
        chosen: A mechanism that applies, with its noise.
        seed: The seed of a rehearsal; None for a release.
    """
    assert chosen.parameters is not None  # the mechanism applies
    return ReleasePlan(
        task=task,
        name=chosen.mechanism,
        parameters=chosen.parameters,
        correct=chosen.correct,
        seed=seed,
        version=__version__,
    )
