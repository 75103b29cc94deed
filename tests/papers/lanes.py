"""Which cases of a test the default lane runs: one of each kind, all others the slow one."""

from collections.abc import Iterable

import pytest


def slow_but(cases: Iterable, *quick) -> list:
    """Return the cases, marked slow but for those named; each of these must be among them."""
    cases = list(cases)
    missing = [case for case in quick if case not in cases]
    assert not missing, missing
    return [case if case in quick else _slow(case) for case in cases]


def _slow(case):
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
