"""The interface of a law: the distribution of a label given the votes, and how it is drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.dominating_pairs import DominatingPairs
from private_ensembles.audit.audited_labels import AuditedLabel, HistogramLabel
from private_ensembles.base.noise_sources import NoiseSource
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.task import Task

if TYPE_CHECKING:
    from private_ensembles.labels.votes import Votes


class Law(ABC):
    """How one label depends on the counts (queries, classes), each row adding up to all votes.

    `secure` says whether labels are drawn from secure noise, which is discrete.

    Attributes:
        n_classes: 2 if the law serves two classes only; else None.
        may_abstain: Whether an outcome may be no answer, -1.
        needs_only_counts: Whether the counts are all that a label depends on; else `answer` draws
            labels from votes.
        draws_query_by_query: Whether a seed's numbers go to one query after the other, so that
            labels are the same if queries are drawn for in pieces.
        has_multiclass_pairs: Whether `dominating_pairs` are known for more than two classes.
    """

    n_classes: int | None = None
    may_abstain = False
    needs_only_counts = True
    draws_query_by_query: bool = True
    has_multiclass_pairs = False

    @property
    def draws_exact_bernoulli(self) -> bool:
        """Whether secure labels of two classes are exact coins of the distribution's own floats."""
        return False

    @abstractmethod
    def distribution(
        self, counts: NDArray, parameters: Parameters, *, secure: bool = False
    ) -> NDArray[np.float64]:
        """Return Pr[a query is answered with class j].

        Rows add up to at most 1. Limits on how many queries are looked at are left to
        `expected_answers`.

        Args:
            counts: (queries, classes) int, votes for each class.
            parameters: The noise.
            secure: Whether noise is drawn from the system's entropy.

        Returns:
            (queries, classes) float64.
        """

    @abstractmethod
    def numerical_error(
        self, n_teachers: int, n_classes: int, parameters: Parameters, *, secure: bool = False
    ) -> dict[str, float]:
        """Return relative_error and absolute_error of `outcome_distribution`."""

    @abstractmethod
    def draw(
        self, counts: NDArray, parameters: Parameters, source: NoiseSource
    ) -> NDArray[np.int64]:
        """Draw one outcome per query, (queries,), however many labels are paid for."""

    @abstractmethod
    def scale_noise(self, parameters: Parameters, factor: float) -> Parameters:
        """Return the same with `factor` times the noise.

        A factor below 1 makes a twin that the audit must catch.
        """

    def outcome_distribution(
        self, counts: NDArray, parameters: Parameters, *, secure: bool = False
    ) -> NDArray[np.float64]:
        """Return Pr[outcome] of all outcomes of a query, (queries, outcomes).

        If there can be no answer, this outcome comes first; the classes follow.
        """
        return self.distribution(counts, parameters, secure=secure)

    def probability_correct(
        self, counts: NDArray, labels: NDArray, parameters: Parameters, *, secure: bool = False
    ) -> NDArray[np.float64]:
        """Return Pr[a query is answered with its label], (queries,), entries of `distribution`."""
        distribution = self.distribution(counts, parameters, secure=secure)
        return select_label_probabilities(distribution, labels)

    def expected_answers(
        self, counts: NDArray, labels: NDArray, task: Task, parameters: Parameters
    ) -> tuple[float, float]:
        """Return the expected numbers of answers and of correct ones over the task's pool.

        A law that answers every query answers as many as its parameter `labels`.

        Args:
            counts: (queries, classes) int, a sample of the pool or all of it, in random order.
            labels: (queries,) int, their truth.
            task: What is wanted.
            parameters: The noise.
        """
        probabilities = self.probability_correct(counts, labels, parameters, secure=task.secure)
        return float(parameters.labels), float(probabilities.mean() * parameters.labels)

    def build_objective(
        self, counts: NDArray, labels: NDArray, task: Task
    ) -> Callable[[Parameters], float]:
        """Return the expected number of correct labels as a function of parameters, to search."""
        return lambda parameters: self.expected_answers(counts, labels, task, parameters)[1]

    def draw_capped(
        self, counts: NDArray, parameters: Parameters, source: NoiseSource
    ) -> NDArray[np.int64]:
        """Draw what a release shows, (queries,): `draw`, stopped at the caps, and -1 after them."""
        return self.apply_caps(self.draw(counts, parameters, source), parameters)

    def apply_caps(self, drawn: NDArray, parameters: Parameters) -> NDArray[np.int64]:
        """Return what a release shows of the outcomes that `draw` returned, -1 after the caps."""
        labels = np.array(drawn, dtype=np.int64)
        labels[int(parameters.labels) :] = -1
        return labels

    def most_queries(self, parameters: Parameters) -> int:
        """Return how many queries a release looks at; all after them get no label."""
        return int(parameters.labels)

    def dominating_pairs(self, task: Task, parameters: Parameters) -> DominatingPairs:
        """Return pairs of distributions that dominate one label on neighbours.

        Neighbours differ by the votes that the task's unit may move.

        Raises:
            ValueError: Where no such pairs are known (`has_dominating_pairs`).
        """
        raise ValueError(f"n_classes = {task.ensemble.classes}: no pairs of neighbours are known")

    def has_dominating_pairs(self, task: Task) -> bool:
        """Return whether `dominating_pairs` are known for the task."""
        return task.ensemble.classes == 2 or self.has_multiclass_pairs

    def require_dominating_pairs(self, task: Task) -> None:
        """Raise ValueError unless `dominating_pairs` are known for the task."""
        if not self.has_dominating_pairs(task):
            raise ValueError(
                f"n_classes = {task.ensemble.classes}: no pairs of neighbours are known"
            )

    def answer(
        self, votes: Votes, parameters: Parameters, source: NoiseSource
    ) -> NDArray[np.int64]:
        """Draw one outcome per query from the votes of every teacher, (queries,).

        Only a law that needs more than the counts has it.
        """
        raise NotImplementedError(f"{type(self).__name__}: the counts are all that it needs")

    def scale(self, parameters: Parameters) -> float | Fraction | None:
        """Return the scale of the noise on every count, in votes, or None if there is none."""
        return None

    def noise_at_scale(self, scale: float, labels: int = 1) -> Parameters:
        """Return the noise of a scale (`scale`), for so many labels, if the law has one."""
        raise NotImplementedError(f"{type(self).__name__}: no noise on the counts")

    def build_audit(self, task: Task, parameters: Parameters) -> AuditedLabel:
        """Return one label as the exact audit sees it."""
        return HistogramLabel(
            self,
            parameters,
            task.ensemble.teachers,
            task.ensemble.classes,
            secure=task.secure,
            group_size=task.protection.reach,
        )


def select_label_probabilities(
    distribution: NDArray[np.float64], labels: NDArray
) -> NDArray[np.float64]:
    """Return the probability of each query's label.

    Args:
        distribution: (queries, classes) float.
        labels: (queries,) int.

    Returns:
        (queries,) float64.
    """
    return distribution[np.arange(len(labels)), labels]
