"""Make a data set from what was downloaded, or from what ships with scikit-learn."""

from dataclasses import replace
from importlib import import_module

import numpy as np

from private_ensembles.base.provenance import sha256_of
from private_ensembles.base.streams import generator
from private_ensembles.training.data import idx
from private_ensembles.training.data.adult import load_adult
from private_ensembles.training.data.archive import content_sha256
from private_ensembles.training.data.formats import FORMATS
from private_ensembles.training.data.images import LabelledImages
from private_ensembles.training.data.mat import read_cropped_digits
from private_ensembles.training.data.released import load_released_labels
from private_ensembles.training.data.tabular import TabularDataset

# These are our upper ends of the ten measurements of a tumour, in scikit-learn's order: radius,
# texture, perimeter, area, smoothness, compactness, concavity, concave points, symmetry, fractal
# dimension. Each comes as a mean, a standard error and a worst value, whose ranges are these times
# SHARES.
LARGEST = (40, 50, 250, 4000, 0.25, 1, 1, 0.3, 0.6, 0.2)
SHARES = (1, 0.5, 1.5)


def load_idx_dataset(name, files, *, classes):
    """Read a data set of four IDX files, restricted to `classes`, which become labels 0, 1, ...

    Args:
        name: The name of the data set.
        files: A dict with the paths of train_images, train_labels, test_images and test_labels.
        classes: The original labels that are kept, distinct, in the order of their new labels.

    Returns:
        LabelledImages.

    Raises:
        ValueError: A file is not as described; the message names it.
    """
    train, test = (
        _select_classes(files[f"{part}_images"], files[f"{part}_labels"], classes)
        for part in ("train", "test")
    )
    return LabelledImages(name, *train, *test, pixel_max=255, n_classes=len(classes))


def _select_classes(images_path, labels_path, classes):
    """Return the images of `classes` in a pair of IDX files, and their labels' places in it."""
    classes = list(classes)
    if len(classes) < 2 or len(set(classes)) != len(classes):
        raise ValueError(f"classes = {classes}: must be at least two different labels")
    images, labels = idx.read_images(images_path), idx.read_labels(labels_path)
    if len(images) != len(labels):
        raise ValueError(
            f"{images_path} has {len(images)} images and {labels_path} {len(labels)} labels: "
            "must be equal"
        )
    new_label = np.zeros(256, np.uint8)
    new_label[classes] = np.arange(len(classes), dtype=np.uint8)
    keep = np.isin(labels, classes)
    # A data set that is kept whole is not copied.
    return (images if keep.all() else images[keep]), new_label[labels[keep]]


def split_indices(name, total, *, n_train, n_test, generator):
    """Return the indices of the training and of the test part; the test part is drawn.

    Args:
        name: The name of the data set, for the error message.
        total: The number of records.
        n_train: The number of records to train on.
        n_test: The number of records to draw for testing.
        generator: numpy.random.Generator.

    Returns:
        int64 (n_train,) and int64 (n_test,), both ascending.

    Raises:
        ValueError: n_train and n_test are not positive or do not add up to the total.
    """
    if min(n_train, n_test) < 1 or n_train + n_test != total:
        raise ValueError(
            f"{name}: n_train = {n_train}, n_test = {n_test}: must be positive and add up to the "
            f"{total} records that there are"
        )
    order = generator.permutation(total)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def split_pool(name, images, labels, *, pixel_max, n_classes, **parts):
    """Return LabelledImages with a part drawn for testing and the others to train on.

    Both parts keep the order of the pool.

    Args:
        name: The name of the data set.
        images, labels: As in LabelledImages.
        pixel_max: The largest value that a pixel may have.
        n_classes: The number of classes.
        **parts: n_train, n_test and generator of `split_indices`.

    Raises:
        ValueError: As `split_indices`.
    """
    train, test = split_indices(name, len(images), **parts)
    return LabelledImages(
        name, images[train], labels[train], images[test], labels[test], pixel_max, n_classes
    )


def first_occurrences(images):
    """Return the index of the first of each group of equal images.

    A pool with repetitions must lose them before it is split, or the same image is in both parts:
    then a student is tested on what the teachers were trained on.

    Returns:
        int64 (distinct images,), ascending.
    """
    flat = np.ascontiguousarray(images).reshape(len(images), -1)
    image_bytes = flat.view(np.dtype((np.void, flat.shape[1] * flat.itemsize))).ravel()
    return np.sort(np.unique(image_bytes, return_index=True)[1])


def load_breast_cancer(name, **parts):
    """Return scikit-learn's 569 tumours of 30 measurements, some of them drawn for testing.

    Label 1 is benign.

    Args:
        name: The name of the data set.
        **parts: n_train, n_test and generator of `split_indices`.

    Returns:
        LabelledRecords.

    Raises:
        ValueError: As `split_indices`.
    """
    from sklearn.datasets import load_breast_cancer as load  # late: a second of import

    data = load()
    features, labels = data.data.astype(np.float32), data.target.astype(np.uint8)
    train, test = split_indices(name, len(labels), **parts)
    upper = np.outer(SHARES, LARGEST).ravel().astype(np.float32)
    return TabularDataset(
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


def prepare_dataset(name, settings, files, *, sha256, stand_in, seed):
    """Return the data set that the configuration describes, files verified and counts checked.

    Args:
        name: The name of the data set.
        settings: format (a name in FORMATS), n_train, n_test and, for IDX files and released
            labels, classes.
        files: The path of each role's file.
        sha256: The checksum that each role's file must have.
        stand_in: Whether the data set only stands in for one of the paper's.
        seed: The seed of the split, if the format comes without one.

    Returns:
        LabelledImages, LabelledRecords for tables, or ReleasedLabels.

    Raises:
        ValueError: A file, a count or the format is wrong; the message names it.
    """
    if settings["format"] not in FORMATS:
        known = ", ".join(FORMATS)
        raise ValueError(f"{name}: format = {settings['format']!r}: must be one of {known}")
    for role, path in files.items():
        if sha256[role] != (actual_sha256 := sha256_of(path)):
            raise ValueError(
                f"{path}: has sha256 {actual_sha256}: expected {sha256[role]}; remove the file and "
                "run again"
            )
    module, _, function = FORMATS[settings["format"]].reader.rpartition(".")
    read = getattr(import_module(f"private_ensembles.{module}"), function)
    dataset, origin = read(name, settings, files, seed)
    for part in ("train", "test"):
        records, expected = len(getattr(dataset, f"{part}_labels")), settings[f"n_{part}"]
        if records != expected:
            raise ValueError(
                f"{name}: {records} {part} records: config.yaml expects n_{part} = {expected}"
            )
    facts = {
        "name": name,
        "sha256": content_sha256(dataset),
        "n_train": settings["n_train"],
        "n_test": settings["n_test"],
    }
    if files:
        facts["files"] = {role: sha256[role] for role in sorted(files)}
    return replace(dataset, stand_in=bool(stand_in), provenance=facts | origin)


def read_idx(name, settings, files, seed):
    """Read four IDX files; like all readers here, return a data set and what it was made from."""
    dataset = load_idx_dataset(name, files, classes=settings["classes"])
    return dataset, {"classes": list(settings["classes"])}


def read_idx_pool(name, settings, files, seed):
    """Read two IDX files of images and labels; of equal images only the first is kept."""
    images, labels = _select_classes(files["images"], files["labels"], settings["classes"])
    distinct = first_occurrences(images)
    dataset = split_pool(
        name,
        images[distinct],
        labels[distinct],
        **_split_arguments(name, settings, seed),
        pixel_max=255,
        n_classes=len(settings["classes"]),
    )
    repeated = len(images) - len(distinct)
    return dataset, {"classes": list(settings["classes"]), "repeated_images_left_out": repeated}


def read_digits(name, settings, files, seed):
    """Split scikit-learn's digits, by digit or by parity."""
    parity = settings["format"] == "digits_parity"
    from sklearn.datasets import load_digits  # late: a second of import

    digits = load_digits()
    dataset = split_pool(
        name,
        digits.images.astype(np.uint8),
        (digits.target % 2 if parity else digits.target).astype(np.uint8),
        **_split_arguments(name, settings, seed),
        pixel_max=16,
        n_classes=2 if parity else 10,
    )
    label = "digit % 2" if parity else "digit"
    return dataset, {"source": "sklearn.datasets.load_digits", "label": label}


def read_mat(name, settings, files, seed):
    """Read SVHN's training and test images."""
    parts = [*read_cropped_digits(files["train"]), *read_cropped_digits(files["test"])]
    return LabelledImages(name, *parts, pixel_max=255, n_classes=10), {}


def read_mat_extended(name, settings, files, seed):
    """Read SVHN with its additional images, which come last, as in the code of PATE 2017."""
    images, labels = read_cropped_digits(files["train"])
    more_images, more_labels = read_cropped_digits(files["extra"])
    images = np.concatenate([images, more_images])
    labels = np.concatenate([labels, more_labels])
    test = read_cropped_digits(files["test"])
    return LabelledImages(name, images, labels, *test, pixel_max=255, n_classes=10), {}


def read_adult(name, settings, files, seed):
    """Read UCI Adult's two files."""
    return load_adult(name, files["train"], files["test"]), {}


def read_breast_cancer(name, settings, files, seed):
    """Split scikit-learn's tumours."""
    dataset = load_breast_cancer(name, **_split_arguments(name, settings, seed))
    return dataset, {"source": "sklearn.datasets.load_breast_cancer", "label": "benign"}


def read_released_labels(name, settings, files, seed):
    """Read labels that somebody else released, and the queries that their student saw."""
    n_classes = len(settings["classes"])
    labels = load_released_labels(name, files["labels"], files["queries"], n_classes=n_classes)
    return labels, {"classes": list(settings["classes"])}


def _split_arguments(name, settings, seed):
    counts = {key: settings[key] for key in ("n_train", "n_test")}
    return counts | {"generator": generator(seed, name, "split")}
