"""HiGHS on a program's rows: its point and its multipliers."""

import numpy as np
import pytest

from studies.best_label import interior_point
from studies.best_label.objective import correct_label_weights
from studies.best_label.program import Program


@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_point_and_multipliers_agree(delta):
    program = Program(8, 4, 0.5, delta)
    program.weights = correct_label_weights(program.histograms, 0.5)
    p, multipliers = interior_point.solve(program)
    np.testing.assert_allclose(program.totals() @ p, 1, atol=1e-9)
    assert (program.matrix() @ p).max() <= delta + 1e-8
    assert multipliers.min() > -1e-9
    assert program.weights @ p == pytest.approx(program.upper_bound(multipliers), rel=1e-7)


def test_a_solver_that_gives_up_is_an_error(monkeypatch):
    program = Program(3, 3, 0.5, 0.0)
    monkeypatch.setattr(program, "totals", lambda: -Program.totals(program))
    with pytest.raises(RuntimeError, match="HiGHS ended with status 'Infeasible'"):
        interior_point.solve(program)
