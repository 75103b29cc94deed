"""Read IDX files, the format of MNIST and its relatives, believing nothing in them unchecked.

An IDX file is a big-endian header (two zero bytes, a type, the number of dimensions, one 32-bit
size per dimension) and then the values, last dimension fastest. Here the type is always 0x08,
one unsigned byte per value.
"""

import gzip
import zlib
from math import prod

import numpy as np

IMAGES_MAGIC = 0x00000803
LABELS_MAGIC = 0x00000801
MAX_BYTES = 1 << 31  # a header that promises more is a corrupt one


def read_images(path):
    """Read the images of an IDX file, plain or gzip.

    Returns:
        uint8 (N, height, width).

    Raises:
        ValueError: The file is no such file; the message names it and what was expected.
        OSError: The file cannot be read.
    """
    images = _read(path, IMAGES_MAGIC, 3)
    if 0 in images.shape:
        raise ValueError(f"{path}: holds {images.shape} values: expected at least one image pixel")
    return images


def read_labels(path, n_classes=10):
    """Read the labels of an IDX file, plain or gzip.

    Returns:
        uint8 (N,), each in [0, n_classes).

    Raises:
        ValueError: The file is no such file; the message names it and what was expected.
        OSError: The file cannot be read.
    """
    labels = _read(path, LABELS_MAGIC, 1)
    if labels.size and labels.max() >= n_classes:
        record = int(np.argmax(labels >= n_classes))
        raise ValueError(
            f"{path}: label {labels[record]} of record {record}: expected 0 to {n_classes - 1}"
        )
    return labels


def _read(path, magic, n_dimensions):
    try:
        with open(path, "rb") as raw:
            # The content decides, not the name: mirrors and browsers rename and unpack files.
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw) if packed else raw as file:
                return _parse(path, file, magic, n_dimensions)
    except EOFError:
        raise ValueError(f"{path}: truncated gzip file: expected more compressed data") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: corrupt gzip file: {error}") from None


def _parse(path, file, magic, n_dimensions):
    header = file.read(4 + 4 * n_dimensions)
    number = int.from_bytes(header[:4], "big")
    if len(header) >= 4 and number != magic:
        raise ValueError(f"{path}: IDX magic number 0x{number:08x}: expected 0x{magic:08x}")
    if len(header) < 4 + 4 * n_dimensions:
        raise ValueError(
            f"{path}: IDX header of {len(header)} bytes: expected {4 + 4 * n_dimensions}"
        )
    shape = tuple(int(size) for size in np.frombuffer(header, ">u4", offset=4))
    size = prod(shape)
    if size > MAX_BYTES:
        raise ValueError(f"{path}: IDX header promises {shape} values: expected at most 2**31")
    data = file.read(size + 1)  # one more than promised, to notice what does not belong
    if len(data) != size:
        trouble = "ends early" if len(data) < size else "has trailing bytes"
        raise ValueError(
            f"{path}: {trouble}: {min(len(data), size)} bytes of data and "
            f"{'no' if len(data) < size else 'some'} more: expected {size} for shape {shape}"
        )
    return np.frombuffer(data, np.uint8).reshape(shape)
