"""Tables 1 and 2 of PATE from the votes of the paper's own ensembles, where somebody has them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.pate.experiment import confident_account, noise_of
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp, threshold_rdp
from private_ensembles.papers.pate.mathematics.rounds import confident_round
from private_ensembles.papers.pate.orders import order_grid


def account_votes(
    votes: Mapping[str, Votes], settings: Mapping[str, Mapping[str, object]]
) -> pd.DataFrame:
    """Account for Confident-GNMax on an ensemble's first queries, one row per task.

    votes: by task. settings: by task, K, delta, confident, printed, orders. The paper's code takes
    the first `queries` rows of a file and expects over the thresholds alone, so nothing is drawn.
    It also bounds what a threshold costs by the votes (`threshold_rdp`), which the text does not.

    Columns: task, stand_in, aggregator, answered (expected) and its standard deviation, and every
    quantity of `experiment.account_votes` for a confident aggregator. epsilon, order and rdp are
    the code's, epsilon_of_the_text has thresholds of a fixed cost. Raises ValueError naming the
    task for another number of teachers, and for fewer queries.
    """
    rows = []
    for task, ensemble in votes.items():
        chosen = settings[task]
        queries = chosen["confident"]["queries"]
        place = f"{task}: the authors' votes have"
        if ensemble.n_teachers != chosen["K"]:
            size = f"{ensemble.n_teachers} teachers"
            raise ValueError(f"{place} {size}: expected {chosen['K']}")
        if ensemble.n_queries < queries:
            size = f"{ensemble.n_queries} queries"
            raise ValueError(f"{place} {size}: expected at least {queries}")
        asked = ensemble.histogram()[:queries]
        confident = confident_round(asked, **noise_of(chosen["confident"]))
        quantities = confident_account([confident], chosen, chosen["printed"])
        row = {"task": task, "stand_in": False, "aggregator": "confident"}
        row |= {name: value for name, (value, _) in quantities.items()}
        chance = confident.answer_probability
        row["answered_sd"] = float(np.sqrt((chance * (1 - chance)).sum()))
        row["epsilon_of_the_text"] = row["epsilon"]
        row |= _account_as_published_code(asked, chance, chosen)
        rows.append(row | {"release": NOT_FOR_RELEASE})
    return pd.DataFrame(rows)


def _account_as_published_code(
    counts: np.ndarray, chance: np.ndarray, settings: Mapping
) -> dict[str, float]:
    """Epsilon, its order and the Rényi cost at it, each expected over the thresholds."""
    orders, confident = order_grid(settings["orders"]), settings["confident"]
    check = {name: confident[name] for name in ("threshold", "sigma1")}
    cost = threshold_rdp(counts, **check, orders=orders).sum(axis=0)
    cost = cost + chance @ gnmax_rdp(counts, confident["sigma2"], orders)
    epsilon, order = rdp_to_dp(orders, cost, settings["delta"], "classic")
    return {"epsilon": epsilon, "order": order, "rdp": float(cost[orders == order][0])}
