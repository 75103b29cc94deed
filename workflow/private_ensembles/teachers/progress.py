"""How far a training has come, told now and then."""

import time


class Progress:
    """Tells `report` how much is done, how fast, and how long the rest takes.

    what: the beginning of each line. every: least seconds between two lines; the last one is always
    told. Without a report nothing is told.
    """

    def __init__(self, report=None, what="", every=5.0):
        self.report, self.what, self.every = report, what, every
        self.start = self.told = time.monotonic()
        self.images, self.before = 0, None

    def tell(self, done, total, images, unit):
        """`done` of `total` units are done, the last of them with so many images."""
        if self.before is None:
            self.before = done - 1  # a resumed training did not do the first ones now
        self.images += images
        now = time.monotonic()
        if self.report is None or (now - self.told < self.every and done < total):
            return
        self.told = now
        elapsed = max(now - self.start, 1e-9)
        remaining = elapsed / (done - self.before) * (total - done)
        self.report(
            f"{self.what}: {unit} {done} of {total}, {self.images / elapsed:,.0f} images/s, "
            f"{elapsed:.0f} s elapsed, {remaining:.0f} s remaining"
        )
