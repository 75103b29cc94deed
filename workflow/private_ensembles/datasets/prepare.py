"""Make a data set from what was downloaded, or from what ships with scikit-learn."""

from dataclasses import replace

import numpy as np

from private_ensembles.datasets import idx
from private_ensembles.datasets.images import LabelledImages, content_sha256
from private_ensembles.randomness import generator
from private_ensembles.records import sha256_of


def load_idx_dataset(name, files, *, classes, n_train=None, n_test=None):
    """A data set of four IDX files, restricted to `classes`, which become labels 0, 1, ...

    files: dict with train_images, train_labels, test_images, test_labels -> path. classes: the
    original labels kept, distinct, in the order of their new labels. n_train, n_test: the counts
    that must come out (the paper's), or None.

    Raises ValueError naming the file, or the count that differs.
    """
    classes = list(classes)
    if len(classes) < 2 or len(set(classes)) != len(classes):
        raise ValueError(f"classes = {classes}: must be at least two different labels")
    parts = {}
    for part, expected in (("train", n_train), ("test", n_test)):
        images = idx.read_images(files[f"{part}_images"])
        labels = idx.read_labels(files[f"{part}_labels"])
        if len(images) != len(labels):
            raise ValueError(
                f"{files[f'{part}_images']} has {len(images)} images and "
                f"{files[f'{part}_labels']} {len(labels)} labels: must be equal"
            )
        keep = np.isin(labels, classes)
        if expected is not None and keep.sum() != expected:
            raise ValueError(
                f"{name}: {keep.sum()} {part} images of classes {classes}: "
                f"config.yaml expects n_{part} = {expected}"
            )
        new = np.zeros(256, np.uint8)
        new[classes] = np.arange(len(classes), dtype=np.uint8)
        parts[f"{part}_images"] = images[keep]
        parts[f"{part}_labels"] = new[labels[keep]]
    return LabelledImages(name, pixel_max=255, n_classes=len(classes), **parts)


def load_digits_parity(name, *, n_test, generator):
    """scikit-learn's 1,797 digits of 8x8 pixels as odd (1) against even (0), seeded split.

    A stand-in for the paper's 5-versus-8, which would leave 25 images per teacher here. n_test
    images, drawn without replacement by `generator` (numpy.random.Generator), are the public
    queries; the others are the private training data.

    Raises ValueError unless 1 <= n_test < 1797.
    """
    from sklearn.datasets import load_digits  # late: a second of import

    digits = load_digits()
    images = digits.images.astype(np.uint8)
    labels = (digits.target % 2).astype(np.uint8)
    if not 1 <= n_test < len(images):
        raise ValueError(f"{name}: n_test = {n_test}: must be 1 to {len(images) - 1}")
    order = generator.permutation(len(images))
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    return LabelledImages(
        name, images[train], labels[train], images[test], labels[test], 16, 2, stand_in=True
    )


def prepare(name, settings, files, *, sha256, stand_in, seed):
    """The data set that the configuration describes, its files verified and its counts checked.

    settings: format (`idx` with classes, or `digits_parity`), n_train, n_test. files: path by role
    (train_images, train_labels, test_images, test_labels) for idx. sha256: the same roles -> the
    checksum that each file must have. seed: of the split that digits_parity draws.

    Raises ValueError naming the file, the count or the format that is wrong.
    """
    n_train, n_test = settings["n_train"], settings["n_test"]
    if settings["format"] == "idx":
        for role, path in files.items():
            if sha256[role] != (found := sha256_of(path)):
                raise ValueError(
                    f"{path}: has sha256 {found}: expected {sha256[role]}; remove the file and "
                    "run again"
                )
        dataset = load_idx_dataset(
            name, files, classes=settings["classes"], n_train=n_train, n_test=n_test
        )
        origin = {"files": {role: sha256[role] for role in sorted(files)}}
        origin["classes"] = list(settings["classes"])
    elif settings["format"] == "digits_parity":
        split = generator(seed, name, "split")
        dataset = load_digits_parity(name, n_test=n_test, generator=split)
        if len(dataset.train_labels) != n_train:
            raise ValueError(
                f"{name}: {len(dataset.train_labels)} training images remain: "
                f"config.yaml expects n_train = {n_train}"
            )
        origin = {"source": "sklearn.datasets.load_digits", "label": "digit % 2"}
    else:
        raise ValueError(f"{name}: format = {settings['format']!r}: must be idx or digits_parity")
    facts = {"name": name, "sha256": content_sha256(dataset), "n_train": n_train, "n_test": n_test}
    return replace(dataset, stand_in=bool(stand_in), provenance=facts | origin)
