"""What Q labels of every mechanism cost together: three compositions side by side.

``general`` is what the papers publish, ``optimal`` the best for labels of which only (epsilon,
delta) is known, ``pld`` composes each mechanism's exact curve delta(epsilon). Nothing here looks at
votes.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from private_ensembles.accounting.budgets import pld_epsilon, total_budgets
from private_ensembles.accounting.composition import general, optimal_homogeneous
from private_ensembles.mechanisms.catalogue.entry import Entry, Setting
from private_ensembles.mechanisms.catalogue.every import entries

FRESH = "fresh noise for every label"
ONCE = "teachers published once, any number of labels"
RETRAINED = "teachers trained anew for every label"
# Points of one label's privacy loss, on either side of 0.
_POINTS = 1000
# Curves end where so little is left, which counts as a certain loss of privacy; far beyond it only
# leaks are left.
_LEFT = 1e-13
_FAR = 60.0


def totals(settings: Mapping[str, Setting], queries: list[int], delta_prime: float) -> pd.DataFrame:
    """Total epsilons over Q labels at one delta for all mechanisms, a row per budget, mechanism, Q.

    settings: by budget. delta_prime: what general composition spends beside the labels' leaks, as
    in DaRRM's Table 2: delta_total = 1 - (1 - delta)^Q (1 - delta_prime). Columns: budget,
    mechanism, queries, epsilon and delta (one label's claim), delta_total, general, optimal, pld,
    teachers_once (publishing all private teachers, which answers any number of queries; NaN for
    plain ones), privacy_model, adjacency, holds_for: what the three compositions suppose. Labels of
    teachers that are trained once and vote on every query share those teachers' randomness, which
    is all of it with DaRRM: there teachers_once is what is proven (docs/privacy.md).
    """
    rows = []
    for name, setting in settings.items():
        for entry in entries(setting).values():
            if entry.name != "nzc":  # nothing of it composes to a finite number
                rows += _of_entry(name, entry, setting, queries, delta_prime)
    return pd.DataFrame(rows)


def _of_entry(
    name: str, entry: Entry, setting: Setting, queries: list[int], delta_prime: float
) -> Iterator[dict]:
    # Cutting a long thin tail off spends delta and saves grid points: both are upper bounds.
    ends = {largest_loss(entry), 4 * entry.epsilon}
    private, shared = entry.name == "majority_private", entry.privacy_model == "shared_data"
    for Q in queries:
        total = general(entry.epsilon, entry.delta, Q, delta_prime)
        row = {
            "budget": name,
            "mechanism": entry.name,
            "queries": Q,
            "epsilon": entry.epsilon,
            "delta": entry.delta,
            "delta_total": total.delta,
        }
        if private:
            found = dict.fromkeys(("general", "optimal", "pld"), np.nan)
            row["delta_total"], once, holds = entry.delta, entry.epsilon, ONCE
        elif total.delta == 1:  # which everything keeps
            found = dict.fromkeys(("general", "optimal", "pld"), 0.0)
            once, holds = (0.0, RETRAINED) if shared else (np.nan, FRESH)
        else:
            found = total_budgets(entry.epsilon, entry.delta, Q, total.delta) | {
                "general": total.epsilon,
                "pld": min(
                    pld_epsilon(
                        entry.curve, Q, total.delta, largest_epsilon=end, interval=end / _POINTS
                    )
                    for end in ends
                ),
            }
            teacher = setting.teacher_epsilon, setting.teacher_Delta
            once = (
                optimal_homogeneous(*teacher, setting.K, total.delta).epsilon if shared else np.nan
            )
            holds = RETRAINED if shared else FRESH
        yield (
            row
            | found
            | {
                "teachers_once": once,
                "privacy_model": entry.privacy_model,
                "adjacency": entry.adjacency,
                "holds_for": holds,
            }
        )


def largest_loss(entry: Entry) -> float:
    """Where a label's curve delta(epsilon) ends but for a leak that no epsilon covers."""
    leak = float(entry.curve(np.array([_FAR]))[0])
    low, high = 0.0, _FAR
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        ends = float(entry.curve(np.array([middle]))[0]) <= leak + _LEFT
        low, high = (low, middle) if ends else (middle, high)
    return high
