"""What becomes of a claimed epsilon beside what is proven and what is true."""

from __future__ import annotations

import math

# Exact values are upper bounds that are off by rounding; a claim is not broken by that.
_ROUNDING = 1e-9


def verdict(
    claimed: float | None, proven: float | None, exact: float | None, lower: float | None = None
) -> str:
    """Say what becomes of a claimed epsilon; no number is compared with itself.

    ``fails``: the exact epsilon, or what is proven not to be enough, exceeds it. ``holds``: the
    exact epsilon does not, or a proven one is smaller. ``proven``: the claim is the proven epsilon
    itself, so that no second number supports it and all rests on the proof. ``unproven``: nothing
    refutes it, and what is proven is larger.
    """
    if claimed is None:
        return "unproven"
    if any(found is not None and exceeds(found, claimed) for found in (exact, lower)):
        return "fails"
    if exact is not None:
        return "holds"
    if proven is None or exceeds(proven, claimed):
        return "unproven"
    return "holds" if exceeds(claimed, proven) else "proven"


def exceeds(value: float, bound: float) -> bool:
    """Return whether a value is above a bound by more than rounding; nothing is above infinity."""
    if math.isinf(bound):
        return False
    return value > bound + _ROUNDING * max(1.0, bound)
