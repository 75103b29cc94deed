"""Gradient-boosted trees (LightGBM), one small model after the other.

The supplement of DPBag says "GBM" and no more; the settings are LightGBM's defaults unless the
configuration says otherwise. Parallelism is across jobs: one thread each, and the same trees
whatever the number of cores.
"""

import re

import numpy as np

# What a tree is, in LightGBM's text of a model.
_TREE = "split_feature", "threshold", "left_child", "right_child", "leaf_value"


def fit(features, labels, settings):
    """Fit one model and return it; None if all labels are the same, which no tree can split.

    features: float (N, d), finite. labels: (N,), 0 or 1. settings: rounds, learning_rate, leaves
    (most of a tree), records_per_leaf (fewest of a leaf).
    """
    import lightgbm  # late: half a second

    features, labels = np.asarray(features, np.float32), np.asarray(labels)
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
    model = lightgbm.Booster(parameters, data)
    # `lightgbm.train` does the same, and looks for callbacks and copies of parameters around it.
    for _ in range(settings["rounds"]):
        model.update()
    return model


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
    features = np.asarray(features, np.float32)
    # LightGBM compares single precision with thresholds in double.
    columns = np.asarray(queries, np.float32).T.astype(np.float64, order="C")
    # LightGBM trains one model at a time.
    for number, shard in enumerate(shards):
        model = fit(features[shard], labels[shard], settings)
        if model is None:
            votes[number] = labels[shard][0]
        else:
            votes[number] = 1 / (1 + np.exp(-log_odds(model, columns))) > 0.5
        if progress is not None:
            progress(number + 1)
    return votes


def log_odds(model, columns):
    """What `model` predicts before the logistic function, float64 (Q,): bit for bit LightGBM's.

    columns: float64 (d, Q), single-precision features of the queries. LightGBM takes a query
    through all trees before it looks at the next one, and a processor cannot foresee which way it
    goes. Here all queries go through one split at a time: a fourth of the time for thousands of
    queries and small trees.
    """
    total = np.zeros(columns.shape[1])
    goes_left = {}  # all bits of a number, or none; trees have many splits in common
    trees = _trees(model)
    kind = np.min_scalar_type(max(len(values) for *_, values in trees))
    for features, thresholds, left, right, values in trees:
        leaf = [0] * len(features)  # of each query below a split
        # The children of a split come after it; as a child, a leaf is called ~leaf, below 0.
        for node in reversed(range(len(features))):
            split = features[node], thresholds[node]
            if split not in goes_left:
                below = columns[int(features[node])] <= float(thresholds[node])
                goes_left[split] = -below.astype(kind)
            smaller, larger = (
                leaf[child] if child >= 0 else ~child
                for child in (int(left[node]), int(right[node]))
            )
            leaf[node] = larger ^ (goes_left[split] & (smaller ^ larger))
        total += np.take(np.array(values, np.float64), leaf[0] if leaf else 0)
    return total


def _trees(model):
    """Each tree of a model, as its text has it: splits' features, thresholds, children; leaves."""
    text = model.model_to_string()
    lines = zip(*(re.findall(rf"\n{name}=(.*)", text) for name in _TREE), strict=True)
    return [[line.split() for line in of_tree] for of_tree in lines]
