"""Gradient-boosted trees (LightGBM), one small model after the other.

The supplement of DPBag says "GBM" and no more; the settings are LightGBM's defaults unless the
configuration says otherwise. Each job has one thread, so that trees are the same whatever the
number of cores; parallelism is across jobs.
"""

import numpy as np
from scipy.sparse import csr_matrix


def fit(features, labels, settings):
    """Fit one model and return it; None if all labels are the same, which no tree can split.

    Args:
        features: float (N, d), finite.
        labels: (N,), 0 or 1.
        settings: rounds, learning_rate, leaves (the most of a tree) and records_per_leaf (the
            fewest of a leaf).

    Raises:
        ValueError: A label is neither 0 nor 1. LightGBM takes all above 0 for 1, without a word.
    """
    import lightgbm  # late: half a second

    features, labels = np.asarray(features, np.float32), np.asarray(labels)
    others = labels[(labels != 0) & (labels != 1)]
    if len(others):
        raise ValueError(f"labels: {others[0]}: must be 0 or 1")
    if labels.min() == labels.max():
        return None
    parameters = {
        "objective": "binary",
        "learning_rate": settings["learning_rate"],
        "num_leaves": settings["leaves"],
        "min_data_in_leaf": settings["records_per_leaf"],
        # This gives the same trees everywhere, without a search for the faster layout at each of
        # 15,000 starts.
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(features, labels.astype(np.float32), params=parameters)
    model = lightgbm.Booster(parameters, data)
    # `lightgbm.train` does the same, and spends time on callbacks and copies of parameters.
    for _ in range(settings["rounds"]):
        model.update()
    return model


def scores(model, features, constant=0.0):
    """Return the probability of label 1 for each record, float64 (Q,).

    Many records are predicted fastest in the order of `sort_for_prediction`.

    Args:
        model: A model of `fit`.
        features: (Q, d), dense or sparse.
        constant: The probability if model is None.
    """
    if model is None:
        return np.full(features.shape[0], float(constant))
    return model.predict(csr_matrix(features, dtype=np.float32), num_threads=1)


def sort_for_prediction(queries):
    """Return queries (Q, d) in the order in which `scores` takes least time, sparse, and the order.

    Queries that are alike, by each tenth of the first feature, then of the second, and so on, go
    one after the other: a processor then foresees their way through a tree. Zeros, which most
    features of a table are, are left out: LightGBM would look for them in every record.

    Args:
        queries: (Q, d), dense.
    """
    queries = np.asarray(queries, np.float32)
    order = np.lexsort(queries.round(1).T[::-1])
    return csr_matrix(queries[order]), order


def cast_shard_votes(features, labels, shards, queries, settings, progress=None):
    """Fit a model to each shard and let it vote; a shard with one label only votes for it.

    Args:
        features: (N, d).
        labels: (N,), 0 or 1.
        shards: int (n_shards, size), indices of records.
        queries: (Q, d).
        settings: As in `fit`.
        progress: Called with the number of shards that are done.

    Returns:
        uint8 (n_shards, Q), 1 if the probability is above 1/2.
    """
    votes = np.empty((len(shards), len(queries)), np.uint8)
    features = np.asarray(features, np.float32)
    queries, order = sort_for_prediction(queries)
    # LightGBM trains one model at a time.
    for number, shard in enumerate(shards):
        model = fit(features[shard], labels[shard], settings)
        votes[number, order] = scores(model, queries, labels[shard][0]) > 0.5
        if progress is not None:
            progress(number + 1)
    return votes
