"""The plan of labels that may be released: their noise, as text and back, and what it costs.

A release is one batch; a session (`session`) is many. The noise never changes, so what labels cost
depends on how many queries and labels there may be alone. The account covers queries chosen after
seeing all labels so far (docs/many-labels.md, theorem 1; docs/confident-labels.md), and therefore
every way to cut them into batches, and every rule by which somebody stops early (docs/sessions.md).
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace

from private_ensembles import __version__
from private_ensembles.accounting.adaptive_composition.account import Bounds, adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.scales import grid_fineness
from private_ensembles.base import checks
from private_ensembles.labels.accounts.label import MOST_LABELS, LabelAccount
from private_ensembles.labels.laws.selection import SelectionRate
from private_ensembles.labels.mechanism import Mechanism, load_mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.planner.ranking import Plan
from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.task import Task, Wanted


@dataclass(frozen=True)
class ReleasePlan:
    """What may be released, and with which noise.

    task: its sizes, caps and total budget. name: of the mechanism. parameters: its noise. correct:
    expected right labels on the stated profile if all labels are used. seed: of a rehearsal's
    noise; None for secure noise. version: of the program that made the plan.
    """

    task: Task
    name: str
    parameters: Parameters
    correct: float
    seed: int | None
    version: str

    @property
    def mechanism(self) -> Mechanism:
        """Return the mechanism."""
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
        return int(self.parameters.queries) if self.may_abstain else self.labels

    @property
    def has_fresh_noise(self) -> bool:
        """Whether each label has noise of its own, so that labels of several releases add up.

        Not if a teacher votes 1 on few queries of a release: on how many of all is not said.
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
        if self.may_abstain:
            return replace(self.parameters, queries=queries, labels=labels)
        return replace(self.parameters, labels=labels)

    def epsilon(self, queries: int, labels: int, delta: float | None = None) -> float:
        """Return an upper bound on what so many queries and labels cost together.

        queries: how many were asked. After a threshold labels are an outcome, so that as many are
        charged as there might have been, up to the cap. delta: None: the task's. 0 if nothing was
        asked, infinite if nothing is proven at this delta.
        """
        at = self.task.budget.delta if delta is None else delta
        checks.check_probability(delta=at, zero=False, one=False)
        if queries == 0:
            return 0.0
        if at > self.task.budget.delta and not self._holds_at_every_delta:
            at = self.task.budget.delta  # what holds there holds here
        if (
            self.may_abstain
        ):  # how many labels there are is an outcome: there might have been so many
            labels = max(labels, min(queries, self.labels))
        task = self._task(queries, labels, at)
        known = math.inf
        if at == self.task.budget.delta or self._holds_at_every_delta:
            known = self.mechanism.cost(task, self.parameters_for(queries, labels)).proven
        if labels == 1 or not math.isfinite(known):  # of one label, accounts tell the budget
            known = min(known, self._label_account_bounds(queries, labels, at).upper)
        return known

    def bounds(self, queries: int, labels: int, delta: float) -> Bounds:
        """Return the epsilon of so many queries and labels at `delta` between two bounds.

        upper: as `epsilon`, or less. lower: what no account of these labels can be below; 0 if the
        mechanism is not charged for what its labels release.
        """
        upper = self.epsilon(queries, labels, delta)
        if queries == 0:
            return Bounds(0.0, upper)
        alone = self._label_account_bounds(queries, max(labels, 1), delta)
        return Bounds(alone.lower, min(alone.upper, upper))

    @property
    def _holds_at_every_delta(self) -> bool:
        """Whether the account asks nothing but the noise, so that it holds at every delta.

        Of a label that was found for one delta, nothing else is known.
        """
        noise = self.parameters
        pure = isinstance(noise, SelectionRate) and noise.leak is None
        return pure or bool(noise.noisy_counts)

    def _task(self, queries: int, labels: int, delta: float) -> Task:
        """The task with other caps, at another delta."""
        budget = replace(self.task.budget, delta=delta)
        wanted = Wanted(labels, queries, self.task.wanted.most_ones)
        return replace(self.task, budget=budget, wanted=wanted)

    def _label_account_bounds(self, queries: int, labels: int, delta: float) -> Bounds:
        """Bounds by the account of what labels release; (0, infinity) where it does not apply."""
        mechanism = self.mechanism
        account, law = mechanism.account, mechanism.law
        task = self._task(queries, labels, delta)
        covered = isinstance(account, LabelAccount) and labels <= MOST_LABELS
        if not covered or not law.has_dominating_pairs(task):
            return Bounds(0.0, math.inf)
        charged, noise = mechanism.charged_task_and_noise(
            task, self.parameters_for(queries, labels)
        )
        family = law.dominating_pairs(charged, noise)
        fineness = grid_fineness(task.ensemble.classes, charged.wanted.labels)
        return adaptive_epsilon(family, charged.wanted.labels, delta, fineness=fineness)

    def to_json(self) -> str:
        """Return the plan as JSON, from which `read` makes it again, float for float."""
        plan = asdict(self) | {
            "parameters": _serialize_parameters(self.parameters),
            "task": self.task.to_dict(),
        }
        return json.dumps(plan, sort_keys=True, allow_nan=False, default=lambda x: x.item())


def read_plan(text: str) -> ReleasePlan:
    """Return the plan that `ReleasePlan.text` wrote; ValueError for any other text."""
    try:
        stated = json.loads(text)
        mechanism = load_mechanism(stated["name"])  # defines its parameters
        return ReleasePlan(
            task=Task.from_dict(stated["task"]),
            name=mechanism.name,
            parameters=_deserialize_parameters(stated["parameters"]),
            correct=float(stated["correct"]),
            seed=stated["seed"],
            version=str(stated["version"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the plan of the labels cannot be read: {error}") from None


def _serialize_parameters(parameters: Parameters) -> dict:
    """Say parameters and of which kind they are, for JSON."""
    return {"kind": type(parameters).__name__} | asdict(parameters)


def _deserialize_parameters(stated: dict) -> Parameters:
    """Return the parameters that `_stated` said."""
    stated = dict(stated)
    kind = _kinds(Parameters)[stated.pop("kind")]
    if stated.get("profile") is not None:
        stated["profile"] = ConsensusProfile(**stated["profile"])
    return kind(**stated)


def _kinds(base: type) -> dict[str, type]:
    """Return all classes derived from one, by name."""
    kinds = {}
    for kind in base.__subclasses__():
        kinds |= {kind.__name__: kind} | _kinds(kind)
    return kinds


def make_plan(task: Task, chosen: Plan, seed: int | None) -> ReleasePlan:
    """Return a plan that the planner has chosen for a task. seed: of a rehearsal, else None."""
    return ReleasePlan(
        task=task,
        name=chosen.mechanism,
        parameters=chosen.parameters,
        correct=chosen.correct,
        seed=seed,
        version=__version__,
    )
