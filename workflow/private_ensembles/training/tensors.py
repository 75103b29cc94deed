"""Tensors and plain values in a file: equal contents give equal bytes, and no code in it is run."""

import io
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch

Content = TypeVar("Content")
# What PyTorch and a look into unknown content raise for a damaged file, or for one of another kind.
READ_ERRORS = (
    OSError,  # a file without beginning
    RuntimeError,
    pickle.UnpicklingError,
    EOFError,
    LookupError,
    AttributeError,
    TypeError,
    ValueError,
)


def pack(content) -> bytes:
    """Return tensors, numbers and text in dicts and lists as bytes."""
    buffer = io.BytesIO()  # torch.save writes a file's own name into it otherwise
    torch.save(content, buffer)
    return buffer.getvalue()


def unpack(data: bytes):
    """Return what `pack` packed, tensors on the CPU; raise one of READ_ERRORS if it is damaged."""
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)


def read_tensors(path: str | os.PathLike, what: str, parse: Callable[..., Content]) -> Content:
    """Return parse(content) of a file of tensors.

    Args:
        path: The file.
        what: What the file holds, in words, for the error message.
        parse: A function of the unpacked content. It may raise any of READ_ERRORS.

    Raises:
        ValueError: The file is damaged or something else; the message names it.
        OSError: The file cannot be opened.
    """
    data = Path(path).read_bytes()
    try:
        return parse(unpack(data))
    except READ_ERRORS as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"{os.fspath(path)}: not a readable {what}: {reason}") from None
