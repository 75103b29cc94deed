"""Keep a data set of any kind as one npz file of arrays, and read it back checked.

A kind of data set is a frozen dataclass with a `name` and a `provenance` that names its ARRAYS and
its SCALARS (whole numbers and flags), and that refuses, with ValueError, what it does not promise.
"""

import hashlib
import json

import numpy as np

from private_ensembles.base import checks, files


def content_sha256(dataset):
    """Hexadecimal sha256 of shapes and values of the data set's arrays, in the order of ARRAYS."""
    digest = hashlib.sha256()
    for key in dataset.ARRAYS:
        array = getattr(dataset, key)
        digest.update(f"{key}{array.shape}".encode())
        # A view, because tobytes() would double the memory that the largest array needs.
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
    return digest.hexdigest()


def check_labels(dataset, part, count):
    """ValueError unless the labels of a part, train or test, are uint8 (count,) below n_classes.

    That number must be 2 to 256.
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
    """Write the data set as npz (arrays only); equal contents give equal bytes."""
    files.write_npz(
        path,
        name=np.array(dataset.name),
        **{key: getattr(dataset, key) for key in dataset.ARRAYS},
        **{key: np.array(int(getattr(dataset, key))) for key in dataset.SCALARS},
        provenance=np.array(json.dumps(dataset.provenance, sort_keys=True)),
    )


def read_archive(path, kind):
    """The data set of this kind (a class) at `path`, validated.

    Raises ValueError naming the file and what is wrong, OSError if it cannot be opened.
    """
    single = (*kind.SCALARS, "name", "provenance")
    arrays = files.read_npz(path, required=(*kind.ARRAYS, *single))
    try:
        for key in single:
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
