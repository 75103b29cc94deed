"""Random forests as teachers: train one on each shard of a table and let it vote."""

import numpy as np

from private_ensembles.jobs.progress import Meter
from private_ensembles.noise.streams import stream
from private_ensembles.teachers.splits import columns_of, single_below


def cast_forest_votes(
    features,
    labels,
    shards,
    queries,
    *,
    n_classes,
    parameters,
    seed,
    path,
    progress=lambda message: None,
):
    """Votes of one random forest per shard on each query: unsigned integers (queries, teachers).

    features: float32 (N, d); labels: uint8 (N,), below n_classes; queries: float32 (Q, d). shards:
    rows of indices into the records, one row per teacher. parameters: keywords of scikit-learn's
    RandomForestClassifier (n_estimators, max_features, ...). Each teacher has a random stream of
    its own, at `path` under `seed`, so that none depends on how many there are; it sees its shard
    and nothing else. A shard with one class makes a teacher that always votes for it.
    progress(message) is called about every five seconds.

    Training is not private and the votes carry no noise: they are not for release.

    Raises ValueError for arrays that do not fit together, an index outside the records, and
    parameters that scikit-learn refuses.
    """
    from sklearn.ensemble import RandomForestClassifier  # late: a second of import

    _check(features, labels, shards, queries, n_classes)
    votes = np.empty((len(queries), len(shards)), np.min_scalar_type(n_classes - 1))
    columns, finite = columns_of(queries), np.isfinite(queries).all()
    meter = Meter(len(shards), "forests", say=progress, log=progress)
    for i, shard in enumerate(shards):
        state = int(stream(seed, *path, "forest", i).generate_state(1)[0])
        # One thread, as everywhere: parallelism is across jobs.
        try:
            forest = RandomForestClassifier(**parameters, random_state=state, n_jobs=1)
            forest.fit(features[shard], labels[shard])
        except (TypeError, ValueError) as error:
            line = " ".join(str(error).split())
            raise ValueError(f"forest {i + 1} of {len(shards)}: {line}") from None
        together = finite and _is_pure(forest)
        votes[:, i] = _majority(forest, columns) if together else forest.predict(queries)
        meter.advance()
    meter.finish()
    return votes


def _is_pure(forest):
    """Whether the records of each leaf are of one of two classes."""
    trees = (estimator.tree_ for estimator in forest.estimators_)
    return len(forest.classes_) == 2 and all(
        (tree.value[tree.children_left < 0, 0].max(axis=1) == 1).all() for tree in trees
    )


def _majority(forest, columns):
    """What a forest `_is_pure` of votes on queries, float32 (d, Q): the same as its `predict`.

    A tree there takes a query to its leaf before it looks at the next one. Here all queries go
    through a split at once, one bit each, and trees share the splits that they have in common.
    """
    trees = [estimator.tree_ for estimator in forest.estimators_]
    masks = _masks(trees, columns)
    ones = np.zeros(columns.shape[1], np.min_scalar_type(len(trees)))
    for tree in trees:
        below = np.where(tree.value[:, 0, 1] > 0.5, 255, 0).tolist()  # of a leaf, all bits
        splits = zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True)
        nodes = zip(splits, tree.children_left.tolist(), tree.children_right.tolist(), strict=True)
        # Children come after their parents.
        for node, (split, left, right) in reversed(list(enumerate(nodes))):
            if left >= 0:
                differ = below[left] ^ below[right]
                below[node] = below[right] ^ (differ & masks[split])
        bits = np.broadcast_to(np.asarray(below[0], np.uint8), (-(-len(ones) // 8),))
        ones += np.unpackbits(bits, count=len(ones))
    # With as many trees on either side the first class is taken.
    return forest.classes_[(2 * ones.astype(int) > len(trees)).astype(int)]


def _masks(trees, columns):
    """By the feature and threshold of a split: where queries go left, as `np.packbits` has it."""
    feature = np.concatenate([tree.feature for tree in trees])
    threshold = np.concatenate([tree.threshold for tree in trees])
    masks = {}
    for column in np.unique(feature[feature >= 0]).tolist():
        exact = np.unique(threshold[feature == column])
        packed = np.packbits(columns[column] <= single_below(exact)[:, None], axis=1)
        masks |= zip(((column, value) for value in exact.tolist()), packed, strict=True)
    return masks


def _check(features, labels, shards, queries, n_classes):
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        raise ValueError(
            f"features {features.shape}, labels {labels.shape}: must be (N, d) and (N,)"
        )
    if queries.ndim != 2 or queries.shape[1:] != features.shape[1:] or len(queries) < 1:
        raise ValueError(f"queries {queries.shape}: must be (Q, {features.shape[1]}), not empty")
    if labels.size and labels.max() >= n_classes:
        raise ValueError(f"labels reach {labels.max()}: must be below n_classes = {n_classes}")
    if len(shards) < 1:
        raise ValueError("shards: must be at least one")
    for i, shard in enumerate(shards):
        if len(shard) < 1 or min(shard) < 0 or max(shard) >= len(features):
            raise ValueError(f"shard {i}: must be indices from 0 to {len(features) - 1}, not empty")
