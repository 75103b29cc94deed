"""Products of small matrices on one thread: more of them wait for each other longer than they work.

The number of BLAS threads belongs to the process, so it is set for such products alone and then put
back to what it was.
"""

from __future__ import annotations

from functools import cache, wraps

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries that are loaded: looking for them takes milliseconds, so it is once."""
    return ThreadpoolController()


def on_one_thread(function):
    """Return a function that does the same with one BLAS thread, and then restores their number.

    >>> on_one_thread(abs)(-2)
    2
    """

    @wraps(function)
    def limited(*arguments, **named):
        with _libraries().limit(limits=1, user_api="blas"):
            return function(*arguments, **named)

    return limited
