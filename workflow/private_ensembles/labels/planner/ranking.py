"""Which mechanism should I use? Mechanisms ranked by expected right labels within a total budget.

What a mechanism costs holds whatever the votes are (`labels.mechanism`), so ranking on a public or
synthetic profile of the votes costs nothing. Ranking on private votes would cost privacy, because
the parameters that win reveal something about the votes.
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

# Expectations are taken over at most so many queries of the profile, a random sample of a larger
# pool.
LARGEST_SAMPLE = 2000
# If there are very many classes, fewer queries are taken, so that a table holds at most this many
# counts; but never fewer than this many queries.
_LARGEST_COUNTS, _FEWEST_QUERIES = 2_000_000, 200
# The first grid has so many points in each free parameter.
_GRID = {"share": 7, "threshold": 11, "cap": 8, "leak": 4}
# The first steps of the local search have this length, or else a twelfth of the range.
_STEP = {"threshold": 0.1}
# A plain mechanism stands before those that are ahead of it by less than this share of its right
# labels: nobody would choose what is harder to explain for so little.
_PLAIN_ADVANTAGE = 0.005
# A score may exceed its upper bound by this factor, by rounding.
_ROUNDING = 1 + 1e-6
# The local search has so many starts, and evaluates so often from each, by the number of free
# parameters.
_EFFORT = {1: (1, 30), 2: (1, 60), 3: (4, 250)}


@dataclass(frozen=True)
class Plan:
    """One mechanism at its best parameters, or why it does not apply.

    Attributes:
        mechanism: The name of the mechanism.
        refusal: Why it does not apply; None if it does.
        parameters: The best parameters; None if it does not apply.
        epsilon: The epsilon of all labels together at the task's delta, at most the budget.
        answers: The expected number of labels.
        correct: The expected number of right labels.
        published: The expected number of right labels with noise by the published analysis; NaN if
            the family has no published analysis, or it does not apply.
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
    half a percent (`_PLAIN_ADVANTAGE`).

    Args:
        task: What is wanted, and the budget.
        counts: The votes of a public or synthetic pool, (queries, classes) int, in random order.
        labels: The true labels, (queries,) int, all of them known.
        names: The mechanisms to rank; None for all that are offered.
        meter: Advanced by one for each mechanism.

    Returns:
        One plan for each family of mechanisms that differ only in how their noise is found
        (`registry.Entry.family`): the mechanism of the tightest analysis, and what the published
        one would have given. Mechanisms that do not apply come last, with the reason.

    Raises:
        ValueError: The counts have another number of teachers or classes than the task, a label is
            unknown, or a name is not offered.

    >>> counts = np.array([[90, 5, 5], [20, 70, 10]] * 20)
    >>> labels = np.array([0, 1] * 20)
    >>> from private_ensembles.labels.task import Budget, Ensemble, Wanted
    >>> task = Task(Ensemble(100, 3), Budget(2.0, 1e-5), Wanted(20, 40))
    >>> for best in rank_mechanisms(task, counts, labels, ["gnmax", "gnmax_analytic", "ladder"]):
    ...     print(best.mechanism, round(best.correct, 1), round(best.published, 1), best.refusal)
    gnmax_analytic 20.0 19.8 None
    ladder 0.0 nan for two classes only
    """
    counts, labels = _check_votes(task, counts, labels)
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
    """Return about how many seconds of one core a plan takes.

    The formula is fitted to measurements (docs/benchmarks/waiting.csv) and right within a factor of
    about 3.

    Args:
        task: What is planned.
        release: Whether the release after the plan counts as well.

    >>> from private_ensembles.labels.task import Budget, Ensemble, Wanted
    >>> task = Task(Ensemble(250, 10), Budget(1.0, 1e-5), Wanted(500), secure=True)
    >>> many = replace(task, ensemble=Ensemble(250, 100_000))
    >>> estimate_seconds(task) < 10 < estimate_seconds(many, release=True)
    True
    """
    queries = sample_size(task.wanted.queries, task.ensemble.classes)
    # No more classes can have votes than there are teachers.
    voted = min(task.ensemble.classes, task.ensemble.teachers)
    seconds = 0.5 + queries * (4e-6 * voted + 5e-8 * task.ensemble.classes)
    seconds += min(task.wanted.labels, 10_000) / 4500
    if task.ensemble.classes == 2:  # tables have a row for each number of votes
        seconds += 4e-7 * task.ensemble.teachers
    if release and task.secure:
        seconds += 1e-6 * task.wanted.queries * task.ensemble.classes
    return seconds


def sample_size(n_queries: int, n_classes: int) -> int:
    """Return how many of a pool's queries the expectations are taken over.

    >>> sample_size(500, 10), sample_size(10_000, 150), sample_size(10_000, 10_000)
    (500, 2000, 200)
    """
    return min(n_queries, LARGEST_SAMPLE, max(_FEWEST_QUERIES, _LARGEST_COUNTS // n_classes))


def _plan_mechanism(
    mechanism: Mechanism, task: Task, counts: NDArray, labels: NDArray, *, charged: bool = True
) -> Plan:
    """Return the plan of one mechanism, with its epsilon unless `charged` is False."""
    refusal = mechanism.refusal(task)
    if refusal is not None:
        return Plan(mechanism.name, refusal, None, math.nan, 0.0, 0.0, math.nan)
    try:
        parameters = best_parameters(mechanism, task, counts, labels)
    except ValueError as error:  # no noise is proven for it; the others may still apply
        return Plan(mechanism.name, str(error), None, math.nan, 0.0, 0.0, math.nan)
    answers, correct = mechanism.law.expected_answers(counts, labels, task, parameters)
    spent = mechanism.cost(task, parameters).claimed if charged else math.nan
    return Plan(mechanism.name, None, parameters, spent, answers, correct, math.nan)


def _rank(plan: Plan) -> tuple[bool, float]:
    """Return the sort key: right labels, of which a plain mechanism is given a few more."""
    plain = _offer(registry.get_entry(plan.mechanism)).plain
    return plan.refusal is not None, -plan.correct * (1 + _PLAIN_ADVANTAGE * plain)


def _offer(entry: registry.Entry) -> registry.Offer:
    """Return how a mechanism is offered, which every mechanism that is planned is."""
    assert entry.offer is not None
    return entry.offer


def _tightness(mechanism: Mechanism) -> int:
    """Return the place of a mechanism's analysis in the order from the loosest to the tightest."""
    return registry.ANALYSES.index(_offer(mechanism.entry).analysis)


def _plan_family(family: Sequence[Mechanism], task: Task, counts: NDArray, labels: NDArray) -> Plan:
    """Return the plan by the tightest analysis that finds noise, with what the published one gives.

    The mechanisms differ in their noise alone. A tighter analysis needs no more of it, or half a
    percent more at most for a single label, so the analyses in between are not worked out.
    """
    for mechanism in sorted(family, key=_tightness, reverse=True):
        best = _plan_mechanism(mechanism, task, counts, labels)
        if best.refusal is None:
            break
    loosest = min(family, key=_tightness)
    if len(family) == 1 or _offer(loosest.entry).analysis != "paper":
        return best
    published = best
    if loosest.name != best.mechanism:
        published = _plan_mechanism(loosest, task, counts, labels, charged=False)
    return replace(best, published=published.correct if published.refusal is None else math.nan)


def _check_votes(task: Task, counts: NDArray, labels: NDArray) -> tuple[NDArray, NDArray]:
    """Return the sample of counts and labels that is looked at; ValueError if they do not fit."""
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
    """Return the parameters with the most expected right labels: a grid, then a local search.

    Args:
        mechanism: One that applies to the task.
        task: What is wanted, and the budget.
        counts: The sample of votes, (queries, classes) int.
        labels: The true labels, (queries,) int.

    Raises:
        ValueError: No noise is proven for the budget.
    """
    names = [
        name
        for name in mechanism.account.free_parameters
        # The cap is free only if it can leave fewer labels than are wanted.
        if name != "cap"
        or mechanism.count_paid_labels(task, cap=CAP["cap"][0]) < task.wanted.labels
    ]
    if not names:
        return mechanism.calibrate(task)
    objective = mechanism.law.build_objective(counts, labels, task)
    scores: dict[tuple[float, ...], float] = {}

    def score(point: NDArray) -> float:
        free = {name: float(value) for name, value in zip(names, point, strict=True)}
        # Many caps pay for the same number of labels, with the same noise.
        key = (
            mechanism.count_paid_labels(task, **free),
            *(free[name] for name in names if name != "cap"),
        )
        if key not in scores:
            scores[key] = objective(mechanism.guess_parameters(task, **free))
        return scores[key]

    axes = [
        np.linspace(*mechanism.account.free_parameters[name], _GRID.get(name, 9)).tolist()
        for name in names
    ]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(names))
    starts, most_evaluations = _EFFORT.get(len(names), _EFFORT[3])
    paid = [
        mechanism.count_paid_labels(task, **dict(zip(names, point, strict=True)))
        for point in points
    ]
    values = _best_scores(score, points, np.array(paid), starts)
    low, high = np.array([mechanism.account.free_parameters[name] for name in names]).T
    steps = [_STEP.get(name, end) for name, end in zip(names, (high - low) / 12, strict=True)]
    best, best_value = points[values.argmax()], values.max()
    if len(names) == 1 and values.argmax() == len(values) - 1:
        # The best point is the end of the range, where all labels wanted are paid for.
        return mechanism.calibrate(task, **{names[0]: float(high[0])})
    for start in points[np.argsort(-values, kind="stable")[:starts]]:
        search = minimize(
            lambda point: -score(np.clip(point, low, high)),
            start,
            method="Nelder-Mead",
            options={
                "maxfev": most_evaluations,
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
    """Return the scores of points, or minus infinity if a point is surely not among the best.

    The points are (points, parameters) float; `upper_bounds`, (points,), bound their scores.
    """
    scores, n_best = np.full(len(points), -np.inf), min(n_best, len(points))
    for index in np.argsort(-upper_bounds, kind="stable"):
        if upper_bounds[index] * _ROUNDING < np.partition(scores, -n_best)[-n_best]:
            break
        scores[index] = score(points[index])
    return scores


def _simplex(start: NDArray, low: NDArray, high: NDArray, steps: Sequence[float]) -> NDArray:
    """Return the start and the points one step from it in each parameter, inside the ranges.

    The result is (parameters + 1, parameters) float.
    """
    signed_steps = np.where(start + steps <= high, steps, np.negative(steps))
    return np.vstack([start, start + np.diag(signed_steps)])
