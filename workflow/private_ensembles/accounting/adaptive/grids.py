"""How fine a grid labels need, and where rounding on it leaves nothing of delta to prove."""

from __future__ import annotations

from private_ensembles.accounting.adaptive import hockey_sticks
from private_ensembles.accounting.adaptive.account import FINE
from private_ensembles.accounting.adaptive.families import Family
from private_ensembles.accounting.adaptive.gaussian_maximum import OUTSIDE
from private_ensembles.accounting.adaptive.scales import lost_delta

# Points of the grid for more than two classes: sigma is 0.3 % more than at FINE, in half the time.
_COARSER = 4.0
# With more delta for each label, rounding does not matter.
_PLENTY = 1e-9


def grid_fineness(n_classes: int, labels: int) -> float:
    """Return the fineness: few labels' curves have corners, and more than two classes take long.

    >>> grid_fineness(2, 1000), grid_fineness(10, 5)
    (7.0, 8.0)
    """
    if n_classes == 2:
        return FINE * min(8.0, max(1.0, 100 / labels))
    return _COARSER * min(2.0, max(1.0, 10 / labels))


def nothing_left(n_classes: int, labels: int, delta: float) -> str | None:
    """Return why the account can prove nothing of so many labels at this delta, or None.

    Decided by what each label loses for certain, before any work; a little above it `loses_all`
    decides, by what it loses on the grid.

    >>> nothing_left(2, 1000, 1e-5) is None
    True
    """
    least = hockey_sticks.LEAST_LOST + (OUTSIDE if n_classes > 2 else 0.0)
    if delta > labels * least:
        return None
    return (
        f"its account of {labels:,} labels proves nothing for a delta of "
        f"{labels * least:.2g} or less, which its rounding takes"
    )


def loses_all(family: Family, labels: int, epsilon: float, delta: float, n_classes: int) -> bool:
    """Return whether the account proves no noise at such a small delta, without a search for it.

    family: at the noise of another proof.
    """
    if delta > labels * _PLENTY:
        return False
    fineness = grid_fineness(n_classes, labels)
    return lost_delta(family, labels, epsilon, delta, fineness=fineness) >= delta
