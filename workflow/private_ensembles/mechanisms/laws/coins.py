"""Exact coins: a label of two classes whose smaller probability is a float of a table.

The likelier label is flipped by a coin from the system's entropy, whose probability is the other
one's float. So the label that is drawn has the law of the table's floats, exactly.
"""

from __future__ import annotations

import itertools
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.rounding import sixty_digits
from private_ensembles.noise import secure


def draw_coins(chances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw one label per row of Pr[label], (queries, 2), by secure coins."""
    flip = secure.coins(chances.min(axis=1))
    return (chances.argmax(axis=1) ^ flip).astype(np.int64)


def coins_delta(table: NDArray[np.float64], epsilon: float) -> Decimal:
    """Return the delta of one label drawn by coins, to some fifty digits.

    table: (K + 1, 2), of which a coin has the smaller float of each row as its probability.
    Neighbours are rows next to each other, in both orders. As e^epsilon >= 1, at most one of the
    two labels is likelier than the neighbour allows.

    >>> coins_delta(np.array([[0.75, 0.25], [0.25, 0.75]]), 1.0).quantize(Decimal("1e-6"))
    Decimal('0.070430')
    """
    least, likelier = table.min(axis=1), table.argmax(axis=1)
    # Equal rows next to each other tell nothing: of a million teachers, nearly all.
    different = np.append(True, (np.diff(least) != 0) | (np.diff(likelier) != 0))
    with sixty_digits():
        growth = Decimal(epsilon).exp()
        ones = [
            1 - Decimal(chance) if says_one else Decimal(chance)
            for chance, says_one in zip(
                least[different].tolist(), likelier[different].tolist(), strict=True
            )
        ]
        pairs = [*itertools.pairwise(ones), *itertools.pairwise(ones[::-1])]
        excesses = [
            excess for p, q in pairs for excess in (p - growth * q, 1 - p - growth * (1 - q))
        ]
        return max(Decimal(0), *excesses)
