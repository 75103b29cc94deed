"""End a piece of work at any of its lines, as a kill, Ctrl-C or a full disk would.

The work runs in a fork, so that what the tests have loaded need not be loaded again.
"""

import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType

FAILED = 2


def kill_with(number: signal.Signals) -> Callable[[], None]:
    """Return what sends a signal to the process that calls it."""
    return lambda: os.kill(os.getpid(), number)


def end_at_every_line(
    work: Callable[[], None],
    where: Iterable[ModuleType | str],
    end: Callable[[], None],
) -> Iterator[int]:
    """Run the work again and again; end it at its first line in these files, its second, and so on.

    where: modules, or paths of files. end: called at that line. Yields the number of the line, each
    time with the process gone; the last time the work was not ended. A line counts once, when it
    is reached first. Whatever stands between two runs is the caller's.
    """
    number = 0
    while True:
        number += 1
        done = _forked(lambda n=number: _ending(work, where, end, n))
        yield number
        if done:
            return


def visit_every_state(
    work: Callable[[], None], where: Iterable[ModuleType | str], folder: Path
) -> Iterator[int]:
    """Run the work once, and put the folder into each state in which a kill would leave it.

    SIGKILL gives a process no chance to write: it leaves what is on the disk. So kills at two lines
    between which nothing changes on the disk leave the same, and one of them is enough. Unlike
    `at_every_line`, which other signals need, each line counts as often as it is reached.

    where: as for `at_every_line`. folder: of all that the work writes; it need not be there. Yields
    the number of the state; the last is that of the work done.
    """
    with tempfile.TemporaryDirectory() as kept:
        assert _forked(lambda: _keeping(work, where, folder, Path(kept)))
        for number in range(len(os.listdir(kept))):
            shutil.rmtree(folder, ignore_errors=True)
            state = Path(kept, str(number), "state")
            if state.exists():  # else there was no such folder yet
                shutil.copytree(state, folder, symlinks=True)
            yield number


def run_with_room_for(size: int, work: Callable[[], None]) -> bool:
    """Run the work where no file can grow beyond `size` bytes; tell whether it was done."""

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        work()
        return True

    return _forked(full)


def _forked(work: Callable[[], bool]) -> bool:
    """Tell whether a process came to the end of its work, which says whether it was all done."""
    process = multiprocessing.get_context("fork").Process(target=_tell, args=(work,))
    process.start()
    process.join()
    assert process.exitcode != FAILED, "the work failed for a reason of its own"
    return process.exitcode == 0


def _tell(work):
    """Do the work and end: with 0 if it says that all is done."""
    # Where the tests run in the background, Ctrl-C is ignored; here it must be heard.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(0 if work() else 1)
    except (OSError, KeyboardInterrupt):  # a full disk, or asked to end
        sys.exit(1)
    except Exception:
        traceback.print_exc()
        sys.exit(FAILED)


def _ending(work, where, end, number: int) -> bool:
    seen: set[tuple[str, int]] = set()

    def line(frame):
        if len(seen) < number:
            seen.add((frame.f_code.co_filename, frame.f_lineno))
            if len(seen) == number:
                end()

    _traced(work, where, line)
    return len(seen) < number


def _keeping(work, where, folder: Path, kept: Path) -> bool:
    """Copy the folder whenever a line finds another state of it than the line before."""
    last, number = object(), 0

    def line(_=None):
        nonlocal last, number
        state = _state(folder)
        if state != last:
            copy = kept / str(number)
            copy.mkdir()
            if folder.exists():
                shutil.copytree(folder, copy / "state", symlinks=True)
            last, number = state, number + 1

    _traced(work, where, line)
    line()
    return True


def _state(folder: Path) -> list[tuple]:
    """All that can be known of what is in a folder: names, modes, times and bytes."""
    found = []
    for place, _, names in os.walk(folder):
        found.append((place, os.stat(place).st_mode))
        for name in sorted(names):
            path = Path(place, name)
            facts = path.lstat()
            text = os.readlink(path) if path.is_symlink() else path.read_bytes()
            found.append((path, facts.st_mode, facts.st_mtime_ns, text))
    return found


def _traced(work, where, line):
    """Do the work; call `line` with the frame at each line in these files, before it runs."""
    files = {place if isinstance(place, str) else place.__file__ for place in where}

    def lines(frame, event, _):
        if event == "line":
            line(frame)
        return lines

    def calls(frame, event, _):
        return lines if frame.f_code.co_filename in files else None

    sys.settrace(calls)
    try:
        work()
    finally:
        sys.settrace(None)
