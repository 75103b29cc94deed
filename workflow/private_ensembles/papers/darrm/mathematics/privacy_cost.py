"""DaRRM's privacy cost objective f (Lemma 3.4) and the corners of the feasible region (Lemma 5.1).

Notation. g(l) = sgn(l - K/2) gamma(l) is odd on 0..K; G(p) = E g(L) for L ~ PoissonBinomial(p);
c = exp(m epsilon). Pr[output 1] = (1 + G) / 2 and the privacy condition reads
f = G(p) - c G(p') <= c - 1 + 2 delta for all (p_i, p'_i) in the feasible region.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import grouped_pmf
from private_ensembles.base import checks
from private_ensembles.base.stated_bounds import lower_bound

UNIT_ROUNDOFF = 2.0**-53
LARGEST_EXPONENT = 690.0
# 1 - (1 - Delta)**m in floating point falls short by at most m + 1 units of 2^-53, and only near
# m = 1 can that take it below Delta.
DELTA_ROUNDING = 2.0**-52

# These are the corners (p, p') of Lemma 5.1, in the order used by every array of counts.
CORNERS = ("0,0", "1,1", "0,D", "D,0", "1-D,1", "1,1-D", "H,h", "h,H")


def resolve_delta(m: float, Delta: float, delta: float | None) -> float:
    """Return delta, or 1 - (1 - Delta)^m if it is None.

    Raises:
        ValueError: delta is None and Delta not in [0, 1/2).

    References:
        DaRRM, section 6.1.
    """
    if delta is not None:
        return delta
    checks.check_range(0, 0.5, Delta=Delta, high_allowed=False)
    # Rounding must not take delta below Delta at m = 1.
    return max(Delta, -math.expm1(m * math.log1p(-Delta)))


@dataclass(frozen=True)
class PrivacyProblem:
    """K (epsilon, Delta)-DP teachers whose released majority must be (m epsilon, delta)-DP.

    A delta below Delta by DELTA_ROUNDING at most is 1 - (1 - Delta)**m as a user computes it. It is
    taken as it is, the smaller allowance.

    Attributes:
        K: odd number of teachers.
        m: the privacy allowance in [1, K].
        epsilon: that of one teacher.
        Delta: that of one teacher.
        delta: that of the released label.

    Raises:
        ValueError: not K odd and >= 1, 1 <= m <= K, epsilon > 0, 0 <= Delta <= delta < 1,
            Delta < 1/2 and m * epsilon <= 690 (beyond it, exp overflows).
    """

    K: int
    m: float
    epsilon: float
    Delta: float
    delta: float

    def __post_init__(self) -> None:
        checks.check_integer(K=self.K, at_least=1, odd=True)
        if not (math.isfinite(self.m) and 1 <= self.m <= self.K):
            raise ValueError(f"m = {self.m}: must be between 1 and K = {self.K}")
        checks.check_finite(epsilon=self.epsilon, above=0)
        checks.check_range(0, 0.5, Delta=self.Delta, high_allowed=False)
        if not max(0.0, self.Delta - DELTA_ROUNDING) <= self.delta < 1:
            raise ValueError(f"delta = {self.delta}: must be in [Delta, 1), Delta = {self.Delta}")
        if self.m * self.epsilon > LARGEST_EXPONENT:
            raise ValueError(
                f"m * epsilon = {self.m * self.epsilon:.6g}: must be at most {LARGEST_EXPONENT:g}"
            )

    @cached_property
    @lower_bound
    def c(self) -> float:
        """Return a lower bound on exp(m epsilon), within a few units in the last place.

        f <= c - 1 + 2 delta reads G(p) + 1 - 2 delta <= c (1 + G(p')); as 1 + G >= 0, whatever
        holds for a smaller c holds for the true one.
        """
        exponent = self.m * self.epsilon
        return math.exp(exponent) * (1 - self._growth_error)

    @property
    def _growth_error(self) -> float:
        """Bound the relative error of exp(m * epsilon) in floating point, with room to spare."""
        return (self.m * self.epsilon + 4) * 2 * UNIT_ROUNDOFF

    @cached_property
    @lower_bound
    def allowance(self) -> float:
        """Return c - 1 + 2 delta, rounded down; 0 if rounding leaves nothing."""
        value = (self.c - 1) + 2 * self.delta
        return max(0.0, value - 4 * UNIT_ROUNDOFF * (abs(self.c - 1) + 2 * self.delta))

    @cached_property
    def relaxed_allowance(self) -> float:
        """Return at least row @ gamma, for every private gamma and whatever `row` was rounded to.

        A private gamma has G(p) - C G(p') <= C - 1 + 2 delta, C = exp(m epsilon) itself. A row uses
        c <= C, which adds (C - c) G(p') <= C - c, and is off by `rounding_bound` together.
        """
        largest = math.exp(self.m * self.epsilon) * (1 + self._growth_error)
        value = (largest - 1) + (largest - self.c) + 2 * self.delta + self.rounding_bound()
        return value * (1 + 8 * UNIT_ROUNDOFF) + 4 * UNIT_ROUNDOFF * largest

    @cached_property
    def high(self) -> float:
        """Return p of the corner H, (e^epsilon + Delta) / (e^epsilon + 1), without overflow."""
        decay = math.exp(-self.epsilon)
        return (1 + self.Delta * decay) / (1 + decay)

    @cached_property
    def low(self) -> float:
        """Return p' of the corner H: (1 - Delta) / (e^epsilon + 1) = 1 - high."""
        decay = math.exp(-self.epsilon)
        return (1 - self.Delta) * decay / (1 + decay)

    def corner_probabilities(self) -> NDArray[np.float64]:
        """Return (p, p') by corner, (8, 2), in the order of CORNERS; if Delta = 0 four coincide."""
        D, high, low = self.Delta, self.high, self.low
        return np.array(
            [(0, 0), (1, 1), (0, D), (D, 0), (1 - D, 1), (1, 1 - D), (high, low), (low, high)],
            dtype=np.float64,
        )

    def rounding_bound(self) -> float:
        """Bound the rounding error of any computed cost f of this module.

        Every G is obtained by at most K steps x -> (1 - p) x + p y on numbers in [-1, 1] (3
        round-offs each), with corner probabilities that are off by at most 6 round-offs (G moves
        by at most 2 |dp| per teacher: 12), and weighted by binomial weights from Pascal's
        recursion (4 per teacher) in a dot product of at most K + 1 terms: together below
        32 (K + 4) round-offs; f combines two of them with factors 1 and c. `row` stays within it,
        too: its pmfs are products and sums of positive numbers, whose relative errors are below
        5 K round-offs for the binomials and K for each of at most 7 convolutions.
        """
        return 32 * (self.K + 4) * UNIT_ROUNDOFF * (1 + self.c)

    def odd_vector(self, gamma: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return g(l) = sgn(l - K/2) gamma(l), shape (K + 1,)."""
        g = np.array(gamma, dtype=np.float64)
        g[: (self.K + 1) // 2] *= -1
        return g

    def row(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the coefficients of gamma(l), l = (K+1)/2..K, in f at one assignment.

        Args:
            counts: (8,) int, teachers at each corner in the order of CORNERS, adding up to K.
        """
        p = self.corner_probabilities()
        weight = grouped_pmf(p[:, 0], counts) - self.c * grouped_pmf(p[:, 1], counts)
        return (weight - weight[::-1])[(self.K + 1) // 2 :]

    def cost(self, gamma: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
        """Return f at one assignment, by the forward recursion that forms no pmf.

        Args:
            gamma: (K + 1,).
            counts: (8,) int, as in `row`.
        """
        p = self.corner_probabilities()
        values = []
        for side in (0, 1):
            v = self.odd_vector(gamma)
            for corner, size in enumerate(counts):
                for _ in range(int(size)):  # the operator is applied once per teacher
                    v = (1 - p[corner, side]) * v[:-1] + p[corner, side] * v[1:]
            values.append(float(v[0]))
        return values[0] - self.c * values[1]


def assignment_counts(**counts: int) -> NDArray[np.int64]:
    """Return teachers per corner, (8,) int, from counts by name; corners not named have none.

    The names are zero, one, zero_D, D_zero, below_one, one_below, up and down.
    """
    names = ("zero", "one", "zero_D", "D_zero", "below_one", "one_below", "up", "down")
    return np.array([counts.get(name, 0) for name in names], dtype=np.int64)


def describe_assignment(counts: NDArray[np.int64]) -> Mapping[str, int]:
    """Return an assignment as {corner: teachers}, corners without teachers left out."""
    return {name: int(n) for name, n in zip(CORNERS, counts, strict=True) if n}
