"""Gradient-boosted trees (LightGBM), one small model after the other.

The supplement of DPBag says "GBM" and no more; the settings are LightGBM's defaults unless the
configuration says otherwise. Parallelism is across jobs: one thread each, and the same trees
whatever the number of cores.
"""

import numpy as np


def fit(features, labels, settings):
    """Fit one model and return it; None if all labels are the same, which no tree can split.

    features: float (N, d), finite. labels: (N,), 0 or 1. settings: rounds, learning_rate, leaves
    (most of a tree), records_per_leaf (fewest of a leaf).

    Raises ValueError for shapes or values that are none of these.
    """
    import lightgbm  # late: half a second

    features, labels = np.asarray(features, np.float32), np.asarray(labels)
    if features.ndim != 2 or 0 in features.shape or not np.isfinite(features).all():
        raise ValueError(f"features has shape {features.shape}: must be (N, d), finite, not empty")
    if labels.shape != features.shape[:1] or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"labels of shape {labels.shape}: must be {len(features)}, each 0 or 1")
    if labels.min() == labels.max():
        return None
    parameters = {
        "objective": "binary",
        "learning_rate": settings["learning_rate"],
        "num_leaves": settings["leaves"],
        "min_data_in_leaf": settings["records_per_leaf"],
        # The same trees everywhere, and no search for the faster layout at each of 15,000 starts.
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(features, labels.astype(np.float32), params=parameters)
    # Otherwise the model is written as text and read again.
    rounds = {"num_boost_round": settings["rounds"], "keep_training_booster": True}
    return lightgbm.train(parameters, data, **rounds)


def scores(model, features, constant=0.0):
    """Probability of label 1 for records (Q, d), float64 (Q,); `constant` if model is None."""
    if model is None:
        return np.full(len(features), float(constant))
    return model.predict(np.asarray(features, np.float32), num_threads=1)


def shard_votes(features, labels, shards, queries, settings, progress=None):
    """Fit a model to each shard and let it vote: uint8 (n_shards, Q), 1 if probability > 1/2.

    features (N, d), labels (N,) of the records; shards: int (n_shards, size); queries: (Q, d).
    A shard with one label only votes for it. progress: called with the number of shards done.
    """
    votes = np.empty((len(shards), len(queries)), np.uint8)
    # In single precision, as the trees were fitted, column by column.
    columns = np.asarray(queries, np.float32).T.astype(np.float64, order="C")
    # LightGBM trains one model at a time.
    for number, shard in enumerate(shards):
        model = fit(features[shard], labels[shard], settings)
        # A probability above 1/2 has log odds above 0.
        votes[number] = labels[shard][0] if model is None else log_odds(model, columns) > 0
        if progress is not None:
            progress(number + 1)
    return votes


def log_odds(model, columns):
    """What `model` predicts before the logistic function, float64 (Q,): bit for bit LightGBM's.

    columns: float64 (d, Q), the queries' values, which single precision holds. LightGBM takes a
    query through all trees before it looks at the next one. Here all queries go through a split at
    once, by operations on bits, and trees share the splits that they have in common: half the time
    for thousands of queries and small trees.
    """
    trees = list(_trees(model))
    number = np.min_scalar_type(max(len(tree["leaf_value"]) for tree in trees) - 1)
    masks = {}  # by split: every bit is set where a query goes left
    total = np.zeros(columns.shape[1])
    for tree in trees:
        splits = list(zip(tree["split_feature"], tree["threshold"], strict=True))
        # The leaf of each query below a node; what a leaf is called as a child, ~leaf, is negative.
        leaves = {~leaf: leaf for leaf in range(len(tree["leaf_value"]))}
        # The children of a split come after it.
        for node in reversed(range(len(splits))):
            if splits[node] not in masks:
                column, threshold = splits[node]
                masks[splits[node]] = -(columns[int(column)] <= threshold).astype(number)
            left, right = leaves[tree["left_child"][node]], leaves[tree["right_child"][node]]
            leaves[node] = right ^ ((left ^ right) & masks[splits[node]])
        total += np.take(tree["leaf_value"], leaves[0] if splits else 0)
    return total


def _trees(model):
    """Each tree of a fitted model as lists of numbers by the names that LightGBM's text has."""
    names = ("split_feature", "threshold", "left_child", "right_child", "leaf_value")
    for text in model.model_to_string().split("\nTree=")[1:]:
        lines = (line.partition("=") for line in text.split("\n\n", 1)[0].split("\n"))
        told = {name: numbers for name, _, numbers in lines}
        yield {name: list(map(float, told.get(name, "").split())) for name in names}
