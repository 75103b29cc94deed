"""End a piece of work at any of its lines, as a kill, Ctrl-C or a full disk would.

The work runs in a fork, so that what the tests have loaded need not be loaded again.
"""

import multiprocessing
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType

FAILED = 2


def by(number: signal.Signals) -> Callable[[], None]:
    """Return what sends a signal to the process that calls it."""
    return lambda: os.kill(os.getpid(), number)


def at_every_line(
    work: Callable[[], None],
    where: Iterable[ModuleType | str],
    end: Callable[[], None],
) -> Iterator[int]:
    """Run the work again and again; end it at its first line in these files, its second, and so on.

    where: modules, or paths of files. end: called at that line. Yields the number of the line, each
    time with the process gone; the last time the work was not ended. A line counts once, when it
    is reached first. Whatever stands between two runs is the caller's.
    """
    files = {place if isinstance(place, str) else place.__file__ for place in where}
    number = 0
    while True:
        number += 1
        done = _forked(lambda n=number: _ending(work, files, end, n))
        yield number
        if done:
            return


def with_room_for(size: int, work: Callable[[], None]) -> bool:
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


def _ending(work, files: set[str], end, number: int) -> bool:
    seen: set[tuple[str, int]] = set()

    def lines(frame, event, _):
        if event == "line" and len(seen) < number:
            seen.add((frame.f_code.co_filename, frame.f_lineno))
            if len(seen) == number:
                end()
        return lines

    def calls(frame, event, _):
        return lines if frame.f_code.co_filename in files else None

    sys.settrace(calls)
    try:
        work()
    finally:
        sys.settrace(None)
    return len(seen) < number
