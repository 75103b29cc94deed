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

    A file appears whole or not at all.

    Args:
        path: The file. It must be no output of the workflow, which would remove it with those of a
            failed job. None: nothing is ever written.
        identity: A text that differs for whatever trains differently.
        min_interval: The fewest seconds between two writings; 0 writes at every chance.
        report: Called with a message that says what became of a file that was there.
    """

    def __init__(self, path=None, identity="", min_interval=60.0, report=lambda message: None):
        self.path = None if path is None else Path(path)
        self.identity, self.min_interval, self.report = identity, min_interval, report
        self.written = time.monotonic()

    @property
    def _unfinished(self):
        return self.path.with_name(f"{self.path.name}.new")

    def is_due(self):
        """Return whether it is time to write."""
        return self.path is not None and time.monotonic() - self.written >= self.min_interval

    def save(self, **content):
        """Replace the file by one that holds all of `content`; if that fails, the old one stays."""
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
        """Return the content of the file, or None if there is none for this identity.

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
        """Remove the file, which a finished training no longer needs."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self._unfinished.unlink(missing_ok=True)


def hash_identity(facts: Mapping, *arrays: np.ndarray) -> str:
    """Return the hexadecimal sha256 of JSON-able facts and arrays: an identity for a Checkpoint."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def checkpoint_for_output(output, job, device, facts):
    """Return the Checkpoint of a job that trains: a hidden file beside the job's output.

    No rule declares the file.

    Args:
        output: The path of the output.
        job: A `base.files.Job`, whose configuration says how often to write.
        device: Where the job trains.
        facts: All else that training depends on, JSON-able. The code and PyTorch's version are
            added.
    """
    identity = {**facts, "code": job.params.code, "torch": torch.__version__, "device": str(device)}
    path = Path(output)
    return Checkpoint(
        path.with_name(f".{path.stem}.checkpoint"),
        json.dumps(identity, sort_keys=True),
        job.config["teachers"]["checkpoint_seconds"],
        job.report_progress,
    )
