"""What subcommands print: JSON that any program can read, or text whose numbers remain bounds."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from private_ensembles.base.parameter_names import write_lower_bound, write_upper_bound
from private_ensembles.base.progress import format_duration

# Work is announced while it runs if it takes longer than the first, and beforehand if it is
# expected to take longer than the second, in seconds.
_SHORT, _LONG = 1.0, 15.0


class NotPrinted(Exception):
    """The work is done, but standard output does not take what there is to say."""


def emit(value: dict | list, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a report as JSON or as lines of text.

    Args:
        value: The report for JSON.
        text: The lines of text.
        as_json: Whether JSON is printed.

    Raises:
        NotPrinted: Standard output does not take it, as in `guard_printing`.
    """
    if as_json:
        shown = json.dumps(to_plain_types(value), indent=2, ensure_ascii=False, allow_nan=False)
    else:
        shown = "\n".join(lines)
    with guard_printing():
        print(shown)


@contextlib.contextmanager
def guard_printing() -> Iterator[None]:
    """Print within the block what the work has come to.

    A reader who closes the pipe has seen enough, so that is no error. No failure to print says that
    the input was bad: a release has been made and charged by then.

    Raises:
        NotPrinted: Printing fails for another reason, such as a full disk.
    """
    try:
        yield
        if sys.stdout is not None:  # it is None if the shell has closed it
            sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        raise NotPrinted(f"standard output: {error.strerror}; all else is done") from None


def _discard(stream: TextIO) -> None:
    """Discard what is still to be printed, or Python would fail on it again as it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def print_help(options: argparse.Namespace) -> int:
    """Print the help, because no subcommand was chosen, and return the exit status 0."""
    with guard_printing():
        print(options.help_text(), end="")
    return 0


def say(line: str) -> None:
    """Print a line to standard error; a failure to print it is ignored, here and at the end."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


@contextlib.contextmanager
def announce_slow_work(work: str) -> Iterator[None]:
    """Say in a terminal which work is done within the block, if it takes longer than a second."""
    later = threading.Timer(_SHORT, say, [work])
    later.daemon = True
    if is_terminal():
        later.start()
    try:
        yield
    finally:
        later.cancel()


def is_terminal() -> bool:
    """Return whether standard error is a terminal, so that somebody may read it meanwhile."""
    return sys.stderr is not None and sys.stderr.isatty()


def warn_of_duration(seconds: float) -> None:
    """Say on standard error, before work starts, how long it takes, if that is 15 s or more."""
    if seconds >= _LONG:
        say(f"this takes about {format_duration(seconds)} of one core")


def to_plain_types(value: Any) -> Any:
    """Return a value in plain types for JSON: infinities as "inf", NaN (nothing is known) as null.

    >>> to_plain_types({"epsilon": math.inf, "shown": (1, math.nan)})
    {'epsilon': 'inf', 'shown': [1, None]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: to_plain_types(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain_types(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def format_upper_bound(value: float) -> str:
    """Return a number >= 0 as text of five digits, rounded up.

    >>> format_upper_bound(1.0000000000020073), format_upper_bound(0), format_upper_bound(math.inf)
    ('1.0001', '0', 'inf')
    """
    return write_upper_bound(value) if math.isfinite(value) else "inf"


def format_lower_bound(value: float) -> str:
    """Return a number >= 0 as text of five digits, rounded down.

    >>> format_lower_bound(0.9999999999979928)
    '0.99999'
    """
    return write_lower_bound(value) if math.isfinite(value) else "inf"
