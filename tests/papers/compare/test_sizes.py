"""Sizes of data sets as tables: counted, stand-ins said to be such."""

import numpy as np

from private_ensembles.papers.compare import sizes
from private_ensembles.training.data.images import LabelledImages
from private_ensembles.training.data.tabular import LabelledRecords

LABELS = np.array([0, 1, 1], dtype=np.uint8)


def test_images_are_counted():
    image = np.zeros((3, 4, 4), dtype=np.uint8)
    data = LabelledImages("toy", image, LABELS, image[:2], LABELS[:2], 16, 2, stand_in=True)
    (row,) = sizes.of_images([data]).to_dict("records")
    assert row == {"dataset": "toy", "stand_in": True, "n_train": 3, "n_test": 2}
    assert sizes.of_images([]).empty


def test_records_of_both_parts_are_counted_and_those_of_class_1():
    features = np.zeros((3, 2), dtype=np.float32)
    bound = np.zeros(2, dtype=np.float32)
    parts = features, LABELS, features[:2], LABELS[:2]
    data = LabelledRecords("toy", *parts, np.array(["a", "b"]), bound, bound, 2)
    (row,) = sizes.of_records([data]).to_dict("records")
    assert row == {"dataset": "toy", "stand_in": False, "features": 2, "samples": 5} | {
        "ones": 3,
        "ones_share": 0.6,
    }
