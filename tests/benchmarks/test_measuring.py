"""Measuring: a process of its own, the least of several times, no help from caches."""

import functools
import math

import pandas as pd
import pytest

from benchmarks import enumeration, measuring


def test_a_function_runs_in_a_process_of_its_own_and_its_failure_is_told():
    assert measuring.run_in_process(enumeration.row_count, K=5) == 792
    with pytest.raises(TypeError, match="str"):
        measuring.run_in_process(enumeration.row_count, K="five")


def test_the_least_of_the_times_and_the_last_result_are_returned():
    results = iter(range(3))
    times, last = measuring.time_call(lambda: next(results), repetitions=3)
    assert last == 2
    assert set(times) == {"seconds", "wall_seconds"}
    assert measuring.peak_memory() > 10


def test_caches_of_the_library_are_emptied(monkeypatch):
    from private_ensembles.accounting import composition

    cached = functools.cache(abs)
    monkeypatch.setattr(composition, "cached_here", cached, raising=False)
    cached(-1)
    measuring.clear_caches()
    assert cached.cache_info().currsize == 0


def test_machine_is_described_with_the_versions_asked_for():
    found = measuring.describe_machine("numpy")
    assert {"date", "processor", "cores", "load", "memory", "system", "python"} < set(found)
    assert found["numpy"].count(".") >= 1
    data = measuring.add_machine([{"seconds": 1}, {"seconds": 2}], found)
    assert measuring.read_machine(data) == found


def test_runs_on_two_machines_name_both():
    data = pd.DataFrame({"machine_cores": ["2", "2", "8"], "machine_gpu": ["a", math.nan, "a"]})
    assert measuring.read_machine(data) == {"cores": "2, 8", "gpu": "a"}
