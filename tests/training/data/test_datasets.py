"""Data sets in files: promises kept, read back whole, damage and misfits named."""

import numpy as np
import pytest

from private_ensembles.training.data.archive import content_sha256, write_dataset
from private_ensembles.training.data.images import LabelledImages, read_labelled_images
from private_ensembles.training.data.released import (
    ReleasedLabels,
    load_released_labels,
    read_released_labels,
)
from private_ensembles.training.data.tabular import (
    TabularDataset,
    data_bounds,
    read_records,
    scale_min_max,
)

PARTS = (("train", 4), ("test", 2))


def images(**changes):
    arrays = {
        "train_images": np.zeros((4, 5, 5), np.uint8),
        "train_labels": np.array([0, 1, 0, 1], np.uint8),
        "test_images": np.full((2, 5, 5), 16, np.uint8),
        "test_labels": np.array([1, 0], np.uint8),
    }
    return LabelledImages("small", **(arrays | {"pixel_max": 16, "n_classes": 2} | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train_images": np.zeros((4, 5, 5))}, "train_images is float64"),
        ({"train_images": np.zeros((0, 5, 5), np.uint8)}, "not empty"),
        ({"train_images": np.zeros((4, 5, 5, 4), np.uint8)}, r"or \(N, height, width, 3\)"),
        ({"train_images": np.zeros((4, 5, 5, 3), np.uint8)}, "must be of one size"),
        ({"train_labels": np.zeros(3, np.uint8)}, r"train_labels is uint8 \(3,\)"),
        ({"test_labels": np.array([0, 2], np.uint8)}, "test_labels reach 2"),
        ({"test_images": np.full((2, 5, 5), 17, np.uint8)}, "test_images reach 17"),
        ({"test_images": np.zeros((2, 5, 6), np.uint8)}, "must be of one size"),
        ({"pixel_max": 0}, "pixel_max = 0"),
        ({"n_classes": 1}, "n_classes = 1"),
    ],
)
def test_images_that_break_the_promises_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        images(**changes)


def test_colour_images_are_kept(tmp_path):
    colour = {f"{part}_images": np.full((n, 5, 5, 3), 7, np.uint8) for part, n in PARTS}
    write_dataset(tmp_path / "a.npz", images(**colour))
    assert read_labelled_images(tmp_path / "a.npz").test_images.shape == (2, 5, 5, 3)


def records(**changes):
    arrays = {
        "train_features": np.array([[1, 0], [5, 1], [3, 1]], np.float32),
        "train_labels": np.array([0, 1, 1], np.uint8),
        "test_features": np.array([[9, 1]], np.float32),
        "test_labels": np.array([1], np.uint8),
        "feature_names": np.array(["age", "sex=Male"]),
        "lower": np.array([0, 0], np.float32),
        "upper": np.array([8, 1], np.float32),
    }
    return TabularDataset("small", **(arrays | {"n_classes": 2} | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train_features": np.zeros((3, 2))}, "train_features is float64"),
        ({"train_features": np.zeros((3, 3), np.float32)}, r"must be float32 \(N, 2\)"),
        ({"train_features": np.zeros((0, 2), np.float32)}, "not empty"),
        ({"test_features": np.array([[np.nan, 0]], np.float32)}, "test_features: must be finite"),
        ({"train_labels": np.zeros(2, np.uint8)}, r"train_labels is uint8 \(2,\)"),
        ({"test_labels": np.array([2], np.uint8)}, "test_labels reach 2"),
        ({"feature_names": np.array(["a", "a"])}, "feature_names .* must be distinct texts"),
        ({"lower": np.array([9, 0], np.float32)}, "lower at most upper"),
        ({"upper": np.array([np.nan, 0], np.float32)}, "must be finite"),
        ({"upper": np.array([8, 1])}, "upper is int64"),
        ({"n_classes": 1}, "n_classes = 1"),
    ],
)
def test_records_that_break_the_promises_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        records(**changes)


def test_public_bounds_clip_what_lies_beyond():
    data = records()
    scaled = scale_min_max(data.test_features, data.lower, data.upper)
    assert scaled.tolist() == [[1, 1]]
    assert scale_min_max(data.train_features, data.lower, data.upper).tolist() == [
        [0.125, 0],
        [0.625, 1],
        [0.375, 1],
    ]
    assert scale_min_max(-data.test_features, data.lower, data.upper).tolist() == [[0, 0]]


def test_data_bounds_reach_zero_and_one_and_constant_features_become_zero():
    features = np.array([[1, 7], [5, 7], [3, 7]], np.float32)
    scaled = scale_min_max(features, *data_bounds(features))
    assert scaled.dtype == np.float32
    assert scaled.tolist() == [[0, 0], [1, 0], [0.5, 0]]


def test_bounds_that_fit_no_feature_are_refused():
    features = np.zeros((2, 2), np.float32)
    with pytest.raises(ValueError, match="must have a record"):
        data_bounds(features[:0])
    with pytest.raises(ValueError, match=r"must be \(N, d\)"):
        scale_min_max(features, np.zeros(3), np.ones(3))
    with pytest.raises(ValueError, match="lower must be at most upper"):
        scale_min_max(features, np.ones(2), np.zeros(2))
    with pytest.raises(ValueError, match="lower must be at most upper"):
        scale_min_max(features, np.full(2, np.nan), np.zeros(2))


KINDS = [(images, read_labelled_images), (records, read_records)]


@pytest.mark.parametrize(("make", "read"), KINDS)
def test_file_is_read_back_and_its_bytes_depend_on_contents_only(tmp_path, make, read):
    data = make(provenance={"a": 1}, stand_in=True)
    write_dataset(tmp_path / "a.npz", data)
    again = read(tmp_path / "a.npz")
    write_dataset(tmp_path / "b.npz", again)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert (again.name, again.stand_in, again.provenance) == ("small", True, {"a": 1})
    for name in data.ARRAYS:
        np.testing.assert_array_equal(getattr(again, name), getattr(data, name))
    assert content_sha256(again) == content_sha256(data)
    assert content_sha256(make(test_labels=data.test_labels * 0)) != content_sha256(data)


@pytest.mark.parametrize(("make", "read"), KINDS)
def test_damaged_file_is_refused_by_name(tmp_path, make, read):
    write_dataset(tmp_path / "a.npz", make())
    data = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"a\.npz: not a readable npz"):
        read(tmp_path / "a.npz")


def test_records_are_no_images(tmp_path):
    write_dataset(tmp_path / "a.npz", records())
    with pytest.raises(ValueError, match=r"a\.npz: lacks train_images"):
        read_labelled_images(tmp_path / "a.npz")


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
