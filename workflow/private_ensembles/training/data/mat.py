"""Read the MATLAB files of SVHN's cropped digits, believing nothing in them unchecked.

Such a file (MATLAB 5 format) holds X, unsigned bytes (32, 32, 3, N), and y, unsigned bytes (N, 1),
with 10 for the digit 0 (Netzer et al. 2011, http://ufldl.stanford.edu/housenumbers).
"""

import zlib

import numpy as np


def read_cropped_digits(path):
    """Read images and labels from one of SVHN's files.

    Returns:
        Images, uint8 (N, 32, 32, 3), red, green, blue, and labels, uint8 (N,), 0 to 9.

    Raises:
        ValueError: The file is no such file; the message names it and what was expected.
        OSError: The file cannot be read.
    """
    from scipy.io import loadmat  # late: other formats need no SciPy
    from scipy.io.matlab import MatReadError

    broken = (MatReadError, ValueError, TypeError, KeyError, NotImplementedError, zlib.error)
    with open(path, "rb") as file:
        try:
            content = loadmat(file, variable_names=("X", "y"))
        # A damaged file sends the reader anywhere: to the end, to huge sizes, to wrong types.
        except (*broken, EOFError, OSError, OverflowError, IndexError, MemoryError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(f"{path}: not a readable MATLAB 5 file: {reason}") from None
    for name, described, fits in (
        ("X", "(32, 32, 3, N)", lambda shape: len(shape) == 4 and shape[:3] == (32, 32, 3)),
        ("y", "(N, 1)", lambda shape: len(shape) == 2 and shape[1] == 1),
    ):
        if name not in content:
            raise ValueError(f"{path}: holds no variable {name}: expected X and y")
        array = content[name]
        if array.dtype != np.uint8 or not fits(array.shape) or array.size == 0:
            raise ValueError(
                f"{path}: {name} is {array.dtype} {array.shape}: expected uint8 {described}"
            )
    images, labels = content.pop("X"), content.pop("y").ravel()
    if images.shape[3] != len(labels):
        raise ValueError(
            f"{path}: {images.shape[3]} images and {len(labels)} labels: expected equal numbers"
        )
    outside = (labels < 1) | (labels > 10)
    if outside.any():
        record = int(np.argmax(outside))
        raise ValueError(f"{path}: label {labels[record]} of record {record}: expected 1 to 10")
    return np.ascontiguousarray(np.moveaxis(images, 3, 0)), labels % 10
