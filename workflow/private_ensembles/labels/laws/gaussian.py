"""GNMax (PATE, section 4.1): the largest of counts with Gaussian noise.

Seeded noise is continuous. Secure noise is drawn in one of three ways, of which each account covers
one: on whole numbers; continuous, as far as it takes to know the largest count; or, for two
classes, as coins of the continuous law's own floats.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive_composition.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.discrete_gaussian import (
    MAX_TABULATED_SIGMA,
    whole_lattice_total_variation,
)
from private_ensembles.base.noise_sources import NoiseSource
from private_ensembles.base.rounding import normal_error
from private_ensembles.labels.gnmax import check_sigma, label_probability
from private_ensembles.labels.gnmax_lattice import (
    lattice_distribution,
    lattice_error,
    lattice_probability_correct,
)
from private_ensembles.labels.gnmax_quadrature import (
    gnmax_distribution,
    gnmax_probability_correct,
    gnmax_probability_correct_fast,
)
from private_ensembles.labels.histograms import check_counts, merge_histograms
from private_ensembles.labels.laws.law import Law, select_label_probabilities
from private_ensembles.labels.laws.table import draw_bernoulli_labels, label_dominating_pairs
from private_ensembles.labels.parameters import Parameters


@dataclass(frozen=True)
class GaussianNoise(Parameters):
    """Gaussian noise on every count.

    Attributes:
        sigma: Its standard deviation, in votes.
        labels: How many labels.
    """

    sigma: float
    labels: int = 1

    @property
    def noisy_counts(self):
        return ((self.labels, 2, self.sigma),)


def gnmax(counts: ArrayLike, sigma: float, source: NoiseSource) -> NDArray[np.int64]:
    """Release every query's label by GNMax: argmax_j n_j + N(0, sigma^2).

    Secure noise is on whole numbers.

    Args:
        counts: (queries, classes) int, votes for each class.
        sigma: Noise, in votes, > 0.
        source: Where the noise comes from.

    Returns:
        (queries,) int64.

    Raises:
        ValueError: As `check_counts` does, and for sigma out of range.
    """
    counts, sigma = check_counts(counts), check_sigma(sigma)
    return source.argmax_whole_gaussian(counts, sigma)


@dataclass(frozen=True)
class Gaussian(Law):
    """The law of GNMax's label, with one of three samplers of secure noise.

    Attributes:
        secure_sampler: "whole", "continuous", or "coins" for two classes and continuous for more.
    """

    secure_sampler: str
    has_multiclass_pairs = True

    @property
    def draws_exact_bernoulli(self) -> bool:
        """Whether secure labels of two classes are exact coins."""
        return self.secure_sampler == "coins"

    def distribution(self, counts, parameters, *, secure=False):
        """Return Pr[label] in closed form for two classes, else by quadrature.

        Secure noise on whole numbers is summed over, as long as its law is tabulated.
        """
        counts, sigma = np.asarray(counts), parameters.sigma
        if self._sums_over_lattice(sigma, secure=secure):
            return lattice_distribution(counts, sigma)
        if counts.shape[1] > 2:
            return gnmax_distribution(counts, sigma)
        # Both classes' tails are equally exact.
        return label_probability(int(counts[0].sum()), sigma, counts)

    def probability_correct(self, counts, labels, parameters, *, secure=False):
        """Return entries of `distribution`."""
        counts, labels = np.asarray(counts), np.asarray(labels)
        if counts.shape[1] == 2:
            distribution = self.distribution(counts, parameters, secure=secure)
            return select_label_probabilities(distribution, labels)
        merged = merge_histograms(counts)
        if self._sums_over_lattice(parameters.sigma, secure=secure):
            return lattice_probability_correct(merged, labels, parameters.sigma)
        return gnmax_probability_correct(merged, labels, parameters.sigma)

    def numerical_error(self, n_teachers, n_classes, parameters, *, secure=False):
        """Return the error of normal tails, of quadrature, or of sums over whole numbers.

        Where continuous noise stands in for whole numbers, its total-variation distance is added.
        """
        sigma, distance = parameters.sigma, 1e-300
        if self._sums_over_lattice(sigma, secure=secure):
            return lattice_error(sigma, n_classes)
        if secure and self.secure_sampler == "whole":
            distance = whole_lattice_total_variation(sigma, n_classes)
        if n_classes > 2:
            return {"relative_error": 1e-10 + normal_error(math.inf), "absolute_error": distance}
        # The reach is doubled, as the audit's twin with half the noise doubles the arguments.
        reach = 2 * n_teachers / (math.sqrt(2) * sigma)
        return {"relative_error": normal_error(reach), "absolute_error": distance}

    def draw(self, counts, parameters, source):
        counts, sigma = np.asarray(counts), parameters.sigma
        if self.secure_sampler == "whole":
            return gnmax(counts, sigma, source)
        if self.draws_exact_bernoulli and source.secure and counts.shape[1] == 2:
            return draw_bernoulli_labels(self.distribution(counts, parameters))
        return source.argmax_gaussian(check_counts(counts), check_sigma(sigma))

    def scale_noise(self, parameters, factor):
        return replace(parameters, sigma=factor * parameters.sigma)

    def build_objective(self, counts, labels, task):
        """Score by continuous noise, which serves as a guide to secure noise as well."""
        if task.ensemble.classes == 2:
            return lambda noise: self.expected_answers(counts, labels, task, noise)[1]
        merged = merge_histograms(counts)
        return lambda noise: float(
            noise.labels * gnmax_probability_correct_fast(merged, labels, noise.sigma).mean()
        )

    def dominating_pairs(self, task, parameters):
        """Return the table's pairs for two classes, else `GaussianMaximum`.

        Raises:
            ValueError: For secure noise on whole numbers, for which no pairs are known.
        """
        sigma, K, C = float(parameters.sigma), task.ensemble.teachers, task.ensemble.classes
        if task.secure and self.secure_sampler == "whole":
            raise ValueError("noise = secure: no pairs of neighbours are known for whole numbers")
        if C > 2:
            return GaussianMaximum(sigma, K, C, task.protection.reach)
        error = self.numerical_error(K, C, parameters)
        return label_dominating_pairs(
            lambda counts: self.distribution(counts, parameters),
            error["relative_error"],
            error["absolute_error"],
            task,
        )

    def scale(self, parameters):
        return parameters.sigma

    def noise_at_scale(self, scale: float, labels: int = 1) -> GaussianNoise:
        """Return noise of this scale, the standard deviation."""
        return GaussianNoise(scale, labels)

    def _sums_over_lattice(self, sigma: float, *, secure: bool) -> bool:
        """Return whether the distribution is a sum over the lattice of whole numbers."""
        return secure and self.secure_sampler == "whole" and sigma <= MAX_TABULATED_SIGMA


WHOLE, CONTINUOUS, COINS = Gaussian("whole"), Gaussian("continuous"), Gaussian("coins")
