"""Files of a release appear whole, each release in a folder of its own, and tell no time but one.

How long a draw took is nobody's business, so every file has a time in whole seconds, that of the
moment in which all of them were put into place.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from private_ensembles.release import record
from private_ensembles.release.releasing import Labels

MARK = "rehearsal_"  # before the name of each file that must not be released


def show(labels: Labels, others: Mapping[str, Callable[[Path], object]]) -> dict[str, Path]:
    """Put labels, and what is told beside them, into their folder; return where each file is.

    labels: that have a folder, so that those on no record are a rehearsal: its names begin with
    `MARK`, and only their owner may read it. Beside a release there are its statement and its
    certificate, too. others: writes a file at a path, for each name. Raises OSError if something
    cannot be written.
    """
    rehearsal = labels.total is None
    folder, mark = labels.folder, MARK if rehearsal else ""
    folder.mkdir(parents=True, exist_ok=True)
    if rehearsal:
        folder.chmod(0o700)  # whoever has the seed can take a rehearsal's noise away
    mode, now = folder.stat().st_mode & 0o666, int(time.time())

    files = {}

    def put_all(writers: Mapping[str, Callable[[Path], object]]) -> None:
        for name, write in writers.items():
            files[name] = folder / f"{mark}{name}"
            put(files[name], write, now, mode)

    put_all({"labels.csv": writer(labels.text), **others})
    put_all({name: writer(text) for name, text in _documents(labels).items()})
    return files


def _documents(labels: Labels) -> dict[str, str]:
    """The statement and the certificate of a release whose plan this version can read."""
    if labels.release is None:
        return {}
    from private_ensembles.release import statement  # late: SciPy

    with contextlib.suppress(ValueError):
        return statement.documents(labels.release, labels.total, labels.joint)
    return {}


def writer(text: str) -> Callable[[Path], object]:
    """Return what writes a text at a path."""
    return partial(Path.write_text, data=text, encoding="utf-8")


def put(path: Path, write: Callable[[Path], object], when: int, mode: int | None = None) -> None:
    """Let a file appear whole, or leave the one before.

    when: its time, in whole seconds. mode: who may read it in the end; None: as usual. Until then
    nobody but its owner may.
    """
    unfinished = path.with_name(f".{path.stem}.part{path.suffix}")
    unfinished.unlink(missing_ok=True)
    try:
        if mode is not None:
            unfinished.touch(mode=0o600)
        write(unfinished)
        if mode is not None:
            unfinished.chmod(mode)
        os.utime(unfinished, (when, when))
        record.synced(unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
