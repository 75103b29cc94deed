"""What an npz file from somebody else holds, read off its headers: a small file may unpack to much.

Only the members of known names are looked at, and of each only its beginning.
"""

import io
import math
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

NAMES = ("votes", "counts", "labels", "n_classes")
# How NumPy packs; what others unpack at a time has no limit.
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# A header of numbers ends long before; that of another array may be as long as it likes.
_HEADER = 1 << 14
_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


@dataclass(frozen=True)
class Promised:
    """What a member promises: the shape of its array, and the bytes that it may take unpacked."""

    shape: tuple[int, ...]
    n_bytes: int


def promised(path: str | Path) -> dict[str, Promised]:
    """Return what the members of NAMES promise, by name; nothing is unpacked.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     np.savez_compressed(file.name, votes=np.zeros((500, 250), np.uint8), notes=[1])
    ...     promised(file.name)
    {'votes': Promised(shape=(500, 250), n_bytes=125128)}

    The same name twice counts as the larger one; a file that is no archive promises nothing. Raises
    ValueError for a member that does not begin as an array does, or is packed as NumPy packs none,
    and for a damaged archive; OSError if it cannot be opened.
    """
    arrays: dict[str, Promised] = {}
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            return arrays
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                if name in NAMES:
                    both = [_of_member(archive, info, name), *filter(None, [arrays.get(name)])]
                    arrays[name] = max(both, key=lambda each: each.n_bytes)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"not a readable npz file: {error}") from None
    return arrays


def _of_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Promised:
    if info.compress_type not in _PACKED:
        raise ValueError(f"not a readable npz file: {name} is packed as NumPy packs none")
    try:
        with archive.open(info) as member:
            start = io.BytesIO(member.read(_HEADER))
        shape, _, dtype = _READERS[np.lib.format.read_magic(start)](start)
    except Exception as error:  # a damaged archive sends the reader anywhere in the file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"not a readable npz file: {name}: {reason}") from None
    return Promised(shape, max(info.file_size, math.prod(shape) * dtype.itemsize))
