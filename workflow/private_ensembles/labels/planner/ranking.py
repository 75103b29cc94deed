"""Which mechanism should I use? Mechanisms ranked by expected right labels within a total budget.

What a mechanism costs holds whatever the votes (`mechanisms`), so ranking on a public or synthetic
profile of the votes costs nothing. Ranking on private votes would cost privacy: which parameters
won reveals something about them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from private_ensembles.base.progress import Meter
from private_ensembles.labels import registry
from private_ensembles.labels.accounts.account import CAP
from private_ensembles.labels.mechanism import Mechanism, load_mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.task import Task

# Queries of the profile that expectations are taken over; a random sample of a larger pool.
LARGEST_SAMPLE = 2000
# With very many classes fewer queries, so that at most this many counts remain; but at least this
# many queries.
_LARGEST_COUNTS, _FEWEST = 2_000_000, 200
# Points of the first grid in each free parameter.
_GRID = {"share": 7, "threshold": 11, "cap": 8, "leak": 4}
# Where the local search looks first, beside its starts; a twelfth of the range unless it is here.
_STEP = {"threshold": 0.1}
# A plain mechanism stands before those that are ahead of it by less than this share of its right
# labels: nobody would choose what is harder to explain for so little.
_LITTLE = 0.005
# What a score may be above what it is at most.
_ROUNDING = 1 + 1e-6
# Starts of the local search, and how often each may ask, by the number of free parameters.
_EFFORT = {1: (1, 30), 2: (1, 60), 3: (4, 250)}


@dataclass(frozen=True)
class Plan:
    """One mechanism at its best parameters, or why it does not apply.

    answers, correct: expected numbers of labels and of right ones. epsilon: what the labels cost
    together at the task's delta, at most the budget. published: the right labels with noise by the
    published analysis; NaN if there is none beside, or it does not apply.
    """

    mechanism: str
    refusal: str | None
    parameters: Parameters | None
    epsilon: float
    answers: float
    correct: float
    published: float


def rank_mechanisms(
    task: Task,
    counts: NDArray,
    labels: NDArray,
    names: Sequence[str] | None = None,
    meter: Meter | None = None,
) -> list[Plan]:
    """Rank the mechanisms for a task, the best first, on votes that represent those to come.

    The best has the most expected right labels, except that a plain mechanism, GNMax without a
    threshold or teachers that need no noise, stands before those that are ahead of it by less than
    half a percent (`_LITTLE`).

    Mechanisms that differ only in how their noise is found (`registry.Entry.family`) are one line:
    the one of the tightest analysis, and what the published one would have given.

    counts: (queries, classes) of a public or synthetic pool, in random order; labels: their truth,
    all known. names: default all that are offered. meter: advanced by one for each of them.
    Mechanisms that do not apply come last, with the reason. Raises ValueError for counts of another
    number of teachers or classes than the task's, unknown labels, and names that are not offered.

    >>> counts = np.array([[90, 5, 5], [20, 70, 10]] * 20)
    >>> labels = np.array([0, 1] * 20)
    >>> from private_ensembles.labels.task import Budget, Ensemble, Wanted
    >>> task = Task(Ensemble(100, 3), Budget(2.0, 1e-5), Wanted(20, 40))
    >>> for best in rank_mechanisms(task, counts, labels, ["gnmax", "gnmax_analytic", "ladder"]):
    ...     print(best.mechanism, round(best.correct, 1), round(best.published, 1), best.refusal)
    gnmax_analytic 20.0 19.8 None
    ladder 0.0 nan for two classes only
    """
    counts, labels = _check(task, counts, labels)
    families: dict[str, list[Mechanism]] = {}
    for name in registry.offered_mechanisms() if names is None else names:
        mechanism = load_mechanism(name)
        families.setdefault(mechanism.entry.family, []).append(mechanism)
    plans = []
    for family in families.values():
        plans.append(_plan_family(family, task, counts, labels))
        if meter is not None:
            meter.advance(len(family))
    return sorted(plans, key=_rank)


def estimate_seconds(task: Task, *, release: bool = False) -> float:
    """Return about how many seconds of one core a plan takes, and a release after it.

    >>> from private_ensembles.labels.task import Budget, Ensemble, Wanted
    >>> task = Task(Ensemble(250, 10), Budget(1.0, 1e-5), Wanted(500), secure=True)
    >>> many = replace(task, ensemble=Ensemble(250, 2000))
    >>> estimate_seconds(task) < 10 < estimate_seconds(many, release=True)
    True

    Measured (docs/benchmarks/waiting.csv); within a factor of 3 or so.
    """
    queries = sample_size(task.wanted.queries, task.ensemble.classes)
    # Hardly more classes have votes than there are teachers.
    some = min(task.ensemble.classes, task.ensemble.teachers)
    seconds = 2 + queries * (1e-5 * some + 1.5e-7 * task.ensemble.classes)
    seconds += min(task.wanted.labels, 10_000) / 3000
    if task.ensemble.classes == 2:  # tables of all teachers
        seconds += 4e-6 * task.ensemble.teachers
    if release and task.secure:
        seconds += 1.5e-5 * task.wanted.queries * task.ensemble.classes
    return seconds


def sample_size(n_queries: int, n_classes: int) -> int:
    """Return how many of a pool's queries expectations are taken over.

    >>> sample_size(500, 10), sample_size(10_000, 150), sample_size(10_000, 10_000)
    (500, 2000, 200)
    """
    return min(n_queries, LARGEST_SAMPLE, max(_FEWEST, _LARGEST_COUNTS // n_classes))


def _plan_mechanism(
    mechanism: Mechanism, task: Task, counts: NDArray, labels: NDArray, charged: bool = True
) -> Plan:
    """Return the plan by one mechanism; charged: whether its epsilon is wanted."""
    refusal = mechanism.refusal(task)
    if refusal is not None:
        return Plan(mechanism.name, refusal, None, math.nan, 0.0, 0.0, math.nan)
    try:
        parameters = best_parameters(mechanism, task, counts, labels)
    except ValueError as error:  # nothing is proven of its noise: the others stand
        return Plan(mechanism.name, str(error), None, math.nan, 0.0, 0.0, math.nan)
    answers, correct = mechanism.law.expected_answers(counts, labels, task, parameters)
    spent = mechanism.cost(task, parameters).claimed if charged else math.nan
    return Plan(mechanism.name, None, parameters, spent, answers, correct, math.nan)


def _rank(plan: Plan) -> tuple[bool, float]:
    """Return what plans are sorted by: right labels, of which a plain mechanism has a few more."""
    plain = registry.get_entry(plan.mechanism).offer.plain
    return plan.refusal is not None, -plan.correct * (1 + _LITTLE * plain)


def _tightness(mechanism: Mechanism) -> int:
    return registry.ANALYSES.index(mechanism.entry.offer.analysis)


def _plan_family(family: Sequence[Mechanism], task: Task, counts: NDArray, labels: NDArray) -> Plan:
    """The tightest analysis that finds noise, beside the published one.

    They differ in their noise alone. A tighter analysis needs no more of it, of a single label half
    a percent at most, so that what the others would give is not worked out.
    """
    for mechanism in sorted(family, key=_tightness, reverse=True):
        best = _plan_mechanism(mechanism, task, counts, labels)
        if best.refusal is None:
            break
    first = min(family, key=_tightness)
    if len(family) == 1 or first.entry.offer.analysis != "paper":
        return best
    published = best
    if first.name != best.mechanism:
        published = _plan_mechanism(first, task, counts, labels, False)
    return replace(best, published=published.correct if published.refusal is None else math.nan)


def _check(task: Task, counts: NDArray, labels: NDArray) -> tuple[NDArray, NDArray]:
    counts, labels = np.asarray(counts), np.asarray(labels)
    if counts.ndim != 2 or counts.shape[1] != task.ensemble.classes or not len(counts):
        raise ValueError(
            f"counts: shape {counts.shape}, must be queries x {task.ensemble.classes} classes"
        )
    if (counts.sum(axis=1) != task.ensemble.teachers).any():
        raise ValueError(f"counts: every row must add up to {task.ensemble.teachers} votes")
    if (
        labels.shape != counts.shape[:1]
        or (labels < 0).any()
        or (labels >= task.ensemble.classes).any()
    ):
        raise ValueError("labels: must be known for every query")
    size = sample_size(*counts.shape)
    return counts[:size], labels[:size]


def best_parameters(
    mechanism: Mechanism, task: Task, counts: NDArray, labels: NDArray
) -> Parameters:
    """Return the parameters with the most expected right labels: a grid, then a local search."""
    names = [
        name
        for name in mechanism.account.free_parameters
        # Of one label no cap leaves fewer.
        if name != "cap"
        or mechanism.count_paid_labels(task, cap=CAP["cap"][0]) < task.wanted.labels
    ]
    if not names:
        return mechanism.calibrate(task)
    of_parameters = mechanism.law.build_objective(counts, labels, task)
    known: dict[tuple[float, ...], float] = {}

    def score(x: NDArray) -> float:
        free = {name: float(value) for name, value in zip(names, x, strict=True)}
        # Many caps pay for the same number of labels, with the same noise.
        key = (
            mechanism.count_paid_labels(task, **free),
            *(free[name] for name in names if name != "cap"),
        )
        if key not in known:
            known[key] = of_parameters(mechanism.guess_parameters(task, **free))
        return known[key]

    axes = [
        np.linspace(*mechanism.account.free_parameters[name], _GRID.get(name, 9)).tolist()
        for name in names
    ]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(names))
    starts, most = _EFFORT.get(len(names), _EFFORT[3])
    paid = [
        mechanism.count_paid_labels(task, **dict(zip(names, point, strict=True)))
        for point in points
    ]
    values = _best_scores(score, points, np.array(paid), starts)
    low, high = np.array([mechanism.account.free_parameters[name] for name in names]).T
    steps = [_STEP.get(name, end) for name, end in zip(names, (high - low) / 12, strict=True)]
    best, best_value = points[values.argmax()], values.max()
    if len(names) == 1 and values.argmax() == len(values) - 1:
        return mechanism.calibrate(task, **{names[0]: float(high[0])})  # all that is wanted
    for start in points[np.argsort(-values)[:starts]]:
        search = minimize(
            lambda x: -score(np.clip(x, low, high)),
            start,
            method="Nelder-Mead",
            options={
                "maxfev": most,
                "xatol": 1e-4,
                "fatol": 1e-5 * max(best_value, 1e-9),
                "initial_simplex": _simplex(start, low, high, steps),
            },
        )
        if -search.fun > best_value:
            best, best_value = np.clip(search.x, low, high), -search.fun
    free = {name: float(value) for name, value in zip(names, best, strict=True)}
    return mechanism.calibrate(task, **free)


def _best_scores(
    score: Callable[[NDArray], float], points: NDArray, upper_bounds: NDArray, n_best: int
) -> NDArray[np.float64]:
    """Return the points' scores; minus infinity of those that are surely not among the best `few`.

    most: what each point's score is at most.
    """
    scores, n_best = np.full(len(points), -np.inf), min(n_best, len(points))
    for place in np.argsort(-upper_bounds, kind="stable"):
        if upper_bounds[place] * _ROUNDING < np.partition(scores, -n_best)[-n_best]:
            break
        scores[place] = score(points[place])
    return scores


def _simplex(start: NDArray, low: NDArray, high: NDArray, steps: Sequence[float]) -> NDArray:
    """Corners such steps from the start, inside the ranges."""
    steps = np.where(start + steps <= high, steps, np.negative(steps))
    return np.vstack([start, start + np.diag(steps)])
