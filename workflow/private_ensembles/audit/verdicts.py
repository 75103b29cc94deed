"""Verdicts on a claimed epsilon, beside what is proven and what is true."""

from __future__ import annotations

import math

# Exact values are upper bounds that are off by rounding, which must not break a claim.
_ROUNDING = 1e-9


def verdict(
    claimed: float | None, proven: float | None, exact: float | None, lower: float | None = None
) -> str:
    """Return the verdict on a claimed epsilon; no number is compared with itself.

    Args:
        claimed: the claim; None if there is none.
        proven: an epsilon that is proven; None if there is none.
        exact: the exact epsilon; None if it is not known.
        lower: an epsilon that is proven not to be too large; None if there is none.

    Returns:
        ``fails`` if the exact epsilon or `lower` exceeds the claim. ``holds`` if the exact
        epsilon does not, or a proven one is smaller. ``proven`` if the claim is the proven epsilon
        itself, so that no second number supports it and all rests on the proof. ``unproven`` if
        nothing refutes it, and what is proven is larger.
    """
    if claimed is None:
        return "unproven"
    if any(bound is not None and exceeds(bound, claimed) for bound in (exact, lower)):
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
