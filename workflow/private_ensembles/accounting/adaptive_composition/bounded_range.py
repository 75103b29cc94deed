"""What draws by bounded scores cost together: a class is drawn in proportion to e^score.

The scores are private, and one record changes them by a vector whose largest entry exceeds its
least by at most `range`. The number of classes does not matter, so there may be as many as a
language model has tokens, and as many draws. Theorems and proofs: docs/tokens.md.
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

# Up to this many draws blocks of a thousand or so are taken, on the grid of a single draw.
_FEW = 10_000
# More are taken in blocks of blocks. The first are as large, since a block of few draws is skewed,
# which an adversary could use at both ends; the others are as many as this. Each has a grid that
# grows with its losses, so many points for a standard deviation of one.
_FIRST, _NEXT, _FINE = (1000, 1200), (64, 128), 10.0
# Rounding takes 1e-16 of delta for each draw.
MOST_DRAWS = 100_000_000
# Shares of the range at which the lower bound's pairs are tried: of few draws the worst is near an
# end, of many near the middle, and then nearer to the best of these.
_SHARES = np.concatenate([np.linspace(0.05, 0.95, 19), 1 - np.geomspace(1e-6, 0.04, 16)])
_MANY, _MIDDLE = 1000, np.linspace(0.44, 0.56, 5)
_NEARER = (0.03, 0.01, 0.003)
# Floats hold these exactly.
_FACTORIALS = np.array([math.factorial(n) for n in range(19)], dtype=np.float64)
# Outcomes further from the mean than the normal law needs for delta are left to the adversary.
_SPARE = 4.0


def curve_of_draws(
    range_: float,
    draws: int,
    epsilon: float,
    delta: float,
    *,
    fineness: float | None = None,
    least: float | None = None,
) -> PrivacyCurve:
    """Return upper bounds on delta around `epsilon`, of that many draws, chosen adaptively.

    >>> found = curve_of_draws(0.05, 500, 2.5, 1e-6)
    >>> round(found.epsilon(1e-6), 3)
    2.559

    range_: of the scores' change, in (0, LARGEST_RANGE]. draws: 1 to MOST_DRAWS. epsilon, delta:
    where the bounds are wanted; they only choose the grid. fineness: of the grid, if a search wants
    a coarser one; least: as in `account.privacy_curve`. Both are for up to 10,000 draws.
    Source: docs/tokens.md; the pairs are those of Dong, Durfee and Rogers 2020.
    """
    fineness = grid_fineness(2, draws) if fineness is None else fineness
    family = bounded_range_pairs(range_)
    if draws <= _FEW:
        options = {"fineness": fineness, "lower": False, "least": least}
        return privacy_curve(family, draws, epsilon, delta, **options)
    spread = max_loss_deviation(family)
    width = spread * math.sqrt(draws)
    orders = deciding_orders(epsilon, width)
    together = kernels_on(family, spread / _FINE, draws, delta, orders, spread)
    left, sizes = draws, _FIRST
    while left > _NEXT[1]:
        size, left = _blocks(left, sizes)
        sizes = _NEXT
        # A power of two, so that the points of the coarse grid are points of the fine one.
        coarse = math.sqrt(size * together.variance) / _FINE
        every = 2 ** max(0, math.floor(math.log2(coarse)))
        together = block(together, size, CUT * delta / left, every)
    bottom, top = log_threshold_limits(width, epsilon, delta)
    lowest = math.floor(bottom / together.step) - 1
    grid = Grid(together.step, lowest, math.ceil(top / together.step) + 2 - lowest)
    above = value_upper_bounds(together, grid, left)
    first = max(0, -grid.lowest - 1)
    nothing = np.zeros(grid.size - first)
    return PrivacyCurve(grid.logs()[first:], above[first:], nothing, nothing)


def _blocks(draws: int, sizes: tuple[int, int]) -> tuple[int, int]:
    """The size of blocks, and how many: for all draws, and for as few more as can be."""
    size = min(range(sizes[0], sizes[1] + 1), key=lambda tried: -draws % tried)
    return size, -(-draws // size)


def epsilon_of_draws(range_: float, draws: int, delta: float, guess: float) -> Bounds:
    """Return bounds on the epsilon of that many draws at `delta`; arguments as above.

    >>> bounds = epsilon_of_draws(0.05, 500, 1e-6, guess=2.7)
    >>> round(bounds.lower, 3), round(bounds.upper, 3)
    (2.547, 2.559)

    guess: an epsilon that is thought to be enough, > 0. upper: infinite if the account proves none
    that is at most twice the guess. lower: what an adversary gains who repeats one pair of scores,
    which is the largest for draws that are not adaptive (Dong, Durfee and Rogers 2020).
    """
    upper = curve_of_draws(range_, draws, guess, delta).epsilon(delta)
    return Bounds(least_epsilon(range_, draws, delta), upper)


def largest_range(epsilon: float, draws: int, delta: float, start: float) -> float:
    """Return a range, within 0.05 % of the largest whose draws cost (epsilon, delta) by this bound.

    >>> round(largest_range(3.0, 500, 1e-6, start=0.0544), 4)
    0.0577

    start: a range near it, > 0. Raises ValueError if none is found.
    """

    def curve_of(scale: float, points: float) -> PrivacyCurve:
        return curve_of_draws(1 / scale, draws, epsilon, delta, fineness=points, least=epsilon)

    fineness = min(grid_fineness(2, draws), 2 * FINE) if draws <= _FEW else COARSE
    scale = least_scale_of_curves(curve_of, draws, epsilon, delta, 1 / start, fineness=fineness)
    return 1 / scale


def least_epsilon(range_: float, draws: int, delta: float) -> float:
    """Return a lower bound on the epsilon of that many draws at `delta`, 0 if none is found.

    >>> round(least_epsilon(2.0, 1, 1e-6), 4)  # of one draw: nearly all of its range
    1.9981

    One pair of laws is repeated, whose outcomes are a binomial number.
    """
    checks.check_range(0, LARGEST_RANGE, range_=range_, low_allowed=False)

    def epsilon_at_share(share: float) -> float:
        return _repeated_pair_epsilon(range_, share * range_, draws, delta)

    tried = {share: epsilon_at_share(share) for share in (_SHARES if draws <= _MANY else _MIDDLE)}
    for step in _NEARER:
        best = max(tried, key=tried.get)
        near = (best - step, best + step)
        tried |= {
            share: epsilon_at_share(share) for share in near if 0 < share < 1 and share not in tried
        }
    return max(0.0, *tried.values())


def _repeated_pair_epsilon(range_: float, low: float, draws: int, delta: float) -> float:
    """A lower bound on epsilon at delta if one pair is repeated.

    Its outcomes have the likelihood ratios e^-low and e^(range - low), neighbour over truth.
    """
    rise, fall = (Ball(range_) - low).expm1(), -(Ball(-low).expm1())
    often, rare = rise / (rise + fall), fall / (rise + fall)
    mean, spread = draws * float(rare.middle), math.sqrt(draws * float(rare.middle * often.middle))
    far = (math.sqrt(-2 * math.log(delta)) + range_ * spread + _SPARE) * spread
    first = max(0, math.floor(mean - far) - 10)
    last = min(draws, math.ceil(mean + far) + 10)
    number = np.arange(first, last + 1)
    chances = (
        _log_choices(draws, number) + often.log() * (draws - number) + rare.log() * number
    ).exp()
    chances = np.maximum(np.nan_to_num(chances.lower, nan=0.0), 0.0)
    losses = Ball(low) * draws - Ball(range_) * number

    def delta_at(epsilon: float) -> float:
        gain = -((Ball(epsilon) - losses).expm1())
        return float(
            round_float_down(np.sum(chances * np.maximum(gain.lower, 0.0)), number.size + 2)
        )

    largest = float(losses.upper.max())
    if largest <= 0 or delta_at(0.0) < delta:
        return 0.0
    return bisect(lambda epsilon: delta_at(epsilon) >= delta, largest, 0.0, relative=1e-7)


def _log_choices(draws: int, number: NDArray) -> Ball:
    """ln (draws choose number), by Robbins' bounds on n! for n > 0."""
    return _log_factorial(np.array(draws)) - _log_factorial(number) - _log_factorial(draws - number)


def _log_factorial(number: NDArray) -> Ball:
    """ln n!: (n + 1/2) ln n - n + ln(2 pi) / 2 and between 1 / (12 n + 1) and 1 / (12 n) more."""
    positive = np.maximum(number, 1).astype(np.float64)
    low, high = 1 / (12 * positive + 1), 1 / (12 * positive)
    rest = Ball((low + high) / 2, (high - low) / 2 * (1 + 1e-12) + 1e-17)
    stirling = Ball(positive).log() * (positive + 0.5) - positive
    stirling = stirling + Ball(2 * math.pi, 1e-15).log() / 2 + rest
    few = number < _FACTORIALS.size
    exact = Ball(_FACTORIALS[np.where(few, number, 0)]).log()
    return Ball(
        np.where(few, exact.middle, stirling.middle), np.where(few, exact.radius, stirling.radius)
    )
