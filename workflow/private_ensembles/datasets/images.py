"""Labelled images as arrays, checked, and kept as one npz file.

Apart from where they come from (datasets.prepare), so that a change there retrains nobody.
"""

import hashlib
import json
from dataclasses import dataclass, field

import numpy as np

from private_ensembles import io

ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")
SCALARS = ("pixel_max", "n_classes", "stand_in")


@dataclass(frozen=True)
class LabelledImages:
    """A data set split into training (private) and test (public queries) parts.

    train_images, test_images: uint8 (N, height, width), values 0..pixel_max. train_labels,
    test_labels: uint8 (N,), values 0..n_classes-1. stand_in: True for a data set that only stands
    in for one of the paper's. provenance: what it was made from, JSON-able.
    """

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
        """Raises ValueError, naming the data set, for anything but what the class promises."""
        if not 1 <= self.pixel_max <= 255:
            raise ValueError(f"{self.name}: pixel_max = {self.pixel_max}: must be 1 to 255")
        if not 2 <= self.n_classes <= 256:
            raise ValueError(f"{self.name}: n_classes = {self.n_classes}: must be 2 to 256")
        for part in ("train", "test"):
            images, labels = getattr(self, f"{part}_images"), getattr(self, f"{part}_labels")
            if images.dtype != np.uint8 or images.ndim != 3 or 0 in images.shape:
                raise ValueError(
                    f"{self.name}: {part}_images is {images.dtype} {images.shape}: "
                    "must be uint8 (N, height, width), not empty"
                )
            if labels.dtype != np.uint8 or labels.shape != images.shape[:1]:
                raise ValueError(
                    f"{self.name}: {part}_labels is {labels.dtype} {labels.shape}: "
                    f"must be uint8 ({len(images)},), one per image"
                )
            if images.max() > self.pixel_max:
                raise ValueError(
                    f"{self.name}: {part}_images reach {images.max()}: "
                    f"must be at most pixel_max = {self.pixel_max}"
                )
            if labels.max() >= self.n_classes:
                raise ValueError(
                    f"{self.name}: {part}_labels reach {labels.max()}: "
                    f"must be below n_classes = {self.n_classes}"
                )
        if self.train_images.shape[1:] != self.test_images.shape[1:]:
            raise ValueError(
                f"{self.name}: training images are {self.train_images.shape[1:]} and test images "
                f"{self.test_images.shape[1:]}: must be of one size"
            )


def content_sha256(dataset):
    """Hexadecimal sha256 of shapes and values of the four arrays, in the order of ARRAYS."""
    digest = hashlib.sha256()
    for key in ARRAYS:
        array = getattr(dataset, key)
        digest.update(f"{key}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def write_dataset(path, dataset):
    """Write the data set as npz (arrays only); equal contents give equal bytes."""
    io.write_npz(
        path,
        name=np.array(dataset.name),
        **{key: getattr(dataset, key) for key in ARRAYS},
        **{key: np.array(int(getattr(dataset, key))) for key in SCALARS},
        provenance=np.array(json.dumps(dataset.provenance, sort_keys=True)),
    )


def read_dataset(path):
    """The data set at `path`, validated. Raises ValueError naming the file and what is wrong."""
    arrays = io.read_npz(path, required=(*ARRAYS, *SCALARS, "name", "provenance"))
    try:
        for key in (*SCALARS, "name", "provenance"):
            if arrays[key].shape != ():
                raise ValueError(f"{key} has shape {arrays[key].shape}: must be a single value")
        return LabelledImages(
            str(arrays["name"]),
            **{key: arrays[key] for key in ARRAYS},
            pixel_max=int(arrays["pixel_max"]),
            n_classes=int(arrays["n_classes"]),
            stand_in=bool(arrays["stand_in"]),
            provenance=json.loads(str(arrays["provenance"])),
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None
