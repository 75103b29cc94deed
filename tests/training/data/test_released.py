"""Labels that somebody else released: read whole from two files, damage and misfits named."""

import numpy as np
import pytest

from private_ensembles.training.data.archive import write_dataset
from private_ensembles.training.data.released import (
    ReleasedLabels,
    load_released_labels,
    read_released_labels,
)

LABELS = np.array([2, 0, 1, 1, 2], np.int32)
QUERIES = np.array([4, 1], np.int64)


@pytest.fixture
def load(tmp_path):
    def load(labels=LABELS, queries=QUERIES, n_classes=3):
        for name, array in (("labels", labels), ("queries", queries)):
            np.save(tmp_path / f"{name}.npy", array, allow_pickle=True)
        files = tmp_path / "labels.npy", tmp_path / "queries.npy"
        return load_released_labels("theirs", *files, n_classes=n_classes)

    return load


def test_labels_of_the_students_queries_are_among_all(load, tmp_path):
    data = load()
    assert data.test_labels.tolist() == LABELS.tolist()
    assert data.train_queries.tolist() == [4, 1]
    assert data.train_labels.tolist() == [2, 0]
    for name in ("a.npz", "b.npz"):
        write_dataset(tmp_path / name, data)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    again = read_released_labels(tmp_path / "a.npz")
    assert np.array_equal(again.train_queries, data.train_queries)
    assert (again.name, again.n_classes, again.stand_in) == ("theirs", 3, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": LABELS.astype(float)}, r"labels\.npy: must be a list of whole numbers"),
        ({"labels": LABELS[None]}, r"labels\.npy: must be a list of whole numbers"),
        ({"labels": LABELS - 1}, r"labels\.npy: must be 0 to 2"),
        ({"n_classes": 2}, r"labels\.npy: must be 0 to 1"),
        ({"queries": np.array([5])}, r"queries\.npy: must be 0 to 4"),
        ({"queries": np.array([-1])}, r"queries\.npy: must be 0 to 4"),
        ({"queries": np.array([1, 1])}, "theirs: train_queries: no query may occur twice"),
        ({"queries": np.array([], int)}, "theirs: train_queries is int64 .0,.: must be"),
        ({"labels": np.array([{}])}, r"labels\.npy: not a readable npy file"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(load, change, message):
    with pytest.raises(ValueError, match=message):
        load(**change)


def test_a_damaged_file_is_named(load, tmp_path):
    load()
    whole = (tmp_path / "labels.npy").read_bytes()
    for content in (b"", whole[:-3], b"nonsense"):
        (tmp_path / "labels.npy").write_bytes(content)
        with pytest.raises(ValueError, match=r"labels\.npy: not a readable npy file"):
            load_released_labels(
                "theirs", tmp_path / "labels.npy", tmp_path / "queries.npy", n_classes=3
            )


def test_labels_that_are_not_those_of_the_queries_are_refused():
    released, queries = LABELS.astype(np.uint8), QUERIES
    with pytest.raises(ValueError, match="train_labels: must be test_labels at train_queries"):
        ReleasedLabels("theirs", queries, np.array([0, 0], np.uint8), released, 3)
    with pytest.raises(ValueError, match="train_queries: must be 0 to 4"):
        ReleasedLabels("theirs", queries + 1, released[:2], released, 3)
    with pytest.raises(ValueError, match="test_labels reach 2: must be below n_classes = 2"):
        ReleasedLabels("theirs", queries, released[queries], released, 2)
