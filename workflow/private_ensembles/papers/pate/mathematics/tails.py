"""Tails of the noise on votes: all that PATE's data-dependent accounts need of it.

`noise` is "reproducible" (floating-point Gaussians, accounted for as continuous ones) or "secure"
(discrete Gaussians N_Z(0, sigma^2), ties decided by fair dice). Both are symmetric and
log-concave, and both cost lambda / (2 sigma^2) at order lambda if a count changes by 1, which is
what the proofs use (docs/pate.md). The tails differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtr, ndtri_exp

from private_ensembles.accounting.discrete_gaussian import log_overtakes, log_tail
from private_ensembles.base.secure import check_mode
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.labels.gnmax import check_sigma


@dataclass(frozen=True)
class GaussianTails:
    """Tails of N(0, sigma^2), sigma > 0 in votes. All logs are natural, arrays of any shape.

    SciPy's logarithms are good to a few round-offs on either side.
    """

    sigma: float

    def log_overtake_probability(self, gap: ArrayLike) -> NDArray[np.float64]:
        """Return log Pr[of two classes the one that trails by gap votes is chosen]."""
        return log_ndtr(-np.asarray(gap) / (np.sqrt(2) * self.sigma))

    def log_overtake_probability_after(
        self, log_chance: ArrayLike, closed_votes: int
    ) -> NDArray[np.float64]:
        """Return the log of that probability once `closed_votes` votes more have closed its gap.

        As a function of the probability it is exact at whole gaps and, for closed_votes > 0, above
        the chords between them; its inverse closes -closed_votes.
        """
        return log_ndtr(ndtri_exp(log_chance) + np.sqrt(2) * closed_votes / (2 * self.sigma))

    def log_pass_probability(self, margin: ArrayLike) -> NDArray[np.float64]:
        """Return log Pr[margin + noise >= 0]; margin: votes above the threshold."""
        return log_ndtr(np.asarray(margin) / self.sigma)

    def log_fail_probability(self, margin: ArrayLike) -> NDArray[np.float64]:
        """Return log Pr[margin + noise < 0]."""
        return log_ndtr(-np.asarray(margin) / self.sigma)

    def pass_probability(self, margin: ArrayLike) -> NDArray[np.float64]:
        """Return Pr[margin + noise >= 0]."""
        return ndtr(np.asarray(margin) / self.sigma)

    def effective_threshold(self, threshold: float) -> float:
        """Return the threshold as whole votes plus noise see it."""
        return threshold


@upper_bound
@dataclass(frozen=True)
class LatticeTails:
    """Tails of N_Z(0, sigma^2), rounded up; gaps and margins are whole numbers of votes."""

    sigma: float

    def log_overtake_probability(self, gap: ArrayLike) -> NDArray[np.float64]:
        return log_overtakes(gap, self.sigma)

    def log_overtake_probability_after(
        self, log_chance: ArrayLike, closed_votes: int
    ) -> NDArray[np.float64]:
        """Return what `GaussianTails` does, log-linear between whole gaps.

        On such a piece it is a power of the probability, of exponent at most 1 for closed_votes > 0
        as the tails are log-concave: above the chord, which Proposition 21 needs.
        """
        log_chance = np.asarray(log_chance, dtype=np.float64)
        # The difference of two N_Z is sub-Gaussian: a tail is at most e^(-gap^2 / (4 sigma^2)).
        least = float(np.min(log_chance, initial=-40.0))
        farthest_gap = math.ceil(2 * self.sigma * math.sqrt(-least)) + 2 + abs(closed_votes)
        gaps = np.arange(farthest_gap, -farthest_gap - 1, -1)
        return np.interp(
            log_chance,
            self.log_overtake_probability(gaps),
            self.log_overtake_probability(gaps - closed_votes),
        )

    def log_pass_probability(self, margin: ArrayLike) -> NDArray[np.float64]:
        return log_tail(-np.asarray(margin), self.sigma)

    def log_fail_probability(self, margin: ArrayLike) -> NDArray[np.float64]:
        return log_tail(1 + np.asarray(margin), self.sigma)

    def pass_probability(self, margin: ArrayLike) -> NDArray[np.float64]:
        return np.exp(self.log_pass_probability(margin))

    def effective_threshold(self, threshold: float) -> float:
        return float(math.ceil(threshold))


Tails = GaussianTails | LatticeTails


def tails_of(noise: str, sigma: float) -> Tails:
    """Return the tails of noise of the given mode and scale.

    Args:
        noise: ``reproducible`` or ``secure``.
        sigma: in votes, finite and > 0.

    Raises:
        ValueError: an argument is outside its range.
    """
    kind = LatticeTails if check_mode(noise) == "secure" else GaussianTails
    return kind(check_sigma(sigma))
