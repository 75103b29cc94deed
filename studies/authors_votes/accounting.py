"""Tables 1 and 2 of PATE from the votes of the paper's own ensembles, for whoever has them."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.pate.experiment import confident_account, noise_of
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp, threshold_rdp
from private_ensembles.papers.pate.mathematics.rounds import confident_round
from private_ensembles.papers.pate.orders import order_grid
from private_ensembles.release.files.votes_reader import read_own_votes
from private_ensembles.training.data.download import git_blob_of


def read_authors_votes(
    settings: Mapping, path: str, kind: Literal["counts", "votes"], git_blob: str = ""
) -> Votes:
    """Read a file of votes.

    Args:
        settings: K and n_classes of its task.
        path: a NumPy file.
        kind: ``counts``, a row for each query and a column for each class, or ``votes``, a row for
            each teacher and a column for each query.
        git_blob: the hash of the file in git, if that is known.

    Raises:
        ValueError: it holds anything else. The message is one line that names the file.
    """
    if git_blob and (found := git_blob_of(path)) != git_blob:
        raise ValueError(f"{path}: has git blob {found}: expected {git_blob}; remove the file")
    teachers = settings["K"] if kind == "votes" else None
    stated = {"n_classes": settings["n_classes"], "teachers": teachers, "public": True}
    return read_own_votes(path, kind=kind, **stated)


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
