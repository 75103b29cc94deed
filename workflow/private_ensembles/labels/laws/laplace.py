"""LNMax (PATE, section 3.1): the largest of counts with Laplace noise.

Each class's count gets independent Laplace noise of scale b. One moved vote changes two counts by 1
each. On two classes the law is known in closed form, on more by quadrature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive_composition.dominating_pairs import pure_pair
from private_ensembles.base.rounding import round_float_up
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.labels.gnmax import noisy_plurality
from private_ensembles.labels.histograms import check_counts, merge_histograms
from private_ensembles.labels.laws.law import select_label_probabilities
from private_ensembles.labels.laws.table import TableLaw
from private_ensembles.labels.lnmax import ABSOLUTE_ERROR, RELATIVE_ERROR, lnmax_matrix
from private_ensembles.labels.lnmax_quadrature import (
    check_scale,
    lnmax_distribution,
    lnmax_probability_correct,
)
from private_ensembles.labels.parameters import Parameters


@dataclass(frozen=True)
class LaplaceNoise(Parameters):
    """Laplace noise on every count.

    Attributes:
        scale: Its scale, in votes.
        labels: How many labels.
    """

    scale: float
    labels: int = 1

    @property
    def noisy_counts(self):
        return ((self.labels, 4, self.scale),)

    def replace_scale(self, scale: float) -> LaplaceNoise:
        """Return the same with noise of another scale."""
        return replace(self, scale=scale)


@upper_bound
@dataclass(frozen=True)
class PureScale(Parameters):
    """Laplace noise that follows from what one label costs.

    Attributes:
        label_epsilon: epsilon of one label, rounded up.
        labels: How many labels.
        own_scale: Scale of the noise, in votes, if it is not 2 / label_epsilon, rounded up.
    """

    label_epsilon: float
    labels: int
    own_scale: float | None = None

    @property
    def scale(self) -> float:
        """The scale of the noise on every count, in votes."""
        return round_float_up(2 / self.label_epsilon) if self.own_scale is None else self.own_scale

    def replace_scale(self, scale: float) -> PureScale:
        """Return the same with noise of another scale, and what a label costs with it."""
        return replace(self, label_epsilon=round_float_up(2 / scale), own_scale=scale)


def lnmax(counts: ArrayLike, scale: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """Release every query's label by LNMax: argmax_j n_j + Lap(scale).

    Args:
        counts: (queries, classes) int, votes for each class.
        scale: Scale of the Laplace noise, in votes, > 0.
        generator: Draws the noise.

    Returns:
        (queries,) int64.

    Raises:
        ValueError: As `check_counts` does, and for a scale out of range.
    """
    counts, scale = check_counts(counts), check_scale(scale)
    noise = scale * generator.laplace(size=counts.shape)
    return noisy_plurality(counts, noise).astype(np.int64)


class Laplace(TableLaw):
    """The law of LNMax's label; its parameters are `LaplaceNoise` or `PureScale`."""

    has_multiclass_pairs = True

    def probabilities(self, counts, parameters):
        if counts.shape[1] > 2:
            return lnmax_distribution(counts, parameters.scale)
        return lnmax_matrix(int(counts[0].sum()), parameters.scale, counts[:, 1])

    def probability_correct(self, counts, labels, parameters, *, secure=False):
        if np.shape(counts)[1] > 2:
            return lnmax_probability_correct(merge_histograms(counts), labels, parameters.scale)
        return select_label_probabilities(self.distribution(counts, parameters), labels)

    def build_objective(self, counts, labels, task):
        """Merge the votes once for all scales."""
        if task.ensemble.classes == 2:
            return super().build_objective(counts, labels, task)
        merged = merge_histograms(counts)
        return lambda noise: float(
            lnmax_probability_correct(merged, labels, noise.scale).mean() * noise.labels
        )

    def numerical_error(self, n_teachers, n_classes, parameters, *, secure=False):
        """Return the error of the closed form, or of the quadrature."""
        if n_classes > 2:
            return {"relative_error": 0.0, "absolute_error": 1e-12}
        return {"relative_error": RELATIVE_ERROR, "absolute_error": ABSOLUTE_ERROR}

    def draw_seeded(self, counts, parameters, generator):
        return lnmax(counts, parameters.scale, generator)

    def scale_noise(self, parameters, factor):
        return parameters.replace_scale(factor * parameters.scale)

    def dominating_pairs(self, task, parameters):
        """Return the table's pairs for two classes.

        For more, return the pair that dominates every label of this largest privacy loss.
        """
        if task.ensemble.classes == 2:
            return super().dominating_pairs(task, parameters)
        return pure_pair(round_float_up(2 * task.protection.reach / parameters.scale))

    def scale(self, parameters):
        return parameters.scale

    def noise_at_scale(self, scale: float, labels: int = 1) -> PureScale:
        """Return noise of this scale, of which no more is claimed than follows from it."""
        return PureScale(round_float_up(2 / scale), labels, scale)


LAW = Laplace()
