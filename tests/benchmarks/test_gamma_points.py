"""The hard points are measured, in turns with an older commit where one is named."""

import subprocess
from contextlib import contextmanager

import pytest

from benchmarks import gamma_points, process


@pytest.fixture
def in_place(monkeypatch):
    """Small points, measured in this process."""
    monkeypatch.setattr(gamma_points, "QUICK", ((11, 3, 0.1, 1e-5, "common:0.5,1"),))
    monkeypatch.setattr(gamma_points, "ROUNDS", 2)

    def run(module, what, *, library, limit, **arguments):
        return getattr(gamma_points, what)(**arguments)

    monkeypatch.setattr(process, "in_a_process", run)


def test_a_point_is_certified_and_shown(in_place):
    data = gamma_points.measure(quick=True)
    assert data["certified"].all()
    assert "| 11 | 3 | 0.1 | 1e-05 | common:0.5,1 | new | 1 |" in gamma_points.page(data)


def test_old_and_new_take_turns(in_place, monkeypatch):
    @contextmanager
    def checkout(commit):
        yield f"tree of {commit}"

    monkeypatch.setattr(process, "checkout", checkout)
    data = gamma_points.measure(quick=True, against="HEAD")
    assert data["code"].tolist() == ["new", "old", "new", "old"]
    assert "--against HEAD" in gamma_points.page(data)


def test_a_point_that_takes_too_long_says_so(in_place, monkeypatch):
    monkeypatch.setattr(gamma_points, "LIMIT", 1e-4)
    assert "> 0.0001 |" in gamma_points.page(gamma_points.measure(quick=True))


def test_a_process_that_takes_too_long_says_so(monkeypatch):
    def late(*arguments, **named):
        raise subprocess.TimeoutExpired("python", 1)

    monkeypatch.setattr(process, "in_a_process", late)
    assert "> 120 |" in gamma_points.page(gamma_points.measure(quick=True))


def test_another_error_is_not_taken_for_lack_of_time(monkeypatch):
    def broken(*arguments, **named):
        raise RuntimeError("measure_point: ValueError: K")

    monkeypatch.setattr(process, "in_a_process", broken)
    with pytest.raises(RuntimeError, match="ValueError"):
        gamma_points.measure(quick=True)


def test_the_page_says_which_corners_time_did_not_allow(in_place, monkeypatch):
    corners = tuple((11, m, 0.1, 1e-5, "common:0.5,1") for m in (2, 4, 6))
    monkeypatch.setattr(gamma_points, "POINTS", corners[:1])
    monkeypatch.setattr(gamma_points, "BETWEEN", ())
    monkeypatch.setattr(gamma_points, "LARGEST", ())
    monkeypatch.setattr(gamma_points, "CORNERS", corners)
    clock = iter([0.0, 1.0, 59.0, 61.0, 62.0])
    monkeypatch.setattr(gamma_points.time, "monotonic", lambda: next(clock))
    data = gamma_points.measure(minutes=1)
    assert data["m"].tolist() == [2, 4]
    page = gamma_points.page(data)
    assert "Of the 3 corners of the range of K = 1001 these 1 were not measured" in page
    assert "(m, ε, Δ, prior): 6, 0.1, 1e-05, common:0.5,1." in page


def test_every_corner_is_measured_where_all_are_asked_for(in_place, monkeypatch):
    corners = tuple((11, m, 0.1, 1e-5, "common:0.5,1") for m in (2, 4))
    monkeypatch.setattr(gamma_points, "POINTS", corners[1:])
    monkeypatch.setattr(gamma_points, "BETWEEN", ())
    monkeypatch.setattr(gamma_points, "LARGEST", ())
    monkeypatch.setattr(gamma_points, "CORNERS", corners)
    data = gamma_points.measure(full=True)
    assert data["m"].tolist() == [4, 2]
    assert data["machine_commit"].iloc[0]
    page = gamma_points.page(data)
    assert "not measured" not in page
    assert "All 2 corners of the range of K = 1001 are here. Of the 2 points" in page
    data.loc[0, "seconds"] = float("nan")
    assert "corners of the range" not in gamma_points.page(data)


def test_what_earlier_runs_measured_is_kept_and_what_other_code_took_long_for_comes_first(
    in_place, monkeypatch, tmp_path
):
    corners = tuple((11, m, 0.1, 1e-5, "common:0.5,1") for m in (2, 4, 5, 7, 6))
    monkeypatch.setattr(gamma_points, "POINTS", corners)
    monkeypatch.setattr(gamma_points, "RESULTS", tmp_path / "gamma_points.csv")
    monkeypatch.setattr(gamma_points.machine, "unchanged_since", lambda commit: commit == "now")
    monkeypatch.setattr(gamma_points, "LARGEST", corners[-1:])
    before = gamma_points.measure().iloc[:4]
    before["machine_commit"] = ["then", "now", "then", "then"]
    before["machine_date"] = "yesterday"
    before["seconds"] = [3.0, 70.0, 5.0, 70.0]
    before.to_csv(gamma_points.RESULTS, index=False)
    data = gamma_points.measure(resume=True)
    assert data["m"].tolist() == [4, 7, 5, 2, 6]
    assert data["seconds"].iloc[0] == 70
    assert (data["seconds"].iloc[1:] < 3).all()
    page = gamma_points.page(data)
    assert "gamma_points --resume`" in page
    assert "| now |" in page
    assert "| then |" not in page


def test_nothing_left_to_measure_leaves_the_page_as_it_is(in_place, monkeypatch, tmp_path):
    monkeypatch.setattr(gamma_points, "POINTS", ((11, 2, 0.1, 1e-5, "common:0.5,1"),))
    monkeypatch.setattr(gamma_points, "RESULTS", tmp_path / "gamma_points.csv")
    monkeypatch.setattr(gamma_points.machine, "unchanged_since", lambda commit: True)
    before = gamma_points.measure()
    before.to_csv(gamma_points.RESULTS, index=False)
    assert gamma_points.page(gamma_points.measure(resume=True)) == gamma_points.page(before)
