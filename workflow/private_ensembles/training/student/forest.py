"""A random forest on a table of numbers, kept as plain arrays once it is grown.

scikit-learn grows it; as arrays it can be written without pickles and evaluated without
scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from private_ensembles.base import checks
from private_ensembles.base.streams import stream

ARRAYS = ("roots", "left", "right", "feature", "threshold", "share")
# So many rows of the table are followed through all trees at a time.
_ROWS = 4096


@dataclass(frozen=True)
class Forest:
    """Binary trees, all nodes in one list.

    Attributes:
        roots: The trees' first nodes, int64 (trees,).
        left, right: The children of each node, int64 (nodes,); a leaf has itself.
        feature, threshold: A record goes left at a node if its float32 feature <= the float64
            threshold; (nodes,).
        share: The classes' shares among each node's training records, float64 (nodes, classes).
    """

    roots: np.ndarray
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    share: np.ndarray

    def __post_init__(self):
        """Raise ValueError for arrays that are no forest: an index out of range, or a circle."""
        nodes = len(self.left)
        if self.share.ndim != 2 or not (
            len(self.right) == len(self.feature) == len(self.threshold) == len(self.share) == nodes
        ):
            raise ValueError("forest: left, right, feature, threshold, share: must be one per node")
        for name in ("roots", "left", "right"):
            index = getattr(self, name)
            if index.dtype.kind not in "iu" or not index.size:
                raise ValueError(f"forest: {name}: must be whole numbers, at least one")
            if index.min() < 0 or index.max() >= nodes:
                raise ValueError(f"forest: {name}: must be 0 to {nodes - 1}")
        own = np.arange(nodes)
        leaf = (self.left == own) & (self.right == own)
        if not (leaf | ((self.left > own) & (self.right > own))).all():
            raise ValueError("forest: left, right: children must follow their parents")

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Return the mean over the trees of the class shares in each record's leaf.

        Args:
            features: (N, columns), finite.

        Returns:
            float64 (N, classes).

        Raises:
            ValueError: There are fewer columns than the trees ask for, or as `check_features`.
        """
        features = check_features(features)
        if self.feature.size and self.feature.max() >= features.shape[1]:
            raise ValueError(
                f"features: {features.shape[1]} columns must be at least {self.feature.max() + 1}"
            )
        return np.concatenate(
            [
                self._scores(features[start : start + _ROWS])
                for start in range(0, len(features), _ROWS)
            ]
        )

    def _scores(self, features):
        rows = np.arange(len(features))[:, None]
        node = np.broadcast_to(self.roots, (len(features), len(self.roots)))
        while True:
            goes_left = features[rows, self.feature[node]] <= self.threshold[node]
            child = np.where(goes_left, self.left[node], self.right[node])
            if np.array_equal(child, node):
                return self.share[node].mean(axis=1)
            node = child


def check_features(features: np.ndarray) -> np.ndarray:
    """Return features as float32 (N, columns).

    Raises:
        ValueError: They have another rank, are empty or are not finite.
    """
    features = np.asarray(features, dtype=np.float32)
    if features.ndim != 2 or 0 in features.shape or not np.isfinite(features).all():
        raise ValueError(f"features: {features.shape} must be finite numbers (N, columns)")
    return features


def train_forest(
    pool: np.ndarray,
    index: np.ndarray,
    labels: np.ndarray,
    n_classes: int,
    parameters: Mapping,
    *,
    seed: int,
    path: tuple[int | str, ...] = (),
) -> Forest:
    """Grow a forest on pool[index] and its labels; a class without a label has share 0.

    Args:
        pool: Finite numbers (N, columns).
        index: int64 (L,), indices into the pool.
        labels: int64 (L,).
        n_classes: The number of classes.
        parameters: n_trees (100 by default), max_depth (None, the default, lets trees grow as deep
            as they do) and min_samples_leaf (1 by default).
        seed, path: scikit-learn's randomness comes from the stream at (seed, *path, "forest").

    Raises:
        ValueError: A parameter is unknown or out of range, or features are as `check_features`
            refuses.
    """
    from sklearn.ensemble import RandomForestClassifier  # late: a second of import

    defaults = {"n_trees": 100, "max_depth": None, "min_samples_leaf": 1}
    if unknown := sorted(set(parameters) - set(defaults)):
        raise ValueError(
            f"student: unknown parameter {unknown[0]}: must be one of {', '.join(defaults)}"
        )
    settings = defaults | dict(parameters)
    for name, value in settings.items():
        if not (value is None and name == "max_depth"):
            checks.check_integer(at_least=1, **{name: value})
    forest = RandomForestClassifier(
        n_estimators=settings["n_trees"],
        max_depth=settings["max_depth"],
        min_samples_leaf=settings["min_samples_leaf"],
        random_state=int(stream(seed, *path, "forest").generate_state(1)[0]),
        n_jobs=1,
    ).fit(check_features(pool)[index], labels)
    parts, offset = [], 0
    for tree in (estimator.tree_ for estimator in forest.estimators_):
        own = np.arange(tree.node_count)
        leaf = tree.children_left < 0
        share = np.zeros((tree.node_count, n_classes))
        share[:, forest.classes_] = tree.value[:, 0] / tree.value[:, 0].sum(axis=1, keepdims=True)
        parts.append(
            (
                np.array([offset]),
                np.where(leaf, own, tree.children_left) + offset,
                np.where(leaf, own, tree.children_right) + offset,
                np.where(leaf, 0, tree.feature).astype(np.int64),
                np.where(leaf, 0.0, tree.threshold),
                share,
            )
        )
        offset += tree.node_count
    return Forest(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
