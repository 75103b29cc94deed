"""The formats of data sets: what each is, which files it needs, and which function reads them.

These are facts only: the configuration is checked by them, and loads no reader.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """How data sets of one kind are read.

    Attributes:
        description: What it is, in words.
        reader: The function that `training.data.prepare` calls, by its path in the package.
        roles: What its files hold, one role each; none if it ships with scikit-learn.
        classes: The number of classes, if nobody chooses among them.
        content: "images", "a table" or "labels".
    """

    description: str
    reader: str
    roles: tuple[str, ...] = ()
    classes: int | None = None
    content: str = "images"


_IDX = ("train_images", "train_labels", "test_images", "test_labels")
FORMATS = {
    "idx": Format("four IDX files", "training.data.prepare.read_idx", _IDX),
    "idx_pool": Format(
        "two IDX files, split from `seed`, equal images kept once",
        "training.data.prepare.read_idx_pool",
        ("images", "labels"),
    ),
    "mat": Format(
        "SVHN's two MATLAB files", "training.data.prepare.read_mat", ("train", "test"), 10
    ),
    "mat_extended": Format(
        "the same and its additional training images",
        "training.data.prepare.read_mat_extended",
        ("train", "extra", "test"),
        10,
    ),
    "adult": Format(
        "UCI Adult's two files",
        "training.data.prepare.read_adult",
        ("train", "test"),
        2,
        "a table",
    ),
    "breast_cancer": Format(
        "scikit-learn's tumours, split from `seed`",
        "training.data.prepare.read_breast_cancer",
        classes=2,
        content="a table",
    ),
    "digits": Format(
        "scikit-learn's digits, split from `seed`", "training.data.prepare.read_digits", classes=10
    ),
    "digits_parity": Format(
        "the same, as even and odd", "training.data.prepare.read_digits", classes=2
    ),
    "released_labels": Format(
        "two NumPy files, labels that somebody else released for the first images of another data "
        "set's test part, and which of them a student had",
        "training.data.prepare.read_released_labels",
        ("labels", "queries"),
        content="labels",
    ),
}
ROLES = tuple(dict.fromkeys(role for form in FORMATS.values() for role in form.roles))
