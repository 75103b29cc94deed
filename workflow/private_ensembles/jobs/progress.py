"""Progress of a long job: rate and remaining time in a terminal, one line at the end in the log."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

Item = TypeVar("Item")
# Seconds between two lines: several jobs share a terminal.
_EVERY = 5.0


class Meter:
    """Counts what is done and says so now and then.

    total: how many there will be, None where nobody knows. unit: what they are ("queries"). say:
    prints a line where people look, or None for silence; log: keeps the last one.
    """

    def __init__(
        self,
        total: int | None,
        unit: str,
        *,
        say: Callable[[str], None] | None,
        log: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ):
        self._total, self._unit = total, unit
        self._say, self._log, self._clock = say, log, clock
        self._done = 0
        self._start = self._last = clock()

    def advance(self, number: int = 1) -> None:
        """Count `number` more as done; a line is printed if the last one is some seconds old."""
        self._done += number
        now = self._clock()
        if self._say is not None and now - self._last >= _EVERY:
            self._last = now
            self._say(self._line(now - self._start))

    def finish(self) -> None:
        """Write to the log how many were done in what time."""
        seconds = self._clock() - self._start
        self._log(f"{self._done} {self._unit} in {seconds:.1f} s")

    def _line(self, seconds: float) -> str:
        of = "" if self._total is None else f" of {self._total}"
        rate = self._done / seconds
        line = f"{self._done}{of} {self._unit}, {_rate(rate)}"
        if self._total is not None and rate > 0:
            line += f", {_duration((self._total - self._done) / rate)} left"
        return line


def track(
    items: Iterable[Item], unit: str, *, total: int | None = None, **options
) -> Iterator[Item]:
    """Yield the items while a `Meter` (options as there) counts them."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    meter = Meter(total, unit, **options)
    for item in items:
        yield item
        meter.advance()
    meter.finish()


def terminal() -> bool:
    """Whether somebody watches: stderr is a terminal."""
    return sys.stderr.isatty()


def _rate(rate: float) -> str:
    return f"{rate:.3g} a second" if rate >= 1 else f"{60 * rate:.3g} a minute"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
