"""Keep a data set of any kind as one npz file of arrays, and read it back checked.

A kind of data set is a frozen dataclass with a `name` and a `provenance` that names its ARRAYS and
its SCALARS (whole numbers and flags), and that refuses, with ValueError, what it does not promise.
"""

import hashlib
import json

import numpy as np

from private_ensembles.base import checks, files


def content_sha256(dataset):
    """Return the hexadecimal sha256 of a data set's arrays, shapes and values in ARRAYS' order."""
    digest = hashlib.sha256()
    for key in dataset.ARRAYS:
        array = getattr(dataset, key)
        digest.update(f"{key}{array.shape}".encode())
        # A view is hashed, because tobytes() would double the memory that the largest array needs.
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
    return digest.hexdigest()


def check_labels(dataset, part, count):
    """Raise ValueError unless a part's labels are uint8 (count,) below n_classes.

    Args:
        dataset: A data set whose n_classes must be 2 to 256.
        part: `train` or `test`.
        count: The number of records in the part.
    """
    name, n_classes = dataset.name, dataset.n_classes
    labels = getattr(dataset, f"{part}_labels")
    checks.check_integer(at_least=2, at_most=256, **{f"{name}: n_classes": n_classes})
    if labels.dtype != np.uint8 or labels.shape != (count,):
        raise ValueError(
            f"{name}: {part}_labels is {labels.dtype} {labels.shape}: "
            f"must be uint8 ({count},), one per record"
        )
    if labels.max() >= n_classes:
        raise ValueError(
            f"{name}: {part}_labels reach {labels.max()}: must be below n_classes = {n_classes}"
        )


def write_dataset(path, dataset):
    """Write a data set as npz (arrays only); equal contents give equal bytes."""
    files.write_npz(
        path,
        name=np.array(dataset.name),
        **{key: getattr(dataset, key) for key in dataset.ARRAYS},
        **{key: np.array(int(getattr(dataset, key))) for key in dataset.SCALARS},
        provenance=np.array(json.dumps(dataset.provenance, sort_keys=True)),
    )


def read_archive(path, kind):
    """Read a data set of this kind, validated.

    Args:
        path: The npz file.
        kind: The class of the data set.

    Raises:
        ValueError: The file is damaged or not of this kind; the message names it.
        OSError: The file cannot be opened.
    """
    single_values = (*kind.SCALARS, "name", "provenance")
    arrays = files.read_npz(path, required=(*kind.ARRAYS, *single_values))
    try:
        for key in single_values:
            if arrays[key].shape != ():
                raise ValueError(f"{key} has shape {arrays[key].shape}: must be a single value")
        return kind(
            str(arrays["name"]),
            **{key: arrays[key] for key in kind.ARRAYS},
            **{key: int(arrays[key]) for key in kind.SCALARS},
            provenance=json.loads(str(arrays["provenance"])),
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None
