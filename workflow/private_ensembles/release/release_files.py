"""Files of a release appear whole, each release in a folder of its own, and all have one time.

How long a draw took is nobody's business, so every file has the time of the charge, in whole
seconds. Files of a rehearsal have the time at which all of them were put into place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from private_ensembles.release.ledger_file import sync_to_disk
from private_ensembles.release.transaction import Labels

REHEARSAL_PREFIX = "rehearsal_"  # stands before the name of each file that must not be released


def paths_of(labels: Labels, others: Iterable[str] = ()) -> dict[str, Path]:
    """Return where `write_release` puts each file, by name.

    Args:
        labels: Labels that have a folder.
        others: Names of the files that are written beside them.
    """
    folder = labels.folder
    assert folder is not None  # the caller says so
    prefix = REHEARSAL_PREFIX if labels.total is None else ""
    names = ["labels.csv", *others, *labels.documents]
    return {name: folder / f"{prefix}{name}" for name in names}


def write_release(
    labels: Labels, others: Mapping[str, Callable[[Path], object]], *, job: bool = False
) -> dict[str, Path]:
    """Write labels, and the files beside them, into their folder; return where each file is.

    A release has its statement and its certificate beside it. The names of a rehearsal's files
    begin with `REHEARSAL_PREFIX`, and only their owner may read them.

    Args:
        labels: Labels that have a folder; if they are on no ledger, they are a rehearsal.
        others: For each name of another file, a function that writes it at a path.
        job: Whether a job writes them, of which only its owner may read what it makes: those of a
            release are then for all who may read the folder of releases.

    Raises:
        OSError: If something cannot be written.
    """
    folder = labels.folder
    assert folder is not None  # the caller says so
    folder.mkdir(parents=True, exist_ok=True)
    if labels.total is None:
        folder.chmod(0o700)  # whoever has the seed can take a rehearsal's noise away
    elif job:
        folder.chmod(folder.parent.stat().st_mode & 0o755)
    mode = folder.stat().st_mode & 0o666
    timestamp = int(time.time()) if labels.time is None else labels.time
    texts = {"labels.csv": labels.text, **labels.documents}
    writers = {**others, **{name: writer(text) for name, text in texts.items()}}
    paths = paths_of(labels, others)
    for name, path in paths.items():
        write_atomically(path, writers[name], timestamp, mode)
    return paths


def writer(text: str) -> Callable[[Path], object]:
    """Return a function that writes a text at a path."""
    return partial(Path.write_text, data=text, encoding="utf-8")


def list_written_paths(path: Path) -> list[Path]:
    """Return the files that `write_atomically` writes: that at `path`, and its unfinished one."""
    return [path, path.with_name(f".{path.stem}.part{path.suffix}")]


def write_atomically(
    path: Path, write: Callable[[Path], object], timestamp: int, mode: int | None = None
) -> None:
    """Write a file that appears whole, or leave the one that was there.

    What is no file, such as /dev/stdout, is written as it is.

    Args:
        path: Where the file is to be.
        write: Writes it at a path.
        timestamp: The file's time, in whole seconds.
        mode: Who may read it in the end; None: as usual. Until then only its owner may.

    Raises:
        OSError: If it cannot be written; the error names the file.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        write(path)
        return
    _, unfinished = list_written_paths(path)
    try:
        unfinished.unlink(missing_ok=True)
        if mode is not None:
            unfinished.touch(mode=0o600)
        write(unfinished)
        if mode is not None:
            unfinished.chmod(mode)
        os.utime(unfinished, (timestamp, timestamp))
        sync_to_disk(unfinished)
        os.replace(unfinished, path)
    except OSError as error:  # it names no file if the disk is full, or the unfinished one
        raise OSError(error.errno or errno.EIO, str(error.strerror or error), str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
