"""The paper's tables of what labels cost, from privacy parameters and noise scales.

Every function takes data frames or plain mappings and returns a data frame. Columns are only
added, never renamed, as tools read them. epsilon is in nats.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from private_ensembles.accounting.composition import (
    general_composition,
    optimal_composition,
    replace_one_from_add_remove,
)
from private_ensembles.base.parameter_names import multiply
from private_ensembles.labels.gnmax import analytic_epsilon, gnmax_sigma

# This says in plain words why the least total holds.
_EVERYTHING = (
    "Publishing all {K} private teachers costs no more than this, once, and answers any "
    "number of queries: labels made from them are post-processing. For DaRRM, not for "
    "GNMax on plain teachers."
)
# A search for sigma must have found these.
_SIGMAS = (
    "order_rdp",
    "sigma_rdp",
    "order_improved_rdp",
    "sigma_improved_rdp",
    "sigma_analytic",
    "sigma_exact",
)


def privacy_loss(
    datasets: Iterable[Mapping[str, object]],
    *,
    K: int,
    m: int,
    queries: Sequence[int],
    delta_prime: float,
    order_max: float = 500,
    order_step: float = 0.5,
) -> pd.DataFrame:
    """Return the privacy loss over Q queries: Tables 2, 5, 7 and 9 of DaRRM, and tighter totals.

    A label costs (m epsilon, m Delta).

    Args:
        datasets: mappings with ``name``, ``stand_in``, ``epsilon``, ``Delta`` (one private
            teacher's).
        K: number of teachers.
        m: privacy allowance.
        queries: numbers Q of labels.
        delta_prime: the slack of general composition.
        order_max: largest Rényi order of the search for GNMax's sigma.
        order_step: between two orders.

    Returns:
        A row per data set and Q. ``epsilon_total``, ``delta_total`` are as published: general
        composition with delta'. All other totals hold at that same ``delta_total``::

            epsilon_total_optimal    the best for Q mechanisms of that cost
            epsilon_all_teachers     publishing all K private teachers: every label, for any Q, is
                                     their post-processing
            epsilon_total_gnmax      Q labels of GNMax with the paper's sigma on plain teachers
                                     (Gaussian mechanisms compose into one)
            epsilon_disjoint_shards  one teacher's own cost, for replace_one (group privacy): what a
                                     neighbour changes if every record reaches one private teacher
                                     only, by any fixed partition; any Q
            epsilon_committee        m of the teachers, drawn once, answer all queries by majority:
                                     their composition at delta_committee, for any Q
                                     (`darrm.committee_law`)

        ``tightest`` is the least that is proven for DaRRM's labels in the table's privacy model, of
        teachers that are trained once: that of all teachers. ``epsilon_total_optimal`` supposes
        teachers that are trained again for every label.

    Raises:
        ValueError: m, Q or K are no integers >= 1.

    References:
        Kairouz et al., Theorem 3.3; docs/darrm.md.
    """
    rows = []
    for dataset in datasets:
        epsilon, Delta = float(dataset["epsilon"]), float(dataset["Delta"])
        epsilon_query, delta_query = multiply(m, epsilon), multiply(m, Delta)
        one_teacher = replace_one_from_add_remove(epsilon, Delta)
        committee = optimal_composition(epsilon, Delta, min(m, K), delta_query)
        sigma = gnmax_sigma(
            epsilon_query, delta_query, method="rdp", order_max=order_max, order_step=order_step
        )
        for Q in queries:
            total = general_composition(epsilon_query, delta_query, Q, delta_prime)
            optimal = optimal_composition(epsilon_query, delta_query, Q, total.delta)
            all_teachers = optimal_composition(epsilon, Delta, K, total.delta)
            rows.append(
                {
                    "dataset": dataset["name"],
                    "stand_in": bool(dataset["stand_in"]),
                    "queries": Q,
                    "m": m,
                    "privacy_model": "shared_data",
                    "adjacency": "add_remove",
                    "epsilon_query": epsilon_query,
                    "delta_query": delta_query,
                    "epsilon_total": total.epsilon,
                    "delta_total": total.delta,
                    "epsilon_total_optimal": optimal.epsilon,
                    "epsilon_all_teachers": all_teachers.epsilon,
                    "delta_all_teachers": all_teachers.delta,
                    "epsilon_total_gnmax": analytic_epsilon(sigma, total.delta, labels=Q),
                    "epsilon_disjoint_shards": one_teacher.epsilon,
                    "delta_disjoint_shards": one_teacher.delta,
                    "tightest": all_teachers.epsilon,
                    "tightest_reason": _EVERYTHING.format(K=K),
                    "epsilon_committee": committee.epsilon,
                    "delta_committee": committee.delta,
                }
            )
    return pd.DataFrame(rows)


def gnmax_sigmas(
    settings: Iterable[Mapping[str, object]], searches: Mapping[tuple[float, float], pd.DataFrame]
) -> pd.DataFrame:
    """Return GNMax's noise scales, the paper's and tighter ones: Table 4 of DaRRM.

    Args:
        settings: mappings with ``name``, ``stand_in``, ``m``, ``epsilon_query``, ``delta_query``
            (of one label).
        searches: (epsilon, delta) of one label -> frame with ``quantity`` and ``value``, as
            ``search_gnmax_sigma`` writes it.

    Returns:
        A row per setting. ``order_least`` is the paper's lambda_min.

    Raises:
        ValueError: a setting has no search, or a search lacks a quantity.
    """
    rows = []
    for setting in settings:
        m = setting["m"]
        budget = float(setting["epsilon_query"]), float(setting["delta_query"])
        if budget not in searches:
            raise ValueError(f"{setting['name']}, m = {m}: no search for (epsilon, delta) {budget}")
        search = searches[budget]
        values = dict(zip(search["quantity"], search["value"], strict=True))
        missing = [name for name in _SIGMAS if name not in values]
        if missing:
            raise ValueError(f"{setting['name']}, m = {m}: lacks {', '.join(missing)}")
        rows.append(
            {
                "dataset": setting["name"],
                "stand_in": bool(setting["stand_in"]),
                "m": m,
                "privacy_model": "disjoint_shards",
                "adjacency": "replace_one",
                "epsilon": budget[0],
                "delta": budget[1],
                "order_least": 1 - math.log(budget[1]) / budget[0],
            }
            | {name: float(values[name]) for name in _SIGMAS}
        )
    return pd.DataFrame(rows)
