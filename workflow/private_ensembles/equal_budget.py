"""Every mechanism on the same votes at the same total budget: how often is a label right?

Each is given the noise with which Q labels cost (epsilon, delta) by the best accounting that it has
here, all of it free of the votes. PATE's own rows spend data-dependent budgets, which no other
mechanism can be given.
"""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from private_ensembles.baselines.exponential import (
    exponential_distribution,
    permute_and_flip_distribution,
)
from private_ensembles.baselines.ladder import ladder_matrix
from private_ensembles.composition import optimal_homogeneous
from private_ensembles.pate.gnmax import gnmax_sigma
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution
from private_ensembles.pate.lnmax_quadrature import lnmax_distribution
from private_ensembles.pate_study import NOT_FOR_RELEASE, draw_queries
from private_ensembles.registry import require

_GAUSSIAN = {
    "gnmax": ("rdp", "Rényi, classic conversion"),
    "gnmax_improved": ("improved_rdp", "Rényi, improved conversion"),
    "gnmax_analytic": ("analytic", "exact composition of Gaussians"),
}
_PURE = "optimal composition of pure labels"


def pure_epsilon(epsilon: float, delta: float, queries: int) -> float:
    """Largest epsilon0 with which `queries` (epsilon0, 0)-DP labels are (epsilon, delta)-DP.

    Within 1e-9, by optimal composition (Kairouz, Oh & Viswanath 2015); no smaller than epsilon /
    queries. Raises ValueError as `optimal_homogeneous`.
    """
    low, high = epsilon / queries, epsilon

    def holds(one: float) -> bool:
        return optimal_homogeneous(one, 0.0, queries, delta).epsilon <= epsilon

    low *= 1 - 1e-12  # rounding up must not refuse simple composition
    if holds(high):
        return high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def noise(epsilon: float, delta: float, queries: int, n_classes: int) -> dict[str, tuple]:
    """Return, by mechanism, its noise (sigma, scale, rate or epsilon0), and how that is proven.

    Gaussian labels compose into one with sigma / sqrt(Q), so that Q of them need sqrt(Q) times the
    sigma of one, by every method. The ladder is for two classes.
    """
    found = {
        name: (math.nextafter(gnmax_sigma(epsilon, delta, method=method) * math.sqrt(queries)
                              * (1 + 1e-15), math.inf), how)
        for name, (method, how) in _GAUSSIAN.items()
    }  # fmt: skip
    one = pure_epsilon(epsilon, delta, queries)
    found["lnmax_pure"] = (math.nextafter(2 / one, math.inf), _PURE)
    for name in ("exponential", "permute_and_flip"):
        found[name] = (one / 2, _PURE)
    if n_classes == 2:
        found["ladder"] = (one, _PURE)
    return found


def distribution(mechanism: str, counts: np.ndarray, amount: float) -> np.ndarray:
    """Pr[label] of one query by mechanism and amount of noise, (Q, C), as `noise` names them."""
    if mechanism.startswith("gnmax"):
        return gnmax_distribution(counts, amount)
    if mechanism == "lnmax_pure":
        return lnmax_distribution(counts, amount)
    if mechanism == "ladder":
        return ladder_matrix(int(counts[0].sum()), amount, 0.0)[counts[:, 1]]
    chosen = {
        "exponential": exponential_distribution,
        "permute_and_flip": permute_and_flip_distribution,
    }
    return chosen[mechanism](counts, amount)


def compare(
    counts: np.ndarray, labels: np.ndarray, settings: Mapping, *, task: str, seed: int
) -> pd.DataFrame:
    """Expected accuracy of Q labels by every mechanism, for every Q and total epsilon of a task.

    counts, labels: the pool's, (pool, C) and (pool,). settings: pool, delta, queries (list),
    epsilon (list). The queries are those that PATE's students ask (draw 0). Columns: task, queries,
    epsilon, delta, mechanism, noise, proof, privacy_model, adjacency, expected_accuracy, release.
    """
    rows, model = [], {"privacy_model": "disjoint_shards", "adjacency": "replace_one"}
    for queries in settings["queries"]:
        asked = draw_queries(settings["pool"], queries, seed, task, 0)
        truth = labels[asked]
        for epsilon in settings["epsilon"]:
            budget = epsilon, settings["delta"]
            for name, (amount, proof) in noise(*budget, queries, counts.shape[1]).items():
                require(name, *model.values())
                given = distribution(name, counts[asked], amount)
                rows.append(
                    {
                        "task": task,
                        "queries": queries,
                        "epsilon": epsilon,
                        "delta": settings["delta"],
                        "mechanism": name,
                        "noise": amount,
                        "proof": proof,
                        **model,
                        "expected_accuracy": float(given[np.arange(queries), truth].mean()),
                        "release": NOT_FOR_RELEASE,
                    }
                )
    return pd.DataFrame(rows)
