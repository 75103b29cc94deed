"""DPBag's label counts with teachers whose intercept is free: the authors' rewrite of April 2020.

It asks for scikit-learn's solver lbfgs, which does not penalise the intercept, where the version of
May 2019 took the default of its time, liblinear, which does (`training.teachers.logistic`). Splits
of the data and shards are those of the main run. The counts are those of the supplement's unproven
equation 3 (`papers.dpbag.mathematics.conjectured_counts`): compared with print, never released.
"""

import math

import pandas as pd

from private_ensembles.labels.release_marks import FUNCTION_OF_VOTES
from private_ensembles.papers.dpbag.experiment import Thirds, cast_votes, noise_of, queries_needed
from private_ensembles.papers.dpbag.mathematics.conjectured_counts import first_exceeding
from private_ensembles.papers.dpbag.tables import error_of_difference

_KEY = ["dataset", "stand_in", "solver", "n", "k", "accounting", "epsilon", "delta"]


def count_labels(
    thirds: Thirds, training, settings, *, n, sizes, seed, path, progress=None
) -> list[dict]:
    """Count the labels of one split of the data: n, k, epsilon, delta and first_exceeding.

    first_exceeding is None if the queries end first.

    Args:
        thirds: the data.
        training: the settings of the main run's teachers.
        settings: those of `papers.dpbag.experiment.queries_needed`.
        n: number of shards.
        sizes: numbers k of partitions, increasing.
        seed, path: name the streams of the partitions.
        progress: as `papers.dpbag.experiment.cast_votes` takes it.
    """
    votes = cast_votes(
        thirds,
        "logistic",
        training | {"intercept": "free"},
        n=n,
        partitions=range(max(sizes)),
        n_queries=queries_needed(settings, n, len(thirds.queries[1])),
        seed=seed,
        path=path,
        progress=progress,
    )
    budgets, delta = settings["epsilon"], settings["delta_of_counts"]
    exceeding = first_exceeding(
        votes, sizes, budgets, noise_of(settings, n), delta, settings["order_max"]
    )
    return [
        {"n": n, "k": k, "epsilon": budget, "delta": delta, "first_exceeding": labels or None}
        for k, row in zip(sizes, exceeding.tolist(), strict=True)
        for budget, labels in zip(budgets, row, strict=True)
    ]


def summarise_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Summarise counts over splits: means, standard deviations and errors as `label_counts` has.

    rows: of `count_labels`, with dataset, stand_in and seed (the split).
    """
    rows = rows.assign(solver="lbfgs", accounting="conjectured")
    summaries = []
    for key, group in rows.groupby(_KEY, sort=False):
        labels = group["first_exceeding"].astype(float)
        is_complete = labels.notna().all()
        error = (
            error_of_difference(labels.groupby(group["seed"])) if is_complete else (math.nan,) * 2
        )
        summary = {
            "first_exceeding_mean": labels.mean() if is_complete else math.nan,
            "first_exceeding_sd": labels.std() if is_complete else math.nan,
            "first_exceeding_error": error[0],
            "first_exceeding_freedom": error[1],
            "splits": group["seed"].nunique(),
            "release": FUNCTION_OF_VOTES,
        }
        summaries.append(dict(zip(_KEY, key, strict=True)) | summary)
    return pd.DataFrame(summaries)
