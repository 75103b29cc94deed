"""The growing program: its bound, its fall-back, and what it drops."""

import numpy as np
import pytest

from private_ensembles.darrm import linear_program
from private_ensembles.darrm.optimize import optimize_gamma


def test_auto_falls_back_on_highs_where_gurobi_gives_up(monkeypatch):
    def refuse(self, *arguments):
        raise linear_program.SolverUnavailable("no licence")

    monkeypatch.setattr(linear_program._Gurobi, "__init__", refuse)
    assert optimize_gamma(5, 2, 0.1, 1e-5).solver["name"] == "highs"
    with pytest.raises(linear_program.SolverUnavailable, match="no licence"):
        optimize_gamma(5, 2, 0.1, 1e-5, solver="gurobi")


def test_auto_goes_on_with_highs_where_gurobi_fails_in_the_middle(monkeypatch):
    pytest.importorskip("gurobipy")

    def fail(self):
        raise linear_program.SolverUnavailable("crashed")

    monkeypatch.setattr(linear_program._Gurobi, "solve", fail)
    solution = optimize_gamma(11, 3, 0.1, 1e-5)
    assert solution.solver["name"] == "highs"
    assert solution.utility == pytest.approx(0.84880602, abs=1e-7)


def test_unknown_solvers_are_refused():
    with pytest.raises(ValueError, match="solver"):
        optimize_gamma(11, 3, 0.1, solver="cplex")


def test_rows_cut_off_the_optimum_and_duality_bounds_it():
    program = linear_program.CutProgram(np.array([1.0, 2.0]), np.ones(2), "highs")
    assert program.solve().tolist() == [1, 1]
    assert program.add(["a"], np.array([[1.0, 1.0]])) == 1
    assert program.add(["a"], np.array([[1.0, 1.0]])) == 0  # known already
    np.testing.assert_allclose(program.solve(), [0, 1], atol=1e-9)
    assert 2 <= program.upper_bound() <= 2 + 1e-9
    program.fix(np.array([0.0, 1.0]), 0.25)
    np.testing.assert_allclose(program.solve(), [0.75, 0.25], atol=1e-9)
    program.fix(np.array([-1.0, -1.0]), -2.0)
    with pytest.raises(linear_program.Infeasible):
        program.solve()


def test_idle_rows_are_dropped_and_fixed_ones_stay(monkeypatch):
    monkeypatch.setattr(linear_program, "ROW_LIMIT", 10)
    program = linear_program.CutProgram(np.ones(2), np.ones(2), "highs")
    program.fix(np.array([1.0, 0.0]), 0.5)
    program.solve()
    for k in range(12):
        program.add([k], np.array([[0.1, 0.1 * k / 12]]))
        program.solve()
    assert len(program.rows) <= 10
    assert program.fixed.sum() == 1
    np.testing.assert_allclose(program.solve(), [0.5, 1], atol=1e-9)


def test_a_row_that_was_dropped_can_be_added_once_more(monkeypatch):
    monkeypatch.setattr(linear_program, "ROW_LIMIT", 4)
    program = linear_program.CutProgram(np.ones(2), np.ones(2), "highs")
    for k in range(5):  # the last one drops all but two
        program.add([k], np.array([[0.1, 0.1 * k]]))
    assert len(program.names) == len(program.rows) == 2
    gone = next(k for k in range(5) if k not in program.names)
    assert program.add([gone], np.array([[0.1, 0.1 * gone]])) == 1
