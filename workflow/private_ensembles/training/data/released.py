"""Labels that somebody else's ensemble released for public images, as arrays, checked."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from private_ensembles.training.data import archive


@dataclass(frozen=True)
class ReleasedLabels:
    """Released labels of the first images of another data set's test part.

    Attributes:
        train_queries: int64 (L,), distinct: the images whose labels their student had.
        train_labels: uint8 (L,), these labels, 0..n_classes-1.
        test_labels: uint8 (N,), the labels of all N images, of which train_labels are some.
        stand_in, provenance: As in `LabelledImages`.
    """

    ARRAYS: ClassVar = ("train_queries", "train_labels", "test_labels")
    SCALARS: ClassVar = ("n_classes", "stand_in")

    name: str
    train_queries: np.ndarray
    train_labels: np.ndarray
    test_labels: np.ndarray
    n_classes: int
    stand_in: bool = False
    provenance: dict = field(default_factory=dict)

    def __post_init__(self):
        """Raise ValueError, naming the data set, for anything but what the class promises."""
        object.__setattr__(self, "stand_in", bool(self.stand_in))
        queries, released = self.train_queries, self.test_labels
        if queries.dtype != np.int64 or queries.ndim != 1 or not queries.size:
            raise ValueError(
                f"{self.name}: train_queries is {queries.dtype} {queries.shape}: must be int64 "
                "(L,), not empty"
            )
        if released.ndim != 1 or not released.size:
            raise ValueError(f"{self.name}: test_labels is {released.shape}: must be (N,)")
        archive.check_labels(self, "test", len(released))
        archive.check_labels(self, "train", len(queries))
        if queries.min() < 0 or queries.max() >= len(released):
            raise ValueError(f"{self.name}: train_queries: must be 0 to {len(released) - 1}")
        if len(np.unique(queries)) < len(queries):
            raise ValueError(f"{self.name}: train_queries: no query may occur twice")
        if not np.array_equal(released[queries], self.train_labels):
            raise ValueError(f"{self.name}: train_labels: must be test_labels at train_queries")


def load_released_labels(name, labels, queries, *, n_classes):
    """Read released labels from two NumPy files of whole numbers.

    Args:
        name: The name of the data set.
        labels: The path of the labels, (N,).
        queries: The path of the queries whose labels the student had, (L,).
        n_classes: The number of classes.

    Raises:
        ValueError: A file is damaged or holds anything else; the message names it.
    """
    released, train_queries = _read_whole_numbers(labels), _read_whole_numbers(queries)
    if released.size and not 0 <= released.min() <= released.max() < n_classes:
        raise ValueError(f"{labels}: must be 0 to {n_classes - 1}")
    if train_queries.size and not (0 <= train_queries.min() <= train_queries.max() < len(released)):
        raise ValueError(f"{queries}: must be 0 to {len(released) - 1}")
    released = released.astype(np.uint8)
    return ReleasedLabels(
        name, train_queries.astype(np.int64), released[train_queries], released, n_classes
    )


def read_released_labels(path):
    """Read ReleasedLabels, validated.

    Raises:
        ValueError: The file is damaged or something else; the message names it.
        OSError: The file cannot be opened.
    """
    return archive.read_archive(path, ReleasedLabels)


def _read_whole_numbers(path):
    """Return the list of whole numbers in a .npy file."""
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}: not a readable npy file ({error})") from None
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{path}: must be a list of whole numbers")
    return array
