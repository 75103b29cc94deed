"""Data sets in files: read back whole, the same bytes for the same contents, damage named."""

import numpy as np
import pytest

from private_ensembles.training.data.archive import content_sha256, write_dataset
from private_ensembles.training.data.images import read_labelled_images
from private_ensembles.training.data.tabular import read_records
from tests.training.data import test_images, test_tabular

KINDS = [(test_images.small, read_labelled_images), (test_tabular.small, read_records)]


@pytest.mark.parametrize(("small", "read"), KINDS)
def test_file_is_read_back_and_its_bytes_depend_on_contents_only(tmp_path, small, read):
    data = small(provenance={"a": 1}, stand_in=True)
    write_dataset(tmp_path / "a.npz", data)
    again = read(tmp_path / "a.npz")
    write_dataset(tmp_path / "b.npz", again)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert (again.name, again.stand_in, again.provenance) == ("small", True, {"a": 1})
    for name in data.ARRAYS:
        np.testing.assert_array_equal(getattr(again, name), getattr(data, name))
    assert content_sha256(again) == content_sha256(data)
    assert content_sha256(small(test_labels=data.test_labels * 0)) != content_sha256(data)


@pytest.mark.parametrize(("small", "read"), KINDS)
def test_damaged_file_is_refused_by_name(tmp_path, small, read):
    write_dataset(tmp_path / "a.npz", small())
    data = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"a\.npz: not a readable npz"):
        read(tmp_path / "a.npz")


def test_records_are_no_images(tmp_path):
    write_dataset(tmp_path / "a.npz", test_tabular.small())
    with pytest.raises(ValueError, match=r"a\.npz: lacks train_images"):
        read_labelled_images(tmp_path / "a.npz")
