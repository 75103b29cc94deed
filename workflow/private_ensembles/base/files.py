"""How a job talks to the world: log, progress, atomic outputs, and one line if it fails.

This module imports only the standard library, because every job pays for what is imported here.
"""

import contextlib
import csv
import errno
import fcntl
import functools
import gc
import json
import logging
import math
import os
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from private_ensembles import missing_extra
from private_ensembles.base import progress as watch
from private_ensembles.base import provenance as records

# A user can act on these failures, so their message alone is reported; others show their type, too.
_EXPECTED = (ValueError, OSError, RuntimeError, MemoryError)
# The disk takes no more. Such an error of a write does not say which file it was for.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
# This tells the user what to do if a file cannot be locked, as on some network disks.
NO_LOCKS = (
    "this file system may have no locks, without which two processes could charge at once: use a "
    "folder on a local disk"
)
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Files(list[Any]):
    """Paths by index and, if the rule names them, by attribute."""

    def __init__(self, paths: Sequence[Any], names: Mapping[str, Any] | None = None) -> None:
        super().__init__(paths)
        self._names = dict(names or {})

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._names:
            return self._names[name]
        raise AttributeError(f"no file named {name!r}: must be one of {', '.join(self._names)}")


class Job:
    """What a script sees of its rule.

    input, params, wildcards, threads, resources, config and rule are as in Snakemake.

    Attributes:
        output: the temporary paths at which the outputs are written.
        log: writes to the rule's log file.
        what: the rule and its wildcards, for messages.
    """

    def __init__(self, snakemake: Any, log: logging.Logger, *, confidential: bool = False) -> None:
        self.input = snakemake.input
        self.params = snakemake.params
        self.wildcards = snakemake.wildcards
        self.threads = snakemake.threads
        self.resources = getattr(snakemake, "resources", None)
        self.config = getattr(snakemake, "config", {})
        self.rule = getattr(snakemake, "rule", "script")
        wildcards = getattr(snakemake, "wildcards", None)
        values = ", ".join(f"{name}={value}" for name, value in dict(wildcards or {}).items())
        self.what = f"{self.rule} {values}".rstrip()
        self.log = log
        self.output, self._moves = _temporaries(snakemake.output)
        self._records = _records(self._moves)
        self._confidential = confidential
        inputs = {
            path: None if confidential or records.is_private(path) else digest
            for path, digest in records.check_inputs(snakemake.input).items()
        }
        self._origin = functools.partial(records.origin, snakemake, inputs)

    def report_progress(self, message: str, *arguments: object) -> None:
        """Write a line to the log and to the terminal, so that a long job is seen to advance.

        Args:
            message: a format for the arguments, as `logging` takes it.
            arguments: what is filled in.
        """
        text = message % arguments if arguments else message
        self.log.info("%s", text)
        self._say(text)

    def announce_duration(self, seconds: float) -> None:
        """Report about how many seconds of one core the work ahead takes."""
        self.report_progress("about %s of one core", watch.format_duration(seconds))

    def _say(self, text: str) -> None:
        print(f"{self.what}: {text}", file=sys.stderr, flush=True)

    def meter(self, total: int | None, unit: str) -> watch.Meter:
        """Return a counter of `total` items called `unit`, which prints only in a terminal."""
        return watch.Meter(total, unit, **self._meter_options())

    def track(self, items: Iterable[Any], unit: str, total: int | None = None) -> Iterator[Any]:
        """Yield the items while a :meth:`meter` counts them."""
        return watch.track(items, unit, total=total, **self._meter_options())

    def _meter_options(self) -> dict[str, Any]:
        say = self._say if watch.is_terminal() else None
        return {"say": say, "log": lambda line: self.log.info("%s", line)}


class _Stopped(BaseException):
    """A signal asked the job to end.

    It is no Exception, so that no handler on the way catches it.
    """

    def __init__(self, signum: int) -> None:
        super().__init__(f"stopped by {signal.Signals(signum).name}")
        self.code = 128 + signum


@contextlib.contextmanager
def job(
    snakemake: Any, *, confidential: bool = False, lock: str | Path | None = None
) -> Iterator[Job]:
    """Run a script's block as one job: all of its outputs appear when it succeeds, or none.

    Outputs are written under temporary names in their own folder, with their own suffix, and moved
    into place together after the block. They are removed if the block raises, or if SIGTERM, SIGHUP
    or Ctrl-C ends it. What a killed job left behind is removed when the job starts again. Until the
    outputs are in place, nobody else may read them (mode 0600). Each result gets its record, and an
    input that differs from its record is refused (`base.provenance`). A private result
    (`provenance.is_private`) stays for its owner alone (files 0600, the folder 0700).

    A failure prints one line `error: ...` on stderr, leaves the traceback in the log and ends the
    process with status 1 (130, 143 or 129 after a signal).

    Args:
        snakemake: what Snakemake gives the script.
        confidential: whether the inputs are somebody's private data. Their hashes are then recorded
            nowhere, only the owner may read the log, in which an error may quote them, and all
            outputs get one time, a whole second, because how long the work took may depend on the
            data.
        lock: a file that is held from before the job touches its outputs until they are in place
            (`hold_lock`).
    """
    # What a script has imported stays until its process ends. So Python's collector need not walk
    # through it, least of all at the end: a third of the time of a job that does little but import
    # PyTorch.
    gc.freeze()
    # The handlers come first, because a signal during the set-up must leave nothing behind either.
    with (
        _signals_raise(),
        _logging(snakemake, confidential) as log,
        _mask(0o077) as mask,
        contextlib.ExitStack() as held,
    ):
        held.callback(gc.freeze)  # and what the job's work has imported or left
        current = None
        code = 1
        try:
            with _mask(mask):  # everybody may read the folders that are made
                if lock is not None:
                    held.enter_context(hold_lock(lock))
                current = Job(snakemake, log, confidential=confidential)
            log.info("%s started, process %d", current.rule, os.getpid())
            yield current
            _publish(current, mask)
            log.info("%s finished%s", current.rule, _peak_memory())
            return
        except _Stopped as stop:
            code, message = stop.code, str(stop)
            log.error("%s", message)
        except KeyboardInterrupt:
            code, message = 130, "stopped by SIGINT"
            log.error("%s", message)
        except SystemExit as leave:
            # Even sys.exit(0) within the block means that the outputs were not all written.
            message = f"the script exited with {leave.code!r}"
            log.error("%s", message)
        except Exception as error:
            message = describe(error)
            if isinstance(error, OSError) and error.errno in _DISK and error.filename is None:
                message += f" (writing {', '.join(map(str, snakemake.output))})"
            log.error("%s", message, exc_info=True)
        if current is not None:
            for temporary, _ in current._moves + current._records:
                _remove(temporary)
        print(f"error: {message}", file=sys.stderr, flush=True)
    sys.exit(code)


@contextlib.contextmanager
def hold_lock(lock: str | Path) -> Iterator[None]:
    """Hold a lock file while the block runs; wait, and say so, if another process holds it.

    The file and its folder are made.

    Raises:
        OSError: if they cannot be made or locked.
    """
    Path(lock).parent.mkdir(parents=True, exist_ok=True)
    with open(lock, "a", encoding="utf-8") as file:
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"{lock}: is held by another process: waiting", file=sys.stderr, flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror}: {NO_LOCKS}", str(lock)) from None
        yield


def is_held(lock: str | Path) -> bool:
    """Return whether some process, perhaps this one, holds a lock file."""
    try:
        with open(lock, encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # nobody holds a file that is not there or cannot be locked
        return False
    return False


def _peak_memory() -> str:
    """Return the process's peak memory as text, if Linux tells it: benchmarks look too rarely."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return f", peak memory {int(status.split('VmHWM:')[1].split()[0]) / 1024:.0f} MiB"
    return ""


def describe(error: BaseException) -> str:
    """Describe an exception in one line, without its traceback."""
    if isinstance(error, MemoryError):
        return f"out of memory: {_one_line(error)}".rstrip(": ")
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if isinstance(error, ModuleNotFoundError):
        return missing_extra(error)
    text = _one_line(error)
    if isinstance(error, _EXPECTED) and text:
        return text
    return f"{type(error).__name__}: {text}".rstrip(": ")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _temporaries(outputs: Any) -> tuple[Files, list[tuple[Path, Path]]]:
    """Map each output to its temporary path, after removing what a killed job left there."""
    moves = {}
    for output in outputs:
        final = Path(str(output))
        # The name has no process id, so that the next start finds and removes what a killed one
        # left; Snakemake's lock keeps a second writer away.
        temporary = final.with_name(f".{final.stem}.part{final.suffix}")
        final.parent.mkdir(parents=True, exist_ok=True)
        if records.is_private(final):
            final.parent.chmod(0o700)
        _remove(temporary)
        moves[str(output)] = (temporary, final)
    names = {}
    for name, value in outputs.items() if hasattr(outputs, "items") else ():
        single = isinstance(value, str | os.PathLike)
        names[name] = (
            moves[str(value)][0] if single else Files([moves[str(item)][0] for item in value])
        )
    return Files([temporary for temporary, _ in moves.values()], names), list(moves.values())


def _records(moves: list[tuple[Path, Path]]) -> list[tuple[Path, Path]]:
    """Map the record of each result to its temporary path, as `_temporaries` does for outputs."""
    finals = [records.record_path(final) for _, final in moves]
    return _temporaries([final for final in finals if final is not None])[1]


def _publish(current: Job, mask: int) -> None:
    """Move all temporaries into place; if one cannot be moved, take back those that were."""
    missing = [str(final) for temporary, final in current._moves if not temporary.exists()]
    if missing:
        raise RuntimeError(f"{current.rule} did not write {', '.join(missing)}")
    if current._confidential:
        now = int(time.time())
        for temporary, _ in current._moves:
            os.utime(temporary, (now, now))
    facts = current._origin() if current._records else {}
    record_files = {final: temporary for temporary, final in current._records}
    for temporary, final in current._moves:
        if (record := records.record_path(final)) is not None:
            records.write_record(record_files[record], final, temporary, facts)
    moves = current._moves + current._records
    for temporary, final in moves:
        if not records.is_private(final):
            _open_to_readers(temporary, mask)
        if temporary.is_file():
            # A full disk may show only here, and a rename after it cannot leave an empty file.
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
    moved = []
    try:
        for temporary, final in moves:
            if final.is_dir() and not final.is_symlink():
                shutil.rmtree(final)
            os.replace(temporary, final)
            moved.append(final)
    except BaseException:
        for final in moved:
            _remove(final)
        raise


def _open_to_readers(path: Path, mask: int) -> None:
    """Give a finished file or folder the permissions that it would have had from the start."""
    if path.is_dir():
        for inside in path.iterdir():
            _open_to_readers(inside, mask)
    if not path.is_symlink():
        path.chmod((0o777 if path.is_dir() else 0o666) & ~mask)


@contextlib.contextmanager
def _mask(mask: int) -> Iterator[int]:
    """Take `mask` from the permissions of what the block makes; yield the previous mask."""
    before = os.umask(mask)
    try:
        yield before
    finally:
        os.umask(before)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _signals_raise() -> Iterator[None]:
    """Turn the signals that ask a job to end into an exception while the block runs."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python delivers signals to the main thread only.
        return

    def stop(signum: int, frame: object) -> None:
        # A second signal must not interrupt the clearing up.
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise _Stopped(signum)

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _LogFile(logging.FileHandler):
    """A log file that swallows its own errors: on a full disk they would bury the job's message."""

    def handleError(self, record: logging.LogRecord) -> None:
        pass


@contextlib.contextmanager
def _logging(snakemake: Any, confidential: bool) -> Iterator[logging.Logger]:
    """Send the log, and the warnings of libraries, to the rule's log file, line by line."""
    log = logging.getLogger("private_ensembles.job")
    log.setLevel(logging.INFO)
    log.propagate = False
    paths = [str(path) for path in getattr(snakemake, "log", None) or ()]
    handler: logging.Handler = logging.NullHandler()
    if paths:
        try:
            Path(paths[0]).parent.mkdir(parents=True, exist_ok=True)
            handler = _LogFile(paths[0], mode="w", encoding="utf-8")
            if confidential:
                Path(paths[0]).chmod(0o600)
        except OSError as error:
            print(f"error: {describe(error)}", file=sys.stderr, flush=True)
            sys.exit(1)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    warned = logging.getLogger("py.warnings")
    propagate = warned.propagate
    warned.propagate = False
    log.addHandler(handler)
    warned.addHandler(handler)
    with warnings.catch_warnings():
        logging.captureWarnings(True)
        try:
            yield log
        finally:
            logging.captureWarnings(False)
            log.removeHandler(handler)
            warned.removeHandler(handler)
            warned.propagate = propagate
            with contextlib.suppress(OSError):  # the disk may be full
                handler.close()


def write_csv(path: str | Path, rows: Any, columns: Sequence[str] | None = None) -> None:
    """Write a table as CSV.

    Floats are written in full (in the shortest form that reads back the same), None and NaN as
    nothing.

    Args:
        path: of the file.
        rows: mappings with the same keys, or a pandas DataFrame, whose index is left out.
        columns: the columns in their order; None for those of the rows.

    Raises:
        ValueError: if rows differ in their keys, or if there are neither rows nor columns.
    """
    values: Iterable[Sequence[Any]]
    if hasattr(rows, "to_csv"):
        frame = rows if columns is None else rows[list(columns)]
        names = list(frame.columns)
        values = zip(*(frame[name].tolist() for name in names), strict=True)
    else:
        rows = list(rows)
        if not rows and columns is None:
            raise ValueError(f"rows of {path}: must not be empty unless columns are given")
        names = list(rows[0] if columns is None else columns)
        for row in rows:
            if set(row) != set(names):
                odd = ", ".join(sorted(map(str, set(row) ^ set(names))))
                raise ValueError(f"rows of {path}: must have the same columns, but not all: {odd}")
        values = ([row[name] for name in names] for row in rows)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_cell(value) for value in line] for line in values)


def _cell(value: Any) -> str:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return "" if math.isnan(value) else repr(float(value))
    return str(value)  # such as a numpy.bool


def write_json(path: str | Path, value: Any) -> None:
    """Write readable JSON, arrays as lists.

    Raises:
        ValueError: for NaN, infinity and objects that JSON does not have.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise ValueError(f"value of type {type(value).__name__}: must be a number, text, list or dict")


def write_npz(path: str | Path, **arrays: Any) -> None:
    """Write arrays of any shapes, compressed; equal arrays always give equal bytes.

    Raises:
        ValueError: for an array of Python objects, which could only be stored as a pickle.
    """
    import zipfile

    import numpy as np

    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ValueError(f"{name}: must be numbers or text, not Python objects")
    # np.savez_compressed writes the same at a level that takes five times as long for votes.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def read_npz(
    path: str | Path, required: Sequence[str] = (), names: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the arrays of an npz file by name; pickles are never loaded.

    Args:
        path: of the file.
        required: names that must be there.
        names: of the arrays that are unpacked; None for all.

    Raises:
        ValueError: with the file's name, if it is no readable npz file or lacks a required name.
        OSError: if the file cannot be opened.
    """
    import numpy as np

    with open(path, "rb") as file:
        try:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it is a single array")
            wanted = [name for name in archive.files if names is None or name in names]
            arrays = {name: archive[name] for name in wanted}
        except Exception as error:  # a damaged archive may raise anything
            raise ValueError(
                f"{path}: not a readable npz file: {explain_unreadable(error)}"
            ) from None
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):  # NumPy returns a member that is no array as bytes
            raise ValueError(f"{path}: {name} is not an array")
    missing = [name for name in required if name not in arrays]
    if missing:
        has = ", ".join(arrays) or "nothing"
        raise ValueError(f"{path}: lacks {', '.join(missing)}: has {has}")
    return arrays


def explain_unreadable(error: Exception) -> str:
    """Say in one line why NumPy does not read a file, without its advice to load it unsafely."""
    text = _one_line(error)
    if text.startswith("Header info length"):
        return "its header is longer than any array of numbers needs"
    if "Object arrays" in text or "Python objects" in text:
        return "it holds pickled Python objects, which are never loaded"
    if "pickle" in text:  # NumPy says so of anything that does not begin as its files do
        return "its content is neither npy nor npz; pickles are never loaded"
    return text


def provenance(*packages: str, device: str | None = None, **facts: Any) -> dict[str, Any]:
    """Return what a result came from: versions, git revision, Python, machine, and `facts`.

    Args:
        packages: distributions whose versions matter, such as "torch"; None is recorded for one
            that is not installed.
        device: "cpu" unless another one is given.
        facts: what else is recorded, by name.
    """
    return {**facts, **records.surroundings(*packages, device=device or "cpu")}
