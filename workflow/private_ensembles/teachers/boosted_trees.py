"""Gradient-boosted trees (LightGBM), one small model after the other.

The supplement of DPBag says "GBM" and no more; the settings are LightGBM's defaults unless the
configuration says otherwise. Parallelism is across jobs: one thread each, and the same trees
whatever the number of cores.
"""

import math

import numpy as np

from private_ensembles.teachers.splits import columns_of, single_below

# Most sums of a few trees' leaf values in a table: a core's first cache holds them.
_TABLE = 2048
# Share of the largest log odds possible by which sums in different orders may differ, and far more.
_UNCERTAIN = 1e-12


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
    model = lightgbm.Booster(parameters, data)
    # `lightgbm.train` does the same, and looks for callbacks and copies of parameters around it.
    for _ in range(settings["rounds"]):
        model.update()
    return model


def scores(model, features, constant=0.0):
    """Probability of label 1 for records (Q, d), float64 (Q,); `constant` if model is None."""
    if model is None:
        return np.full(len(features), float(constant))
    odds, place = np.unique(log_odds(model, columns_of(features)), return_inverse=True)
    # NumPy's exponential may differ in the last bit from the C library's, which LightGBM takes.
    chances = [1 / (1 + math.exp(-value)) if value > -700 else 0.0 for value in odds.tolist()]
    return np.array(chances)[place]


def shard_votes(features, labels, shards, queries, settings, progress=None):
    """Fit a model to each shard and let it vote: uint8 (n_shards, Q), 1 if probability > 1/2.

    features (N, d), labels (N,) of the records; shards: int (n_shards, size); queries: (Q, d).
    A shard with one label only votes for it. progress: called with the number of shards done.
    """
    votes = np.empty((len(shards), len(queries)), np.uint8)
    columns = columns_of(queries)
    features = np.asarray(features, np.float32)
    # LightGBM trains one model at a time.
    for number, shard in enumerate(shards):
        model = fit(features[shard], labels[shard], settings)
        votes[number] = labels[shard][0] if model is None else _votes(model, columns)
        if progress is not None:
            progress(number + 1)
    return votes


def log_odds(model, columns):
    """What `model` predicts before the logistic function, float64 (Q,): bit for bit LightGBM's.

    columns: float32 (d, Q), of `columns_of`. LightGBM takes a query through all trees before it
    looks at the next one. Here all queries go through a split at once, by operations on bits, and
    trees share the splits that they have in common, and all of them if they have the same: half the
    time for thousands of queries and small trees.
    """
    total = np.zeros(columns.shape[1])
    trees = list(_trees(model))
    leaves = _leaves_of({shape for shape, _ in trees}, columns)
    for shape, values in trees:
        total += np.take(values, leaves[shape])
    return total


def _votes(model, columns):
    """Return `log_odds` above 0, which is a probability above 1/2: bool (Q,).

    Trees with the same splits are added up, and a query's leaves of some trees make one number, by
    which a table has their sum. Rounding is then not LightGBM's.
    """
    sums = {}
    for shape, values in _trees(model):
        sums[shape] = sums[shape] + values if shape in sums else values
    groups = [(0, np.zeros(1))]
    for shape, leaves in _leaves_of(sums, columns).items():
        values, (code, table) = sums[shape], groups[-1]
        if len(table) * len(values) > _TABLE:
            groups.append((leaves, values))
        else:
            code = code * np.int16(len(values)) + leaves.astype(np.int16)
            groups[-1] = code, np.add.outer(table, values).ravel()
    total = sum(np.take(table, code) for code, table in groups)
    size = sum(np.abs(table).max() for _, table in groups)
    if (np.abs(total) <= _UNCERTAIN * size).any():
        total = log_odds(model, columns)
    return total > 0


def _leaves_of(shapes, columns):
    """Leaf of each query, (Q,), in trees of some shapes, of `_trees`."""
    numbers = {}  # of splits that a tree has
    for features, thresholds, *_ in shapes:
        for split in zip(features.split(), thresholds.split(), strict=True):
            numbers.setdefault(split, len(numbers))
    single = single_below(np.array([float(threshold) for _, threshold in numbers]))
    left = columns[[int(column) for column, _ in numbers]] <= single[:, None]
    most = max(len(features.split()) for features, *_ in shapes)
    masks = -left.view(np.uint8).astype(np.min_scalar_type(most), copy=False)  # all bits, or none
    leaves_of_shape = {}
    for shape in shapes:
        features, thresholds, *children = shape
        splits = zip(features.split(), thresholds.split(), strict=True)
        leaves = _leaves([masks[numbers[split]] for split in splits], *children)
        leaves_of_shape[shape] = np.broadcast_to(leaves, columns.shape[1:])
    return leaves_of_shape


def _leaves(masks, left, right):
    """Leaf of each query, from the masks of a tree's splits and their children as text."""
    left, right = list(map(int, left.split())), list(map(int, right.split()))
    below = [0] * len(masks)  # the leaf of each query below a split
    # The children of a split come after it; a leaf is called ~leaf as a child, which is negative.
    for node in reversed(range(len(masks))):
        smaller, larger = left[node], right[node]
        smaller = below[smaller] if smaller >= 0 else ~smaller
        larger = below[larger] if larger >= 0 else ~larger
        chosen = masks[node] & (smaller ^ larger)
        below[node] = np.bitwise_xor(chosen, larger, out=chosen)
    return below[0] if masks else 0


def _trees(model):
    """Each tree of a fitted model: its shape (splits' features, thresholds, children) and leaves.

    The shape is text, as LightGBM writes it; of the leaves float64 values.
    """
    for text in model.model_to_string().split("\nTree=")[1:]:
        told = []
        for name in ("split_feature", "threshold", "left_child", "right_child", "leaf_value"):
            start = text.index(f"\n{name}=") + len(name) + 2
            told.append(text[start : text.index("\n", start)])
        yield tuple(told[:-1]), np.array(list(map(float, told[-1].split())))
