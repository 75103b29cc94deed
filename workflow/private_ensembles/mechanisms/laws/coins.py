"""Exact coins: a label of two classes whose smaller probability is a float of a table.

The likelier label is flipped by a coin from the system's entropy, whose probability is the other
one's float. So the label that is drawn has the law of the table's floats, exactly.
"""

import numpy as np
from numpy.typing import NDArray

from private_ensembles.noise import secure


def draw_coins(chances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw one label per row of Pr[label], (queries, 2), by secure coins."""
    flip = secure.coins(chances.min(axis=1))
    return (chances.argmax(axis=1) ^ flip).astype(np.int64)
