"""The privacy loss of DP-SGD's steps: Poisson-sampled Gaussian sums, with every rounding counted.

The hockey-stick divergence of one step is known in closed form for the pairs of distributions named
in `training.teachers.accounting`; `accounting.privacy_loss_distribution` composes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from private_ensembles.accounting.privacy_loss_distribution import PrivacyLossDistribution, compose
from private_ensembles.base.root_search import bisect
from private_ensembles.base.stated_bounds import upper_bound

# This is added to each delta of one step: its two terms, both at most 1, lose no more by rounding.
# SciPy's normal distribution function is good to 4e-14 relatively in its tails, better elsewhere.
_ERROR = 1e-13
# One step's loss has at most so many points on either side of 0, and fewer if this interval between
# them suffices.
_POINTS, _INTERVAL = 20_000, 1e-4
# Larger losses count as infinite: e^loss overflows soon, and nothing is private there.
_LARGEST = 300.0
_LEAST_NOISE = 0.05

Curve = Callable[[NDArray], NDArray]


def step_hockey_stick_divergences(
    noise_multiplier: float, sample_rate: float, adjacency: str
) -> list[Curve]:
    """Return a step's hockey-stick divergence for each order of its pair of neighbours.

    Args:
        noise_multiplier: The noise's standard deviation for a record of norm 1.
        sample_rate: The probability that a record enters.
        adjacency: ``add_remove``, or ``replace_one``, for which both orders have one curve.

    Returns:
        Functions from epsilon, of either sign, to delta.
    """

    def edge(epsilon: NDArray) -> NDArray:
        """Return where the first density is e^epsilon that of N(0, s^2); -inf if always above."""
        numerator = np.expm1(epsilon) + sample_rate
        with np.errstate(divide="ignore"):
            return noise_multiplier**2 * np.log(np.maximum(numerator, 0) / sample_rate) + 0.5

    def removed(epsilon: NDArray) -> NDArray:
        """Compare (1 - q) N(0, s^2) + q N(1, s^2) with N(0, s^2), beyond the edge."""
        t = edge(epsilon)
        first = (1 - sample_rate) * ndtr(-t / noise_multiplier) + sample_rate * ndtr(
            (1 - t) / noise_multiplier
        )
        return first - np.exp(epsilon) * ndtr(-t / noise_multiplier)

    def added(epsilon: NDArray) -> NDArray:
        """Compare them in the other order, up to the edge."""
        t = edge(-epsilon)
        second = (1 - sample_rate) * ndtr(t / noise_multiplier) + sample_rate * ndtr(
            (t - 1) / noise_multiplier
        )
        return ndtr(t / noise_multiplier) - np.exp(epsilon) * second

    def replaced(epsilon: NDArray) -> NDArray:
        """Compare (1 - q) N(0, s^2) + q N(1, s^2) with (1 - q) N(0, s^2) + q N(-1, s^2)."""
        size = np.abs(epsilon)
        # y = e^((2t - 1) / (2 s^2)) solves q y^2 - b y - e^epsilon q c^2 = 0, c = e^(-1 / (2 s^2)).
        b = (1 - sample_rate) * np.expm1(size)
        root = np.hypot(b, 2 * sample_rate * np.exp(size / 2 - 1 / (2 * noise_multiplier**2)))
        t = noise_multiplier**2 * np.log((b + root) / (2 * sample_rate)) + 0.5
        both = (1 - sample_rate) * ndtr(-t / noise_multiplier)
        first = both + sample_rate * ndtr((1 - t) / noise_multiplier)
        delta = first - np.exp(size) * (both + sample_rate * ndtr((-1 - t) / noise_multiplier))
        return np.where(epsilon < 0, -np.expm1(epsilon) + np.exp(epsilon) * delta, delta)

    return [replaced] if adjacency == "replace_one" else [removed, added]


# The distributions serve a teacher's epsilon at several Delta, and once more for group privacy.
@lru_cache(maxsize=4)
def composed_loss_distributions(
    noise_multiplier: float, sample_rate: float, steps: int, adjacency: str
) -> tuple[PrivacyLossDistribution, ...]:
    """Return the privacy loss distribution of all steps together, for each order of the pair.

    Args:
        noise_multiplier, sample_rate, adjacency: As in `step_hockey_stick_divergences`.
        steps: The number of steps.

    Returns:
        One distribution for each order; none for next to no noise.
    """
    if noise_multiplier < _LEAST_NOISE:
        return ()
    curves = step_hockey_stick_divergences(noise_multiplier, sample_rate, adjacency)
    # Both orders are on one grid: where one ends, the other's losses, of opposite sign, begin.
    end = max(_max_privacy_loss(curve) for curve in curves)
    points = min(_POINTS, math.ceil(end / _INTERVAL))
    grid = np.arange(-points, points + 1) * (end / points)
    totals = []
    for curve in curves:
        deltas = np.clip(curve(grid) + _ERROR, 0.0, 1.0)
        totals.append(compose(np.minimum.accumulate(deltas), end / points, steps))
    return tuple(totals)


@upper_bound
def composed_epsilon(
    noise_multiplier: float, sample_rate: float, steps: int, Delta: float, adjacency: str
) -> float:
    """Return an upper bound on the epsilon of that many steps at Delta.

    It exceeds the least epsilon by about an interval of one step's losses.

    Args:
        noise_multiplier, sample_rate, adjacency: As in `step_hockey_stick_divergences`.
        steps: The number of steps.
        Delta: In (0, 1).

    Returns:
        A multiple of 1e-9; infinite for next to no noise.
    """
    totals = composed_loss_distributions(noise_multiplier, sample_rate, steps, adjacency)
    return max((total.epsilon(Delta, 1e-9) for total in totals), default=math.inf)


def _max_privacy_loss(curve: Curve) -> float:
    """Return the epsilon beyond which a curve is next to nothing, at most _LARGEST."""

    def is_negligible(epsilon: float) -> bool:
        return float(curve(np.array([epsilon]))[0]) <= _ERROR

    return bisect(is_negligible, 0.0, _LARGEST, relative=1e-3)
