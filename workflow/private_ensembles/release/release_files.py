"""Files of a release appear whole, each release in a folder of its own, and tell no time but one.

How long a draw took is nobody's business, so every file has a time in whole seconds, that of the
charge; of a rehearsal, of the moment in which all of its files were put into place.
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

REHEARSAL_PREFIX = "rehearsal_"  # before the name of each file that must not be released


def paths_of(labels: Labels, others: Iterable[str] = ()) -> dict[str, Path]:
    """Return where `show` puts each file, by name, for labels that have a folder.

    others: names of what is told beside them.
    """
    mark = REHEARSAL_PREFIX if labels.total is None else ""
    names = ["labels.csv", *others, *labels.documents]
    return {name: labels.folder / f"{mark}{name}" for name in names}


def write_release(
    labels: Labels, others: Mapping[str, Callable[[Path], object]]
) -> dict[str, Path]:
    """Put labels, and what is told beside them, into their folder; return where each file is.

    labels: that have a folder, so that those on no ledger are a rehearsal: its names begin with
    `MARK`, and only their owner may read it. Beside a release there are its statement and its
    certificate, too. others: writes a file at a path, for each name. Raises OSError if something
    cannot be written.
    """
    folder = labels.folder
    folder.mkdir(parents=True, exist_ok=True)
    if labels.total is None:
        folder.chmod(0o700)  # whoever has the seed can take a rehearsal's noise away
    mode = folder.stat().st_mode & 0o666
    when = int(time.time()) if labels.time is None else labels.time
    texts = {"labels.csv": labels.text, **labels.documents}
    writers = {**others, **{name: writer(text) for name, text in texts.items()}}
    paths = paths_of(labels, others)
    for name, path in paths.items():
        write_atomically(path, writers[name], when, mode)
    return paths


def writer(text: str) -> Callable[[Path], object]:
    """Return what writes a text at a path."""
    return partial(Path.write_text, data=text, encoding="utf-8")


def list_written_paths(path: Path) -> list[Path]:
    """Return the files that `put` writes: the one at `path`, and its unfinished one."""
    return [path, path.with_name(f".{path.stem}.part{path.suffix}")]


def write_atomically(
    path: Path, write: Callable[[Path], object], timestamp: int, mode: int | None = None
) -> None:
    """Let a file appear whole, or leave the one before.

    when: its time, in whole seconds. mode: who may read it in the end; None: as usual. Until then
    nobody but its owner may. What is no file, such as /dev/stdout, is written as it is. Raises
    OSError, which names the file, if it cannot be written.
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
    except OSError as error:  # of a full disk it names none, and else the unfinished one
        raise OSError(error.errno or errno.EIO, str(error.strerror or error), str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
