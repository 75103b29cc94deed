"""The noise of levels that share a budget: each alone would spend it, and so does any choice.

docs/sessions.md says what the choice costs, and how reserves make it cost next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from private_ensembles.accounting.adaptive.account import FINE, Curve
from private_ensembles.accounting.adaptive.families import Family
from private_ensembles.accounting.adaptive.levels import levels_curve
from private_ensembles.accounting.adaptive.scales import least_scale, least_scale_of_curves

# Where the search for the common factor begins.
_FACTOR = 1.005


@dataclass(frozen=True)
class LevelScales:
    """The noise of each level: `alone` times `factor`.

    units, total, reserves: of the budget, as in `levels.levels_epsilon`. alone: the least scale
    whose total // units labels of this level alone keep the budget. factor: about 1 or more, by how
    much more noise every level has because the analyst may choose.
    """

    units: tuple[int, ...]
    total: int
    reserves: tuple[int, ...]
    alone: tuple[float, ...]
    factor: float

    @property
    def scales(self) -> tuple[float, ...]:
        """The noise of each level, in the unit of `family_of`."""
        return tuple(scale * self.factor for scale in self.alone)


def level_scales(
    family_of: Callable[[float], Family],
    units: Sequence[int],
    total: int,
    epsilon: float,
    delta: float,
    start: float,
    *,
    reserves: Sequence[int] | None = None,
    fineness: float = FINE,
) -> LevelScales:
    """Return the noise of levels of which any adaptive choice keeps (epsilon, delta).

    >>> from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum
    >>> found = level_scales(
    ...     lambda sigma: GaussianMaximum(sigma, 11, 3), (1, 2), 20, 1.0, 1e-5, 19.0, fineness=4
    ... )
    >>> [round(sigma, 1) for sigma in found.scales], 1 < found.factor < 1.02
    ([19.4, 13.8], True)

    Args:
        family_of: the pairs of one label at a scale > 0; delta falls as the scale grows.
        units, total, reserves: of the budget, as in :func:`levels.levels_epsilon`; total at least
            as much as a label of each level costs.
        epsilon, delta: the budget, > 0 and in (0, 1).
        start: a scale near the least one for `total` labels.
        fineness: points of the grid per standard deviation of a label's loss.

    Returns:
        LevelScales, whose `scales` keep the budget by `levels.levels_curve` at this fineness. They
        are found to 0.05 % or so.

    Raises:
        ValueError: for numbers out of range, or if no scale is found.

    Source: docs/sessions.md, theorem 1.
    """
    if total < max(units, default=0):
        raise ValueError(f"total = {total}: must pay for a label of each of the levels {units}")
    kept = tuple([0] * len(units) if reserves is None else reserves)
    alone = []
    for cost in units:
        labels = total // cost
        about = start * math.sqrt(labels / total)
        alone.append(least_scale(family_of, labels, epsilon, delta, about, fineness=fineness))

    def curve_of(factor: float, points: float) -> Curve:
        families = [family_of(factor * scale) for scale in alone]
        return levels_curve(
            families,
            units,
            total,
            epsilon,
            delta,
            reserves=kept,
            fineness=points,
            lower=False,
            least=epsilon,
        )

    factor = 1.0
    if curve_of(factor, fineness).delta(epsilon) > delta:
        factor = least_scale_of_curves(curve_of, total, epsilon, delta, _FACTOR, fineness=fineness)
    return LevelScales(tuple(units), total, kept, tuple(alone), factor)
