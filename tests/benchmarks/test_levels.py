"""The benchmark of levels: what a free choice of noise costs, its section and its figure."""

import pytest

from benchmarks import levels, run


@pytest.fixture(scope="module")
def data(toy):
    with toy(levels):
        return levels.measure(quick=True)


def test_the_choice_costs_a_little_and_less_with_a_reserve(data):
    row = data.iloc[0]
    assert 1 < row["reserved"] < row["free"] < 2
    assert 1 < row["reserved_factor"] < row["free_factor"] < 1.05
    assert row["spread"] == pytest.approx(1, abs=0.05)
    assert row["natural"] >= 1
    assert "| 1 2 | 40 | 2 | 11 |" in levels.section(data)


def test_a_level_alone_has_delta_at_the_noise_that_is_found():
    scale = levels.least_alone(2, 11, 1.0, 10, levels.FINENESS)
    budget = levels.Budget([scale], 2, 11, 1.0, [1], 10, levels.FINENESS)
    assert budget.delta() == pytest.approx(levels.DELTA, rel=1e-4)


def test_the_figure_is_drawn_beside_the_numbers(data, monkeypatch, tmp_path):
    monkeypatch.setattr(levels, "measure", lambda quick: data.assign(teachers=51))
    run.main(["levels", "--quick", "--output", str(tmp_path)])
    assert (tmp_path / "levels.png").read_bytes().startswith(b"\x89PNG")
