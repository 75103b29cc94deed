"""One label as a privacy loss distribution of dp_accounting, for somebody else's accountant.

Labels then compose with DP-SGD and anything else that dp_accounting knows. What is exported
dominates the labels; what dp_accounting then computes of it is its own arithmetic, in floating
point. The neighbouring relation is the one that the labels were audited for. In ensembles on
disjoint shards a record that is added or removed moves one vote (`replace_one` of votes), so
labels audited for moved votes compose with DP-SGD's ADD_OR_REMOVE_ONE.
"""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import NDArray

from private_ensembles.accounting.privacy_loss_distribution import (
    dominating_masses,
    mirrored_deltas,
)


def to_pld(
    delta_curve: Callable[[NDArray], NDArray],
    largest_epsilon: float,
    *,
    interval: float = 1e-3,
):
    """Return one label as dp_accounting's PrivacyLossDistribution, pessimistic.

    >>> import numpy as np
    >>> def curve(epsilons):  # randomised response that tells the truth with probability 3/4
    ...     return np.maximum(0.75 - 0.25 * np.exp(epsilons), 0)
    >>> label = to_pld(curve, largest_epsilon=1.1)
    >>> round(label.self_compose(10).get_epsilon_for_delta(1e-5), 2)
    10.99

    The distribution is that of a pair whose curve lies on or above the given one at every epsilon,
    in both orders at once.

    Args:
        delta_curve: Maps epsilons (E,) >= 0 to upper bounds (E,) on one label's delta over all
            neighbours in both orders (`audit_mechanism(...).table.curve`).
        largest_epsilon: Where the curve ends; what delta is left there becomes an infinite loss.
        interval: Distance of the losses on the grid. dp_accounting composes distributions of equal
            intervals only (its own default is 1e-4).

    Raises:
        ValueError: An interval or a largest_epsilon that is not finite and > 0.

    References:
        Zhu, Dong and Wang 2022, Theorem 10; docs/noise.md.
    """
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution  # imported late, as it is slow

    deltas = mirrored_deltas(delta_curve, largest_epsilon, interval)
    masses, leak = dominating_masses(deltas, interval)
    reach = len(masses) // 2
    losses = {i - reach: float(mass) for i, mass in enumerate(masses) if mass > 0}
    pmf = pld_pmf.create_pmf(losses, interval, leak, pessimistic_estimate=True)
    return privacy_loss_distribution.PrivacyLossDistribution(pmf)
