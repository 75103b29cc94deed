"""The benchmark of sessions compares budgets and records, and times batches of one label."""

import pytest

from benchmarks import sessions


@pytest.fixture(scope="module")
def data(toy):
    with toy(sessions):
        return sessions.measure(quick=True)


def test_one_plan_and_one_account_give_more(data):
    value = data.set_index("what")["value"]
    assert value["planned"] > value["split"]
    assert value["joint"] < value["apart"]
    assert value["single"] > 0
    section = sessions.section(data)
    assert "| one plan for all batches: right labels | 10 | 40 |" in section
    assert "| gnmax_analytic | 11 | 20 |" in section


@pytest.mark.parametrize(("target", "word"), [(1e6, "kept"), (0.0, "MISSED")])
def test_a_missed_target_is_named(data, monkeypatch, target, word):
    monkeypatch.setattr(sessions, "TARGET", target)
    assert f"a label: {word}." in sessions.section(data)
