"""One label of a mechanism as the exact audit sees it: its worst inputs, its curve, its sampler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.dominating_pairs import NeighbourPairs
from private_ensembles.audit.divergence import delta_curve, exact_epsilon, worst_pair
from private_ensembles.audit.histograms import (
    both_counts,
    enumerate_histograms,
    neighbour_pairs,
    two_class_matrix,
    two_class_pairs,
)
from private_ensembles.audit.shared_data import (
    WorstInputs,
    shared_data_curve,
    teacher_corners,
    worst_teachers,
)
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.base.stated_bounds import lower_bound, upper_bound


class AuditedLabel(ABC):
    """One label of a mechanism.

    Attributes:
        names: the outcomes that `draw` may return.
        assumes_claim: whether the probabilities are computed from the claim, so that they cannot
            confirm it.
    """

    names: tuple[int, ...] = (0, 1)
    assumes_claim = False

    @abstractmethod
    def worst_inputs(self, delta: float) -> WorstInputs:
        """Return the exact epsilon at delta, an upper bound up to rounding, and where it arises.

        The inputs of the result are such as `draw` takes.
        """

    @lower_bound
    def epsilon_lower_bound(self, delta: float) -> float:
        """Return a proven lower bound on epsilon at delta; 0.0 if nothing is proven."""
        return 0.0

    @abstractmethod
    def curve(self, epsilons: NDArray) -> NDArray[np.float64]:
        """Return the exact delta at each epsilon, an upper bound, of the same shape."""

    def label_pairs(self) -> NeighbourPairs | None:
        """Return all pairs of neighbours, for adaptive composition; None if they are not listed."""
        return None

    @abstractmethod
    def draw(self, audit_input: NDArray, runs: int, generator: np.random.Generator) -> NDArray:
        """Draw outcomes on one input, as the sampler of `audit.epsilon_lower_bound` does.

        Args:
            audit_input: one input, such as a histogram of votes.
            runs: how many independent outcomes to draw.
            generator: where the randomness comes from.

        Returns:
            The outcomes, (runs,), each of them in `names`.
        """


class EnumeratedLabel(AuditedLabel):
    """A label whose distribution is known on a list of inputs, some pairs of which are neighbours.

    Attributes:
        inputs: (inputs, ...), such as histograms.
        matrix: (inputs, outcomes), Pr[outcome | input].
        pairs: (pairs, 2), rows of neighbouring inputs.
        errors: relative_error and absolute_error of the matrix, as `audit.exact_delta` takes them.
    """

    inputs: NDArray
    matrix: NDArray
    pairs: NDArray
    errors: dict[str, float]

    @upper_bound
    def worst_inputs(self, delta: float) -> WorstInputs:
        pair = worst_pair(self.matrix, self.pairs, delta=delta, **self.errors)
        return WorstInputs(pair.value, self.inputs[pair.first], self.inputs[pair.second])

    @lower_bound
    def epsilon_lower_bound(self, delta: float) -> float:
        return exact_epsilon(self.matrix, self.pairs, delta, side="lower", **self.errors)

    @upper_bound
    def curve(self, epsilons: NDArray) -> NDArray[np.float64]:
        return delta_curve(self.matrix, self.pairs, epsilons, **self.errors)


class HistogramLabel(EnumeratedLabel):
    """A label that a law draws from vote counts, over all histograms.

    The inputs are the histograms (H, C); those of two classes ascend by their votes for 1.

    Args:
        law: gives the outcomes' probabilities and draws them.
        parameters: of the law.
        n_teachers: how many votes a histogram has.
        n_classes: how many classes there are.
        secure: whether labels are drawn with secure noise.
        group_size: how many votes may move at most, from any classes to any.
    """

    def __init__(
        self,
        law,
        parameters,
        n_teachers: int,
        n_classes: int,
        *,
        secure: bool = False,
        group_size: int = 1,
    ):
        self.law, self.parameters, self.secure = law, parameters, secure
        self.names = (*([-1] if law.may_abstain else []), *range(n_classes))
        if n_classes == 2:
            self.inputs = both_counts(n_teachers)
            self.pairs = two_class_pairs(n_teachers, group_size)
        else:
            self.inputs = enumerate_histograms(n_teachers, n_classes)
            self.pairs = neighbour_pairs(self.inputs, group_size)
        self.matrix = law.outcome_distribution(self.inputs, parameters, secure=secure)
        self.errors = law.numerical_error(n_teachers, n_classes, parameters, secure=secure)

    def label_pairs(self) -> NeighbourPairs:
        first, second = self.pairs.T
        relative, absolute = self.errors["relative_error"], self.errors["absolute_error"]
        return NeighbourPairs(self.matrix[first], self.matrix[second], relative, absolute)

    def draw(self, audit_input: NDArray, runs: int, generator: np.random.Generator) -> NDArray:
        """Draw the outcomes of `runs` queries that all have these counts."""
        counts = np.tile(audit_input, (runs, 1))
        noise = SecureNoise() if self.secure else SeededNoise(generator)
        return self.law.draw(counts, self.parameters, noise)


class SharedDataLabel(AuditedLabel):
    """A label of K teachers that all see all data; an input is Pr[teacher says 1] of each, (K,).

    Args:
        probability: (K + 1,), Pr[release 1 | l teachers say 1].
        teacher: epsilon and Delta of each teacher.
        choose: draws labels, given the numbers of ones (runs,) and a source of noise.
    """

    def __init__(
        self,
        probability: NDArray,
        teacher: tuple[float, float],
        choose: Callable[[NDArray, SeededNoise], NDArray],
    ) -> None:
        self.probability, self.teacher, self.choose = probability, teacher, choose

    @upper_bound
    def worst_inputs(self, delta: float) -> WorstInputs:
        return worst_teachers(self.probability, *self.teacher, delta)

    @upper_bound
    def curve(self, epsilons: NDArray) -> NDArray[np.float64]:
        return shared_data_curve(self.probability, *self.teacher, epsilons)

    def draw(self, audit_input: NDArray, runs: int, generator: np.random.Generator) -> NDArray:
        """Draw labels of teachers whose votes have these probabilities, afresh in every run."""
        ones = (generator.random((runs, len(audit_input))) < audit_input).sum(axis=1)
        return self.choose(ones, SeededNoise(generator))


class DecidingTeacherLabel(EnumeratedLabel):
    """The majority if one teacher's vote decides and all others keep theirs.

    An input is an index into the list of Pr[the changed teacher says 1]: the eight corners on one
    data set, then on the other. The corners are the worst that the teacher's own claim allows, so
    they serve to test the sampler, and confirm no claim.
    """

    assumes_claim = True

    def __init__(self, n_teachers: int, epsilon: float, Delta: float) -> None:
        self.n_teachers = n_teachers
        self.says_one = teacher_corners(epsilon, Delta).T.ravel()
        self.inputs = np.arange(16)
        self.matrix = two_class_matrix(self.says_one)
        self.pairs = np.stack([np.arange(8), np.arange(8) + 8], axis=1)
        self.errors = {"relative_error": 1e-14, "absolute_error": 1e-16}

    def draw(self, audit_input: NDArray, runs: int, generator: np.random.Generator) -> NDArray:
        """Draw the majority of all votes."""
        others = self.n_teachers // 2
        vote = generator.random(runs) < self.says_one[int(audit_input)]
        return (2 * (others + vote) > self.n_teachers).astype(np.uint8)
