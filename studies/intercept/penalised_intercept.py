"""DPBag's label counts with teachers whose intercept is penalised, as the authors' were.

The solver that scikit-learn had by default in 2019, liblinear, minimises |w|^2 / 2 + b^2 / 2 + C
sum_r log(1 + exp(-s_r (w . x_r + b))): the intercept b is pulled to 0 together with the weights,
which shards of few records feel. `training.teachers.logistic` leaves it free. Here all shards of a
partition are fitted at once and to 1e-9, while liblinear stops earlier. The counts are those of the
supplement's unproven equation 3 (`papers.dpbag.mathematics.conjectured_counts`): compared with
print, never released.
"""

import math

import numpy as np
import pandas as pd

from private_ensembles.labels.release_marks import FUNCTION_OF_VOTES
from private_ensembles.papers.dpbag.experiment import Thirds, noise_of
from private_ensembles.papers.dpbag.mathematics.budget import data_independent_count
from private_ensembles.papers.dpbag.mathematics.conjectured_counts import first_exceeding
from private_ensembles.papers.dpbag.tables import error_of_difference
from private_ensembles.papers.dpbag.votes import BaggedVotes, pack_votes
from private_ensembles.training.data.shards import draw_partitions, shard_of_record
from private_ensembles.training.teachers.logistic import LogisticTeachers, predict

_NEWTON_STEPS = 50
_DISTANCE = 1e-9
_KEY = ["dataset", "stand_in", "solver", "n", "k", "accounting", "epsilon", "delta"]


def cast_votes(thirds: Thirds, *, n, partitions, n_queries, C, seed, path, progress=None):
    """Let teachers with a penalised intercept vote, as `papers.dpbag.experiment.cast_votes` does.

    The shards are the same as there. A shard whose records share a label has a constant teacher.

    Args:
        thirds, n, partitions, n_queries, seed, path: as `papers.dpbag.experiment.cast_votes` takes
            them.
        C: weight of the records against the penalty.
        progress: is called with the partitions done.

    Returns:
        BaggedVotes.
    """
    features, labels = thirds.teachers
    queries = thirds.queries[0][:n_queries]
    shards = draw_partitions(len(labels), n, list(partitions), seed, *path, "partition")
    start = _fit_public_teacher(*thirds.queries, shards.shape[1:], C)
    packed_votes = []
    for number, part in enumerate(shards, 1):
        packed_votes.append(
            pack_votes(predict(_fit_teachers(features[part], labels[part], C, start), queries))
        )
        if progress is not None:
            progress(number)
    return BaggedVotes(np.stack(packed_votes), shard_of_record(shards, len(labels)), len(queries))


def _fit_public_teacher(features: np.ndarray, labels: np.ndarray, shape, C: float) -> np.ndarray:
    """Return where fits start: weights and intercept of the mean teacher of public shards.

    shape: number and size of the shards. Zeros if all of them are of one label.
    """
    n, size = min(shape[0], len(labels) // shape[1]), shape[1]
    part = np.arange(n * size).reshape(n, size)
    teachers = _fit_teachers(features[part], labels[part], C, np.zeros(features.shape[1] + 1))
    theta = np.column_stack([teachers.coefficients, teachers.intercepts])
    theta = theta[np.isfinite(teachers.intercepts)]
    return theta.mean(axis=0) if len(theta) else np.zeros(features.shape[1] + 1)


def _fit_teachers(features: np.ndarray, labels: np.ndarray, C: float, start) -> LogisticTeachers:
    """Fit all teachers of a partition.

    Newton's method runs on the records' multipliers a, theta = sum_r a_r x_r, of which a shard has
    fewer than features. The objective grows by |theta - theta*|^2 / 2 at least, so its gradient's
    norm bounds the distance to the minimiser: at most _DISTANCE. Intercepts are infinite for shards
    of one label.

    Args:
        features: (shards, records, d) float64.
        labels: (shards, records), 0 or 1.
        C: weight of the records against the penalty.
        start: (d + 1,), weights and intercept that need not be near.

    Raises:
        RuntimeError: a fit does not come so near.
    """
    rows = np.concatenate([features, np.ones((*labels.shape, 1))], axis=2)
    gram = rows @ rows.mT
    matrix, diagonal = np.empty_like(gram), np.arange(labels.shape[1])
    margins = rows @ start
    share = 0.5 * np.tanh(0.5 * margins) + 0.5
    for _ in range(_NEWTON_STEPS):
        weights = C * share * (1 - share)
        target = weights * margins + C * (labels - share)
        np.multiply(weights[:, :, None], gram, out=matrix)
        matrix[:, diagonal, diagonal] += 1
        multipliers = np.linalg.solve(matrix, target[:, :, None])
        margins = (gram @ multipliers)[:, :, 0]
        share = 0.5 * np.tanh(0.5 * margins) + 0.5
        residual = multipliers - C * (labels - share)[:, :, None]
        distance = np.sqrt((residual * (gram @ residual)).sum(axis=(1, 2)).clip(0))
        if distance.max() <= _DISTANCE:
            break
    else:
        raise RuntimeError(
            f"penalised intercepts: a fit is up to {distance.max():.1e} from its optimum after "
            f"{_NEWTON_STEPS} Newton steps: must be within {_DISTANCE}; scale the features"
        )
    theta = (rows.mT @ multipliers)[:, :, 0]
    mean = labels.mean(axis=1)
    constant = (mean == 0) | (mean == 1)
    theta[constant] = 0
    theta[constant, -1] = np.where(mean[constant] == 1, np.inf, -np.inf)
    return LogisticTeachers(theta[:, :-1], theta[:, -1], distance)


def count_labels(thirds: Thirds, settings, *, n, sizes, C, seed, path, progress=None) -> list[dict]:
    """Count the labels of one split of the data: n, k, epsilon, delta and first_exceeding.

    Twice as many queries are asked as SAA buys at most; first_exceeding is None if they end first.

    Args:
        thirds: the data.
        settings: epsilon (list), delta, delta_of_counts, noise and order_max.
        n: number of shards.
        sizes: numbers k of partitions, increasing.
        C: weight of the records against the penalty.
        seed, path: name the streams of the partitions.
        progress: is called with the partitions done.
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
    exceeding = first_exceeding(votes, sizes, budgets, noise, delta, order_max)
    return [
        {"n": n, "k": k, "epsilon": budget, "delta": delta, "first_exceeding": labels or None}
        for k, row in zip(sizes, exceeding.tolist(), strict=True)
        for budget, labels in zip(budgets, row, strict=True)
    ]


def summarise_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Summarise counts over splits: means, standard deviations and errors as `label_counts` has.

    rows: of `count_labels`, with dataset, stand_in and seed (the split).
    """
    rows = rows.assign(solver="liblinear", accounting="conjectured")
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
