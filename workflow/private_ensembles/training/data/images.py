"""Labelled images as arrays, checked, and kept as one npz file.

They are kept apart from where they come from (`training.data.prepare`), so that a change there
retrains nobody.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from private_ensembles.base import checks
from private_ensembles.training.data import archive


@dataclass(frozen=True)
class LabelledImages:
    """A data set split into training (private) and test (public queries) parts.

    Attributes:
        train_images, test_images: uint8 (N, height, width) in grey or (N, height, width, 3) in
            colour (red, green, blue), values 0..pixel_max.
        train_labels, test_labels: uint8 (N,), values 0..n_classes-1.
        stand_in: Whether the data set only stands in for one of the paper's.
        provenance: What it was made from, JSON-able.
    """

    ARRAYS: ClassVar = ("train_images", "train_labels", "test_images", "test_labels")
    SCALARS: ClassVar = ("pixel_max", "n_classes", "stand_in")

    name: str
    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray
    pixel_max: int
    n_classes: int
    stand_in: bool = False
    provenance: dict = field(default_factory=dict)

    def __post_init__(self):
        """Raise ValueError, naming the data set, for anything but what the class promises."""
        object.__setattr__(self, "stand_in", bool(self.stand_in))
        checks.check_range(1, 255, **{f"{self.name}: pixel_max": self.pixel_max})
        for part in ("train", "test"):
            images = getattr(self, f"{part}_images")
            colour = images.ndim == 4 and images.shape[3] == 3
            if images.dtype != np.uint8 or not (images.ndim == 3 or colour) or 0 in images.shape:
                raise ValueError(
                    f"{self.name}: {part}_images is {images.dtype} {images.shape}: "
                    "must be uint8 (N, height, width) or (N, height, width, 3), not empty"
                )
            if images.max() > self.pixel_max:
                raise ValueError(
                    f"{self.name}: {part}_images reach {images.max()}: "
                    f"must be at most pixel_max = {self.pixel_max}"
                )
            archive.check_labels(self, part, len(images))
        if self.train_images.shape[1:] != self.test_images.shape[1:]:
            raise ValueError(
                f"{self.name}: training images are {self.train_images.shape[1:]} and test images "
                f"{self.test_images.shape[1:]}: must be of one size"
            )


def read_labelled_images(path):
    """Read LabelledImages, validated.

    Raises:
        ValueError: The file is damaged or something else; the message names it.
        OSError: The file cannot be opened.
    """
    return archive.read_archive(path, LabelledImages)
