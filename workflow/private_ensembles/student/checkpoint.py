"""Where a student's training stands, in a file, so that a killed job goes on from there."""

from __future__ import annotations

import hashlib
import io as standard_io
import json
import os
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch


def identity(facts: Mapping, *arrays: np.ndarray) -> str:
    """Hexadecimal sha256 of JSON-able facts and arrays: what a checkpoint must belong to."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def save(path: str | os.PathLike, owner: str, content: Mapping) -> None:
    """Write a checkpoint of the training named `owner`: all of it, or the one before stays.

    content: tensors, numbers and text in dicts and lists.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = standard_io.BytesIO()
    torch.save({"owner": owner, "content": dict(content)}, buffer)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(buffer.getvalue())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def load(path: str | os.PathLike, owner: str) -> dict | None:
    """The content of the checkpoint at `path`; None where there is none that `owner` can use.

    A damaged file, or one of other data or parameters, is no checkpoint: training starts over.
    """
    try:
        data = standard_io.BytesIO(Path(path).read_bytes())
    except FileNotFoundError:
        return None
    try:
        found = torch.load(data, map_location="cpu", weights_only=True)
        return found["content"] if found["owner"] == owner else None
    except (RuntimeError, pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError):
        return None
