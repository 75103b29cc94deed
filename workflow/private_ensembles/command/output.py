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
from numbers import Real

from private_ensembles.base.parameter_names import write_lower_bound, write_upper_bound
from private_ensembles.base.progress import format_duration

_SHORT, _LONG = 1.0, 15.0


class NotPrinted(Exception):
    """What was asked for is done, but standard output does not take what there is to say."""


def emit(value: dict | list, text: Iterable[str], *, as_json: bool) -> None:
    """Print `value` as JSON, or else the lines of `text`; raises NotPrinted as `printing` does."""
    if as_json:
        shown = json.dumps(to_plain_types(value), indent=2, ensure_ascii=False, allow_nan=False)
    else:
        shown = "\n".join(text)
    with guard_printing():
        print(shown)


@contextlib.contextmanager
def guard_printing() -> Iterator[None]:
    """Print within the block what the work has come to; a reader who closes the pipe has seen it.

    Raises NotPrinted for any other failure, such as a full disk: neither says that the input was
    bad, and a release has been made and charged.
    """
    try:
        yield
        if sys.stdout is not None:  # it is if the shell has closed it
            sys.stdout.flush()
    except BrokenPipeError:
        _discard()
    except OSError as error:
        _discard()
        raise NotPrinted(f"standard output: {error.strerror}; all else is done") from None


def _discard() -> None:
    """Send what is still to be printed nowhere, or Python would fail on it again as it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def print_help(options: argparse.Namespace) -> int:
    """Print what there is to choose from, where nothing was chosen; 0, the exit status."""
    with guard_printing():
        print(options.help_text(), end="")
    return 0


def say(line: str) -> None:
    """Say on standard error what to know before the work is done; nobody has to listen."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def announce_slow_work(work: str) -> Iterator[None]:
    """Say in a terminal what is done within the block, once that takes longer than a second."""
    later = threading.Timer(_SHORT, say, [work])
    later.daemon = True
    if is_terminal():
        later.start()
    try:
        yield
    finally:
        later.cancel()


def is_terminal() -> bool:
    """Return whether somebody reads standard error while the work is done."""
    return sys.stderr is not None and sys.stderr.isatty()


def warn_of_duration(seconds: float) -> None:
    """Say on standard error that work takes long, before it starts; nothing of less than 15 s."""
    if seconds >= _LONG:
        say(f"this takes about {format_duration(seconds)} of one core")


def to_plain_types(value):
    """Return plain types for JSON: infinities as "inf", NaN (nothing is known) as null.

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


def format_upper_bound(value: Real) -> str:
    """Write a number >= 0 to five digits, rounded up.

    >>> format_upper_bound(1.0000000000020073), format_upper_bound(0), format_upper_bound(math.inf)
    ('1.0001', '0', 'inf')
    """
    return write_upper_bound(value) if math.isfinite(value) else "inf"


def format_lower_bound(value: Real) -> str:
    """Write a number >= 0 to five digits, rounded down.

    >>> format_lower_bound(0.9999999999979928)
    '0.99999'
    """
    return write_lower_bound(value) if math.isfinite(value) else "inf"
