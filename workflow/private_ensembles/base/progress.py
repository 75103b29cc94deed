"""The progress of a long job: rate and remaining time in a terminal, one line in the log."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, TypeVar

Item = TypeVar("Item")
# Two lines are so many seconds apart, because several jobs share a terminal.
_EVERY, _MINUTE = 5.0, 60.0


class Meter:
    """A counter of finished items that reports now and then.

    Lines are some seconds apart, so that short work prints none. After the first line, the next one
    also waits until another tenth of the total is done, or a minute has passed.

    Args:
        total: how many items there will be; None if nobody knows.
        unit: what they are, such as "queries".
        say: prints a line where people look; None for silence.
        log: records the last line.
        done: how many items an earlier try has finished.
        clock: gives the time in seconds.
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
    ) -> None:
        self._total, self._unit = total, unit
        self._say, self._log, self._clock = say, log, clock
        self._before = self._done = done
        self._images = 0
        self._start = self._last = clock()
        self._next = done

    def advance(self, number: int = 1, *, images: int = 0, note: str = "") -> None:
        """Count `number` more items as done, and report if a line is due.

        Args:
            number: how many items were finished.
            images: how many images they took; the line then has the rate of images.
            note: what the line says besides.
        """
        self._done += number
        self._images += images
        now = self._clock()
        waited = now - self._last
        due = waited >= _EVERY and (self._done >= self._next or waited >= _MINUTE)
        if self._say is not None and due:
            self._last, self._next = now, self._done + 1
            if self._total is not None:  # the next line waits for the next tenth of the total
                tenths = 10 * self._done // max(1, self._total) + 1
                self._next = -(-tenths * self._total // 10)
            self._say(self._line(now - self._start, note))

    def finish(self) -> None:
        """Write to the log how many items were done in what time."""
        seconds = self._clock() - self._start
        line = f"{self._done - self._before} {self._unit} in {seconds:.1f} s"
        self._log(line + (f", {self._images_a_second(seconds)}" if self._images else ""))

    def _images_a_second(self, seconds: float) -> str:
        return f"{self._images / max(seconds, 1e-9):,.0f} images/s"

    def _line(self, seconds: float, note: str) -> str:
        seconds = max(seconds, 1e-9)
        share = "" if self._total is None else f" of {self._total}"
        rate = (self._done - self._before) / seconds
        speed = f"{rate:.3g} a second" if rate >= 1 else f"{60 * rate:.3g} a minute"
        if self._images:
            speed = self._images_a_second(seconds)
        parts = [f"{self._done}{share} {self._unit}", note, speed]
        if self._total is not None and rate > 0:
            parts.append(f"{format_duration((self._total - self._done) / rate)} left")
        return ", ".join(filter(None, parts))


def track(
    items: Iterable[Item], unit: str, *, total: int | None = None, **options: Any
) -> Iterator[Item]:
    """Yield the items while a `Meter`, which takes the options, counts them."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    meter = Meter(total, unit, **options)
    for item in items:
        yield item
        meter.advance()
    meter.finish()


def is_terminal() -> bool:
    """Return whether stderr is a terminal, so that somebody may be watching."""
    return sys.stderr.isatty()


def format_duration(seconds: float) -> str:
    """Write an estimated time with a unit: 80 s, 3 min, 1.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
