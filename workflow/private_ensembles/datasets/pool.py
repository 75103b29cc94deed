"""Split one pool of labelled images into a training and a test part, without an image in both."""

import numpy as np

from private_ensembles.datasets.images import LabelledImages


def split(name, total, *, n_train, n_test, generator):
    """Indices of the training and of the test part, int64, ascending: the test part is drawn.

    generator: numpy.random.Generator. Raises ValueError unless n_train and n_test are positive and
    add up to the total.
    """
    if min(n_train, n_test) < 1 or n_train + n_test != total:
        raise ValueError(
            f"{name}: n_train = {n_train}, n_test = {n_test}: must be positive and add up to the "
            f"{total} records that there are"
        )
    order = generator.permutation(total)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def split_pool(name, images, labels, *, pixel_max, n_classes, **parts):
    """A data set of images drawn for testing, without replacement, and the others to train on.

    images, labels: as in LabelledImages. parts: n_train, n_test and generator of `split`. Both
    parts keep the order of the pool. Raises ValueError like `split`.
    """
    train, test = split(name, len(images), **parts)
    return LabelledImages(
        name, images[train], labels[train], images[test], labels[test], pixel_max, n_classes
    )


def first_occurrences(images):
    """Indices, ascending, of the first of each group of equal images: int64 (distinct images,).

    A pool with repetitions must lose them before it is split, or the same image is in both parts:
    then a student is tested on what the teachers were trained on.
    """
    flat = np.ascontiguousarray(images).reshape(len(images), -1)
    whole = flat.view(np.dtype((np.void, flat.shape[1] * flat.itemsize))).ravel()
    return np.sort(np.unique(whole, return_index=True)[1])


def digits_pool(*, parity):
    """scikit-learn's 1,797 digits: images uint8 (1797, 8, 8) of 0..16, labels uint8 (1797,).

    The labels are the digits, or, with parity, 1 for the odd and 0 for the even ones.
    """
    from sklearn.datasets import load_digits  # late: a second of import

    digits = load_digits()
    labels = digits.target % 2 if parity else digits.target
    return digits.images.astype(np.uint8), labels.astype(np.uint8)
