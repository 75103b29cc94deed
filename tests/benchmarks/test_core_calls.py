"""Calls that became slow are named, on a machine of any speed."""

import pytest

from benchmarks import core_calls


@pytest.fixture
def quick_calls(monkeypatch):
    """Two calls of which one does nothing, and one runs the calibration loop twice."""
    twice = {"idle": lambda: None}
    twice["double"] = lambda: [core_calls.calibration_loop() for _ in range(2)]
    monkeypatch.setattr(core_calls, "list_calls", lambda: twice)


def test_a_ratio_is_to_the_calibration_loop(quick_calls):
    data = core_calls.measure(quick=True).set_index("call")
    assert data["ratio"]["idle"] < 0.1
    assert 1 < data["ratio"]["double"] < 4
    assert "| double |" in core_calls.section(data.reset_index())


def test_only_what_became_slow_is_named(quick_calls):
    now = core_calls.measure(quick=True)
    stored = now.assign(ratio=now["ratio"] * [1, 0.5])
    (line,) = core_calls.warnings_of(now, stored)
    assert line.startswith("double takes")
    assert core_calls.warnings_of(now, now) == []
