"""What Q labels of every mechanism cost together: four compositions side by side.

``general`` is what the papers publish, ``optimal`` the best for labels of which only (epsilon,
delta) is known, ``pld`` composes each mechanism's exact curve delta(epsilon), ``label`` follows
what an adversary can do with all of them. Nothing here looks at votes.
"""

import functools
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import NeighbourPairs
from private_ensembles.accounting.budgets import pld_epsilon, total_budgets
from private_ensembles.accounting.composition import general_composition, optimal_composition
from private_ensembles.base.root_search import bisect
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import Task
from private_ensembles.papers.darrm.one_label import make_label_task
from private_ensembles.papers.ledger.ledger import Calibration

Curve = Callable[[NDArray], NDArray]
FRESH = "fresh noise for every label"
ONCE = "teachers published once, any number of labels"
RETRAINED = "teachers trained anew for every label"
# The grid has so many points of one label's privacy loss on either side of 0.
POINTS = 1000
# Curves end if so little is left, which counts as a certain loss of privacy. At the far epsilon
# only leaks are left.
_LEFT = 1e-13
_FAR = 60.0


def totals(
    settings: Mapping[str, Calibration], queries: list[int], delta_prime: float
) -> pd.DataFrame:
    """Return total epsilons over Q labels at one delta for all mechanisms.

    Labels of teachers that are trained once and vote on every query share those teachers'
    randomness, which is all of it with DaRRM: there teachers_once is what is proven
    (docs/darrm.md).

    Args:
        settings: by budget.
        queries: numbers Q of labels.
        delta_prime: what general composition spends beside the labels' leaks, as in DaRRM's
            Table 2: delta_total = 1 - (1 - delta)^Q (1 - delta_prime).

    Returns:
        A row per budget, mechanism and Q, with the columns budget, mechanism, queries, epsilon and
        delta (one label's claim), delta_total, general, optimal, pld, label (NaN if neighbours are
        not listed: private teachers), teachers_once (publishing all private teachers, which answers
        any number of queries; NaN for plain ones), privacy_model, adjacency and holds_for (what the
        compositions suppose).
    """
    rows = []
    for name, calibration in settings.items():
        for mechanism in map(load_mechanism, registry.single_label_mechanisms()):
            task = make_label_task(mechanism.entry, calibration.budget)
            audited = mechanism.law.build_audit(task, calibration.parameters[mechanism.name])
            curve, pairs = _cache_curve(audited.curve), audited.label_pairs()
            for Q in queries:
                rows.append(
                    {"budget": name, "mechanism": mechanism.name, "queries": Q}
                    | {"epsilon": task.budget.epsilon, "delta": task.budget.delta}
                    | _compose_labels(
                        task,
                        curve,
                        pairs,
                        Q,
                        delta_prime,
                        costs_once=mechanism.guarantee.costs_once,
                    )
                )
    return pd.DataFrame(rows)


def _compose_labels(
    task: Task,
    curve: Curve,
    pairs: NeighbourPairs | None,
    Q: int,
    delta_prime: float,
    *,
    costs_once: bool,
) -> dict[str, object]:
    """Return what Q labels cost together, and what that supposes.

    costs_once: whether labels cost the same whatever their number.
    """
    total = general_composition(task.budget.epsilon, task.budget.delta, Q, delta_prime)
    delta, teachers_once, holds_for = total.delta, np.nan, FRESH
    epsilons = dict.fromkeys(("general", "optimal", "pld", "label"), np.nan)
    if costs_once:
        delta, teachers_once, holds_for = task.budget.delta, task.budget.epsilon, ONCE
    elif delta == 1:  # which everything keeps
        epsilons = dict.fromkeys(epsilons, 0.0)
    else:
        epsilons |= total_budgets(task.budget.epsilon, task.budget.delta, Q, delta)
        epsilons |= {"general": total.epsilon, "pld": _epsilon_by_pld(task, curve, Q, delta)}
        if pairs is not None:
            epsilons["label"] = min(epsilons["pld"], adaptive_epsilon(pairs, Q, delta).upper)
    if task.protection.privacy_model == "shared_data" and not costs_once:
        holds_for = RETRAINED
        teachers_once = 0.0
        if delta != 1:
            teachers_once = optimal_composition(
                task.ensemble.private.epsilon,
                task.ensemble.private.delta,
                task.ensemble.teachers,
                delta,
            ).epsilon
    return {
        "delta_total": delta,
        **epsilons,
        "teachers_once": teachers_once,
        "privacy_model": task.protection.privacy_model,
        "adjacency": task.protection.adjacency,
        "holds_for": holds_for,
    }


def _cache_curve(curve: Curve) -> Curve:
    """Return the same curve, worked out once for each of the grids of all Q."""
    cached = functools.cache(lambda epsilons: curve(np.frombuffer(epsilons)))
    return lambda epsilons: cached(epsilons.tobytes())


def _epsilon_by_pld(task: Task, curve: Curve, Q: int, delta: float) -> float:
    # Cutting a long thin tail off spends delta and saves grid points: both are upper bounds.
    """Return the epsilon of Q labels by composing their privacy loss distribution."""
    ends = {max_privacy_loss(curve), 4 * task.budget.epsilon}
    return min(
        pld_epsilon(curve, Q, delta, largest_epsilon=end, interval=end / POINTS) for end in ends
    )


def max_privacy_loss(curve: Curve) -> float:
    """Return where a label's curve delta(epsilon) ends, but for a leak that no epsilon covers."""
    leak = float(curve(np.array([_FAR]))[0])

    def ends(epsilon: float) -> bool:
        return float(curve(np.array([epsilon]))[0]) <= leak + _LEFT

    return bisect(ends, 0.0, _FAR, relative=1e-3)
