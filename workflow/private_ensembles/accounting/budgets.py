"""What Q labels cost together: as published, optimally from (epsilon, delta), and by PLD.

All of these hold for queries chosen adaptively. They differ in what they know about a label: the
first two know that it is (epsilon, delta)-DP, the third its whole curve delta(epsilon).
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
from private_ensembles.base.stated_bounds import upper_bound

_INTERVAL = 1e-3


def disjoint_shards_majority_cost(epsilon: float, Delta: float, adjacency: str) -> Composition:
    """Return what the plain majority of (epsilon, Delta)-DP teachers on disjoint shards costs.

    The cost holds for any number of queries. A neighbour changes one teacher's training, and
    everything released is post-processing of that teacher (parallel composition).

    Args:
        epsilon: One teacher's epsilon, for ``add_remove``.
        Delta: One teacher's delta, for ``add_remove``.
        adjacency: ``add_remove`` needs public step counts and an assignment to shards that moves no
            other record (`training.data.shards.keyed_hash_shards`). ``replace_one`` allows any
            partition; the cost is by group privacy of two.

    Raises:
        ValueError: An unknown adjacency, or a value out of range.

    >>> cost = disjoint_shards_majority_cost(0.0892, 1e-4, "replace_one")
    >>> round(cost.epsilon, 4), round(cost.delta, 6)
    (0.1784, 0.000209)
    """
    checks.check_choice(("add_remove", "replace_one"), adjacency=adjacency)
    return (
        simple_composition(epsilon, Delta, 1)
        if adjacency == "add_remove"
        else replace_one_from_add_remove(epsilon, Delta)
    )


@upper_bound
def pld_epsilon(
    delta_curve: Callable[[NDArray], NDArray],
    queries: int,
    delta_total: float,
    *,
    largest_epsilon: float,
    interval: float = _INTERVAL,
) -> float:
    """Return the total epsilon of ``queries`` labels at ``delta_total``, by PLD composition.

    Any delta curve belongs to a pair of distributions that dominates the mechanism, and the
    composition of the pairs dominates that of the mechanisms. The curve is met at multiples of
    ``interval`` and overestimated in between ("connect the dots").

    Args:
        delta_curve: Maps epsilons (E,) >= 0 to upper bounds (E,) on one label's delta over all
            neighbours in both orders (`audit.delta_curve`, or a closed form).
        queries: How many labels are released, >= 1.
        delta_total: Delta of all labels together, in (0, 1).
        largest_epsilon: Where the curve ends; what delta is left there counts as a certain loss
            of privacy.
        interval: Distance of the losses on the grid.

    Returns:
        An upper bound in floating point, rounded up to a multiple of ``interval`` / 1000. It
        includes what Fourier transforms lose (`privacy_loss_distribution.compose`), and is infinite
        if that error, of the order of 1e-12 times ``queries``, exceeds delta_total.

    Raises:
        ValueError: queries < 1, delta_total outside (0, 1), or an interval or a largest_epsilon
            that is not finite and > 0.

    References:
        Zhu, Dong and Wang 2022, Theorem 10; Doroshenko et al. 2022; docs/noise.md.
    """
    checks.check_integer(queries=queries, at_least=1)
    checks.check_probability(delta_total=delta_total, zero=False, one=False)
    deltas = mirrored_deltas(delta_curve, largest_epsilon, interval)
    return compose(deltas, interval, int(queries)).epsilon(delta_total, interval / 1e3)


def total_budgets(
    epsilon: float, delta: float, queries: int, delta_total: float
) -> dict[str, float]:
    """Return the total epsilon at ``delta_total`` by ``general`` and ``optimal`` composition.

    ``general`` spends on composition what delta_total leaves after the leaks of ``queries`` labels,
    1 - (1 - delta)^queries, as DaRRM's tables do. It is infinite if nothing is left.

    Raises:
        ValueError: As `composition.optimal_composition` and `composition.general_composition`.
    """
    best = optimal_composition(epsilon, delta, queries, delta_total)
    # A smaller slack only makes general composition's epsilon larger.
    slack = delta_slack(delta, queries, delta_total)
    published = (
        general_composition(epsilon, delta, queries, slack).epsilon if slack > 0 else math.inf
    )
    return {"general": published, "optimal": best.epsilon}
