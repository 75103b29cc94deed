"""The interface of a law: what a label is worth and how it is drawn, whatever it costs."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.dominating_pairs import DominatingPairs
from private_ensembles.audit.audited_labels import AuditedLabel, HistogramLabel
from private_ensembles.base.noise_sources import NoiseSource
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.task import Task


class Law(ABC):
    """How one label depends on the counts (queries, classes), each row adding up to all votes.

    secure: whether labels are drawn from secure noise, which is discrete. n_classes: 2 if the law
    serves two classes only. silent: an outcome may be no answer, -1. of_counts: the counts are all
    that a label depends on. coins: secure labels of two classes are coins of the distribution's own
    floats. pairs_of_many: `pairs` are known for more than two classes.
    """

    n_classes: int | None = None
    may_abstain = False
    needs_only_counts = True
    draws_exact_bernoulli = False
    has_multiclass_pairs = False

    @abstractmethod
    def distribution(
        self, counts: NDArray, parameters: Parameters, secure: bool = False
    ) -> NDArray[np.float64]:
        """Return Pr[a query is answered with class j], (queries, classes).

        Rows add up to at most 1. Limits on how many queries are looked at are left to `expected`.
        """

    @abstractmethod
    def numerical_error(
        self, n_teachers: int, n_classes: int, parameters: Parameters, secure: bool = False
    ) -> dict[str, float]:
        """Return relative_error and absolute_error of `outcomes`."""

    @abstractmethod
    def draw(
        self, counts: NDArray, parameters: Parameters, source: NoiseSource
    ) -> NDArray[np.int64]:
        """Draw one outcome per query, (queries,), however many labels are paid for."""

    @abstractmethod
    def scale_noise(self, parameters: Parameters, factor: float) -> Parameters:
        """Return the same with `factor` times the noise; below 1: a twin the audit must catch."""

    def outcome_distribution(
        self, counts: NDArray, parameters: Parameters, secure: bool = False
    ) -> NDArray[np.float64]:
        """Return Pr[outcome] of all outcomes of a query: no answer first, if there can be none."""
        return self.distribution(counts, parameters, secure)

    def probability_correct(
        self, counts: NDArray, labels: NDArray, parameters: Parameters, secure: bool = False
    ) -> NDArray[np.float64]:
        """Return Pr[a query is answered with its label], (queries,), entries of `distribution`."""
        return select_label_probabilities(self.distribution(counts, parameters, secure), labels)

    def expected_answers(
        self, counts: NDArray, labels: NDArray, task: Task, parameters: Parameters
    ) -> tuple[float, float]:
        """Return the expected numbers of answers and of right ones over the task's pool.

        counts: a sample of the pool or all of it, in random order; labels: their truth. A law that
        answers every query answers as many as its parameter `labels`.
        """
        right = self.probability_correct(counts, labels, parameters, task.secure).mean()
        return float(parameters.labels), float(right * parameters.labels)

    def build_objective(
        self, counts: NDArray, labels: NDArray, task: Task
    ) -> Callable[[Parameters], float]:
        """Return the expected right labels as a function of parameters, for a search."""
        return lambda parameters: self.expected_answers(counts, labels, task, parameters)[1]

    def draw_capped(
        self, counts: NDArray, parameters: Parameters, source: NoiseSource
    ) -> NDArray[np.int64]:
        """Draw what a release shows: `draw`, stopped at the caps."""
        labels = np.array(self.draw(counts, parameters, source), dtype=np.int64)
        labels[int(parameters.labels) :] = -1
        return labels

    def dominating_pairs(self, task: Task, parameters: Parameters) -> DominatingPairs:
        """Return what the votes that the task's unit may move do to one label.

        Raises ValueError where that is not known (`pairs_known`).
        """
        raise ValueError(f"n_classes = {task.ensemble.classes}: no pairs of neighbours are known")

    def has_dominating_pairs(self, task: Task) -> bool:
        """Return whether `pairs` are known for the task."""
        return task.ensemble.classes == 2 or self.has_multiclass_pairs

    def require_dominating_pairs(self, task: Task) -> None:
        """Raise ValueError unless `pairs` are known for the task."""
        if not self.has_dominating_pairs(task):
            raise ValueError(
                f"n_classes = {task.ensemble.classes}: no pairs of neighbours are known"
            )

    def scale(self, parameters: Parameters) -> float | Fraction | None:
        """Return the scale of the noise on every count, in votes; None: there is none."""
        return None

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
    """Return Pr[its label] of each query, (queries,), of a distribution (queries, classes)."""
    return distribution[np.arange(len(labels)), labels]
