"""Labelled records of numbers as arrays, checked, and kept as one npz file.

They are kept apart from where they come from (`training.data.adult`), so that a change there
retrains nobody.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from private_ensembles.training.data import archive


@dataclass(frozen=True)
class TabularDataset:
    """A table split into the training and the test part of its files.

    Attributes:
        train_features, test_features: float32 (N, d), finite: an indicator (0 or 1) for each value
            of a categorical attribute, and numeric attributes as they are.
        train_labels, test_labels: uint8 (N,), values 0..n_classes-1.
        feature_names: Text (d,), distinct.
        lower, upper: float32 (d,), the range of each feature as it is known without looking at any
            record; values may be outside.
        stand_in: Whether the data set only stands in for one of the paper's.
        provenance: What it was made from, JSON-able.
    """

    ARRAYS: ClassVar = (
        "train_features",
        "train_labels",
        "test_features",
        "test_labels",
        "feature_names",
        "lower",
        "upper",
    )
    SCALARS: ClassVar = ("n_classes", "stand_in")

    name: str
    train_features: np.ndarray
    train_labels: np.ndarray
    test_features: np.ndarray
    test_labels: np.ndarray
    feature_names: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    n_classes: int
    stand_in: bool = False
    provenance: dict = field(default_factory=dict)

    def __post_init__(self):
        """Raise ValueError, naming the data set, for anything but what the class promises."""
        object.__setattr__(self, "stand_in", bool(self.stand_in))
        names = self.feature_names
        if names.dtype.kind != "U" or names.ndim != 1 or len(set(names.tolist())) != names.size:
            raise ValueError(
                f"{self.name}: feature_names is {names.dtype} {names.shape}: must be distinct texts"
            )
        for part in ("train", "test"):
            features = getattr(self, f"{part}_features")
            if (
                features.dtype != np.float32
                or features.ndim != 2
                or features.shape[1] != len(names)
                or 0 in features.shape
            ):
                raise ValueError(
                    f"{self.name}: {part}_features is {features.dtype} {features.shape}: must be "
                    f"float32 (N, {len(names)}), not empty"
                )
            if not np.isfinite(features).all():
                raise ValueError(f"{self.name}: {part}_features: must be finite")
            archive.check_labels(self, part, len(features))
        for end in ("lower", "upper"):
            bound = getattr(self, end)
            if bound.dtype != np.float32 or bound.shape != names.shape:
                raise ValueError(
                    f"{self.name}: {end} is {bound.dtype} {bound.shape}: must be float32 "
                    f"({len(names)},)"
                )
            if not np.isfinite(bound).all():
                raise ValueError(f"{self.name}: lower, upper: must be finite, lower at most upper")
        if (self.lower > self.upper).any():
            raise ValueError(f"{self.name}: lower, upper: must be finite, lower at most upper")


def read_records(path):
    """Read LabelledRecords, validated.

    Raises:
        ValueError: The file is damaged or something else; the message names it.
        OSError: The file cannot be opened.
    """
    return archive.read_archive(path, TabularDataset)


def data_bounds(features):
    """Return the smallest and the largest value of each feature, for `scale_min_max`.

    The papers scale so. The bounds are a function of the records, and nothing accounts for it: a
    privacy claim about what is done with features scaled so does not cover the scaling. Use the
    public bounds of LabelledRecords (lower, upper) if a claim must hold.

    Args:
        features: (N, d).

    Returns:
        Two arrays (d,).

    Raises:
        ValueError: There is no record.
    """
    if len(features) < 1:
        raise ValueError(f"features of shape {features.shape}: must have a record")
    return features.min(axis=0), features.max(axis=0)


def scale_min_max(features, lower, upper):
    """Scale features to 0..1 by their bounds; values beyond the bounds are clipped.

    A feature whose bounds are equal becomes 0: it says nothing.

    Args:
        features: (N, d).
        lower, upper: The bounds, (d,).

    Returns:
        float32 (N, d).

    Raises:
        ValueError: Shapes differ, or a lower bound exceeds the upper one.
    """
    features, lower, upper = (np.asarray(array) for array in (features, lower, upper))
    if features.ndim != 2 or not lower.shape == upper.shape == features.shape[1:]:
        raise ValueError(
            f"features {features.shape}, lower {lower.shape}, upper {upper.shape}: must be (N, d), "
            "(d,) and (d,)"
        )
    width = upper.astype(np.float64) - lower
    if not (width >= 0).all():
        raise ValueError("lower, upper: lower must be at most upper")
    scaled = (features - lower.astype(np.float64)) / np.where(width > 0, width, 1)
    return np.where(width > 0, np.clip(scaled, 0, 1), 0).astype(np.float32)
