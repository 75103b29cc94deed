"""Data sets in files: read back whole, the same bytes for the same contents, damage named."""

import numpy as np
import pytest

from private_ensembles.datasets.archive import write_dataset
from private_ensembles.datasets.images import LabelledImages, read_dataset


def small(**changes):
    arrays = {
        "train_images": np.zeros((4, 5, 5), np.uint8),
        "train_labels": np.array([0, 1, 0, 1], np.uint8),
        "test_images": np.full((2, 5, 5), 16, np.uint8),
        "test_labels": np.array([1, 0], np.uint8),
    }
    return LabelledImages("small", **(arrays | {"pixel_max": 16, "n_classes": 2} | changes))


def test_dataset_file_is_read_back_and_its_bytes_depend_on_contents_only(tmp_path):
    data = small(provenance={"a": 1}, stand_in=True)
    write_dataset(tmp_path / "a.npz", data)
    write_dataset(tmp_path / "b.npz", read_dataset(tmp_path / "a.npz"))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    read = read_dataset(tmp_path / "b.npz")
    assert read.stand_in is True
    assert read.provenance == {"a": 1}
    assert read.name == "small"


def test_damaged_dataset_file_is_refused_by_name(tmp_path):
    write_dataset(tmp_path / "a.npz", small())
    data = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"a\.npz: not a readable npz"):
        read_dataset(tmp_path / "a.npz")
