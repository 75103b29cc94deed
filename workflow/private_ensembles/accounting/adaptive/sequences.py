"""What labels of several families cost together that were fixed in advance: so many of each.

Sessions that follow each other on the same teachers, each with noise of its own. In a fixed order
backward induction takes one step for each label, and at will one for each pair of counters.
Theorems and proofs: docs/sessions.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.adaptive import common_grid
from private_ensembles.accounting.adaptive.account import FINE, Bounds, Curve
from private_ensembles.accounting.adaptive.backward_induction import Grid, values_above
from private_ensembles.accounting.adaptive.common_grid import OnGrid, Run
from private_ensembles.accounting.adaptive.families import Family
from private_ensembles.accounting.adaptive.hockey_sticks import Kernels
from private_ensembles.accounting.adaptive.label_blocks import MANY, block
from private_ensembles.accounting.adaptive.levels import values_of_levels

# More than `MANY` labels are taken in so many blocks, or of `MANY` labels each, as in label_blocks.
_BLOCKS = 4
_CUT = 1e-4
# Counters of at most so many states are followed one by one; more are bounded by common units.
_MOST_STATES = 4000
# There the label that tells least costs so many units at most, and units are close enough if they
# are in proportion but for this share.
_MOST_UNITS, _CLOSE = 12, 0.03


def joint_epsilon_of(
    runs: Sequence[tuple[Family, int]],
    delta: float,
    *,
    interleaved: bool = False,
    fineness: float = FINE,
) -> Bounds:
    """Return bounds on the epsilon at `delta` of several families' labels together.

    >>> from private_ensembles.accounting.adaptive.families import two_classes
    >>> first, second = two_classes([0.45, 0.55]), two_classes([0.43, 0.57])
    >>> both = joint_epsilon_of([(first, 20), (second, 10)], 1e-5)
    >>> round(both.lower, 2), round(both.upper, 2)
    (5.32, 5.33)

    Args:
        runs: each a family and how many labels of it, >= 1, in the order in which they are asked.
            Families and numbers were fixed before the first label was seen.
        delta: in (0, 1).
        interleaved: whether the analyst may ask for labels of the families in any order, chosen
            after seeing all labels so far; else each run is over before the next begins.
        fineness: points of the grid per standard deviation of a label's loss.

    Returns:
        Bounds. `upper` holds in floating point, for queries that are chosen after seeing all labels
        so far and for runs that end early; infinite if losses without bound use delta up. `lower`
        is what one adversary reaches in the order given.

    Raises:
        ValueError: for numbers out of range.

    Source: docs/sessions.md, theorem 3.
    """
    checks.probability(delta=delta, zero=False, one=False)
    known = _runs(runs)
    return common_grid.epsilon_by(
        lambda epsilon, fine, lower: joint_curve(
            runs, epsilon, delta, interleaved=interleaved, fineness=fine, lower=lower
        ),
        _width(known),
        sum(run.most for run in known),
        delta,
        fineness,
    )


def joint_curve(
    runs: Sequence[tuple[Family, int]],
    epsilon: float,
    delta: float,
    *,
    interleaved: bool = False,
    fineness: float = FINE,
    lower: bool = True,
) -> Curve:
    """Return the bounds around `epsilon`, where delta is thought to be about `delta`.

    >>> from private_ensembles.accounting.adaptive.families import two_classes
    >>> coin = two_classes([0.25, 0.75])
    >>> bool(joint_curve([(coin, 1), (coin, 1)], 0.0, 0.5).delta(0.0) >= 0.5)
    True

    Args:
        runs, interleaved, fineness: as in :func:`joint_epsilon_of`.
        epsilon, delta: they choose the grid only, and the bounds hold whatever they are.
        lower: whether lower bounds are wanted, too; else they are 0.

    Raises:
        ValueError: for numbers out of range.
    """
    known = _runs(runs)
    labels = sum(run.labels for run in known)
    found = common_grid.on_grid(known, labels, _width(known), epsilon, delta, fineness)
    above = _at_will(found, known, delta) if interleaved else _in_order(found, known, delta)
    lines = None
    if lower:
        for run in reversed(known):
            lines = common_grid.lines_of(run, found, lines)
    return found.curve(above, lines)


def _in_order(found: OnGrid, runs: Sequence[Run], delta: float) -> NDArray[np.float64]:
    """Bounds on W from above where each run is over before the next begins."""
    values = None
    for kernel, run in zip(reversed(found.kernels), reversed(runs), strict=True):
        values = _after(kernel, run.labels, found.grid, delta, values)
    return values


def _after(
    kernel: Kernels, labels: int, grid: Grid, delta: float, values: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Bounds for labels to which those of `values` are added; many of them in blocks."""
    if labels <= MANY:
        return values_above(kernel, grid, labels, values)
    count = max(_BLOCKS, labels // MANY)
    size, rest = divmod(labels, count)
    values = values_above(kernel, grid, rest, values)
    return values_above(block(kernel, size, _CUT * delta / count), grid, count, values)


def _at_will(found: OnGrid, runs: Sequence[Run], delta: float) -> NDArray[np.float64]:
    """Bounds on W from above where labels are asked in any order."""
    counts = [run.labels for run in runs]
    if math.prod(count + 1 for count in counts) <= _MOST_STATES:
        return _of_counters(found, counts)
    units = common_units([run.spread for run in runs])
    total = sum(cost * count for cost, count in zip(units, counts, strict=True))
    return values_of_levels(found.kernels, units, total, found.grid, delta)


def _of_counters(found: OnGrid, counts: Sequence[int]) -> NDArray[np.float64]:
    """W for every state of the counters, from none left to all: one step for each of them."""
    grid = found.grid
    known = {}
    for left in np.ndindex(*(count + 1 for count in counts)):
        options = []
        for place, kernel in enumerate(found.kernels):
            if left[place]:
                after = (*left[:place], left[place] - 1, *left[place + 1 :])
                options.append(values_above(kernel, grid, 1, known[after]))
        known[left] = np.max(options, axis=0) if options else values_above(kernel, grid, 0)
    return known[tuple(counts)]


def common_units(spreads: Sequence[float]) -> list[int]:
    """Return whole numbers about in proportion to the squares of spreads, as small as may be.

    >>> common_units([0.1, 0.1414, 0.2])
    [1, 2, 4]

    A label costs about as much as the square of its spread. Units only decide how tight a bound is.
    """
    squares = np.square(spreads) / min(np.square(spreads))
    best, error = [], math.inf
    for least in range(1, _MOST_UNITS + 1):
        units = np.maximum(1, np.rint(squares * least))
        off = float(np.abs(np.log(units / (squares * least))).max())
        if off < error:
            best, error = units, off
        if error < _CLOSE:
            break
    return [int(cost) for cost in best]


def _width(runs: Sequence[Run]) -> float:
    return math.sqrt(sum(run.width**2 for run in runs))


def _runs(runs: Sequence[tuple[Family, int]]) -> list[Run]:
    """The runs, checked: at least one, each of at least one label."""
    if not runs:
        raise ValueError("runs = []: must be at least one (family, labels)")
    for _, labels in runs:
        checks.integer(labels=labels, at_least=1)
    return [Run(family, labels) for family, labels in runs]
