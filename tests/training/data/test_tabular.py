"""tabular: promises are checked, and scaling does what its bounds say."""

import numpy as np
import pytest

from private_ensembles.training.data.tabular import TabularDataset, data_bounds, scale_min_max


def small(**changes):
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
        small(**changes)


def test_public_bounds_clip_what_lies_beyond():
    data = small()
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
