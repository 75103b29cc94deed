"""What a killed training needs to go on: written now and then, read by the next try."""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from private_ensembles.training.tensors import READ_ERRORS, pack, unpack


class Checkpoint:
    """Tensors and plain values in one file, which only a training with the same identity reads.

    path: the file, no output of the workflow, which would remove it with those of a failed job;
    None: nothing is ever written. identity: a text that differs for whatever trains differently.
    every: least seconds between two writings; 0 writes at every chance. report: told what became of
    a file that was found. A file appears whole or not at all.
    """

    def __init__(self, path=None, identity="", min_interval=60.0, report=lambda message: None):
        self.path = None if path is None else Path(path)
        self.identity, self.min_interval, self.report = identity, min_interval, report
        self.written = time.monotonic()

    @property
    def _unfinished(self):
        return self.path.with_name(f"{self.path.name}.new")

    def is_due(self):
        """Tell whether it is time to write."""
        return self.path is not None and time.monotonic() - self.written >= self.min_interval

    def save(self, **content):
        """Replace the file by one that holds `content`: all of it, or the one before stays."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(self._unfinished, "wb") as file:
                file.write(pack({"identity": self.identity, "content": content}))
                file.flush()
                os.fsync(file.fileno())
            os.replace(self._unfinished, self.path)
        finally:
            self._unfinished.unlink(missing_ok=True)
        self.written = time.monotonic()

    def load(self):
        """The content of the file, or None if there is none for this identity.

        A file of another training, or a damaged one, is reported and left to be overwritten.
        """
        if self.path is None or not self.path.exists():
            return None
        try:
            saved = unpack(self.path.read_bytes())
            identity, content = saved["identity"], saved["content"]
        except READ_ERRORS:
            self.report(f"{self.path}: not a readable checkpoint: training starts again")
            return None
        if identity != self.identity:
            self.report(f"{self.path}: belongs to another training: training starts again")
            return None
        self.report(f"{self.path}: training goes on from there")
        return content

    def remove(self):
        """Remove the file, which a finished training needs no more."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self._unfinished.unlink(missing_ok=True)


def hash_identity(facts: Mapping, *arrays: np.ndarray) -> str:
    """Hexadecimal sha256 of JSON-able facts and arrays: an identity for a Checkpoint."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def checkpoint_for_output(output, job, device, facts):
    """The Checkpoint of a job that trains: a hidden file beside its output, which no rule declares.

    output: path of the output. job: an `io.Job`, whose configuration says how often to write.
    device: where it trains. facts: JSON-able, with all else that training depends on; the code and
    PyTorch's version are added.
    """
    identity = {**facts, "code": job.params.code, "torch": torch.__version__, "device": str(device)}
    path = Path(output)
    return Checkpoint(
        path.with_name(f".{path.stem}.checkpoint"),
        json.dumps(identity, sort_keys=True),
        job.config["teachers"]["checkpoint_seconds"],
        job.report_progress,
    )
