"""Measuring: a process of its own, the least of several times, no help from caches."""

import functools

import pytest

from benchmarks import process


def test_a_function_runs_in_a_process_of_its_own_and_its_failure_is_told():
    assert process.in_a_process("enumeration", "row_count", K=5) == 792
    with pytest.raises(RuntimeError, match=r"row_count .*K"):
        process.in_a_process("enumeration", "row_count", K="five")


def test_the_least_of_the_times_and_the_last_result_are_returned():
    results = iter(range(3))
    times, last = process.least("some_", lambda: next(results), repetitions=3)
    assert last == 2
    assert set(times) == {"some_seconds", "some_wall_seconds"}
    assert process.peak() > 10


def test_caches_of_the_library_are_emptied(monkeypatch):
    from private_ensembles.accounting import composition

    cached = functools.cache(abs)
    monkeypatch.setattr(composition, "_cached_here", cached, raising=False)
    cached(-1)
    process.forget()
    assert cached.cache_info().currsize == 0
