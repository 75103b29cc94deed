"""Progress of a long job: rate and remaining time in a terminal, one line at the end in the log."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

Item = TypeVar("Item")
# Seconds between two lines: several jobs share a terminal.
_EVERY, _MINUTE = 5.0, 60.0


class Meter:
    """Counts what is done and says so now and then.

    total: how many there will be, None if nobody knows. unit: what they are ("queries"). say:
    prints a line where people look, or None for silence; log: keeps the last one. done: how many
    were done by an earlier try. Lines are some seconds apart, so that short work has none. After
    the first one, a tenth of the total is done between two as well, or a minute has passed.
    """

    def __init__(
        self,
        total: int | None,
        unit: str,
        *,
        say: Callable[[str], None] | None,
        log: Callable[[str], None],
        done: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._total, self._unit = total, unit
        self._say, self._log, self._clock = say, log, clock
        self._before = self._done = done
        self._images = 0
        self._start = self._last = clock()
        self._next = done

    def advance(self, number: int = 1, *, images: int = 0, note: str = "") -> None:
        """Count `number` more as done; a line is printed if the last one is some seconds old.

        images: how many were seen for it; the line then has their rate. note: what else it says.
        """
        self._done += number
        self._images += images
        now = self._clock()
        waited = now - self._last
        due = waited >= _EVERY and (self._done >= self._next or waited >= _MINUTE)
        if self._say is not None and due:
            self._last, self._next = now, self._done + 1
            if self._total is not None:  # the least number above that is a tenth of it, or several
                tenths = 10 * self._done // max(1, self._total) + 1
                self._next = -(-tenths * self._total // 10)
            self._say(self._line(now - self._start, note))

    def finish(self) -> None:
        """Write to the log how many were done in what time."""
        seconds = self._clock() - self._start
        line = f"{self._done - self._before} {self._unit} in {seconds:.1f} s"
        self._log(line + (f", {self._images_a_second(seconds)}" if self._images else ""))

    def _images_a_second(self, seconds: float) -> str:
        return f"{self._images / max(seconds, 1e-9):,.0f} images/s"

    def _line(self, seconds: float, note: str) -> str:
        seconds = max(seconds, 1e-9)
        of = "" if self._total is None else f" of {self._total}"
        rate = (self._done - self._before) / seconds
        speed = f"{rate:.3g} a second" if rate >= 1 else f"{60 * rate:.3g} a minute"
        if self._images:
            speed = self._images_a_second(seconds)
        parts = [f"{self._done}{of} {self._unit}", note, speed]
        if self._total is not None and rate > 0:
            parts.append(f"{format_duration((self._total - self._done) / rate)} left")
        return ", ".join(filter(None, parts))


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


def is_terminal() -> bool:
    """Whether somebody watches: stderr is a terminal."""
    return sys.stderr.isatty()


def format_duration(seconds: float) -> str:
    """Return an estimated time in words: 80 s, 3 min, 1.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
