"""Privacy loss distributions of many labels whose curve delta(epsilon) is known.

A label's curve is put on a grid of losses and convolved with itself by Fourier transforms. All
results are upper bounds: what the transforms and all other roundings can move a delta by is
bounded and added (docs/noise.md).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import logsumexp

from private_ensembles.base import checks
from private_ensembles.base.root_search import bisect_integers
from private_ensembles.base.rounding import ELEMENTARY, UNIT_ROUNDOFF, round_sum_up
from private_ensembles.base.stated_bounds import upper_bound

# Transforms run in the longest floats that the machine has, of 64 bits on most.
_LONG = np.longdouble
_LONG_ROUNDOFF = float(np.finfo(_LONG).eps) / 2
# A transform is granted this relative error, in the Euclidean norm, per bit of its length. Higham
# (2002), Theorem 24.2, has below 7 for butterflies of two, and 17 for those of eleven, the widest
# in use.
_TRANSFORM = 20 * _LONG_ROUNDOFF
# z^k is granted this relative error for complex z, per unit of k.
_POWER = 16 * _LONG_ROUNDOFF
# This much may be cut off at either end of the sum of all losses; it is charged to delta.
_TAIL = 1e-15


@dataclass(frozen=True)
class PrivacyLossDistribution:
    """A bound on the privacy loss distribution of labels together.

    Attributes:
        masses: (n,) >= 0, at the losses (lowest + i) interval.
        lowest: The smallest finite loss, in intervals.
        interval: Distance of neighbouring losses.
        leak: The mass of an infinite loss, and all that rounding can have taken from a delta.
    """

    masses: NDArray[np.float64]
    lowest: int
    interval: float
    leak: float

    @upper_bound
    def delta(self, epsilon: float) -> float:
        """Return an upper bound on the total delta at ``epsilon`` >= 0.

        It is the sum of masses times 1 - e^(epsilon - loss), over larger losses.
        """
        first = max(0, math.floor(epsilon / self.interval) - self.lowest)
        masses = self.masses[first:]
        losses = (self.lowest + first + np.arange(len(masses))) * self.interval
        terms = masses * -np.expm1(np.minimum(epsilon - losses, 0.0))
        # Each loss is rounded once, and its distance from epsilon is, too.
        blurred = 4 * UNIT_ROUNDOFF * (epsilon + self.highest * self.interval)
        return min(1.0, round_sum_up(terms) + round_sum_up(masses) * blurred + self.leak)

    @property
    def highest(self) -> int:
        """The largest finite loss, in intervals."""
        return self.lowest + len(self.masses) - 1

    @upper_bound
    def epsilon(self, delta: float, step: float) -> float:
        """Return the least multiple of ``step`` whose delta is at most ``delta``: an upper bound.

        It is infinite if `leak` alone is more than ``delta``.
        """

        def holds(count: int) -> bool:
            return self.delta(count * step) <= delta

        if holds(0):
            return 0.0
        last = math.ceil(max(self.highest, 0) * self.interval / step) + 2
        return bisect_integers(holds, 0, last) * step if holds(last) else math.inf


def mirrored_deltas(
    delta_curve: Callable[[NDArray], NDArray], largest_epsilon: float, interval: float
) -> NDArray[np.float64]:
    """Return a curve delta(epsilon) at both signs of epsilon, on the grid that `compose` takes.

    The curve is over both orders of the neighbours, so delta(-x) = 1 - e^-x (1 - delta(x)). As
    delta does not increase, the bound at one epsilon holds at all larger ones.

    Args:
        delta_curve: Maps epsilons (E,) >= 0 to upper bounds (E,) on delta, over all neighbours in
            both orders.
        largest_epsilon: Where the curve ends.
        interval: Distance of the epsilons on the grid.

    Returns:
        (2 n + 1,) upper bounds on delta at epsilon = -n interval, ..., n interval.

    Raises:
        ValueError: An interval or a largest_epsilon that is not finite and > 0.
    """
    checks.check_finite(interval=interval, largest_epsilon=largest_epsilon, above=0)
    grid = np.arange(math.ceil(largest_epsilon / interval) + 1) * interval
    curve = np.clip(np.asarray(delta_curve(grid), dtype=np.float64), 0.0, 1.0)
    mirrored = 1 - np.exp(-grid[:0:-1]) * (1 - curve[:0:-1]) + ELEMENTARY
    return np.minimum.accumulate(np.minimum(np.concatenate([mirrored, curve]), 1.0))


@upper_bound
def compose(deltas: ArrayLike, interval: float, times: int) -> PrivacyLossDistribution:
    """Return the privacy loss distribution of ``times`` labels, chosen adaptively or not.

    Args:
        deltas: (2 n + 1,) upper bounds on one label's delta at epsilon = -n interval, ...,
            n interval, over all neighbours; after the last, delta is taken to stay as it is.
        interval: Distance of these epsilons.
        times: How many labels are released.

    Returns:
        A distribution whose deltas are upper bounds for all labels together.

    References:
        The theorem of docs/noise.md, "Many labels: privacy loss distributions".
    """
    masses, leak, logs = _one_label(np.asarray(deltas, dtype=np.float64).tobytes(), interval)
    low, high = _chernoff_index_range(logs, len(masses), times)
    length = next_fast_len(max(high - low + 1, len(masses)), real=True)
    spectrum = rfft(masses.astype(_LONG), length)
    total_masses = np.roll(irfft(_power(spectrum, times), length), -low)[: high - low + 1]
    # The leak of k labels is whole^k - (whole - leak)^k; the whole may exceed 1.
    whole = 1 + max(0.0, math.fsum(masses) + leak - 1) + 4 * UNIT_ROUNDOFF
    share = -math.expm1(times * math.log1p(-leak / whole)) if leak < whole else 1.0
    total_leak = whole**times * share * (1 + 2.0**-40)
    rounding_error = fourier_error(masses, length, times) + 2 * _TAIL
    lowest = low - times * (len(masses) // 2)
    total_masses = np.maximum(total_masses, 0).astype(np.float64)
    return PrivacyLossDistribution(total_masses, lowest, interval, total_leak + rounding_error)


@functools.lru_cache(maxsize=16)
def _one_label(deltas: bytes, interval: float) -> tuple[NDArray, float, tuple[NDArray, NDArray]]:
    """Return what does not depend on the number of labels: masses, leak, and `_transforms`."""
    masses, leak = dominating_masses(np.frombuffer(deltas), interval)
    masses.flags.writeable = False
    return masses, leak, _transforms(masses)


def _power(base: NDArray, times: int) -> NDArray:
    """base^times by squaring: each of at most `times` factors adds one product's error.

    Powers below 2^-1000 count as 0, without the hardware's long way to underflow: far below what
    `fourier_error` leaves for errors of second order.
    """
    powers = np.zeros_like(base)
    large = np.flatnonzero(np.abs(base) > 2.0 ** (-1000 / times))
    square = base[large]
    power: NDArray | int = 1
    while times > 1:
        if times & 1:
            power = power * square
        square = square * square
        times >>= 1
    powers[large] = power * square
    return powers


@upper_bound
def dominating_masses(deltas: NDArray, interval: float) -> tuple[NDArray, float]:
    """Return masses at the losses of the grid whose curve dominates ``deltas``.

    The masses "connect the dots": in e^epsilon, their curve is the broken line through `deltas`,
    above which no curve between those dots runs, as each is convex. In floats the line is off; by
    as much as it falls short at any dot, the infinite mass is increased. All masses together are
    at least 1.

    Args:
        deltas: (2 n + 1,) upper bounds on delta, as `mirrored_deltas` returns them.
        interval: Distance of the losses on the grid.

    Returns:
        The masses (2 n + 1,), and the mass of an infinite loss.

    References:
        Doroshenko et al. 2022, Algorithm 1; docs/noise.md.
    """
    growth = math.expm1(interval)
    steps = np.diff(deltas)
    masses = np.empty(len(deltas))
    masses[1:-1] = (steps[1:] - (1 + growth) * steps[:-1]) / growth
    masses[0] = 1 - deltas[0] + steps[0] / growth
    masses[-1] = -steps[-1] * (1 + growth) / growth
    masses = np.maximum(masses, 0.0)
    n = len(deltas) // 2
    losses = np.arange(-n, n + 1) * _LONG(interval)
    # delta at each dot is the mass above it, less e^(epsilon - loss) times as much.
    above = np.cumsum(masses[::-1].astype(_LONG))[::-1]
    other = np.cumsum((masses * np.exp(-losses))[::-1])[::-1] * np.exp(losses)
    rounding = 4 * _LONG_ROUNDOFF * (len(deltas) + 2 * n * interval + 32) * above
    shortfall = float(np.max(deltas - (above - other) + rounding))
    leak = float(np.nextafter(max(shortfall, deltas[-1]), np.inf))
    masses[0] += max(0.0, 1 - math.fsum(masses) - leak)
    return masses, leak


def _orders(size: int) -> NDArray:
    """Return the orders at which `_transforms` works out moments."""
    return np.geomspace(0.01, 40, 40) / size


def _transforms(masses: NDArray) -> tuple[NDArray, NDArray]:
    """Return ln of the masses' sums, times e^(order index) and e^(-order index), (orders,) each."""
    indices = np.arange(len(masses))
    with np.errstate(divide="ignore"):
        logs = np.log(masses)
    orders = _orders(len(masses))
    rising = np.array([logsumexp(logs + order * indices) for order in orders])
    return rising, np.array([logsumexp(logs - order * indices) for order in orders])


def _chernoff_index_range(
    transforms: tuple[NDArray, NDArray], size: int, times: int
) -> tuple[int, int]:
    """Return the indices between which all but `_TAIL` of the sum's mass lies, by Chernoff's bound.

    transforms: of one label's masses, (size,).
    """
    low, high = 0, times * (size - 1)
    for order, rising, falling in zip(_orders(size), *transforms, strict=True):
        room = times * rising - math.log(_TAIL / 2)
        high = min(high, math.ceil(room / order) + 1)
        room = times * falling - math.log(_TAIL / 2)
        low = max(low, math.floor(-room / order) - 1)
    return low, high


@upper_bound
def fourier_error(masses: NDArray, length: int, times: int) -> float:
    """Return a bound on what Fourier transforms take from any delta of many labels.

    It is 2 sqrt(length) ((times + 1) kappa + times _POWER) |masses|, in the Euclidean norm and with
    kappa = _TRANSFORM log2(length); the 2 covers errors of second order.

    Args:
        masses: (n,), of one label.
        length: Length of the transforms.
        times: How many labels are released.

    References:
        docs/noise.md, "Many labels: privacy loss distributions".
    """
    kappa = _TRANSFORM * math.log2(length)
    relative_error = (times + 1) * kappa + times * _POWER
    return 2 * math.sqrt(length) * relative_error * float(np.linalg.norm(masses))
