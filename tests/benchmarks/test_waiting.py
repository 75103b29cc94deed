"""What a plan or a release takes is measured in a process of its own, by the code of a checkout."""

import math

from benchmarks import waiting


def test_a_row_says_what_a_plan_and_a_release_took_and_is_shown(root, monkeypatch):
    of = 11, 2, 5, 5, "reproducible"
    monkeypatch.setattr(waiting, "QUICK", (("plan", *of, 60.0), ("release", *of, math.nan)))
    monkeypatch.setenv("OLD", str(root))
    data = waiting.measure(quick=True)
    assert data["code"].tolist() == ["new", "old"] * 2
    assert (data[["seconds", "wall_seconds", "mib"]] > 0).all(axis=None)
    assert data["best"].nunique() == 1
    assert data["right"].isna().tolist() == [False, False, True, True]
    assert not data["best"].str.startswith("error").any()
    quick, slow = [line for line in waiting.section(data).splitlines() if "11 × 2" in line]
    assert quick.startswith("| rehearsal | 11 × 2 × 5 | 5 |")
    assert "| **" in quick
    assert slow.endswith("|  |")
    assert "**" not in slow  # without a goal


def test_a_checkout_that_does_not_end_is_no_longer_waited_for(root, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.01)
    monkeypatch.setattr(waiting, "TASKS", (("plan", 11, 2, 5, 5, "reproducible", 1.0),))
    monkeypatch.delenv("OLD", raising=False)
    data = waiting.measure()
    assert data["best"].tolist() == ["no end in 0.01 s"]
    assert data["seconds"].isna().all()
    assert "| over 0.01 s |" in waiting.section(data)


def test_a_task_that_a_checkout_refuses_took_no_time(root, monkeypatch):
    monkeypatch.setattr(waiting, "QUICK", (("plan", 11, 2, 5, 6, "reproducible", 1.0),))
    monkeypatch.delenv("OLD", raising=False)
    assert "| refused |" in waiting.section(waiting.measure(quick=True))
