"""Bounds on what any number of labels cost, for very many of them in a few blocks.

A block of labels is as bad as one kernel that dominates whatever an adversary makes of it. Theorem
and proof: docs/many-labels.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.backward_induction import (
    WIDE,
    Grid,
    value_upper_bounds,
)
from private_ensembles.accounting.adaptive_composition.hockey_sticks import Kernels, kernels
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.base.stated_bounds import upper_bound

# Up to this many labels are taken one by one.
MANY = 1000
# Noise is 0.1 % more with this many blocks, or with blocks of MANY labels, whichever gives more
# blocks; 4,000 labels in 8 blocks would need 0.25 % more.
_BLOCKS = 4
# Losses of a block beyond its kernel's reach, or of labels beyond what is worked out, may hold this
# share of delta.
CUT = 1e-4
# Losses of a block are followed so many times as far as those of a normal law.
_BEYOND = 1.2
# A sum of two numbers in [-1, 1] and an exponential are off by this.
_ROUNDING = 8 * UNIT_ROUNDOFF


@upper_bound
def values_of_labels(
    label: Kernels, grid: Grid, labels: int, delta: float, wanted: slice | None = None
) -> NDArray[np.float64]:
    """Return upper bounds on W_labels at the grid's points, as `value_upper_bounds` does.

    Bounds on more than `MANY` labels are a little larger, as an adversary may play each block as if
    nothing came before it.

    Args:
        label: Kernels of one label, of the grid's step.
        grid: The points.
        labels: How many labels are released.
        delta: About that of all labels; it only chooses how far losses are followed.
        wanted: The points at which bounds are wanted, all unless given; it counts for at most
            `MANY` labels.

    References:
        docs/many-labels.md, theorem 8.

    >>> coin = kernels([[0.0, 0.5, 0.0]], math.log(3))  # randomised response: ln 3 a label
    >>> bool(values_of_labels(coin, Grid(coin.step, -5, 11), 1, 1e-5)[5] >= 0.5)
    True
    """
    if labels <= MANY:
        wide = min(WIDE, math.sqrt(2 * math.log(1 / (CUT * delta))))
        return value_upper_bounds(label, grid, labels, wanted=wanted, wide=wide)
    count = max(_BLOCKS, labels // MANY)
    size, rest = divmod(labels, count)
    blocks = value_upper_bounds(block(label, size, CUT * delta / count), grid, count)
    return value_upper_bounds(label, grid, rest, blocks)


def block(label: Kernels, labels: int, cut: float, step_factor: int = 1) -> Kernels:
    """Return a kernel that dominates whatever an adversary makes of so many labels.

    Args:
        label: Kernels of one label.
        labels: How many labels the block has, >= 1.
        cut: About the delta beyond which losses are not followed, in (0, 1).
        every: The kernel's step in steps of the label's, a power of two, so that its thresholds
            are floats of the label's grid.

    References:
        docs/many-labels.md, theorem 8.

    >>> coin = kernels([[0.0, 0.5, 0.0]], math.log(3))
    >>> block(coin, 2, 0.1).masses[0].round(4).tolist()
    [0.0, 0.0, 0.5625, 0.0, 0.375, 0.0, 0.0625, 0.0, 0.0]
    """
    deviation = math.sqrt(labels * label.variance)
    wide = _BEYOND * math.sqrt(2 * math.log(1 / cut))
    reach = max(1, math.ceil(wide * deviation / step_factor)) * step_factor
    grid = Grid(label.step, -reach, 2 * reach + 1)
    # W_labels(t) is the largest hockey-stick divergence at t that adversaries reach.
    curve = value_upper_bounds(label, grid, labels, wanted=slice(0, grid.size), wide=wide)
    curve += np.expm1(np.minimum(grid.logs(), 0.0))
    return kernels((np.maximum(curve, 0.0) + _ROUNDING)[::step_factor], label.step * step_factor)
