"""What Q labels cost together: as published, optimally from (epsilon, delta), and by PLD.

All hold for queries chosen adaptively. The three know more and more about a label: that it is
(epsilon, delta)-DP, twice, and its whole curve delta(epsilon).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from numpy.typing import NDArray

from private_ensembles.accounting.composition import (
    Composition,
    delta_slack,
    general_composition,
    optimal_composition,
    replace_one_from_add_remove,
    simple_composition,
)
from private_ensembles.accounting.privacy_loss_distribution import compose, mirrored_deltas
from private_ensembles.base import checks

_INTERVAL = 1e-3


def majority_cost(epsilon: float, Delta: float, adjacency: str) -> Composition:
    """What the plain majority of (epsilon, Delta)-DP teachers on disjoint shards costs.

    For any number of queries: a neighbour changes one teacher's training, everything released is
    post-processing of it (parallel composition). epsilon, Delta: one teacher's, for add_remove.
    ``add_remove`` needs an assignment to shards that moves no other record
    (`training.data.shards.keyed_hash_shards`) and public step counts. ``replace_one``: any
    partition; by group privacy of two. Raises ValueError for an unknown adjacency and values out of
    range.

    >>> cost = majority_cost(0.0892, 1e-4, "replace_one")
    >>> round(cost.epsilon, 4), round(cost.delta, 6)
    (0.1784, 0.000209)
    """
    checks.check_choice(("add_remove", "replace_one"), adjacency=adjacency)
    return (
        simple_composition(epsilon, Delta, 1)
        if adjacency == "add_remove"
        else replace_one_from_add_remove(epsilon, Delta)
    )


def pld_epsilon(
    delta_curve: Callable[[NDArray], NDArray],
    queries: int,
    delta_total: float,
    *,
    largest_epsilon: float,
    interval: float = _INTERVAL,
) -> float:
    """Total epsilon of ``queries`` labels at ``delta_total`` by privacy loss distributions.

    delta_curve: epsilons (E,) >= 0 -> upper bounds (E,) on one label's delta over all neighbours,
    both directions (`audit.delta_curve`, or a closed form). largest_epsilon: where the curve ends;
    what delta is left there counts as a certain loss of privacy.

    Any such curve belongs to a pair of distributions that dominates the mechanism, and the pairs'
    composition dominates the mechanisms' (Zhu, Dong & Wang 2022, Theorem 10). The curve
    is met at multiples of ``interval`` and overestimated in between ("connect the dots",
    Doroshenko et al. 2022). An upper bound in floating point, what Fourier transforms lose
    included: `loss_distribution.compose`. Rounded up to a multiple of ``interval`` / 1000; infinite
    if the error of the transforms, of the order of 1e-12 times ``queries``, exceeds delta_total.

    Raises ValueError for queries < 1, delta_total outside (0, 1), an interval or a largest_epsilon
    that is not finite and > 0.
    """
    checks.check_integer(queries=queries, at_least=1)
    checks.check_probability(delta_total=delta_total, zero=False, one=False)
    deltas = mirrored_deltas(delta_curve, largest_epsilon, interval)
    return compose(deltas, interval, int(queries)).epsilon(delta_total, interval / 1e3)


def total_budgets(
    epsilon: float, delta: float, queries: int, delta_total: float
) -> dict[str, float]:
    """Total epsilon at ``delta_total`` by ``general`` and ``optimal`` composition.

    ``general`` spends on composition what delta_total leaves after the leaks of ``queries`` labels,
    1 - (1 - delta)^queries, as DaRRM's tables do; infinite if nothing is left. Raises ValueError as
    the functions of `composition`.
    """
    best = optimal_composition(epsilon, delta, queries, delta_total)
    # A smaller slack only makes general composition's epsilon larger.
    spare = delta_slack(delta, queries, delta_total)
    published = (
        general_composition(epsilon, delta, queries, spare).epsilon if spare > 0 else math.inf
    )
    return {"general": published, "optimal": best.epsilon}
