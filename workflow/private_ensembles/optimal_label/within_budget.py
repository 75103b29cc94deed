"""The best label for a number of labels and a total: order and divergence found for them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from private_ensembles import checks
from private_ensembles.optimal_label.best_for_many import LabelForMany, best_for_many
from private_ensembles.votes.synthetic import ConsensusProfile

# Of 2 ln(1 / delta) / epsilon, which is the order that suits Gaussian noise of a small total.
_SUITED = 0.6, 1.0
# How much of the total may be left, and how often a divergence is tried.
_SPENT, _TRIES = 0.99, 8
# The total grows with the divergence about as this power.
_POWER = 0.6


def best_within(
    n_teachers: int,
    n_classes: int,
    labels: int,
    epsilon: float,
    delta: float,
    *,
    orders: Sequence[float] | None = None,
    accuracy: float | None = None,
    profile: ConsensusProfile | None = None,
) -> LabelForMany:
    """Return a label of which `labels` cost at most (epsilon, delta), adaptively chosen.

    >>> best = best_within(11, 3, 10, 2.0, 1e-5, accuracy=0.7)
    >>> 1.98 < best.total(10, 1e-5).upper <= 2.0
    True

    It is the best of its Rényi divergence; its total is the account of what each move does to it
    (`accounting.adaptive`), which is less than that divergence alone would prove. labels: >= 1.
    epsilon: in (0, 20]; delta: in (0, 1). orders: in [1.1, 64], of which the best is taken; by
    default two that suit the total.
    Raises ValueError for numbers out of range, as `best_for_many`, and if no label keeps the
    total.
    """
    checks.within(0, 20, epsilon=epsilon, low_allowed=False)
    checks.probability(delta=delta, zero=False, one=False)
    checks.integer(labels=labels, at_least=1)
    if orders is None:
        suited = 2 * math.log(1 / delta) / epsilon
        orders = [min(64.0, max(1.5, 1 + share * suited)) for share in _SUITED]
    size, prior = (n_teachers, n_classes), {"accuracy": accuracy, "profile": profile}
    tried = [_of_order(size, labels, epsilon, delta, order, prior) for order in orders]
    within = [label for label in tried if label is not None]
    if not within:
        raise ValueError(f"labels = {labels}: no label found that keeps ({epsilon}, {delta})")
    return max(within, key=lambda label: label.certificate.utility)


def _of_order(
    size: tuple[int, int], labels: int, epsilon: float, delta: float, order: float, prior: dict
) -> LabelForMany | None:
    """The label of about the largest divergence that keeps the total; None if none was found."""
    # Of Gaussian noise with about this total.
    divergence = order * epsilon**2 / (4 * math.log(1 / delta) + 4 * epsilon) / labels
    best, low, high = None, 0.0, math.inf
    for _ in range(_TRIES):
        divergence = min(10.0, divergence)
        tried = best_for_many(*size, order, divergence, **prior)
        spent = tried.total(labels, delta).upper
        if spent <= epsilon:
            best, low = tried, divergence
            if spent >= _SPENT * epsilon or divergence == 10.0:
                break
        else:
            high = divergence
        aim = (1 + _SPENT) / 2 * epsilon
        divergence *= (aim / spent) ** (1 / _POWER) if spent < math.inf else 0.5
        if not low < divergence < high:
            divergence = math.sqrt(low * high) if low else high / 2
    return best
