"""Products of small matrices on one thread: several threads would mostly wait for each other.

The number of BLAS threads belongs to the process, so it is set for such products alone and then
restored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


@cache
def _libraries() -> ThreadpoolController:
    """Return the loaded libraries; they are looked up once, as that takes milliseconds."""
    return ThreadpoolController()


def run_on_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that does the same on one BLAS thread, and then restores their number.

    >>> run_on_one_thread(abs)(-2)
    2
    """

    @wraps(function)
    def limited(*arguments: P.args, **named: P.kwargs) -> R:
        with _libraries().limit(limits=1, user_api="blas"):
            return function(*arguments, **named)

    return limited
