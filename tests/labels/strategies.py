"""Every adaptive strategy against a mechanism that refuses some queries and answers the others."""

import math
from collections.abc import Callable

from numpy.typing import NDArray


def dearest(rows: NDArray) -> Callable[[int, int, float, float], float]:
    """Return what the best adversary gains: queries left, answers left, ratio so far, epsilon.

    rows: (votes + 1, outcomes), the laws of a query by its votes for one class; outcome 0: refused.
    """
    pairs = [
        (rows[i], rows[j]) for i in range(len(rows)) for j in (i - 1, i + 1) if 0 <= j < len(rows)
    ]

    def most(left: int, paid: int, ratio: float, epsilon: float) -> float:
        if left == 0 or paid == 0:
            return max(0.0, 1 - math.exp(epsilon) * ratio)
        return max(
            sum(
                p * most(left - 1, paid - (outcome > 0), ratio * q / p, epsilon)
                for outcome, (p, q) in enumerate(zip(*pair, strict=True))
            )
            for pair in pairs
        )

    return most
