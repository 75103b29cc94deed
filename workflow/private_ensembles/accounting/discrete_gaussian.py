"""Discrete Gaussian noise N_Z(0, sigma^2): its tails, its sums, and what it costs, exactly.

Pr[X = x] is proportional to exp(-x^2 / (2 sigma^2)) on the whole numbers. This is the noise that
`noise: secure` draws, and the one place for facts about it. docs/discrete-noise.md proves them.

Every probability comes with a bound on its error. "upper" and "lower" say on which side of the
true value a result is; if neither is said, it is rounded against us.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.base import checks
from private_ensembles.base.root_search import ascending_points, doubling_points, find_first_holding
from private_ensembles.base.rounding import UNIT_ROUNDOFF, round_float_up
from private_ensembles.base.secure import fine_units

# A law reaches this many standard deviations. What lies beyond is below 2 e^-312 for each of up to
# 10^12 terms, granted as BEYOND.
_REACH = 25
TRUNCATED_MASS = 1e-120
# From here on the law of a sum is taken to be a discrete Gaussian itself (theorem 1).
_SMOOTH = 2.0
# A sum of a larger standard deviation is taken for a rounded Gaussian (theorem 3), of a variance
# that is smaller by this: 1.5^2.
_LARGEST = 400.0
_ROUNDING = 2.25
# The largest sigma of which laws are listed where a label's probability is asked for: 50 numbers
# for each unit. Beyond, rounded Gaussians are as near as it matters (theorem 5).
MAX_TABULATED_SIGMA = 2.0**15
# Beyond it no epsilon is looked for.
_NO_EPSILON = 1e15


@dataclass(frozen=True)
class Law:
    """A symmetric law on the whole numbers -reach, ..., reach; what lies beyond weighs BEYOND.

    mass: Pr[S = s], (2 reach + 1,). tail: Pr[S >= s], (2 reach + 2,), the last one 0. error: the
    relative error of every entry, beside an absolute one of BEYOND.
    """

    mass: NDArray[np.float64]
    tail: NDArray[np.float64]
    error: float

    @property
    def support_radius(self) -> int:
        """The largest number that is listed."""
        return len(self.mass) // 2

    @property
    def support(self) -> NDArray[np.int64]:
        """All numbers that are listed, ascending."""
        return np.arange(-self.support_radius, self.support_radius + 1)

    def tail_probability(self, start: NDArray[np.int64]) -> NDArray[np.float64]:
        """Pr[S >= start], any shape."""
        return self.tail[np.clip(start + self.support_radius, 0, len(self.mass))]

    def probability(self, number: NDArray[np.int64]) -> NDArray[np.float64]:
        """Pr[S = number], any shape."""
        listed = np.abs(number) <= self.support_radius
        return np.where(listed, self.mass[np.where(listed, number + self.support_radius, 0)], 0.0)

    def upper_tail(self, start: NDArray[np.int64]) -> NDArray[np.float64]:
        """Pr[S >= start], rounded up."""
        return self.tail_probability(start) * (1 + self.error) + TRUNCATED_MASS

    def lower_tail(self, start: NDArray[np.int64]) -> NDArray[np.float64]:
        """Pr[S >= start], rounded down."""
        return np.maximum(self.tail_probability(start) * (1 - self.error) - TRUNCATED_MASS, 0.0)


@lru_cache(maxsize=256)
def law(sigma: float, terms: int = 1) -> Law:
    """Return the law of the sum (or difference) of independent N_Z(0, sigma^2), `terms` of them.

    One and two terms, and sigma >= 2, in closed form (theorem 1); else by adding up products, all
    of them positive. Raises ValueError for sigma not finite and > 0, or terms < 1.
    """
    _check(sigma, terms)
    reach = math.ceil(_REACH * sigma * math.sqrt(terms)) + 1
    x = np.arange(-reach, reach + 1)
    if terms <= 2 or sigma >= _SMOOTH:
        mass = np.exp(_log_weight(x, sigma, terms))
        # Both halves are alike and doubling is exact: the same sum in half the time.
        mass /= math.fsum([*(2 * mass[:reach]).tolist(), mass[reach]])
        error = _shape_error(sigma, terms) if terms > 2 else 0.0
    else:
        half, rest = law(sigma, terms // 2), law(sigma, terms - terms // 2)
        mass = np.convolve(half.mass, rest.mass)
        middle = len(mass) // 2
        mass = mass[middle - min(reach, middle) : middle + min(reach, middle) + 1]
        error = half.error + rest.error
    tail = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
    # Exponents are up to 312 in size and carry three round-offs; a sum of n terms loses n.
    error += UNIT_ROUNDOFF * (2000 + 4 * len(mass))
    return Law(mass, tail, error)


def _log_weight(x: NDArray, sigma: float, terms: int) -> NDArray[np.float64]:
    """log Pr[S = x] up to a constant, for one or two terms; more: as if `_shape_error` were 0."""
    even, odd = _parities(sigma, terms)
    quadratic = -np.square(x / sigma) / (2 * terms)
    return quadratic + np.where(x % 2 == 0, math.log(even), math.log(odd))


@lru_cache(maxsize=256)
def _parities(sigma: float, terms: int) -> tuple[float, float]:
    """What completing the square of two terms leaves at even and at odd sums (theorem 1)."""
    if terms != 2:
        return 1.0, 1.0
    # Both halves are alike and doubling is exact; what lies further out is 0 as a float.
    y = np.arange(1, math.ceil(28 * sigma) + 3)
    even, odd = ((2 * np.exp(-np.square((y - shift) / sigma))).tolist() for shift in (0.0, 0.5))
    return math.fsum([1.0, *even]), math.fsum(odd)


def _shape_error(sigma: float, terms: int) -> float:
    """The relative distance of a sum's law from N_Z(0, terms sigma^2) (theorem 1)."""
    error = 5 * (terms - 1) * math.exp(-(math.pi**2) * sigma**2)
    return error if error <= 1e-3 else math.inf


def log_mass(number: ArrayLike, sigma: float) -> NDArray[np.float64]:
    """log Pr[X = number] of one N_Z(0, sigma^2), any shape, up to rounding."""
    _check(sigma, 1)
    reach = math.ceil(40 * sigma) + 1
    whole = math.fsum(np.exp(_log_weight(np.arange(-reach, reach + 1), sigma, 1)))
    return _log_weight(np.asarray(number), sigma, 1) - math.log(whole)


def log_tail(start: ArrayLike, sigma: float, *, terms: int = 1) -> NDArray[np.float64]:
    """log Pr[S >= start] of one N_Z(0, sigma^2), or of the difference (sum) of two; any shape.

    start: whole numbers, however far out. Rounded up, by about 1e-12 of it. Raises ValueError for
    other numbers of terms, sigma not finite and > 0, and start that is not a whole number.
    """
    _check(sigma, terms)
    checks.check_integer(terms=terms, at_least=1, at_most=2)
    start = np.asarray(start)
    whole = np.rint(start).astype(np.int64)
    if (whole != start).any():
        raise ValueError("start: must be whole numbers")
    furthest = int(np.abs(whole).max(initial=0))
    # Tables of few lengths, so that calls share them.
    table, error = _log_tails(sigma, terms, 1 << furthest.bit_length())
    # Above the median directly, below it by 1 - Pr[S >= 1 - start], which is at least 1/2.
    direct = table[np.maximum(whole, 0)]
    mirrored = np.log1p(-np.exp(table[np.maximum(1 - whole, 1)]))
    tail = np.where(whole > 0, direct, mirrored)
    slack = error * (1 + np.abs(tail))
    return np.minimum(tail + slack, 0.0)


@lru_cache(maxsize=64)
def _log_tails(sigma: float, terms: int, furthest: int) -> tuple[NDArray[np.float64], float]:
    """log Pr[S >= x] for x = 0, ..., furthest + 1, and an error, relative to 1 + its size.

    With w the weights, the sum over y >= x of w(y) / w(x) is t(x) = 1 + w(x + 1) / w(x) t(x + 1):
    positive terms, and an error at x + 1 weighs less at x.
    """
    length = furthest + 2 + math.ceil(40 * sigma * math.sqrt(terms))
    x = np.arange(length + 1)
    even, odd = _parities(sigma, terms)
    ratios = np.exp(-(x[:-1] + 0.5) / (terms * sigma**2))
    ratios *= np.where(x[:-1] % 2 == 0, odd / even, even / odd)
    sums = accumulate(ratios[::-1], lambda rest, ratio: 1 + ratio * rest, initial=1.0)
    sums = np.array(list(sums))[::-1]
    whole = even * (2 * sums[0] - 1)  # both sides of 0, which counts once
    table = _log_weight(x, sigma, terms) + np.log(sums) - math.log(whole)
    # A ratio carries a few round-offs, of which about 1.3 standard deviations add up.
    error = UNIT_ROUNDOFF * 32 * (1 + sigma * math.sqrt(terms))
    return table[: furthest + 2], max(error, 1e-12)


def log_overtakes(gap: ArrayLike, sigma: float) -> NDArray[np.float64]:
    """log Pr[a class that trails another one by gap votes is chosen of the two], rounded up.

    Both counts get N_Z(0, sigma^2), and a fair die decides a tie: (Pr[D >= gap] +
    Pr[D >= gap + 1]) / 2, D the difference of the noise. gap: whole numbers, as `log_tail`.
    """
    gap = np.asarray(gap)
    beyond = log_tail(np.stack([gap, gap + 1]), sigma, terms=2)
    chance = np.logaddexp(*beyond) - math.log(2)
    slack = 8 * UNIT_ROUNDOFF * (1 + np.abs(chance))
    return np.minimum(chance + slack, 0.0)


@dataclass(frozen=True)
class DiscreteGaussianCounts:
    """Counts that a neighbour moves by `by`, each with noise N_Z(0, sigma^2) of its own.

    by: a whole number >= 1. Raises ValueError for counts < 0, or sigma not finite and > 0.
    """

    counts: int
    sigma: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        _check(self.sigma, max(1, self.counts))
        checks.check_integer(counts=self.counts, at_least=0)
        checks.check_integer(by=self.sensitivity, at_least=1)

    @property
    def total_shift(self) -> int:
        """By how much the sum of all counts moves."""
        return self.counts * self.sensitivity

    @property
    def variance(self) -> float:
        """Nearly the variance of the sum of all their noise."""
        return self.counts * self.sigma**2

    @property
    def law(self) -> Law:
        """The law of the sum S of all their noise."""
        return law(self.sigma, self.counts)

    def losses(self) -> NDArray[np.float64]:
        """The privacy loss, by (2 s + n by) / (2 sigma^2), at every s of the law of S."""
        return self.sensitivity * (2 * self.law.support + self.total_shift) / (2 * self.sigma**2)

    def delta(self, epsilon: ArrayLike) -> NDArray[np.float64]:
        """Return Pr[S >= t] - e^epsilon Pr[S >= t + n by], rounded up (theorem 2); any reals.

        t: the least number whose loss exceeds epsilon.
        """
        epsilon = np.asarray(epsilon, dtype=np.float64)
        bound = np.clip(
            epsilon * self.sigma**2 / self.sensitivity - self.total_shift / 2, -1e15, 1e15
        )
        # A number whose loss equals epsilon up to rounding is included: it hardly weighs anything.
        slack = 2e-15 * (np.abs(bound) + self.total_shift)
        start = np.ceil(bound - slack).astype(np.int64)
        here, there = self.law.upper_tail(start), self.law.lower_tail(start + self.total_shift)
        rounding = 2 * self.sensitivity * slack / self.sigma**2 + 4 * UNIT_ROUNDOFF * (
            1 + np.abs(epsilon)
        )
        growth = np.exp(np.minimum(epsilon, 700.0)) * np.maximum(1 - rounding, 0.0)
        return np.clip(here * (1 + rounding) - growth * there, 0.0, 1.0)


def delta(epsilon: float, count_groups: Iterable[DiscreteGaussianCounts]) -> float:
    """Return the delta at epsilon of all counts together, rounded up: exactly, up to rounding.

    Of groups of counts with different sigma, one is listed and the others are asked at what it
    leaves of epsilon. What has a standard deviation above 400, or would be the third group,
    counts as a Gaussian of 2.25 less variance (theorem 3: an upper bound, next to nothing too large
    if noise is large).
    Adaptively chosen queries and caps cost no more (theorem 4).
    """
    return _delta_of(epsilon, _group_by_sigma(count_groups))


def deltas(epsilon: ArrayLike, noisy_counts: DiscreteGaussianCounts) -> NDArray[np.float64]:
    """Return `delta` of counts that are all alike, at each epsilon, any shape.

    >>> deltas([0.0, 0.5], DiscreteGaussianCounts(100, 40.0)).round(4).tolist()
    [0.0995, 0.0027]
    """
    return (
        noisy_counts.delta(epsilon)
        if _is_listed(noisy_counts)
        else _smooth_delta(epsilon, [noisy_counts])
    )


def _is_listed(noisy_counts: DiscreteGaussianCounts) -> bool:
    """Whether the law of the sum of all noise is listed, and not taken for a Gaussian."""
    return noisy_counts.variance <= _LARGEST**2 or noisy_counts.sigma < _SMOOTH


def _delta_of(epsilon: float, groups: list[DiscreteGaussianCounts]) -> float:
    """Do as `delta` does, of groups of `_by_sigma`."""
    if not groups:
        return max(0.0, -math.expm1(epsilon))
    if len(groups) == 1:
        return float(deltas(epsilon, groups[0]))
    listed = [move for move in groups if _is_listed(move)]
    if len(groups) > 2:
        listed = listed[:1]
    smooth = [move for move in groups if move not in listed]
    if not listed:
        return float(_smooth_delta(epsilon, smooth))
    first = listed[0]
    loss = first.losses()
    left = epsilon - loss - 8 * UNIT_ROUNDOFF * (abs(epsilon) + np.abs(loss))
    each = listed[1].delta(left) if len(listed) == 2 else _smooth_delta(left, smooth)
    rounding = first.law.error + UNIT_ROUNDOFF * (4 + len(loss))
    return min(1.0, float(first.law.mass @ each) * (1 + rounding) + 2 * TRUNCATED_MASS)


def _group_by_sigma(count_groups: Iterable[DiscreteGaussianCounts]) -> list[DiscreteGaussianCounts]:
    """Put counts that are alike into one group, by ascending variance; leave out empty ones."""
    counts = Counter()
    for move in count_groups:
        counts[move.sigma, move.sensitivity] += move.counts
    groups = [DiscreteGaussianCounts(number, *kind) for kind, number in counts.items() if number]
    return sorted(groups, key=lambda move: move.variance)


def _smooth_delta(epsilon: ArrayLike, groups: list[DiscreteGaussianCounts]) -> NDArray[np.float64]:
    """Return delta of groups of counts, as rounded Gaussians of less variance (theorem 3)."""
    squares, error = 0.0, 0.0
    for move in groups:
        if move.variance <= _ROUNDING:
            return np.ones(np.shape(epsilon))
        squares += move.total_shift**2 / (move.variance - _ROUNDING)
        # A law is within 1 +- error of a rounded Gaussian's: 1e-18 is what rounding by 1.5 loses.
        error += _shape_error(move.sigma, move.counts) + 1e-18
    mu = math.sqrt(squares)
    if math.isinf(error):
        return np.ones(np.shape(epsilon))
    error += 16 * UNIT_ROUNDOFF
    gaussian = gaussian_delta(mu * (1 + error), np.asarray(epsilon) - 3 * error)
    return np.clip(gaussian * (1 + 2 * error), 0.0, 1.0)


def epsilon(delta_: float, count_groups: Iterable[DiscreteGaussianCounts]) -> float:
    """Return the least epsilon >= 0 at which `delta` is at most delta_, within 1e-10, rounded up.

    Infinite if no epsilon is enough for such a small delta_. Raises ValueError for delta_
    outside (0, 1).
    """
    checks.check_probability(delta=delta_, zero=False, one=False)
    groups = _group_by_sigma(count_groups)

    def holds(value: float) -> bool:
        return _delta_of(value, groups) <= delta_

    return find_first_holding(holds, chain([0.0], doubling_points(1.0, _NO_EPSILON)))


def sufficient_factor(
    count_groups: Iterable[DiscreteGaussianCounts], epsilon_: float, delta_: float
) -> float:
    """Return the first factor >= 1 by which all sigmas must grow to keep (epsilon_, delta_).

    More noise need not cost less on a lattice, so the factor is walked upwards from 1; what is
    returned was itself checked. If noise is large, it is 1 or next to it.
    """
    groups = _group_by_sigma(count_groups)  # as many and in the same order, whatever the factor

    def holds(factor: float) -> bool:
        more = [replace(move, sigma=move.sigma * factor) for move in groups]
        return _delta_of(epsilon_, more) <= delta_

    return find_first_holding(holds, ascending_points(1.0, 1e-6), relative=1e-6)


def fine_lattice_total_variation(sigma: float, classes: int) -> float:
    """Return how far GNMax's label from noise on the fine lattice is from that of N(0, sigma^2).

    >>> f"{fine_lattice_total_variation(45.0, 10):.1e}"
    '4.3e-14'

    An upper bound on the total variation between the two labels of one query, whatever the votes:
    (sqrt(2 ln C) + 2^-20 C) h / sigma for a lattice of h = 1 / `base.secure.fine_units` votes,
    2^-40 if sigma < 2^16, which hardly grows with the number of classes (docs/discrete-noise.md,
    theorem 5). Q labels whose continuous noise costs (epsilon, delta) cost (epsilon, delta +
    (1 + e^epsilon) Q times this). sigma: in votes, 2^-20 <= sigma < 2^56. classes: C >= 2. Raises
    ValueError for another sigma.
    """
    if not sigma >= 2.0**-20:
        raise ValueError(f"sigma = {sigma}: must be at least 2^-20")
    near = math.sqrt(2 * math.log(classes)) + 2.0**-20 * classes
    return round_float_up(near / fine_units(sigma) / sigma, 12)  # 8 of them for the logarithm


def whole_lattice_total_variation(sigma: float, classes: int) -> float:
    """Return how far GNMax's label from noise on whole numbers is from that of N(0, sigma^2).

    >>> f"{whole_lattice_total_variation(1e6, 10):.1e}"
    '2.1e-06'

    As `fine_distance`, an upper bound whatever the votes, for a lattice of whole votes: (sqrt(2 ln
    C) + C / sigma) / sigma (docs/discrete-noise.md, theorem 5). sigma: in votes, > LISTED. classes:
    C >= 2. Raises ValueError for a sigma below.
    """
    if not sigma > MAX_TABULATED_SIGMA:
        raise ValueError(
            f"sigma = {sigma}: must be above {MAX_TABULATED_SIGMA:g}, below which laws are listed"
        )
    return round_float_up((math.sqrt(2 * math.log(classes)) + classes / sigma) / sigma, 12)


def tail_probability(start: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    """Return Pr[X >= start] of one N_Z(0, sigma^2), any shape, within `chance_error`.

    start: whole numbers. Beyond LISTED that of a rounded Gaussian. Raises ValueError as `law`.
    """
    if sigma <= MAX_TABULATED_SIGMA:
        return law(sigma).tail_probability(start)
    return ndtr((0.5 - start) / sigma)


def tail_probability_error(sigma: float) -> tuple[float, float]:
    """Return the relative and the absolute error of `chance_at_least`."""
    if sigma <= MAX_TABULATED_SIGMA:
        return law(sigma).error, TRUNCATED_MASS
    return 1e-12, round_float_up(1 / sigma**2, 4)


def _check(sigma: float, terms: int) -> None:
    checks.check_finite(sigma=sigma, above=0)
    checks.check_integer(terms=terms, at_least=1)
