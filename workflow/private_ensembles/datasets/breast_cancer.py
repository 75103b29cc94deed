"""scikit-learn's breast cancer data as a table, a stand-in for UCI Adult."""

import numpy as np

from private_ensembles.datasets.pool import split
from private_ensembles.datasets.tabular import LabelledRecords

# Upper ends, ours, of the ten measurements, in scikit-learn's order: radius, texture, perimeter,
# area, smoothness, compactness, concavity, concave points, symmetry, fractal dimension. Each comes
# as a mean, a standard error and a worst value, whose ranges are these times SHARES.
LARGEST = (40, 50, 250, 4000, 0.25, 1, 1, 0.3, 0.6, 0.2)
SHARES = (1, 0.5, 1.5)


def load_breast_cancer(name, **parts):
    """The 569 records of 30 measurements, label 1 for benign, some of them drawn for testing.

    parts: n_train, n_test and generator of `pool.split`. Raises ValueError as it does.
    """
    from sklearn.datasets import load_breast_cancer as load  # late: a second of import

    data = load()
    features, labels = data.data.astype(np.float32), data.target.astype(np.uint8)
    train, test = split(name, len(labels), **parts)
    upper = np.outer(SHARES, LARGEST).ravel().astype(np.float32)
    return LabelledRecords(
        name,
        features[train],
        labels[train],
        features[test],
        labels[test],
        feature_names=np.array(data.feature_names, dtype=np.str_),
        lower=np.zeros_like(upper),
        upper=upper,
        n_classes=2,
    )
