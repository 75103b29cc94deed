"""What labels cost together with noisy counts that are looked at between them, adaptively.

A noisy count that a neighbour moves is charged as it stands, by the one pair of laws that
dominates whatever is done with it; labels are charged by `account`, for what they release. However
the two alternate, they cost no more than if all counts were seen first and all labels asked for
afterwards. So one backward pass over the labels serves, and one more step for all counts together.
Theorem and proof: docs/other-labels.md.
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
from private_ensembles.base.stated_bounds import upper_bound

# Losses of the counts beyond the kernel's reach may hold this share of delta.
_CUT = 1e-4
_FURTHEST = 600.0
# The logarithm of a threshold is off by this, relative to its size or to 1, and so is a product.
_ROUNDING = 1024 * UNIT_ROUNDOFF
# A sigma is found to this much above the least one that the grid can prove.
_SLACK = 1e-5
_TRIES = 40


@dataclass(frozen=True)
class NoisyCounts:
    """Counts that a neighbour moves by up to `group_size`, with noise N(0, sigma^2) of their own.

    Attributes:
        counts: How many counts there are, >= 1.
        sigma: In the counts' unit, > 0.
        lattice: Whether noise is drawn from the discrete Gaussian on whole numbers.
        group_size: By how much a neighbour moves each count at most, a whole number >= 1.

    Raises:
        ValueError: A number out of range.

    >>> f"{float(NoisyCounts(100, 40.0).deltas(1.0)):.3g}"
    '2.92e-06'
    """

    counts: int
    sigma: float
    lattice: bool = False
    group_size: int = 1

    def __post_init__(self) -> None:
        checks.check_integer(counts=self.counts, group_size=self.group_size, at_least=1)
        checks.check_finite(sigma=self.sigma, above=0)

    @property
    @upper_bound
    def mu(self) -> float:
        """How far all counts together move, in standard deviations, rounded up."""
        return round_float_up(
            self.group_size * math.sqrt(self.counts) / self.sigma, 3 + (self.group_size > 1)
        )

    @upper_bound
    def deltas(self, epsilon: ArrayLike) -> NDArray[np.float64]:
        """Return upper bounds on delta at each epsilon, any real numbers, of the counts alone."""
        if not self.lattice:
            return gaussian_delta(self.mu, epsilon)
        counts = DiscreteGaussianCounts(int(self.counts), self.sigma, int(self.group_size))
        return discrete_gaussian.deltas(epsilon, counts)


@upper_bound
@dataclass(frozen=True)
class LabelValueBounds:
    """Upper bounds on W of so many labels at the grid's points, as `bound_label_values` returns.

    Attributes:
        grid: The points.
        values: (size,), the bounds.
    """

    grid: Grid
    values: NDArray[np.float64]

    @upper_bound
    def privacy_curve_with_counts(
        self, counts: NoisyCounts, delta: float, near_epsilon: float | None = None, points: int = 2
    ) -> PrivacyCurve:
        """Return upper bounds on delta of the labels and the counts, around where it is `delta`.

        Args:
            counts: The counts that are released beside the labels.
            delta: About the delta that is wanted. It only chooses how far the counts' losses are
                followed: the bounds hold whatever it is.
            near_epsilon: The curve is wanted near this epsilon alone, which saves time; everywhere
                unless given.
            points: How many points are wanted to the left of it; there are two to the right.
        """
        step, values = self.grid.step, self.values
        kernel = hockey_sticks.kernels(_count_divergences(counts, step, delta), step)
        reach, logs = kernel.support_radius, self.grid.logs()
        first, last = 0, len(values)
        if near_epsilon is not None:
            index = int(np.searchsorted(logs, near_epsilon))
            first, last = max(0, index - points), min(last, index + 2)
        # Bounds beyond the grid are as in `backward_induction.value_upper_bounds`, and so is the
        # rounding.
        down = np.exp(-step * np.arange(reach, 0, -1)) * (1 - _ROUNDING)
        low, high = 1 - down * (1 - values[0]) + _ROUNDING, np.full(reach, values[-1])
        padded = np.concatenate([low, values, high])[first : last + 2 * reach]
        bounds = np.correlate(padded, kernel.masses[0], "valid") + kernel.infinite_loss_mass[0]
        bounds = np.minimum(bounds * (1 + (2 * reach + 8) * 2 * UNIT_ROUNDOFF), 1.0)
        no_lower_bounds = np.zeros(last - first)
        return PrivacyCurve(logs[first:last], bounds, no_lower_bounds, no_lower_bounds)

    @upper_bound
    def epsilon(self, counts: NoisyCounts, delta: float, largest_epsilon: float) -> float:
        """Return the curve's epsilon at delta, looked for from `largest_epsilon` to the left.

        Args:
            counts: The counts that are released beside the labels.
            delta: Delta of labels and counts together.
            largest_epsilon: Where the search starts.

        Returns:
            epsilon, infinite if the bound at `largest_epsilon` is above delta.
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

        It was itself checked, and for continuous noise it is within _SLACK of one that the grid
        cannot prove.

        Args:
            counts: The counts; the search starts at their sigma.
            epsilon: Epsilon of labels and counts together.
            delta: Delta of labels and counts together.

        Returns:
            sigma, infinite if the labels leave too little.
        """

        @cache
        def holds(sigma: float, *, lattice: bool = False) -> bool:
            tried = replace(counts, sigma=sigma, lattice=lattice)
            return self.privacy_curve_with_counts(tried, delta, epsilon).delta(epsilon) <= delta

        fails_at = find_first_failing(holds, halving_points(counts.sigma))
        sigma = find_first_holding(
            holds, islice(doubling_points(fails_at), _TRIES), relative=_SLACK
        )
        if not counts.lattice or math.isinf(sigma):
            return sigma
        steps = islice(ascending_points(sigma, 2e-6), _TRIES)

        def holds_on_lattice(sigma: float) -> bool:
            return holds(sigma, lattice=True)

        return find_first_holding(holds_on_lattice, steps, relative=math.inf)


@upper_bound
def bound_label_values(
    dominating_pairs: DominatingPairs,
    labels: int,
    epsilon: float,
    delta: float,
    *,
    width: float = 0.0,
    fineness: float = FINE,
) -> LabelValueBounds:
    """Return bounds for `labels` labels, on a grid that leaves room for counts.

    epsilon, delta and width are about those of labels and counts together; they only choose the
    grid.

    Args:
        dominating_pairs: Of one label.
        labels: How many labels are released.
        epsilon: Where bounds are wanted.
        delta: About the delta there.
        width: Standard deviation of the losses of labels and counts together.
        fineness: Of the grid.

    References:
        docs/other-labels.md.

    >>> from private_ensembles.accounting.adaptive_composition import dominating_pairs
    >>> coin = dominating_pairs.two_class_dominating_pairs([0.5, 0.5])  # tells nothing
    >>> counts = NoisyCounts(100, 40.0)
    >>> values = bound_label_values(coin, 3, 1.0, 1e-5, width=counts.mu)
    >>> f"{values.privacy_curve_with_counts(counts, 1e-5).delta(1.0):.3g}"
    '2.92e-06'
    """
    resolution = grid_and_orders(
        dominating_pairs, labels, epsilon, delta, fineness=fineness, width=width
    )
    everywhere = slice(0, resolution.grid.size)
    values = pairs_value_bounds(dominating_pairs, labels, delta, resolution, everywhere)
    return LabelValueBounds(resolution.grid, values)


@upper_bound
def joint_epsilon(
    dominating_pairs: DominatingPairs,
    labels: int,
    counts: NoisyCounts,
    delta: float,
    *,
    fineness: float = FINE,
) -> float:
    """Return an upper bound on the epsilon of labels and counts at `delta`, adaptively chosen.

    Args:
        dominating_pairs: Of one label.
        labels: How many labels are released, >= 1.
        counts: The counts that are released beside them.
        delta: Delta of labels and counts together, in (0, 1).
        fineness: Of the grid.

    Returns:
        epsilon, infinite if none is found.

    Raises:
        ValueError: A number out of range.

    References:
        docs/other-labels.md.
    """
    check_labels(labels, delta)
    guess = counts.mu**2 / 2 + counts.mu * math.sqrt(2 * math.log(1 / delta))
    for _ in range(_TRIES):
        # This is done twice: the first epsilon that is found chooses the grid of the second.
        for _ in range(2):
            label_values = bound_label_values(
                dominating_pairs, labels, guess, delta, width=counts.mu, fineness=fineness
            )
            epsilon = label_values.privacy_curve_with_counts(counts, delta).epsilon(delta)
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
    """Return E(t) - (1 - t)_+ of the counts at `hockey_sticks.thresholds`, rounded up, (1, n).

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
