"""Tables 1 and 2 of PATE from the votes of the paper's own ensembles, for whoever has them."""

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

    The paper's code takes the first `queries` rows of a file and expects over the thresholds alone,
    so nothing is drawn. It also bounds what a threshold costs by the votes (`threshold_rdp`), which
    the text does not.

    Args:
        votes: by task.
        settings: K, delta, confident, printed and orders, by task.

    Returns:
        A frame with task, stand_in, aggregator, answered (expected) and its standard deviation, and
        every quantity of `experiment.account_votes` for a confident aggregator. epsilon, order and
        rdp are the code's, epsilon_of_the_text has thresholds of a fixed cost.

    Raises:
        ValueError: a task has another number of teachers, or fewer queries. The message names it.
    """
    rows = []
    for task, ensemble in votes.items():
        task_settings = settings[task]
        queries = task_settings["confident"]["queries"]
        prefix = f"{task}: the authors' votes have"
        if ensemble.n_teachers != task_settings["K"]:
            size = f"{ensemble.n_teachers} teachers"
            raise ValueError(f"{prefix} {size}: expected {task_settings['K']}")
        if ensemble.n_queries < queries:
            size = f"{ensemble.n_queries} queries"
            raise ValueError(f"{prefix} {size}: expected at least {queries}")
        counts = ensemble.histogram()[:queries]
        confident = confident_round(counts, **noise_of(task_settings["confident"]))
        quantities = confident_account([confident], task_settings, task_settings["printed"])
        row = {"task": task, "stand_in": False, "aggregator": "confident"}
        row |= {name: value for name, (value, _) in quantities.items()}
        probability = confident.answer_probability
        row["answered_sd"] = float(np.sqrt((probability * (1 - probability)).sum()))
        row["epsilon_of_the_text"] = row["epsilon"]
        row |= _account_as_published_code(counts, probability, task_settings)
        rows.append(row | {"release": NOT_FOR_RELEASE})
    return pd.DataFrame(rows)


def _account_as_published_code(
    counts: np.ndarray, probability: np.ndarray, settings: Mapping
) -> dict[str, float]:
    """Return epsilon, its order and the Rényi cost at it, each expected over the thresholds."""
    orders, confident = order_grid(settings["orders"]), settings["confident"]
    check = {name: confident[name] for name in ("threshold", "sigma1")}
    cost = threshold_rdp(counts, **check, orders=orders).sum(axis=0)
    cost = cost + probability @ gnmax_rdp(counts, confident["sigma2"], orders)
    epsilon, order = rdp_to_dp(orders, cost, settings["delta"], "classic")
    return {"epsilon": epsilon, "order": order, "rdp": float(cost[orders == order][0])}
