"""Labelled images: what is promised, and kept."""

import numpy as np
import pytest

from private_ensembles.training.data.archive import write_dataset
from private_ensembles.training.data.images import LabelledImages, read_labelled_images

PARTS = (("train", 4), ("test", 2))


def small(**changes):
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
        small(**changes)


def test_colour_images_are_kept(tmp_path):
    colour = {f"{part}_images": np.full((n, 5, 5, 3), 7, np.uint8) for part, n in PARTS}
    write_dataset(tmp_path / "a.npz", small(**colour))
    assert read_labelled_images(tmp_path / "a.npz").test_images.shape == (2, 5, 5, 3)
