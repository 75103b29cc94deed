"""Sizes of data sets as tables: counted, stand-ins said to be such."""

import numpy as np
import pytest

from private_ensembles.papers.compare import dataset_sizes
from private_ensembles.training.data.archive import write_dataset
from private_ensembles.training.data.images import LabelledImages
from private_ensembles.training.data.tabular import TabularDataset

LABELS = np.array([0, 1, 1], dtype=np.uint8)


def counted(folder, data):
    """What is counted of a file that holds the data set."""
    write_dataset(folder / "toy.npz", data)
    return dataset_sizes.count_dataset(folder / "toy.npz")


def test_images_are_counted(tmp_path):
    image = np.zeros((3, 4, 4), dtype=np.uint8)
    data = LabelledImages("toy", image, LABELS, image[:2], LABELS[:2], 16, 2, stand_in=True)
    row = {"dataset": "toy", "stand_in": True, "n_train": 3, "n_test": 2}
    assert counted(tmp_path, data) == dataset_sizes.count_images(data) == row


def test_records_of_both_parts_are_counted_and_those_of_class_1(tmp_path):
    features = np.zeros((3, 2), dtype=np.float32)
    bound = np.zeros(2, dtype=np.float32)
    parts = features, LABELS, features[:2], LABELS[:2]
    data = TabularDataset("toy", *parts, np.array(["a", "b"]), bound, bound, 2)
    row = {"dataset": "toy", "stand_in": False, "features": 2, "samples": 5}
    row |= {"ones": 3, "ones_share": 0.6}
    assert counted(tmp_path, data) == dataset_sizes.count_records(data) == row


def test_what_is_no_data_set_is_refused_by_its_name(tmp_path):
    (tmp_path / "toy.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"toy\.npz: not a readable npz file"):
        dataset_sizes.count_dataset(tmp_path / "toy.npz")
