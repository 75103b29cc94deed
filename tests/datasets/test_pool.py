"""One pool cut in two: no image is lost, none is in both parts."""

import numpy as np
import pytest

from private_ensembles.datasets.pool import digits_pool, first_occurrences, split_pool


@pytest.mark.parametrize("parity", [True, False])
def test_digits_split_loses_no_image_and_keeps_its_label(parity):
    from sklearn.datasets import load_digits

    images, labels = digits_pool(parity=parity)
    data = split_pool(
        "digits",
        images,
        labels,
        n_train=1437,
        n_test=360,
        generator=np.random.default_rng(0),
        pixel_max=16,
        n_classes=10,
    )
    digits = load_digits()
    whole = sorted(
        (i.astype(np.uint8).tobytes(), t % 2 if parity else t)
        for i, t in zip(digits.images, digits.target, strict=True)
    )
    split = [
        (image.tobytes(), label)
        for part in ("train", "test")
        for image, label in zip(
            getattr(data, f"{part}_images"), getattr(data, f"{part}_labels"), strict=True
        )
    ]
    assert sorted(split) == whole


def test_the_first_of_equal_images_is_found():
    images = np.array([[[1, 2]], [[3, 4]], [[1, 2]], [[2, 1]], [[3, 4]]], np.uint8)
    assert first_occurrences(images).tolist() == [0, 1, 3]
