"""What labels cost together with noisy counts that are looked at between them, adaptively.

A noisy count that a neighbour moves is charged as it stands, by the one pair of laws that
dominates whatever is done with it; labels are charged by `account`, for what they release. However
the two alternate, they cost no more than if all counts were seen first and all labels asked for
afterwards. So one backward pass over the labels serves, and one more step for all counts together.
Theorem and proof: docs/confident-labels.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.accounting.adaptive_composition import hockey_sticks
from private_ensembles.accounting.adaptive_composition.account import (
    FINE,
    PrivacyCurve,
    check_labels,
    grid_and_orders,
    pairs_value_bounds,
)
from private_ensembles.accounting.adaptive_composition.backward_induction import Grid
from private_ensembles.accounting.adaptive_composition.dominating_pairs import DominatingPairs
from private_ensembles.accounting.discrete_gaussian import DiscreteGaussianCounts
from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.base import checks
from private_ensembles.base.root_search import (
    ascending_points,
    doubling_points,
    find_first_failing,
    find_first_holding,
    halving_points,
)
from private_ensembles.base.rounding import UNIT_ROUNDOFF, round_float_up

# Losses of the counts beyond the kernel's reach may hold this share of delta.
_CUT = 1e-4
_FURTHEST = 600.0
# Of the logarithm of a threshold, relative to its size or to 1, and of a product.
_ROUNDING = 1024 * UNIT_ROUNDOFF
# A sigma is found to this much above the least one that the grid can prove.
_SLACK = 1e-5
_TRIES = 40


@dataclass(frozen=True)
class NoisyCounts:
    """Counts that a neighbour moves by up to `moved`, with noise N(0, sigma^2) of their own.

    >>> f"{float(NoisyCounts(100, 40.0).deltas(1.0)):.3g}"
    '2.92e-06'

    counts: >= 1. sigma: in the counts' unit, > 0. lattice: whether noise is drawn from the discrete
    Gaussian on whole numbers. moved: a whole number >= 1. Raises ValueError for numbers out of
    range.
    """

    counts: int
    sigma: float
    lattice: bool = False
    group_size: int = 1

    def __post_init__(self) -> None:
        checks.check_integer(counts=self.counts, moved=self.group_size, at_least=1)
        checks.check_finite(sigma=self.sigma, above=0)

    @property
    def mu(self) -> float:
        """How far all counts together move, in standard deviations, rounded up."""
        return round_float_up(
            self.group_size * math.sqrt(self.counts) / self.sigma, 3 + (self.group_size > 1)
        )

    def deltas(self, epsilon: ArrayLike) -> NDArray[np.float64]:
        """Return upper bounds on delta at each epsilon, any real numbers, of the counts alone."""
        if not self.lattice:
            return gaussian_delta(self.mu, epsilon)
        moves = DiscreteGaussianCounts(int(self.counts), self.sigma, int(self.group_size))
        return discrete_gaussian.deltas(epsilon, moves)


@dataclass(frozen=True)
class LabelValueBounds:
    """Upper bounds on W of that many labels at the grid's points: what `labels_alone` returns."""

    grid: Grid
    values: NDArray[np.float64]

    def privacy_curve_with_counts(
        self, counts: NoisyCounts, delta: float, near_epsilon: float | None = None, points: int = 2
    ) -> PrivacyCurve:
        """Return upper bounds on delta of the labels and the counts, around where it is `delta`.

        delta only chooses how far the counts' losses are followed: the bounds hold whatever it is.
        at: an epsilon beside which alone the curve is wanted, so many points to the left and two to
        the right, which saves time.
        """
        step, values = self.grid.step, self.values
        kernel = hockey_sticks.kernels(_count_divergences(counts, step, delta), step)
        reach, logs = kernel.support_radius, self.grid.logs()
        first, last = 0, len(values)
        if near_epsilon is not None:
            place = int(np.searchsorted(logs, near_epsilon))
            first, last = max(0, place - points), min(last, place + 2)
        # Beyond the grid as in `backward_induction.value_upper_bounds`, and so is the rounding.
        down = np.exp(-step * np.arange(reach, 0, -1)) * (1 - _ROUNDING)
        low, high = 1 - down * (1 - values[0]) + _ROUNDING, np.full(reach, values[-1])
        padded = np.concatenate([low, values, high])[first : last + 2 * reach]
        bounds = np.correlate(padded, kernel.masses[0], "valid") + kernel.infinite_loss_mass[0]
        bounds = np.minimum(bounds * (1 + (2 * reach + 8) * 2 * UNIT_ROUNDOFF), 1.0)
        nothing = np.zeros(last - first)
        return PrivacyCurve(logs[first:last], bounds, nothing, nothing)

    def epsilon(self, counts: NoisyCounts, delta: float, largest_epsilon: float) -> float:
        """Return the curve's epsilon at delta, looked for from `at` to the left.

        Infinite if the bound at `at` is above delta.
        """
        points = 2
        while True:
            curve = self.privacy_curve_with_counts(counts, delta, largest_epsilon, points)
            if curve.delta(largest_epsilon) > delta:
                return math.inf
            # Where the curve falls below delta is among these points, or there are no others.
            if curve.upper[0] > delta or curve.epsilons[0] <= 0:
                return curve.epsilon(delta)
            points *= 16

    def least_sigma(self, counts: NoisyCounts, epsilon: float, delta: float) -> float:
        """Return a sigma with which such counts beside the labels keep (epsilon, delta).

        It was itself checked, and for continuous noise is within _SLACK of one that the grid cannot
        prove. The search starts at that of the counts. Infinite if the labels leave too little.
        """

        @cache
        def holds(sigma: float, lattice: bool = False) -> bool:
            tried = replace(counts, sigma=sigma, lattice=lattice)
            return self.privacy_curve_with_counts(tried, delta, epsilon).delta(epsilon) <= delta

        fails_at = find_first_failing(holds, halving_points(counts.sigma))
        sigma = find_first_holding(
            holds, islice(doubling_points(fails_at), _TRIES), relative=_SLACK
        )
        if not counts.lattice or math.isinf(sigma):
            return sigma
        steps = islice(ascending_points(sigma, 2e-6), _TRIES)
        return find_first_holding(lambda sigma: holds(sigma, True), steps, relative=math.inf)


def bound_label_values(
    dominating_pairs: DominatingPairs,
    labels: int,
    epsilon: float,
    delta: float,
    *,
    width: float = 0.0,
    fineness: float = FINE,
) -> LabelValueBounds:
    """Return bounds for `labels` labels of a family, on a grid that leaves room for counts.

    >>> from private_ensembles.accounting.adaptive_composition.dominating_pairs import two_class_dominating_pairs
    >>> coin = two_class_dominating_pairs([0.5, 0.5])  # tells nothing
    >>> counts = NoisyCounts(100, 40.0)
    >>> both = bound_label_values(coin, 3, 1.0, 1e-5, width=counts.mu).privacy_curve_with_counts(counts, 1e-5)
    >>> f"{both.delta(1.0):.3g}"
    '2.92e-06'

    epsilon, delta, width: about those of labels and counts together, width the standard deviation
    of their losses; they only choose the grid. Source: docs/confident-labels.md.
    """
    resolution = {"fineness": fineness, "width": width}
    known = grid_and_orders(dominating_pairs, labels, epsilon, delta, **resolution)
    grid, _, _ = known
    everywhere = slice(0, grid.size)
    return LabelValueBounds(
        grid, pairs_value_bounds(dominating_pairs, labels, delta, known, everywhere)
    )


def joint_epsilon(
    dominating_pairs: DominatingPairs,
    labels: int,
    counts: NoisyCounts,
    delta: float,
    *,
    fineness: float = FINE,
) -> float:
    """Return an upper bound on the epsilon of labels and counts at `delta`, adaptively chosen.

    labels: >= 1. delta: in (0, 1). Infinite if none is found. Raises ValueError for numbers out
    of range.
    """
    check_labels(labels, delta)
    guess = counts.mu**2 / 2 + counts.mu * math.sqrt(2 * math.log(1 / delta))
    for _ in range(_TRIES):
        # Twice: the first epsilon that is found chooses the grid of the second.
        for _ in range(2):
            alone = bound_label_values(
                dominating_pairs, labels, guess, delta, width=counts.mu, fineness=fineness
            )
            epsilon = alone.privacy_curve_with_counts(counts, delta).epsilon(delta)
            if not math.isfinite(epsilon):
                break
            guess = epsilon
        else:
            return epsilon
        guess = 2 * guess + 0.1
        if guess > _FURTHEST:
            break
    return math.inf


def _count_divergences(counts: NoisyCounts, step: float, delta: float) -> NDArray[np.float64]:
    """E(t) - (1 - t)_+ of the counts at `hockey_sticks.thresholds`, rounded up.

    Both orders of the neighbours have one curve, so that for t < 1 it is t E(1 / t).
    """
    mu = counts.mu
    furthest = mu**2 / 2 + mu * math.sqrt(2 * math.log(1 / (_CUT * delta)))
    reach = max(1, math.ceil(min(furthest, _FURTHEST) / step) - 1)
    logs = step * np.arange(reach + 1)
    # delta falls with epsilon, so that a threshold's rounding is charged by a smaller epsilon.
    right = np.clip(counts.deltas(logs - _ROUNDING * (1 + logs)), 0.0, 1.0)
    left = right * np.exp(-logs) * (1 + _ROUNDING)
    return np.concatenate([left[:0:-1], right])[None]
