"""Laws that choose a class with a preference for large vote counts; exact for C classes.

Class j of count n_j is chosen with one parameter, the rate r. Moving g votes changes every count
by at most g, so a label is (2 g r, 0)-DP (McSherry & Talwar 2007, Theorem 6; McKenna & Sheldon
2020, Theorem 1). `gumbel` and `exponential` hold the two laws.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive_composition.dominating_pairs import PessimisticPairs
from private_ensembles.audit.rates import ABSOLUTE_ERROR, RELATIVE_ERROR
from private_ensembles.base import checks
from private_ensembles.base.rounding import round_float_up
from private_ensembles.base.stated_bounds import lower_bound
from private_ensembles.labels.histograms import MergedHistograms, merge_histograms
from private_ensembles.labels.laws.table import TableLaw
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.product_integrals import MANY_CLASSES

# A rate has so many bits in more than two classes.
_BITS = 30
# So many numbers are drawn at a time, to bound memory.
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class SelectionRate(Parameters):
    """The rate of a selection, by what one label costs or as an audit found it.

    Attributes:
        label_epsilon: epsilon of one label by its rate alone: twice the rate, unless an audit found
            it.
        labels: How many labels.
        rate: The rate, if the audit of one label found it, which spends `leak`; None: half of
            label_epsilon.
        leak: delta of one label, if an audit found the rate.
    """

    label_epsilon: float
    labels: int
    rate: float | None = None
    leak: float | None = None

    @property
    def used_rate(self) -> float:
        """The rate at which labels are chosen."""
        return self.label_epsilon / 2 if self.rate is None else self.rate


def validate_counts(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    """Return counts as floats.

    Args:
        counts: (queries, classes) int, votes for each class.
        rate: The factor of the counts in the exponent, > 0.

    Returns:
        (queries, classes) float64.

    Raises:
        ValueError: For other counts, or a rate that is not a finite number > 0.
    """
    counts = np.asarray(counts)
    if counts.ndim != 2 or 0 in counts.shape or counts.dtype.kind not in "iu":
        raise ValueError(
            f"counts: {counts.dtype} {counts.shape} must be integers (queries, classes)"
        )
    checks.check_finite(rate=rate, above=0)
    return counts.astype(np.float64)


def exponential_weights(counts: ArrayLike, rate: float) -> NDArray[np.float64]:
    """Return e^(rate (n_j - max)), (queries, classes).

    Args and errors are those of `validate_counts`.
    """
    counts = validate_counts(counts, rate)
    return np.exp(rate * (counts - counts.max(axis=1, keepdims=True)))


@lower_bound
def truncate_rate(rate: float) -> float:
    """Return the rate rounded down to so few bits that its product with any count is exact.

    Counts have 22 bits at most, and floats 53.

    >>> truncate_rate(0.25), 0 < 0.1 - truncate_rate(0.1) < 1e-10
    (0.25, True)
    """
    mantissa, exponent = math.frexp(rate)
    return math.ldexp(math.floor(math.ldexp(mantissa, _BITS)), exponent - _BITS)


@dataclass(frozen=True)
class Selection(TableLaw):
    """A law that chooses a class by exponents rate n_j.

    In more than two classes the rate is that of `truncate_rate`, so that secure labels have this
    very law.

    Attributes:
        name: What certificates call it.
        label_probabilities: Returns Pr[label] of counts at a rate, (queries, classes).
        choose: Draws a label per query, of counts, a generator and a rate.
        merged_label_probabilities: Returns Pr[label] of the pairs of merged counts that are wanted,
            at a rate, (pairs,).
        pairs_for_loss: Returns pairs that dominate a label's in any number of classes, by its
            largest privacy loss: twice the rate for each vote that moves.
        draw_exactly: Draws a label per query, of exponents rate (n_j - max), by exact samplers.
        draws_query_by_query: Whether `choose` takes its numbers so.
    """

    name: str
    label_probabilities: Callable[[ArrayLike, float], NDArray[np.float64]]
    choose: Callable[[ArrayLike, np.random.Generator, float], NDArray[np.int64]]
    merged_label_probabilities: Callable[
        [MergedHistograms, NDArray[np.bool_], float], NDArray[np.float64]
    ]
    pairs_for_loss: Callable[[float], PessimisticPairs]
    draw_exactly: Callable[[NDArray[np.float64]], NDArray[np.int64]]
    draws_query_by_query: bool = True
    has_multiclass_pairs = True

    def rate(self, n_classes: int, parameters: SelectionRate) -> float:
        """Return the rate at which labels of so many classes are chosen."""
        rate = parameters.used_rate
        return rate if n_classes == 2 else truncate_rate(rate)

    def probabilities(self, counts, parameters):
        return self.label_probabilities(counts, self.rate(np.shape(counts)[1], parameters))

    def merged_probabilities(
        self, merged: MergedHistograms, wanted: NDArray[np.bool_], parameters: SelectionRate
    ) -> NDArray[np.float64]:
        """Return Pr[label] of the pairs of merged counts that are wanted, (pairs,)."""
        return self.merged_label_probabilities(
            merged, wanted, self.rate(merged.n_classes, parameters)
        )

    def probability_correct(self, counts, labels, parameters, *, secure=False):
        """Return entries of `distribution`, of very many classes within 1e-12 of them."""
        if np.shape(counts)[1] < MANY_CLASSES:
            return super().probability_correct(counts, labels, parameters, secure=secure)
        merged = merge_histograms(counts)
        label_pairs, wanted = merged.select_label_pairs(labels)
        return self.merged_probabilities(merged, wanted, parameters)[label_pairs]

    def build_objective(self, counts, labels, task):
        """Merge the votes of very many classes once for all rates."""
        if task.ensemble.classes < MANY_CLASSES:
            return super().build_objective(counts, labels, task)
        merged = merge_histograms(counts)
        label_pairs, wanted = merged.select_label_pairs(labels)
        return lambda noise: float(
            self.merged_probabilities(merged, wanted, noise)[label_pairs].mean() * noise.labels
        )

    def numerical_error(self, n_teachers, n_classes, parameters, *, secure=False):
        """Return the error of exponents, as far as floats hold them."""
        return {"relative_error": RELATIVE_ERROR, "absolute_error": ABSOLUTE_ERROR}

    def draw(self, counts, parameters, source):
        """Draw secure labels of more than two classes exactly, whatever the counts."""
        counts = np.asarray(counts)
        queries, n_classes = counts.shape
        if not source.secure or n_classes == 2:
            return super().draw(counts, parameters, source)
        rate, labels = self.rate(n_classes, parameters), np.empty(queries, dtype=np.int64)
        step = max(1, _AT_ONCE // n_classes)
        for start in range(0, queries, step):
            rows = counts[start : start + step]
            gaps = rows - rows.max(axis=1, keepdims=True)
            labels[start : start + step] = self.draw_exactly(rate * gaps)
        return labels

    def draw_seeded(self, counts, parameters, generator):
        return self.choose(counts, generator, self.rate(np.shape(counts)[1], parameters))

    def scale_noise(self, parameters, factor):
        if parameters.rate is None:
            return replace(parameters, label_epsilon=parameters.label_epsilon / factor)
        rate = parameters.rate / factor  # no audit has found this rate
        return replace(parameters, label_epsilon=2 * rate, rate=rate, leak=None)

    def dominating_pairs(self, task, parameters):
        """Return the table's pairs for two classes.

        For more, return what dominates every label of this largest privacy loss.
        """
        if task.ensemble.classes == 2:
            return super().dominating_pairs(task, parameters)
        loss = 2 * self.rate(task.ensemble.classes, parameters)
        return self.pairs_for_loss(
            loss if task.protection.reach == 1 else round_float_up(task.protection.reach * loss)
        )

    def scale(self, parameters):
        return 1 / Fraction(parameters.used_rate)

    def noise_at_scale(self, scale: float, labels: int = 1) -> SelectionRate:
        """Return noise of at most this scale, 1 / rate."""
        rate = math.nextafter(1 / scale, math.inf)
        return SelectionRate(2 * rate, labels, rate)
