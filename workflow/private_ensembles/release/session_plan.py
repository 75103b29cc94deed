"""The plan of a session: made once, kept as text, and what any part of it costs.

A session's noise never changes, so what it costs depends on how many queries and labels it may
reach alone. The account covers queries chosen after seeing all labels so far
(docs/many-labels.md, theorem 1; docs/confident-labels.md), and therefore every way to cut them into
batches, and every rule by which somebody stops early (docs/sessions.md).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

from private_ensembles import __version__, checks
from private_ensembles.accounting.adaptive.account import adaptive_epsilon
from private_ensembles.accounting.adaptive.curves import Bounds
from private_ensembles.accounting.adaptive.grids import grid_fineness
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.accounts.label import LabelAccount
from private_ensembles.mechanisms.accounts.starts import MOST_LABELS
from private_ensembles.mechanisms.laws.selection import SelectionRate
from private_ensembles.mechanisms.mechanism import Mechanism, load
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.mechanisms.task import Task
from private_ensembles.planner import ranking, study
from private_ensembles.planner.defaults import PRIVACY, PROFILE
from private_ensembles.release import own_votes
from private_ensembles.votes.synthetic import ConsensusProfile

NOISES = ("secure", "reproducible")


@dataclass(frozen=True)
class SessionPlan:
    """What a session may release, and with which noise.

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
        return load(self.name)

    @property
    def silent(self) -> bool:
        """Return whether a query may get no label, because a threshold is asked first."""
        return self.mechanism.law.silent

    @property
    def labels(self) -> int:
        """Return how many labels the noise is for: fewer than asked for, if that gives more."""
        return int(self.parameters.labels)

    @property
    def queries(self) -> int:
        """Return how many queries may be asked: each takes a label, unless a threshold is first."""
        return int(self.parameters.queries) if self.silent else self.labels

    def noise(self, queries: int, labels: int) -> Parameters:
        """Return the noise, for at most so many queries and labels."""
        if self.silent:
            return replace(self.parameters, queries=queries, labels=labels)
        return replace(self.parameters, labels=labels)

    def epsilon(self, queries: int, labels: int, delta: float | None = None) -> float:
        """Return an upper bound on what so many queries and labels cost together.

        queries: how many thresholds were asked; those that got no label count only there. delta:
        None: the task's. 0 if nothing was asked, infinite if nothing is proven at this delta.
        """
        at = self.task.delta if delta is None else delta
        checks.probability(delta=at, zero=False, one=False)
        if queries == 0:
            return 0.0
        if at > self.task.delta and not self._any_delta:
            at = self.task.delta  # what holds there holds here
        labels = max(labels, 1)  # a threshold that failed is charged beside one label at least
        task = replace(self.task, queries=queries, labels=labels, delta=at)
        known = math.inf
        if at == self.task.delta or self._any_delta:
            known = self.mechanism.cost(task, self.noise(queries, labels)).proven
        if labels == 1 or not math.isfinite(known):  # of one label, accounts tell the budget
            known = min(known, self._labels_alone(queries, labels, at).upper)
        return known

    def bounds(self, queries: int, labels: int, delta: float) -> Bounds:
        """Return the epsilon of so many queries and labels at `delta` between two bounds.

        upper: as `epsilon`, or less. lower: what no account of these labels can be below; 0 if the
        mechanism is not charged for what its labels release.
        """
        upper = self.epsilon(queries, labels, delta)
        if queries == 0:
            return Bounds(0.0, upper)
        alone = self._labels_alone(queries, max(labels, 1), delta)
        return Bounds(alone.lower, min(alone.upper, upper))

    @property
    def _any_delta(self) -> bool:
        """Whether the account asks nothing but the noise, so that it holds at every delta.

        Of a label that was found for one delta, nothing else is known.
        """
        noise = self.parameters
        pure = isinstance(noise, SelectionRate) and noise.leak is None
        return pure or bool(noise.noisy_counts)

    def _labels_alone(self, queries: int, labels: int, delta: float) -> Bounds:
        """Bounds by the account of what labels release; (0, infinity) where it does not apply."""
        mechanism = self.mechanism
        account, law = mechanism.account, mechanism.law
        task = replace(self.task, queries=queries, labels=labels, delta=delta)
        covered = isinstance(account, LabelAccount) and labels <= MOST_LABELS
        if not covered or not (task.n_classes == 2 or law.pairs_of_many):
            return Bounds(0.0, math.inf)
        family = law.pairs(task, self.noise(queries, labels))
        fineness = grid_fineness(task.n_classes, labels)
        return adaptive_epsilon(family, labels, delta, fineness=fineness)

    def text(self) -> str:
        """Return the plan as JSON, from which `read` makes it again, float for float."""
        parameters = asdict(self.parameters)
        kind = type(self.parameters).__name__
        plan = asdict(self) | {"parameters": {"kind": kind} | parameters}
        return json.dumps(plan, sort_keys=True, allow_nan=False)


def read(text: str) -> SessionPlan:
    """Return the plan that `SessionPlan.text` wrote; ValueError for any other text."""
    try:
        stated = json.loads(text)
        mechanism = load(stated["name"])  # defines its parameters
        task = dict(stated["task"])
        profile = task.pop("profile")
        parameters = dict(stated["parameters"])
        kind = _kinds(Parameters)[parameters.pop("kind")]
        if parameters.get("profile") is not None:
            parameters["profile"] = ConsensusProfile(**parameters["profile"])
        return SessionPlan(
            task=Task(**task, profile=None if profile is None else ConsensusProfile(**profile)),
            name=mechanism.name,
            parameters=kind(**parameters),
            correct=float(stated["correct"]),
            seed=stated["seed"],
            version=str(stated["version"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the plan of the session cannot be read: {error}") from None


def _kinds(of: type) -> dict[str, type]:
    """Return all classes derived from one, by name."""
    kinds = {}
    for kind in of.__subclasses__():
        kinds |= {kind.__name__: kind} | _kinds(kind)
    return kinds


def made(
    *,
    teachers: int,
    classes: int,
    labels: int,
    queries: int | None,
    epsilon: float,
    delta: float,
    mechanisms: Sequence[str] | None,
    profile: Mapping | None,
    privacy_model: str = PRIVACY["privacy_model"],
    adjacency: str = PRIVACY["adjacency"],
    teacher_epsilon: float | None = PRIVACY["teacher_epsilon"],
    teacher_delta: float = PRIVACY["teacher_Delta"],
    noise: str = "secure",
    seed: int | None = None,
) -> SessionPlan:
    """Return the plan of a session; arguments as `Session.create` takes them.

    Raises ValueError for a value out of range, and if no mechanism applies.
    """
    checks.integer(teachers=teachers, at_least=2)
    checks.one_of(NOISES, noise=noise)
    if noise == "secure" and seed is not None:
        raise ValueError(f"seed = {seed}: must be None for noise = secure, which has no seed")
    names = offered() if mechanisms is None else list(mechanisms)
    for name in names:
        checks.one_of(offered(), mechanism=name)
    stated = PROFILE | dict(profile or {})
    if unknown := sorted(set(stated) - set(PROFILE)):
        raise ValueError(f"profile: {', '.join(unknown)}: must be of {', '.join(PROFILE)}")
    task = Task(
        epsilon,
        delta,
        labels if queries is None else queries,
        labels,
        teachers,
        classes,
        privacy_model,
        adjacency,
        teacher_epsilon,
        teacher_delta,
        secure=noise == "secure",
        counts_only=True,
        profile=ConsensusProfile(classes, **stated),
    )
    chosen = own_votes.planned(task, names, 0).chosen
    return SessionPlan(
        task=task,
        name=chosen.mechanism,
        parameters=chosen.parameters,
        correct=chosen.correct,
        seed=None if task.secure else (0 if seed is None else seed),
        version=__version__,
    )


def offered() -> list[str]:
    """Return the names of mechanisms that a session may have: each label is a matter of counts.

    >>> "committee" in offered(), "gnmax_exact" in offered()
    (False, True)

    A committee answers by the votes of its members, whom a session would have to keep.
    """
    return [name for name in registry.offered() if load(name).law.of_counts]


def larger(plan: SessionPlan, labels: int, queries: int | None = None) -> SessionPlan:
    """Return the plan with a larger cap at the same noise; its epsilon is what that costs.

    labels, queries: the new caps, at least the old ones. queries None: as many more as labels, in
    proportion. The account of the larger cap covers all that was released under the smaller one.
    Raises ValueError for smaller caps, and if nothing is proven for larger ones.
    """
    checks.integer(at_least=plan.labels, labels=labels)
    if queries is None or not plan.silent:
        queries = max(labels, math.ceil(plan.queries * labels / plan.labels))
    checks.integer(at_least=max(plan.queries, labels), queries=queries)
    wanted = replace(plan.task, labels=labels, queries=queries)
    if refusal := plan.mechanism.refusal(wanted):
        raise ValueError(f"labels = {labels}: {plan.name}: {refusal}")
    more = replace(plan, task=wanted, parameters=plan.noise(queries, labels))
    epsilon = more.epsilon(queries, labels, wanted.delta)
    if not math.isfinite(epsilon):
        raise ValueError(
            f"labels = {labels}: no finite epsilon is proven at delta = {wanted.delta}"
        )
    correct = plan.correct * labels / plan.labels
    return replace(more, task=replace(wanted, epsilon=epsilon), correct=correct)


def at_caps(plan: SessionPlan, shares: tuple[float, ...] = (0.5, 1.0, 2.0)) -> list[dict]:
    """Say what other caps would give within the same budget, by the same mechanism.

    Returns a row for each share of the cap: cap, parameters (text), correct (how many of the cap's
    labels are expected to be right on the profile). Labels that are paid for and not used are
    accuracy lost: this is how much. A share for which nothing is proven is left out.
    """
    task, mechanism = plan.task, plan.mechanism
    votes, truth = study.profile_votes(task, 0)
    rows = []
    for share in shares:
        labels = max(1, round(share * task.labels))
        queries = max(labels, round(share * task.queries))
        wanted = replace(task, labels=labels, queries=queries)
        parameters = plan.parameters
        if share != 1:
            try:
                parameters = ranking.best_parameters(mechanism, wanted, votes, truth)
            except ValueError:
                continue
        _, correct = mechanism.law.expected(votes, truth, wanted, parameters)
        rows.append({"cap": labels, "parameters": study.words(parameters), "correct": correct})
    return rows


def facts(plan: SessionPlan) -> dict:
    """Return what a session states of itself: nothing in it depends on votes."""
    task = plan.task
    stated = {field.name: getattr(task, field.name) for field in fields(Task)}
    del stated["profile"], stated["counts_only"], stated["secure"]
    return {
        "mechanism": plan.name,
        "parameters": study.words(plan.parameters),
        **stated,
        "noise": "secure" if task.secure else "reproducible",
        "version": plan.version,
    }
