"""scikit-learn's breast cancer data as a table, a stand-in for UCI Adult."""

import numpy as np

from private_ensembles.datasets.tabular import LabelledRecords

# Upper ends, ours, of the ten measurements, in scikit-learn's order: radius, texture, perimeter,
# area, smoothness, compactness, concavity, concave points, symmetry, fractal dimension. Each comes
# as a mean, a standard error and a worst value, whose ranges are these times SHARES.
LARGEST = (40, 50, 250, 4000, 0.25, 1, 1, 0.3, 0.6, 0.2)
SHARES = (1, 0.5, 1.5)


def load_breast_cancer(name, *, n_train, n_test, generator):
    """The 569 records of 30 measurements, label 1 for benign, n_test of them drawn for testing.

    generator: numpy.random.Generator. Raises ValueError unless n_train and n_test are positive and
    add up to 569.
    """
    from sklearn.datasets import load_breast_cancer as load  # late: a second of import

    data = load()
    features, labels = data.data.astype(np.float32), data.target.astype(np.uint8)
    if min(n_train, n_test) < 1 or n_train + n_test != len(labels):
        raise ValueError(
            f"{name}: n_train = {n_train}, n_test = {n_test}: must be positive and add up to "
            f"{len(labels)}"
        )
    order = generator.permutation(len(labels))
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    upper = np.outer(SHARES, LARGEST).ravel().astype(np.float32)
    return LabelledRecords(
        *(name, features[train], labels[train], features[test], labels[test]),
        np.array(data.feature_names, dtype=np.str_),
        *(np.zeros_like(upper), upper),
        n_classes=2,
    )
