"""Which mechanism should I use? Mechanisms ranked by expected right labels within a total budget.

What a mechanism costs holds whatever the votes (`mechanisms`), so ranking on a public or synthetic
profile of the votes costs nothing. Ranking on private votes does: which parameters won tells of
them. `choose_privately` then picks by the exponential mechanism, for an epsilon of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtr

from private_ensembles import mechanisms
from private_ensembles.jobs.progress import Meter
from private_ensembles.mechanisms.confident_gnmax import ConfidentGNMax
from private_ensembles.mechanisms.protocol import LabelMechanism, Parameters, Task
from private_ensembles.pate.expectation import answer_probability
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution

# Queries of the profile that expectations are taken over; a random sample of a larger pool.
LARGEST_SAMPLE = 2000
# Noise scales at which GNMax's accuracy is tabulated for the search, and starts of that search.
_SIGMAS = 32
_GRID = {"share": 7, "threshold": 13, "cap": 8, "leak": 4}
# Starts of the local search, and how often each may ask, by the number of free parameters.
_EFFORT = {1: (1, 30), 2: (1, 60), 3: (4, 250)}


@dataclass(frozen=True)
class Plan:
    """One mechanism at its best parameters, or why it does not apply.

    answers, correct: expected numbers of labels and of right ones. epsilon: what the labels cost
    together at the task's delta, at most the budget.
    """

    mechanism: str
    refusal: str | None
    parameters: Parameters
    epsilon: float
    answers: float
    correct: float


def plan(
    task: Task,
    counts: NDArray,
    labels: NDArray,
    names: Sequence[str] | None = None,
    meter: Meter | None = None,
) -> list[Plan]:
    """Rank the mechanisms for a task on votes that stand for those to come, the best first.

    counts: (queries, classes) of a public or synthetic pool, in random order; labels: their truth,
    all known. names: default all that are offered. meter: advanced by one for each of them.
    Mechanisms that do not apply come last, with the reason. Raises ValueError for counts of another
    number of teachers or classes than the task's, unknown labels, and names that are not offered.

    >>> counts = np.array([[90, 5, 5], [20, 70, 10]] * 20)
    >>> labels = np.array([0, 1] * 20)
    >>> task = Task(epsilon=2.0, delta=1e-5, queries=40, labels=20, n_teachers=100, n_classes=3)
    >>> for one in plan(task, counts, labels, ["gnmax", "gnmax_analytic", "ladder"]):
    ...     print(one.mechanism, round(one.correct, 1), one.refusal)
    gnmax_analytic 20.0 None
    gnmax 19.8 None
    ladder 0.0 for two classes only
    """
    counts, labels = _check(task, counts, labels)
    plans = []
    for name in mechanisms.offered() if names is None else names:
        plans.append(_best(name, task, counts, labels))
        if meter is not None:
            meter.advance()
    return sorted(plans, key=lambda one: (one.refusal is not None, -one.correct))


def _best(name: str, task: Task, counts: NDArray, labels: NDArray) -> Plan:
    mechanism = mechanisms.load(name)
    refusal = mechanism.refusal(task)
    if refusal is not None:
        return Plan(name, refusal, {}, math.nan, 0.0, 0.0)
    parameters = best_parameters(mechanism, task, counts, labels)
    answers, correct = mechanism.expected(counts, labels, task, parameters)
    return Plan(name, None, parameters, mechanism.epsilon(task, parameters), answers, correct)


def _check(task: Task, counts: NDArray, labels: NDArray) -> tuple[NDArray, NDArray]:
    counts, labels = np.asarray(counts), np.asarray(labels)
    if counts.ndim != 2 or counts.shape[1] != task.n_classes or not len(counts):
        raise ValueError(
            f"counts: shape {counts.shape}, must be queries x {task.n_classes} classes"
        )
    if (counts.sum(axis=1) != task.n_teachers).any():
        raise ValueError(f"counts: every row must add up to {task.n_teachers} teachers")
    if labels.shape != counts.shape[:1] or (labels < 0).any() or (labels >= task.n_classes).any():
        raise ValueError("labels: must be known for every query")
    return counts[:LARGEST_SAMPLE], labels[:LARGEST_SAMPLE]


def best_parameters(
    mechanism: LabelMechanism, task: Task, counts: NDArray, labels: NDArray
) -> Parameters:
    """Return the parameters with the most expected right labels: a grid, then a local search."""
    names = list(mechanism.free)
    if not names:
        return mechanism.calibrate(task)
    score = _score(mechanism, task, counts, labels)
    axes = [np.linspace(*mechanism.free[name], _GRID.get(name, 9)).tolist() for name in names]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(names))
    values = np.array([score(point) for point in points])
    low, high = np.array([mechanism.free[name] for name in names]).T
    best, best_value = points[values.argmax()], values.max()
    if len(names) == 1 and values.argmax() == len(values) - 1:
        return mechanism.calibrate(task, **{names[0]: float(high[0])})  # all that is wanted
    starts, most = _EFFORT.get(len(names), _EFFORT[3])
    for start in points[np.argsort(-values)[:starts]]:
        found = minimize(
            lambda x: -score(np.clip(x, low, high)),
            start,
            method="Nelder-Mead",
            options={
                "maxfev": most,
                "xatol": 1e-4,
                "fatol": 1e-5 * max(best_value, 1e-9),
                "initial_simplex": _simplex(start, low, high),
            },
        )
        if -found.fun > best_value:
            best, best_value = np.clip(found.x, low, high), -found.fun
    return mechanism.calibrate(task, **dict(zip(names, map(float, best), strict=True)))


def _simplex(start: NDArray, low: NDArray, high: NDArray) -> NDArray:
    """Corners a twelfth of each range from the start, inside the ranges."""
    step = (high - low) / 12
    steps = np.where(start + step <= high, step, -step)
    return np.vstack([start, start + np.diag(steps)])


def _score(mechanism: LabelMechanism, task: Task, counts: NDArray, labels: NDArray):
    """Expected right labels as a function of the free parameters (array)."""
    names = list(mechanism.free)
    if isinstance(mechanism, ConfidentGNMax):
        return _confident_score(mechanism, task, counts, labels)

    def score(x: NDArray) -> float:
        parameters = mechanism.calibrate(task, **dict(zip(names, map(float, x), strict=True)))
        return mechanism.expected(counts, labels, task, parameters)[1]

    return score


def _confident_score(mechanism: ConfidentGNMax, task: Task, counts: NDArray, labels: NDArray):
    """The same by a table of GNMax's accuracy over sigma2: a search asks hundreds of times."""
    names = list(mechanism.free)
    ends = [
        mechanism.calibrate(task, share=share, cap=cap)["sigma2"]
        for share, cap in ((0.02, 0.02), (0.9, 1.0))
    ]
    log_sigmas = np.linspace(np.log(min(ends) * 0.999), np.log(max(ends) * 1.001), _SIGMAS)
    rows, scale = np.arange(len(labels)), task.queries / len(labels)
    table = np.array([gnmax_distribution(counts, s)[rows, labels] for s in np.exp(log_sigmas)])

    def score(x: NDArray) -> float:
        one = mechanism.calibrate(task, **dict(zip(names, map(float, x), strict=True)))
        place = (np.log(one["sigma2"]) - log_sigmas[0]) / (log_sigmas[1] - log_sigmas[0])
        below = min(int(place), _SIGMAS - 2)
        right = table[below] + (place - below) * (table[below + 1] - table[below])
        passes = answer_probability(counts, one["threshold"], one["sigma1"])
        return scale * _capped_mean(passes, one["labels"] / scale) * float(passes @ right)

    return score


def _capped_mean(passes: NDArray, cap: float) -> float:
    """E min(N, cap) / E N of N answers, by the normal law of that mean and variance: a guide only.

    The plan's own numbers come from the exact law (`LabelMechanism.expected`).
    """
    mean, sd = float(passes.sum()), math.sqrt(float((passes * (1 - passes)).sum())) + 1e-12
    if mean <= 0:
        return 0.0
    z = (cap - mean) / sd
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    over = sd * density - (cap - mean) * (1 - float(ndtr(z)))  # E max(0, N - cap)
    return max(0.0, mean - over) / mean


def score_sensitivity(mechanism: LabelMechanism, task: Task, parameters: Parameters) -> float:
    """How much one teacher's votes can change the expected number of right labels, at most.

    For every query the chance of a right label is that of an event, which a neighbour changes by
    at most the total variation distance of one query's outcome: (e^e - 1) / (e^e + 1) + d where it
    is (e, d)-DP, 2 Phi(mu / 2) - 1 for Gaussian noise of mu (mu^2 = 1 / sigma1^2 + 2 / sigma2^2,
    threshold and label together). Summed over the labels paid for; Confident-GNMax, over the pool,
    for its score without the cap on answers (`uncapped_correct`).
    """
    if "sigma2" in parameters:
        mu = math.sqrt(1 / parameters["sigma1"] ** 2 + 2 / parameters["sigma2"] ** 2)
        return task.queries * (2 * float(ndtr(mu / 2)) - 1)
    if "sigma" in parameters:
        return parameters["labels"] * (2 * float(ndtr(math.sqrt(2) / parameters["sigma"] / 2)) - 1)
    if "label_epsilon" in parameters:
        one = math.tanh(parameters["label_epsilon"] / 2) + parameters.get("label_delta", 0.0)
        return parameters["labels"] * one
    return float(parameters["labels"])


def uncapped_correct(
    mechanism: LabelMechanism, task: Task, parameters: Parameters, counts: NDArray, labels: NDArray
) -> float:
    """Expected right labels, Confident-GNMax's cap on answers applied to their sum alone."""
    answered = mechanism.distribution(counts, parameters)[np.arange(len(labels)), labels]
    if "sigma2" not in parameters:
        return float(answered.mean() * parameters["labels"])
    return min(float(answered.mean() * task.queries), float(parameters["labels"]))


def choose_privately(
    task: Task,
    counts: NDArray,
    labels: NDArray,
    candidates: Sequence[Plan],
    epsilon: float,
    generator: np.random.Generator,
) -> tuple[Plan, float]:
    """Pick one of the candidates on private votes by the exponential mechanism; cost: epsilon.

    candidates: plans made without looking at these votes (`plan` on a profile), for the budget that
    is left: task.epsilon less `epsilon`, which this choice spends (simple composition, pure). Their
    scores are `uncapped_correct` on all votes given, their sensitivity the largest
    `score_sensitivity`. Returns the choice, and how many expected right labels it may be short of
    the best with probability at most 5 %: 2 sensitivity (ln n + ln 20) / epsilon.

    Raises ValueError for no candidate that applies, epsilon not in (0, task.epsilon), and teachers
    that share data, where one record may change every vote.
    """
    if task.privacy_model != "disjoint_shards":
        raise ValueError(
            f"privacy_model = {task.privacy_model!r}: must be 'disjoint_shards' to choose by votes"
        )
    if not 0 < epsilon < task.epsilon:
        raise ValueError(f"epsilon = {epsilon}: must be in (0, {task.epsilon})")
    usable = [one for one in candidates if one.refusal is None]
    if not usable:
        raise ValueError("candidates: none of them applies")
    over = [one.mechanism for one in usable if one.epsilon > task.epsilon - epsilon]
    if over:
        raise ValueError(f"candidates: {over[0]} leaves no epsilon = {epsilon} for the choice")
    loaded = [mechanisms.load(one.mechanism) for one in usable]
    left = replace(task, epsilon=task.epsilon - epsilon)
    pairs = list(zip(loaded, usable, strict=True))
    reach = max(score_sensitivity(each, left, one.parameters) for each, one in pairs)
    scores = np.array(
        [uncapped_correct(each, left, one.parameters, counts, labels) for each, one in pairs]
    )
    noisy = epsilon * scores / (2 * reach) + generator.gumbel(size=len(scores))
    short = 2 * reach * (math.log(len(usable)) + math.log(20)) / epsilon
    return usable[int(np.argmax(noisy))], short
