"""Bounds on what any number of labels cost, for very many of them in a few blocks.

A block of labels is as bad as one kernel that dominates whatever an adversary makes of it. Theorem
and proof: docs/many-labels.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.backward_induction import (
    Grid,
    value_upper_bounds,
)
from private_ensembles.accounting.adaptive_composition.hockey_sticks import Kernels, kernels
from private_ensembles.base.rounding import UNIT_ROUNDOFF

# Up to this many labels are taken one by one.
MANY = 1000
# Noise is 0.1 % more with this many blocks or of this many labels each, whichever is more blocks;
# 4,000 labels in 8 blocks would need 0.25 % more.
_BLOCKS = 4
# Losses of a block beyond its kernel's reach may hold this share of delta.
CUT = 1e-4
# How far these go beyond those of a normal law.
_BEYOND = 1.2
# Of a sum of two numbers in [-1, 1] and of an exponential.
_ROUNDING = 8 * UNIT_ROUNDOFF


def values_of_labels(
    label: Kernels, grid: Grid, labels: int, delta: float, wanted: slice | None = None
) -> NDArray[np.float64]:
    """Return upper bounds on W_labels at the grid's points, as `values_above` does.

    >>> coin = kernels([[0.0, 0.5, 0.0]], math.log(3))  # randomised response: ln 3 a label
    >>> bool(values_of_labels(coin, Grid(coin.step, -5, 11), 1, 1e-5)[5] >= 0.5)
    True

    label: its kernels, of the grid's step. delta: about that of all labels; it only chooses
    how far the losses of blocks are followed. wanted: as there, of at most `MANY` labels. Of more
    bounds are a little larger, as an adversary may play each block as if nothing came before it.
    Source: docs/many-labels.md, theorem 8.
    """
    if labels <= MANY:
        return value_upper_bounds(label, grid, labels, wanted=wanted)
    count = max(_BLOCKS, labels // MANY)
    size, rest = divmod(labels, count)
    blocks = value_upper_bounds(block(label, size, CUT * delta / count), grid, count)
    return value_upper_bounds(label, grid, rest, blocks)


def block(label: Kernels, labels: int, cut: float, every: int = 1) -> Kernels:
    """Return a kernel that dominates whatever an adversary makes of that many labels.

    >>> coin = kernels([[0.0, 0.5, 0.0]], math.log(3))
    >>> block(coin, 2, 0.1).masses[0].round(4).tolist()
    [0.0, 0.0, 0.5625, 0.0, 0.375, 0.0, 0.0625, 0.0, 0.0]

    label: its kernels. labels: >= 1. cut: about the delta beyond which losses are not
    followed, in (0, 1). every: the kernel's step in steps of the label's, a power of two, so that
    its thresholds are floats of the label's grid. Source: docs/many-labels.md, theorem 8.
    """
    spread = math.sqrt(labels * label.variance)
    wide = _BEYOND * math.sqrt(2 * math.log(1 / cut))
    reach = max(1, math.ceil(wide * spread / every)) * every
    grid = Grid(label.step, -reach, 2 * reach + 1)
    # W_labels(t) is the largest hockey-stick at t that adversaries reach.
    curve = value_upper_bounds(label, grid, labels, wanted=slice(0, grid.size), wide=wide)
    curve += np.expm1(np.minimum(grid.logs(), 0.0))
    return kernels((np.maximum(curve, 0.0) + _ROUNDING)[::every], label.step * every)
