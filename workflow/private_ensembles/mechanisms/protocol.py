"""What a mechanism offers to the planner and to own votes, and the task that it is given."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.mechanisms import registry

Parameters = Mapping[str, float]


@dataclass(frozen=True)
class Task:
    """Labels wanted of an ensemble, and what all of them together may cost.

    epsilon, delta: the total budget. queries: how many are in the pool; labels: how many answers
    are wanted at most. privacy_model, adjacency: see `registry`. teacher_epsilon, teacher_Delta:
    what one teacher costs for add_remove, where the teachers are private themselves. secure: noise
    from the system's entropy, which only some mechanisms have.

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

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise ValueError(f"epsilon = {self.epsilon}: must be a finite number > 0")
        if not 0 < self.delta < 1:
            raise ValueError(f"delta = {self.delta}: must be in (0, 1)")
        for name, least in (("queries", 1), ("labels", 1), ("n_teachers", 2), ("n_classes", 2)):
            value = getattr(self, name)
            if isinstance(value, bool) or value != int(value) or value < least:
                raise ValueError(f"{name} = {value}: must be an integer >= {least}")
        if self.labels > self.queries:
            raise ValueError(f"labels = {self.labels}: must be at most queries = {self.queries}")
        if self.privacy_model not in registry.PRIVACY_MODELS:
            raise ValueError(f"privacy_model = {self.privacy_model!r}: is unknown")
        if self.adjacency not in registry.ADJACENCIES:
            raise ValueError(f"adjacency = {self.adjacency!r}: is unknown")
        if self.teacher_epsilon is not None and not self.teacher_epsilon > 0:
            raise ValueError(f"teacher_epsilon = {self.teacher_epsilon}: must be > 0")
        if not 0 <= self.teacher_Delta < 1:
            raise ValueError(f"teacher_Delta = {self.teacher_Delta}: must be in [0, 1)")


class LabelMechanism(ABC):
    """One way to answer queries from vote counts, with parameters that keep a budget.

    Every parameter setting that `calibrate` returns is proven to cost at most the task's epsilon at
    its delta for all labels together, whatever the votes: nothing here but `distribution` and
    `release` looks at votes. free: names of what `calibrate` takes beside the task, each with the
    range from which the planner chooses. hides_votes: the privacy comes from noise on the votes
    (and can be audited on their histograms), not from the teachers.
    """

    name: str
    hides_votes: bool = True
    free: Mapping[str, tuple[float, float]] = {}

    def refusal(self, task: Task) -> str | None:
        """Return why the mechanism does not apply to the task, or None where it does."""
        known = registry.MECHANISMS[self.name]
        if not known.released:
            return "its privacy claim is false, so its labels are not released"
        if task.privacy_model not in known.privacy_models:
            return f"private for {', '.join(sorted(known.privacy_models))} only"
        if task.adjacency not in known.adjacency:
            return f"private for {', '.join(sorted(known.adjacency))} only"
        if known.teachers == "private" and task.teacher_epsilon is None:
            return "needs teachers that are private themselves (teacher_epsilon)"
        return self.further_refusal(task)

    def further_refusal(self, task: Task) -> str | None:
        """Return what beside the registry's facts rules the task out."""
        return None

    @abstractmethod
    def calibrate(self, task: Task, **free: float) -> Parameters:
        """Return parameters with which all labels together cost at most the budget."""

    @abstractmethod
    def epsilon(self, task: Task, parameters: Parameters) -> float:
        """Return what the labels cost together at the task's delta, an upper bound."""

    @abstractmethod
    def distribution(self, counts: NDArray, parameters: Parameters) -> NDArray[np.float64]:
        """Return Pr[a query is answered with class j], (queries, classes).

        Rows add up to at most 1. Limits on how many queries are looked at are left to `expected`.
        """

    @abstractmethod
    def release(
        self, counts: NDArray, parameters: Parameters, generator: np.random.Generator | None
    ) -> NDArray[np.int64]:
        """Return one label per query, -1 where there is no answer; None: secure noise."""

    def expected(
        self, counts: NDArray, labels: NDArray, task: Task, parameters: Parameters
    ) -> tuple[float, float]:
        """Return the expected numbers of answers and of right ones over the task's pool.

        counts: (some queries, classes), a sample of the pool or all of it, in random order; labels:
        their truth. A mechanism that answers every query answers as many as its parameter `labels`.
        """
        answered = self.distribution(counts, parameters)
        right = answered[np.arange(len(labels)), labels].mean()
        asked = parameters["labels"]
        return float(answered.sum(axis=1).mean() * asked), float(right * asked)


# Fewer labels than wanted cost less each: with many classes fewer may be right more often in all.
CAP = {"cap": (0.02, 1.0)}


def paid(task: Task, free: Mapping[str, float]) -> int:
    """Return how many labels are paid for: the share `cap` of those wanted, at least one."""
    return max(1, min(task.labels, round(free.get("cap", 1.0) * task.labels)))


def largest_within(budget: float, cost: Callable[[float], float], high: float = 1.0) -> float:
    """Return the largest x found with cost(x) <= budget; it does hold there.

    cost: grows with x > 0. Raises ValueError where no x down to 1e-12 keeps the budget.
    """
    while cost(high) <= budget and high < 1e12:
        high *= 2
    low = high
    while cost(low) > budget:
        high, low = low, low / 2
        if low < 1e-12:
            raise ValueError(f"budget = {budget}: nothing is cheap enough")
    while high - low > 1e-7 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    return low
