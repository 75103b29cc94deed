"""PATE's Algorithms 3-5, one query at a time: what the array code is measured and tested against.

They are as printed but for three corrections: the sum in line 19 of Algorithm 4 runs to the number
of classes, Algorithm 5 returns S, and the plateau is the ceiling minus beta(q1) (see
`CostCurve.plateau`). Plain Python on scalars, in log space, nothing shared with the library but
the constant q0.
"""

import math
from dataclasses import dataclass

from scipy.special import log_ndtr, ndtri_exp


@dataclass(frozen=True)
class ByQuery:
    """The algorithms for GNMax at one sigma, order and number of classes; log q0 is given."""

    sigma: float
    order: float
    n_classes: int
    log_q0: float

    @property
    def log_q1(self) -> float:
        return self.lower(self.log_q0)

    def beta(self, log_q: float) -> float:
        """Return Theorem 6 with Proposition 10 up to q0, the data-independent bound beyond."""
        ceiling = self.order / self.sigma**2
        if log_q > self.log_q0:
            return ceiling
        mu2 = self.sigma * math.sqrt(-log_q)
        eps1, eps2 = (mu2 + 1) / self.sigma**2, mu2 / self.sigma**2
        if mu2 <= 1 or mu2 + 1 < self.order:
            return ceiling
        limit = (mu2 - 1) * eps2 - mu2 * math.log((mu2 + 1) / (mu2 - 1))
        if log_q > limit:
            return ceiling
        stay = math.log1p(-math.exp(log_q))
        log_a = stay - math.log1p(-math.exp((log_q + eps2) * (mu2 - 1) / mu2))
        first = stay + (self.order - 1) * log_a
        second = log_q + (self.order - 1) * (eps1 - log_q / mu2)
        low, high = sorted((first, second))
        return min((high + math.log1p(math.exp(low - high))) / (self.order - 1), ceiling)

    def upper(self, log_q: float) -> float:
        return self._shift_log_q(log_q, -1.0)

    def lower(self, log_q: float) -> float:
        return self._shift_log_q(log_q, 1.0)

    def _shift_log_q(self, log_q: float, shift: float) -> float:
        log_rivals = math.log(self.n_classes - 1)
        z = ndtri_exp(min(log_q - log_rivals, 0.0))
        return min(log_rivals + float(log_ndtr(z - math.sqrt(2) * shift / self.sigma)), 0.0)

    def log_q(self, counts: list[int]) -> float:
        """Return Proposition 7's log q; counts in descending order."""
        logs = log_ndtr([(n - counts[0]) / (math.sqrt(2) * self.sigma) for n in counts[1:]])
        high = max(logs)
        return min(0.0, high + math.log(sum(math.exp(log - high) for log in logs)))

    def local_sensitivity(self, log_q: float) -> float:
        """Return the local sensitivity by Algorithm 3."""
        if self.log_q1 <= log_q <= self.log_q0:
            return self.order / self.sigma**2 - self.beta(self.log_q1)
        here = self.beta(log_q)
        return max(self.beta(self.upper(log_q)) - here, here - self.beta(self.lower(log_q)))

    def sensitivity_at_distance(self, counts: list[int], d: int) -> tuple[float, bool]:
        """Return the sensitivity at distance d by Algorithm 4, and whether to stop there."""
        n = sorted(counts, reverse=True)
        log_q = self.log_q(n)
        if self.log_q1 <= log_q <= self.log_q0:
            return self.local_sensitivity(log_q), True
        if log_q < self.log_q1:
            if n[0] - n[1] < 2 * d:
                return self.local_sensitivity(self.log_q1), True
            new_log_q = self.log_q([n[0] - d, n[1] + d, *n[2:]])
            if new_log_q > self.log_q1:
                return self.local_sensitivity(self.log_q0), True
            return self.local_sensitivity(new_log_q), False
        if sum(n[1:]) <= d:
            return self.local_sensitivity(self.log_q([sum(n)] + [0] * (len(n) - 1))), True
        others = n[1:]
        for _ in range(d):
            others[others.index(max(others))] -= 1
        new_log_q = self.log_q([n[0] + d, *others])
        if new_log_q < self.log_q0:
            return self.local_sensitivity(self.log_q0), True
        return self.local_sensitivity(new_log_q), False

    def sensitivities_by_distance(
        self, counts: list[int], farthest: int | None = None
    ) -> list[float]:
        """Return Algorithm 5's sensitivities at d = 0, 1, ..., each the largest up to there."""
        sensitivities, d, stop = [], 0, False
        while not stop and (farthest is None or d <= farthest):
            value, stop = self.sensitivity_at_distance(counts, d)
            sensitivities.append(max([value, *sensitivities[-1:]]))
            d += 1
        return sensitivities

    def smooth_sensitivity(self, rows: list[list[int]], weights, beta: float) -> float:
        """Return the smooth sensitivity of all queries by Theorem 24 with Algorithm 4."""
        total: list[float] = []
        constant = 0.0  # of the queries that have stopped
        for row, weight in zip(rows, weights, strict=True):
            values = self.sensitivities_by_distance(row)
            while len(total) < len(values):
                total.append(constant)
            for d in range(len(total)):
                total[d] += weight * values[min(d, len(values) - 1)]
            constant += weight * values[-1]
        return max(math.exp(-beta * d) * value for d, value in enumerate(total))
