"""A pool of small images with released labels, for the students' tests."""

from functools import cache

import numpy as np
from sklearn.datasets import load_digits


@cache
def digits():
    """(pool, its true labels, images to evaluate on, their labels): scikit-learn's 8x8 digits."""
    data = load_digits()
    images, labels = data.images.astype(np.uint8), data.target.astype(np.int64)
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order], labels[order]
    return images[:597], labels[:597], images[597:], labels[597:]


def released(share=0.3):
    """Labels of the pool, -1 for the queries that got no answer."""
    truth = digits()[1]
    return np.where(np.random.default_rng(1).random(len(truth)) < share, truth, -1)
