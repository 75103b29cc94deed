"""What labels have cost so far, if how many there will be is decided by looking at them.

An account with a cap holds for any stopping rule below it. Without a cap, a ladder of caps shares
delta: after T labels the claim is that of the first cap that T has not passed. Theorems and proofs:
docs/sessions.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.adaptive.account import (
    FINE,
    Curve,
    adaptive_epsilon,
    check_labels,
    deciding_orders,
    grid_of,
    kernels_on,
)
from private_ensembles.accounting.adaptive.backward_induction import values_above
from private_ensembles.accounting.adaptive.families import Family, largest_spread
from private_ensembles.accounting.rounding import UNIT_ROUNDOFF, below

# The first cap, unless another is given, and by what factor caps grow.
FIRST, GROWTH = 16, 2
_ROUNDING = 64 * UNIT_ROUNDOFF


def odometer_epsilon(
    family: Family, labels: int, delta: float, *, first: int = FIRST, fineness: float = FINE
) -> float:
    """Return the epsilon that is claimed after `labels` labels, whoever decides when to stop.

    >>> from private_ensembles.accounting.adaptive.families import two_classes
    >>> label = two_classes([0.48, 0.52])
    >>> [round(odometer_epsilon(label, count, 1e-5), 2) for count in (10, 100, 128, 129)]
    [1.12, 4.42, 4.42, 6.71]

    Args:
        family: the pairs of one label, at noise that never changes.
        labels: how many were released so far, >= 1.
        delta: of all claims together, in (0, 1).
        first: the first cap, >= 1; the others are 2, 4, 8, ... times as large. It has to be chosen
            before the first label.
        fineness: points of the grid per standard deviation of a label's loss.

    Returns:
        The epsilon of `cap_of(labels)` labels at the share of delta that this cap has. It holds in
        floating point at every number of labels at once: the sum of (P(o) - e^epsilon(o) P'(o))_+
        over all runs of labels o is at most delta, with epsilon(o) the claim where o ends.

    Raises:
        ValueError: for numbers out of range.

    Source: docs/sessions.md, theorem 4.
    """
    check_labels(labels, delta)
    cap, share = cap_of(labels, delta, first=first)
    return adaptive_epsilon(family, cap, share, fineness=fineness).upper


def cap_of(labels: int, delta: float, *, first: int = FIRST) -> tuple[int, float]:
    """Return the first cap that is at least `labels`, and its share of delta.

    >>> cap_of(17, 0.5)
    (32, 0.08333333333333331)

    The k-th cap, k = 1, 2, ..., has delta / (k (k + 1)), rounded down; these add up to delta.
    """
    check_labels(labels, delta)
    checks.integer(first=first, at_least=1)
    place, cap = 1, int(first)
    while cap < labels:
        place, cap = place + 1, GROWTH * cap
    return cap, float(below(delta / (place * (place + 1))))


def odometer_delta(
    family: Family, caps: Sequence[int], epsilons: Sequence[float], *, fineness: float = FINE
) -> float:
    """Return the delta of claims that rise from cap to cap, for the worst time to stop.

    >>> from private_ensembles.accounting.adaptive.families import two_classes
    >>> label = two_classes([0.48, 0.52])
    >>> odometer_delta(label, [16, 32], [1.28, 1.9]) < 1e-4
    True

    Args:
        family: the pairs of one label.
        caps: numbers of labels, rising; no more than the last are ever released.
        epsilons: what is claimed if labels end at a cap or before it and after the last one, >= 0
            and not falling.
        fineness: points of the grid per standard deviation of a label's loss.

    Returns:
        The exact delta of theorem 4, of which :func:`odometer_epsilon` takes a sum that is larger,
        rounded against us: the sum of (P(o) - e^epsilon(o) P'(o))_+ over all runs of labels o is at
        most this, for any adversary and any stopping rule.

    Raises:
        ValueError: for numbers out of range.

    Source: docs/sessions.md, theorem 5.
    """
    _check_claims(caps, epsilons)
    most, last = int(caps[-1]), float(epsilons[-1])
    claims = np.asarray(epsilons, dtype=np.float64)[np.searchsorted(caps, np.arange(most + 1))]
    spread = largest_spread(family)
    # Each cap has Renyi orders of its own that decide.
    widths = spread * np.sqrt(caps)
    orders = np.concatenate(list(map(deciding_orders, epsilons, widths)))
    delta = 1e-6
    for _ in range(2):  # the second grid suits what the first has found
        grid = grid_of(spread, most, spread * math.sqrt(most), last, delta, fineness)
        kernels = kernels_on(family, grid.step, most, delta, orders, spread)
        values = _stopped(grid.logs(), claims[most], last)
        for claim in claims[-2::-1]:
            values = values_above(kernels, grid, 1, values)
            values = np.maximum(values, _stopped(grid.logs(), claim, last))
        nothing = np.zeros(grid.size)
        found = Curve(grid.logs(), values, nothing, nothing).delta(last)
        delta = min(max(found, 1e-14), 0.5)
    return found


def _stopped(logs: NDArray[np.float64], claim: float, last: float) -> NDArray[np.float64]:
    """(1 - e^claim x)_+ for x = y e^-last, y = e^logs, rounded up."""
    exponent = logs + (claim - last)
    exponent = exponent - _ROUNDING * (np.abs(logs) + last)
    return -np.expm1(np.minimum(exponent, 0.0)) * (1 + _ROUNDING)


def _check_claims(caps: Sequence[int], epsilons: Sequence[float]) -> None:
    """Raise ValueError for caps or claims that do not rise."""
    if not len(caps) or len(caps) != len(epsilons):
        raise ValueError("caps, epsilons: must be as many of each, and at least one")
    for cap in caps:
        checks.integer(caps=cap, at_least=1)
    for epsilon in epsilons:
        checks.finite(epsilons=epsilon, at_least=0)
    if min(np.diff(caps), default=1) < 1 or min(np.diff(epsilons), default=0) < 0:
        raise ValueError(f"caps, epsilons = {caps}, {epsilons}: must rise from one to the next")
