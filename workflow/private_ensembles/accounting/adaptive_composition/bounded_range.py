"""What draws by bounded scores cost together: a class is drawn in proportion to e^score.

The scores are private, and one record changes them by a vector whose largest entry exceeds its
least by at most `range`. The number of classes does not matter, so there may be as many as a
language model has tokens, and as many draws. Theorems and proofs: docs/other-labels.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.account import (
    COARSE,
    FINE,
    Bounds,
    PrivacyCurve,
    deciding_orders,
    kernels_on,
    log_threshold_limits,
    privacy_curve,
)
from private_ensembles.accounting.adaptive_composition.backward_induction import (
    Grid,
    value_upper_bounds,
)
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    LARGEST_RANGE,
    bounded_range_pairs,
    max_loss_deviation,
)
from private_ensembles.accounting.adaptive_composition.label_blocks import CUT, block
from private_ensembles.accounting.adaptive_composition.scales import (
    grid_fineness,
    least_scale_of_curves,
)
from private_ensembles.base import checks
from private_ensembles.base.root_search import bisect
from private_ensembles.base.rounding import Ball, round_float_down
from private_ensembles.base.stated_bounds import lower_bound, upper_bound

# Up to this many draws are taken in blocks of a thousand or so, on the grid of a single draw.
_FEW = 10_000
# More are taken in blocks of blocks. The first are as large, since a block of few draws is skewed,
# which an adversary could use at both ends; the others are as many as this. Each has a grid that
# grows with its losses, so many points for a standard deviation of one.
_FIRST, _NEXT, _FINE = (1000, 1200), (64, 128), 10.0
# Rounding takes 1e-16 of delta for each draw.
MOST_DRAWS = 100_000_000
# The lower bound's pairs are tried at these shares of the range: the worst of few draws is near an
# end, that of many near the middle. Then shares nearer to the best of these are tried.
_SHARES = np.concatenate([np.linspace(0.05, 0.95, 19), 1 - np.geomspace(1e-6, 0.04, 16)])
_MANY, _MIDDLE = 1000, np.linspace(0.44, 0.56, 5)
_NEARER = (0.03, 0.01, 0.003)
# Floats hold these exactly.
_FACTORIALS = np.array([math.factorial(n) for n in range(19)], dtype=np.float64)
# Outcomes are followed so many standard deviations further than the normal law needs for delta.
_FURTHER = 4.0


@upper_bound
def curve_of_draws(
    range_: float,
    draws: int,
    epsilon: float,
    delta: float,
    *,
    fineness: float | None = None,
    least: float | None = None,
) -> PrivacyCurve:
    """Return upper bounds on delta around `epsilon`, of so many draws, chosen adaptively.

    Args:
        range_: Of the scores' change, in (0, LARGEST_RANGE].
        draws: 1 to MOST_DRAWS.
        epsilon: Where bounds are wanted. epsilon and delta only choose the grid.
        delta: About the delta there.
        fineness: Of the grid, if a search wants a coarser one; for up to 10,000 draws.
        least: As in `account.privacy_curve`; for up to 10,000 draws.

    References:
        docs/other-labels.md; the pairs are those of Dong, Durfee and Rogers 2020.

    >>> curve = curve_of_draws(0.05, 500, 2.5, 1e-6)
    >>> round(curve.epsilon(1e-6), 3)
    2.558
    """
    fineness = grid_fineness(2, draws) if fineness is None else fineness
    pairs = bounded_range_pairs(range_)
    if draws <= _FEW:
        return privacy_curve(
            pairs, draws, epsilon, delta, fineness=fineness, lower=False, least=least
        )
    loss_deviation = max_loss_deviation(pairs)
    width = loss_deviation * math.sqrt(draws)
    orders = deciding_orders(epsilon, width)
    kernels = kernels_on(pairs, loss_deviation / _FINE, draws, delta, orders, loss_deviation)
    # `kernels` are those of one block, of which there are `count`.
    count, sizes = draws, _FIRST
    while count > _NEXT[1]:
        size, count = _blocks(count, sizes)
        sizes = _NEXT
        # The coarse step is a power of two fine ones, so that its points are points of the fine
        # grid.
        coarse = math.sqrt(size * kernels.variance) / _FINE
        every = 2 ** max(0, math.floor(math.log2(coarse)))
        kernels = block(kernels, size, CUT * delta / count, every)
    bottom, top = log_threshold_limits(width, epsilon, delta)
    lowest = math.floor(bottom / kernels.step) - 1
    grid = Grid(kernels.step, lowest, math.ceil(top / kernels.step) + 2 - lowest)
    upper = value_upper_bounds(kernels, grid, count)
    first = max(0, -grid.lowest - 1)
    no_lower_bounds = np.zeros(grid.size - first)
    return PrivacyCurve(grid.logs()[first:], upper[first:], no_lower_bounds, no_lower_bounds)


def _blocks(draws: int, sizes: tuple[int, int]) -> tuple[int, int]:
    """Return the size of blocks, and how many hold all draws and as few more as can be."""
    size = min(range(sizes[0], sizes[1] + 1), key=lambda size: -draws % size)
    return size, -(-draws // size)


@upper_bound
@lower_bound
def epsilon_of_draws(range_: float, draws: int, delta: float, guess: float) -> Bounds:
    """Return bounds on the epsilon of so many draws at `delta`.

    Args:
        range_: As `curve_of_draws` takes it.
        draws: As `curve_of_draws` takes it.
        delta: Delta of all draws together.
        guess: An epsilon that is thought to be enough, > 0.

    Returns:
        `upper` is infinite if the account proves no epsilon that is at most twice the guess.
        `lower` is what an adversary gains who repeats one pair of scores, which is the largest for
        draws that are not adaptive.

    References:
        docs/other-labels.md; Dong, Durfee and Rogers 2020.

    >>> bounds = epsilon_of_draws(0.05, 500, 1e-6, guess=2.7)
    >>> round(bounds.lower, 3), round(bounds.upper, 3)
    (2.547, 2.558)
    """
    upper = curve_of_draws(range_, draws, guess, delta).epsilon(delta)
    return Bounds(least_epsilon(range_, draws, delta), upper)


def largest_range(epsilon: float, draws: int, delta: float, start: float) -> float:
    """Return a range, within 0.05 % of the largest whose draws cost (epsilon, delta) by this bound.

    Args:
        epsilon: Epsilon of all draws together.
        draws: As `curve_of_draws` takes it.
        delta: Delta of all draws together.
        start: A range near the result, > 0.

    Raises:
        ValueError: No range is found.

    >>> round(largest_range(3.0, 500, 1e-6, start=0.0544), 4)
    0.0577
    """

    def curve_of(scale: float, points: float) -> PrivacyCurve:
        return curve_of_draws(1 / scale, draws, epsilon, delta, fineness=points, least=epsilon)

    fineness = min(grid_fineness(2, draws), 2 * FINE) if draws <= _FEW else COARSE
    scale = least_scale_of_curves(curve_of, draws, epsilon, delta, 1 / start, fineness=fineness)
    return 1 / scale


@lower_bound
def least_epsilon(range_: float, draws: int, delta: float) -> float:
    """Return a lower bound on the epsilon of so many draws at `delta`, 0 if none is found.

    One pair of laws is repeated, whose outcomes are a binomial number.

    Args:
        range_: As `curve_of_draws` takes it.
        draws: As `curve_of_draws` takes it.
        delta: Delta of all draws together.

    Raises:
        ValueError: range_ is outside (0, LARGEST_RANGE].

    >>> round(least_epsilon(2.0, 1, 1e-6), 4)  # one draw costs nearly all of its range
    1.9981
    """
    checks.check_range(0, LARGEST_RANGE, range_=range_, low_allowed=False)

    def epsilon_at_share(share: float) -> float:
        return _repeated_pair_epsilon(range_, share * range_, draws, delta)

    shares = _SHARES if draws <= _MANY else _MIDDLE
    epsilons = {share: epsilon_at_share(share) for share in shares}
    for step in _NEARER:
        best = max(epsilons, key=lambda share: epsilons[share])
        for share in (best - step, best + step):
            if 0 < share < 1 and share not in epsilons:
                epsilons[share] = epsilon_at_share(share)
    return max(0.0, *epsilons.values())


def _repeated_pair_epsilon(range_: float, low: float, draws: int, delta: float) -> float:
    """Return a lower bound on epsilon at delta if one pair is repeated.

    Its outcomes have the likelihood ratios e^-low and e^(range - low), neighbour over truth.
    """
    rise, fall = (Ball(range_) - low).expm1(), -(Ball(-low).expm1())
    often, rare = rise / (rise + fall), fall / (rise + fall)
    mean = draws * float(rare.middle)
    deviation = math.sqrt(draws * float(rare.middle * often.middle))
    far = (math.sqrt(-2 * math.log(delta)) + range_ * deviation + _FURTHER) * deviation
    first = max(0, math.floor(mean - far) - 10)
    last = min(draws, math.ceil(mean + far) + 10)
    number = np.arange(first, last + 1)
    log_choices = _log_choices(draws, number)
    pmf = (log_choices + often.log() * (draws - number) + rare.log() * number).exp()
    probabilities = np.maximum(np.nan_to_num(pmf.lower, nan=0.0), 0.0)
    losses = Ball(low) * draws - Ball(range_) * number

    def delta_at(epsilon: float) -> float:
        gain = -((Ball(epsilon) - losses).expm1())
        total = np.sum(probabilities * np.maximum(gain.lower, 0.0))
        return float(round_float_down(total, number.size + 2))

    largest = float(losses.upper.max())
    if largest <= 0 or delta_at(0.0) < delta:
        return 0.0
    return bisect(lambda epsilon: delta_at(epsilon) >= delta, largest, 0.0, relative=1e-7)


def _log_choices(draws: int, number: NDArray) -> Ball:
    """Return ln (draws choose number), by Robbins' bounds on n! for n > 0."""
    return _log_factorial(np.array(draws)) - _log_factorial(number) - _log_factorial(draws - number)


def _log_factorial(number: NDArray) -> Ball:
    """Return ln n!: (n + 1/2) ln n - n + ln(2 pi) / 2, and 1 / (12 n + 1) to 1 / (12 n) more."""
    positive = np.maximum(number, 1).astype(np.float64)
    low, high = 1 / (12 * positive + 1), 1 / (12 * positive)
    rest = Ball((low + high) / 2, (high - low) / 2 * (1 + 1e-12) + 1e-17)
    stirling = Ball(positive).log() * (positive + 0.5) - positive
    stirling = stirling + Ball(2 * math.pi, 1e-15).log() / 2 + rest
    small = number < _FACTORIALS.size
    exact = Ball(_FACTORIALS[np.where(small, number, 0)]).log()
    return Ball(
        np.where(small, exact.middle, stirling.middle),
        np.where(small, exact.radius, stirling.radius),
    )
