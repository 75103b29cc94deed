"""What one label of two classes costs that is drawn by coins of a table's own floats."""

from __future__ import annotations

import itertools
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.rounding import sixty_digits


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
