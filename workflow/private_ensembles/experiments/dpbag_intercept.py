"""DPBag's label counts with teachers whose intercept is penalised, as the authors' were.

The solver that scikit-learn had by default in 2019, liblinear, minimises |w|^2 / 2 + b^2 / 2 + C
sum_r log(1 + exp(-s_r (w . x_r + b))): the intercept b is pulled to 0 together with the weights,
which shards of few records feel. `teachers.logistic` leaves it free. The counts are those of the
supplement's unproven equation 3 (`dpbag.conjectured_counts`): compared with print, never released.
"""

import math

import numpy as np
import pandas as pd

from private_ensembles.datasets.partitions import draw_partitions, shard_of_record
from private_ensembles.dpbag.budget import data_independent_count
from private_ensembles.dpbag.conjectured_counts import first_exceeding
from private_ensembles.experiments.dpbag import Thirds, noise_of
from private_ensembles.experiments.dpbag_tables import error_of_difference
from private_ensembles.experiments.marks import FUNCTION_OF_VOTES
from private_ensembles.votes.bagged import BaggedVotes, pack

_KEY = ["dataset", "stand_in", "solver", "n", "k", "accounting", "epsilon", "delta"]


def cast_votes(thirds: Thirds, *, n, partitions, n_queries, C, seed, path, progress=None):
    """Let teachers with a penalised intercept vote, as `experiments.dpbag.cast_votes` does.

    The same shards as there. C: weight of the records against the penalty. A shard whose records
    share a label has a constant teacher. progress: called with the partitions done. Returns a
    BaggedVotes.
    """
    features, labels = thirds.teachers
    queries = thirds.queries[0][:n_queries]
    shards = draw_partitions(len(labels), n, list(partitions), seed, *path, "partition")
    bits = []
    for done, part in enumerate(shards, 1):
        bits.append(pack(_votes([_fit(features[s], labels[s], C) for s in part], queries)))
        if progress is not None:
            progress(done)
    return BaggedVotes(np.stack(bits), shard_of_record(shards, len(labels)), len(queries))


def _fit(features, labels, C) -> np.ndarray:
    """Fit one teacher: its weights and intercept, (d + 1,); infinite where it is constant."""
    from sklearn.linear_model import LogisticRegression

    if labels.min() == labels.max():
        return np.append(np.zeros(features.shape[1]), np.inf if labels[0] == 1 else -np.inf)
    fit = LogisticRegression(C=C, solver="liblinear").fit(features, labels)
    return np.append(fit.coef_[0], fit.intercept_[0])


def _votes(teachers, queries) -> np.ndarray:
    """Return the teachers' votes, (teachers, Q) bool."""
    # One product: the queries would be read from memory for each teacher, as long as three fits.
    weights = np.stack(teachers)
    return (queries @ weights[:, :-1].T + weights[:, -1] > 0).T


def counts(thirds: Thirds, settings, *, n, sizes, C, seed, path, progress=None) -> list[dict]:
    """Count the labels of one split of the data: n, k, epsilon, delta and first_exceeding.

    settings: as for `experiments.dpbag.account`. sizes: numbers k of partitions, increasing. Twice
    as many queries are asked as SAA buys at most; first_exceeding is None where they end first.
    """
    delta, order_max = settings["delta_of_counts"], settings["order_max"]
    noise, budgets = noise_of(settings, n), settings["epsilon"]
    largest = data_independent_count(max(budgets), noise, delta, order_max).published
    n_queries = min(2 * largest, len(thirds.queries[1]))
    votes = cast_votes(
        thirds,
        n=n,
        partitions=range(max(sizes)),
        n_queries=n_queries,
        C=C,
        seed=seed,
        path=path,
        progress=progress,
    )
    found = first_exceeding(votes, sizes, budgets, noise, delta, order_max)
    return [
        {"n": n, "k": k, "epsilon": budget, "delta": delta, "first_exceeding": labels or None}
        for k, row in zip(sizes, found.tolist(), strict=True)
        for budget, labels in zip(budgets, row, strict=True)
    ]


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Summarise counts over splits: means, standard deviations and errors as `label_counts` has.

    rows: of `counts`, with dataset, stand_in and seed (the split).
    """
    rows = rows.assign(solver="liblinear", accounting="conjectured")
    found = []
    for key, group in rows.groupby(_KEY, sort=False):
        labels = group["first_exceeding"].astype(float)
        whole = labels.notna().all()
        error = error_of_difference(labels.groupby(group["seed"])) if whole else (math.nan,) * 2
        summary = {
            "first_exceeding_mean": labels.mean() if whole else math.nan,
            "first_exceeding_sd": labels.std() if whole else math.nan,
            "first_exceeding_error": error[0],
            "first_exceeding_freedom": error[1],
            "splits": group["seed"].nunique(),
            "release": FUNCTION_OF_VOTES,
        }
        found.append(dict(zip(_KEY, key, strict=True)) | summary)
    return pd.DataFrame(found)
