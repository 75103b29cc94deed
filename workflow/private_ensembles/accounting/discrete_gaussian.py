"""Discrete Gaussian noise N_Z(0, sigma^2): its tails, its sums, and what it costs, exactly.

Pr[X = x] is proportional to exp(-x^2 / (2 sigma^2)) on the whole numbers. This is the noise that
`noise: secure` draws, and this module is the one place for facts about it. The theorems that are
cited here by number are proven in docs/noise.md.

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
from private_ensembles.base.stated_bounds import lower_bound, upper_bound

# A law reaches this many standard deviations. What lies beyond is below 2 e^-312 for each of up to
# 10^12 terms, and is granted as TRUNCATED_MASS.
_REACH = 25
TRUNCATED_MASS = 1e-120
# From this sigma on the law of a sum is taken to be a discrete Gaussian itself (theorem 1).
_SMOOTH = 2.0
# A sum of a larger standard deviation is taken for a rounded Gaussian (theorem 3), of a variance
# that is smaller by this: 1.5^2.
_LARGEST = 400.0
_ROUNDING = 2.25
# Laws are listed up to this sigma where a label's probability is wanted: 50 numbers for each unit.
# Beyond it, rounded Gaussians are as near as it matters (theorem 5).
MAX_TABULATED_SIGMA = 2.0**15
# No epsilon beyond this one is looked for.
_NO_EPSILON = 1e15


@dataclass(frozen=True)
class Law:
    """A symmetric law on the whole numbers -support_radius, ..., support_radius.

    What lies beyond them weighs TRUNCATED_MASS at most.

    Attributes:
        mass: (2 support_radius + 1,), Pr[S = s].
        tail: (2 support_radius + 2,), Pr[S >= s], the last one 0.
        error: Relative error of every entry, beside an absolute one of TRUNCATED_MASS.
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
        """Return Pr[S >= start], any shape."""
        return self.tail[np.clip(start + self.support_radius, 0, len(self.mass))]

    def probability(self, number: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return Pr[S = number], any shape."""
        listed = np.abs(number) <= self.support_radius
        return np.where(listed, self.mass[np.where(listed, number + self.support_radius, 0)], 0.0)

    @upper_bound
    def upper_tail(self, start: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return Pr[S >= start], rounded up."""
        return self.tail_probability(start) * (1 + self.error) + TRUNCATED_MASS

    @lower_bound
    def lower_tail(self, start: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return Pr[S >= start], rounded down."""
        return np.maximum(self.tail_probability(start) * (1 - self.error) - TRUNCATED_MASS, 0.0)


@lru_cache(maxsize=256)
def law(sigma: float, terms: int = 1) -> Law:
    """Return the law of the sum (or difference) of independent N_Z(0, sigma^2).

    One and two terms, and sigma >= 2, are in closed form (theorem 1). Others are found by adding up
    products, all of them positive.

    Args:
        sigma: Parameter of each term, > 0.
        terms: How many terms there are, >= 1.

    Raises:
        ValueError: sigma is not finite and > 0, or terms < 1.
    """
    _check(sigma, terms)
    reach = math.ceil(_REACH * sigma * math.sqrt(terms)) + 1
    x = np.arange(-reach, reach + 1)
    if terms <= 2 or sigma >= _SMOOTH:
        mass = np.exp(_log_weight(x, sigma, terms))
        # Both halves are alike and doubling is exact, which gives the same sum in half the time.
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
    """Return log Pr[S = x] up to a constant, for one or two terms.

    For more terms it is what it would be if `_shape_error` were 0.
    """
    even, odd = _parities(sigma, terms)
    quadratic = -np.square(x / sigma) / (2 * terms)
    return quadratic + np.where(x % 2 == 0, math.log(even), math.log(odd))


@lru_cache(maxsize=256)
def _parities(sigma: float, terms: int) -> tuple[float, float]:
    """Return what completing the square of two terms leaves at even and at odd sums (theorem 1)."""
    if terms != 2:
        return 1.0, 1.0
    # Both halves are alike and doubling is exact; what lies further out is 0 as a float.
    y = np.arange(1, math.ceil(28 * sigma) + 3)
    even, odd = ((2 * np.exp(-np.square((y - shift) / sigma))).tolist() for shift in (0.0, 0.5))
    return math.fsum([1.0, *even]), math.fsum(odd)


def _shape_error(sigma: float, terms: int) -> float:
    """Return the relative distance of a sum's law from N_Z(0, terms sigma^2) (theorem 1)."""
    error = 5 * (terms - 1) * math.exp(-(math.pi**2) * sigma**2)
    return error if error <= 1e-3 else math.inf


def log_mass(number: ArrayLike, sigma: float) -> NDArray[np.float64]:
    """Return log Pr[X = number] of one N_Z(0, sigma^2), any shape, up to rounding."""
    _check(sigma, 1)
    reach = math.ceil(40 * sigma) + 1
    whole = math.fsum(np.exp(_log_weight(np.arange(-reach, reach + 1), sigma, 1)))
    return _log_weight(np.asarray(number), sigma, 1) - math.log(whole)


@upper_bound
def log_tail(start: ArrayLike, sigma: float, *, terms: int = 1) -> NDArray[np.float64]:
    """Return log Pr[S >= start] of one N_Z(0, sigma^2), or of the difference (sum) of two.

    Args:
        start: Whole numbers, however far out, any shape.
        sigma: Parameter of each term, > 0.
        terms: 1 or 2.

    Returns:
        The logarithms, rounded up by about 1e-12 of themselves.

    Raises:
        ValueError: Another number of terms, sigma not finite and > 0, or a start that is not a
            whole number.
    """
    _check(sigma, terms)
    checks.check_integer(terms=terms, at_least=1, at_most=2)
    start = np.asarray(start)
    whole = np.rint(start).astype(np.int64)
    if (whole != start).any():
        raise ValueError("start: must be whole numbers")
    furthest = int(np.abs(whole).max(initial=0))
    # Tables have few lengths, so that calls share them.
    table, error = _log_tails(sigma, terms, 1 << furthest.bit_length())
    # Tails above the median are listed; below it they are 1 - Pr[S >= 1 - start], at least 1/2.
    direct = table[np.maximum(whole, 0)]
    mirrored = np.log1p(-np.exp(table[np.maximum(1 - whole, 1)]))
    tail = np.where(whole > 0, direct, mirrored)
    slack = error * (1 + np.abs(tail))
    return np.minimum(tail + slack, 0.0)


@lru_cache(maxsize=64)
def _log_tails(sigma: float, terms: int, furthest: int) -> tuple[NDArray[np.float64], float]:
    """Return log Pr[S >= x] for x = 0, ..., furthest + 1, and an error, relative to 1 + its size.

    With w the weights, the sum over y >= x of w(y) / w(x) is t(x) = 1 + w(x + 1) / w(x) t(x + 1).
    Its terms are positive, and an error at x + 1 weighs less at x.
    """
    length = furthest + 2 + math.ceil(40 * sigma * math.sqrt(terms))
    x = np.arange(length + 1)
    even, odd = _parities(sigma, terms)
    ratios = np.exp(-(x[:-1] + 0.5) / (terms * sigma**2))
    ratios *= np.where(x[:-1] % 2 == 0, odd / even, even / odd)
    ascending = accumulate(ratios[::-1], lambda rest, ratio: 1 + ratio * rest, initial=1.0)
    sums = np.array(list(ascending))[::-1]
    whole = even * (2 * sums[0] - 1)  # both sides of 0, which counts once
    table = _log_weight(x, sigma, terms) + np.log(sums) - math.log(whole)
    # A ratio carries a few round-offs, which add up over about 1.3 standard deviations.
    error = UNIT_ROUNDOFF * 32 * (1 + sigma * math.sqrt(terms))
    return table[: furthest + 2], max(error, 1e-12)


@upper_bound
def log_overtakes(gap: ArrayLike, sigma: float) -> NDArray[np.float64]:
    """Return log Pr[a class that trails another by gap votes is chosen of the two], rounded up.

    Both counts get N_Z(0, sigma^2), and a fair die decides a tie. With D the difference of the
    noise, the probability is (Pr[D >= gap] + Pr[D >= gap + 1]) / 2.

    Args:
        gap: Whole numbers, any shape.
        sigma: Parameter of the noise, > 0.

    Raises:
        ValueError: As `log_tail`.
    """
    gap = np.asarray(gap)
    beyond = log_tail(np.stack([gap, gap + 1]), sigma, terms=2)
    log_probability = np.logaddexp(beyond[0], beyond[1]) - math.log(2)
    slack = 8 * UNIT_ROUNDOFF * (1 + np.abs(log_probability))
    return np.minimum(log_probability + slack, 0.0)


@dataclass(frozen=True)
class DiscreteGaussianCounts:
    """Counts that a neighbour moves by ``sensitivity``, each with noise N_Z(0, sigma^2) of its own.

    Attributes:
        counts: How many counts there are, >= 0.
        sigma: Parameter of each count's noise, > 0.
        sensitivity: By how much a neighbour moves each count, a whole number >= 1.

    Raises:
        ValueError: A number out of range.
    """

    counts: int
    sigma: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        _check(self.sigma, max(1, self.counts))
        checks.check_integer(counts=self.counts, at_least=0)
        checks.check_integer(sensitivity=self.sensitivity, at_least=1)

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
        """Return the privacy loss at every s of the law of S.

        With n = counts, it is sensitivity (2 s + n sensitivity) / (2 sigma^2).
        """
        return self.sensitivity * (2 * self.law.support + self.total_shift) / (2 * self.sigma**2)

    @upper_bound
    def delta(self, epsilon: ArrayLike) -> NDArray[np.float64]:
        """Return the delta of these counts at each epsilon, rounded up (theorem 2).

        With n = counts and t the least number whose loss exceeds epsilon, it is
        Pr[S >= t] - e^epsilon Pr[S >= t + n sensitivity].

        Args:
            epsilon: Any real numbers, any shape.
        """
        epsilon = np.asarray(epsilon, dtype=np.float64)
        bound = np.clip(
            epsilon * self.sigma**2 / self.sensitivity - self.total_shift / 2, -1e15, 1e15
        )
        # A number whose loss equals epsilon up to rounding is included: it hardly weighs anything.
        slack = 2e-15 * (np.abs(bound) + self.total_shift)
        start = np.ceil(bound - slack).astype(np.int64)
        tail = self.law.upper_tail(start)
        neighbour_tail = self.law.lower_tail(start + self.total_shift)
        rounding = 2 * self.sensitivity * slack / self.sigma**2 + 4 * UNIT_ROUNDOFF * (
            1 + np.abs(epsilon)
        )
        growth = np.exp(np.minimum(epsilon, 700.0)) * np.maximum(1 - rounding, 0.0)
        return np.clip(tail * (1 + rounding) - growth * neighbour_tail, 0.0, 1.0)


@upper_bound
def delta(epsilon: float, count_groups: Iterable[DiscreteGaussianCounts]) -> float:
    """Return the delta at epsilon of all counts together, rounded up: exactly, up to rounding.

    If groups of counts differ in sigma, one of them is listed, and the others are evaluated at what
    it leaves of epsilon. What has a standard deviation above 400, or would be the third group,
    counts as a Gaussian of 2.25 less variance (theorem 3). That is an upper bound, next to nothing
    too large if noise is large. Adaptively chosen queries and caps cost no more (theorem 4).

    Args:
        epsilon: A real number.
        count_groups: Counts of any kinds.
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
    """Return whether the law of the sum of all noise is listed, and not taken for a Gaussian."""
    return noisy_counts.variance <= _LARGEST**2 or noisy_counts.sigma < _SMOOTH


def _delta_of(epsilon: float, groups: list[DiscreteGaussianCounts]) -> float:
    """Return `delta` of groups that `_group_by_sigma` returned."""
    if not groups:
        return max(0.0, -math.expm1(epsilon))
    if len(groups) == 1:
        return float(deltas(epsilon, groups[0]))
    listed = [group for group in groups if _is_listed(group)]
    if len(groups) > 2:
        listed = listed[:1]
    smooth = [group for group in groups if group not in listed]
    if not listed:
        return float(_smooth_delta(epsilon, smooth))
    first = listed[0]
    loss = first.losses()
    remaining = epsilon - loss - 8 * UNIT_ROUNDOFF * (abs(epsilon) + np.abs(loss))
    deltas_of_rest = (
        listed[1].delta(remaining) if len(listed) == 2 else _smooth_delta(remaining, smooth)
    )
    rounding = first.law.error + UNIT_ROUNDOFF * (4 + len(loss))
    return min(1.0, float(first.law.mass @ deltas_of_rest) * (1 + rounding) + 2 * TRUNCATED_MASS)


def _group_by_sigma(count_groups: Iterable[DiscreteGaussianCounts]) -> list[DiscreteGaussianCounts]:
    """Put counts that are alike into one group, by ascending variance; leave out empty ones."""
    counts: Counter[tuple[float, int]] = Counter()
    for group in count_groups:
        counts[group.sigma, group.sensitivity] += group.counts
    groups = [DiscreteGaussianCounts(number, *kind) for kind, number in counts.items() if number]
    return sorted(groups, key=lambda group: group.variance)


def _smooth_delta(epsilon: ArrayLike, groups: list[DiscreteGaussianCounts]) -> NDArray[np.float64]:
    """Return delta of groups of counts, as rounded Gaussians of less variance (theorem 3)."""
    squares, error = 0.0, 0.0
    for group in groups:
        if group.variance <= _ROUNDING:
            return np.ones(np.shape(epsilon))
        squares += group.total_shift**2 / (group.variance - _ROUNDING)
        # A law is within 1 +- error of a rounded Gaussian's: 1e-18 is what rounding by 1.5 loses.
        error += _shape_error(group.sigma, group.counts) + 1e-18
    mu = math.sqrt(squares)
    if math.isinf(error):
        return np.ones(np.shape(epsilon))
    error += 16 * UNIT_ROUNDOFF
    gaussian = gaussian_delta(mu * (1 + error), np.asarray(epsilon) - 3 * error)
    return np.clip(gaussian * (1 + 2 * error), 0.0, 1.0)


@upper_bound
def epsilon(delta_: float, count_groups: Iterable[DiscreteGaussianCounts]) -> float:
    """Return the least epsilon >= 0 at which `delta` is at most delta_, within 1e-10, rounded up.

    Args:
        delta_: In (0, 1).
        count_groups: Counts of any kinds.

    Returns:
        epsilon, infinite if none is enough for such a small delta_.

    Raises:
        ValueError: delta_ is outside (0, 1).
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

    More noise need not cost less on a lattice, so the factor is walked upwards from 1, and what is
    returned was itself checked. If noise is large, it is 1 or next to it.

    Args:
        count_groups: Counts of any kinds.
        epsilon_: Epsilon of all counts together.
        delta_: Delta of all counts together.
    """
    groups = _group_by_sigma(count_groups)  # the factor changes neither their number nor order

    def holds(factor: float) -> bool:
        scaled_groups = [replace(group, sigma=group.sigma * factor) for group in groups]
        return _delta_of(epsilon_, scaled_groups) <= delta_

    return find_first_holding(holds, ascending_points(1.0, 1e-6), relative=1e-6)


@upper_bound
def whole_lattice_total_variation(sigma: float, classes: int) -> float:
    """Return how far GNMax's label from noise on whole numbers is from that of N(0, sigma^2).

    It is an upper bound on the total variation between the two labels of one query, whatever the
    votes: (sqrt(2 ln C) + C / sigma) / sigma.

    Args:
        sigma: In votes, > MAX_TABULATED_SIGMA.
        classes: C >= 2.

    Raises:
        ValueError: A smaller sigma.

    References:
        docs/noise.md, theorem 5.

    >>> f"{whole_lattice_total_variation(1e6, 10):.1e}"
    '2.1e-06'
    """
    if not sigma > MAX_TABULATED_SIGMA:
        raise ValueError(
            f"sigma = {sigma}: must be above {MAX_TABULATED_SIGMA:g}, below which laws are listed"
        )
    return round_float_up((math.sqrt(2 * math.log(classes)) + classes / sigma) / sigma, 12)


def tail_probability(start: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    """Return Pr[X >= start] of one N_Z(0, sigma^2), within `tail_probability_error`.

    Beyond MAX_TABULATED_SIGMA it is that of a rounded Gaussian.

    Args:
        start: Whole numbers, any shape.
        sigma: Parameter of the noise, > 0.

    Raises:
        ValueError: As `law`.
    """
    if sigma <= MAX_TABULATED_SIGMA:
        return law(sigma).tail_probability(start)
    return ndtr((0.5 - start) / sigma)


def tail_probability_error(sigma: float) -> tuple[float, float]:
    """Return the relative and the absolute error of `tail_probability`."""
    if sigma <= MAX_TABULATED_SIGMA:
        return law(sigma).error, TRUNCATED_MASS
    return 1e-12, round_float_up(1 / sigma**2, 4)


def _check(sigma: float, terms: int) -> None:
    checks.check_finite(sigma=sigma, above=0)
    checks.check_integer(terms=terms, at_least=1)
