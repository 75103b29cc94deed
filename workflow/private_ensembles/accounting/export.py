"""Labels for somebody else's accountant: as dp_accounting's loss distributions.

So labels compose with DP-SGD or anything else that dp_accounting knows. What is exported dominates
the labels; what dp_accounting then computes of it is its own arithmetic, in floating point. The
neighbouring relation is the one that the labels were audited for: in ensembles on disjoint shards
a record that is added or removed moves one vote (`replace_one` of votes), so that labels audited
for moved votes compose with DP-SGD's ADD_OR_REMOVE_ONE.
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

    delta_curve: epsilons (E,) >= 0 -> one label's delta over all neighbours, both orders, bounded
    from above (`audit_mechanism(...).table.curve`). largest_epsilon: where the curve ends; what
    delta is left there becomes an infinite loss. interval: dp_accounting composes distributions of
    equal intervals only (its own default is 1e-4). The distribution is that of a pair whose curve
    lies on or above the given one at every epsilon (Zhu, Dong and Wang 2022, Theorem 10), in both
    orders at once. Raises ValueError for an interval or a largest_epsilon that is not finite and
    > 0.
    """
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution  # late: slow to import

    deltas = mirrored_deltas(delta_curve, largest_epsilon, interval)
    masses, leak = dominating_masses(deltas, interval)
    reach = len(masses) // 2
    losses = {i - reach: float(mass) for i, mass in enumerate(masses) if mass > 0}
    pmf = pld_pmf.create_pmf(losses, interval, leak, pessimistic_estimate=True)
    return privacy_loss_distribution.PrivacyLossDistribution(pmf)
