"""The sizes of data sets, which papers print too, as rows of a table like any other of ours."""

from pathlib import Path

from private_ensembles.base import files
from private_ensembles.training.data.images import LabelledImages, read_labelled_images
from private_ensembles.training.data.tabular import TabularDataset, read_records


def count_dataset(path: Path | str) -> dict[str, object]:
    """Count a prepared data set: `count_images` or `count_records`, whichever it holds.

    Raises:
        ValueError: the file is not a prepared data set. The message names it and what is wrong.
    """
    # Only records have features, whose names are few: images are not unpacked twice.
    if files.read_npz(path, names=("feature_names",)):
        return count_records(read_records(path))
    return count_images(read_labelled_images(path))


def count_images(data: LabelledImages) -> dict[str, object]:
    """Count training and test images."""
    return {
        "dataset": data.name,
        "stand_in": data.stand_in,
        "n_train": len(data.train_labels),
        "n_test": len(data.test_labels),
    }


def count_records(data: TabularDataset) -> dict[str, object]:
    """Count features, records and records of class 1, training and test records together.

    The value `ones_share` is the share of the records that are of class 1.
    """
    samples = len(data.train_labels) + len(data.test_labels)
    ones = int(data.train_labels.sum()) + int(data.test_labels.sum())
    return {
        "dataset": data.name,
        "stand_in": data.stand_in,
        "features": len(data.feature_names),
        "samples": samples,
        "ones": ones,
        "ones_share": ones / samples,
    }
