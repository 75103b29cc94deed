"""What DaRRM states holds or does not, and each statement would be seen to fail if it did."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.darrm.error import error_at
from private_ensembles.darrm.gamma import gamma_constant, gamma_subsampling
from private_ensembles.darrm.optimize import optimize_gamma
from private_ensembles.published import statements_of_darrm as statements
from private_ensembles.published.declarations import first_that_fits, paper
from private_ensembles.published.printed import FOLDER, key_of, read_published

PRINTED = read_published([FOLDER / "darrm_statements.csv"])


def another_size(K, m):
    """Gamma of one teacher more, or of one less where there is none."""
    return gamma_subsampling(K, m + 1 if m < K else m - 1)


def a_dip(K, m):
    """A gamma that falls where votes are clear: not monotone."""
    gamma = np.ones(K + 1)
    gamma[[0, -1]] = 0.0
    return gamma


# A statement, what it rests on, and what that is in a world where the statement is false.
BROKEN = [
    ("subsampling_as_darrm", "gamma_subsampling", another_size),
    ("any_algorithm_as_darrm", "gamma_from_probabilities", lambda p: np.zeros(len(p))),
    ("privacy_against_its_condition", "_costs", lambda *_: math.inf),
    ("constant_s_cost", "gamma_constant", lambda K, *_: np.full(K + 1, 0.9)),
    ("amplified_loss", "iid_privacy_loss", lambda K, m, e: (1.01 * m * e, 0.5)),
    ("error_of_a_larger_gamma", "gamma_double_subsampling", lambda K, m: np.zeros(K + 1)),
    ("turns_of_sigma", "sigma_curve", lambda e, d, orders: np.sin(orders)),
]


@pytest.mark.parametrize(("name", "part", "instead"), BROKEN, ids=[b[0] for b in BROKEN])
def test_statements_can_fail(monkeypatch, name, part, instead):
    """Where the mathematics were another, the number would be on the wrong side of its claim."""
    (cell, *_) = [
        cell
        for cell in PRINTED.to_dict("records")
        if first_that_fits(paper("darrm").limits, key_of(cell)).function == name
    ]
    claimed = float(cell["published"])
    monkeypatch.setattr(statements, part, instead)
    assert getattr(statements, name)(cell) > claimed + 1e-6


def test_a_gamma_that_falls_where_votes_are_clear_costs_most_inside(monkeypatch):
    """Lemma B.1 supposes a monotone gamma; for another one it is false, and that is seen."""
    monkeypatch.setattr(statements, "EPSILON", 3.0)
    monkeypatch.setattr(statements, "gamma_double_subsampling", a_dip)
    assert statements.loss_inside({}) > 1.001


def test_corners_that_are_left_out_are_missed():
    """Lemma 5.1 without the two corners where both labels are likely: others cost less."""
    assert statements.cost_inside({}) < 1
    whole = statements.PrivacyProblem.corner_probabilities

    def too_few(problem):
        corners = whole(problem)
        return np.concatenate([corners[:6], corners[:2]])

    problem = statements.PrivacyProblem(3, 1, 0.5, 0.02, 0.02)
    gamma = np.array([1.0, 0.7, 0.7, 1.0])
    drawn = np.random.default_rng(1).dirichlet(np.full(8, 0.2), size=(3000, 3)) @ whole(problem)
    corners = np.array(list(statements.product(too_few(problem), repeat=3)))
    costs = [statements._largest_cost(gamma, points, problem.c) for points in (drawn, corners)]
    assert costs[0] > 1.01 * costs[1]


def test_the_condition_of_algorithm_6_is_met_by_less_noise(monkeypatch):
    cell = {"dataset": "mnist"}
    assert statements.condition_of_algorithm_6(cell) == 0
    monkeypatch.setitem(statements.GNMAX, "mnist", 4.0)
    monkeypatch.setitem(statements.BUDGET, "mnist", (3.0, 0.03))
    assert statements.condition_of_algorithm_6(cell) > 0


@pytest.mark.parametrize(("m", "l", "values"), [(3, 10, 62), (5, 9, 10)])
def test_the_best_gamma_lies_below_subsampling_at_clear_votes(m, l, values):
    """Section 6.1 says that it is the largest everywhere. It is not, nor can a best one be."""
    found = optimize_gamma(11, m, 0.1, 1e-5)
    other = gamma_subsampling(11, m)
    assert other[l] == 1 > found.gamma[l] + 1e-3
    p = np.linspace(0, 1, 1001)
    assert (error_at(found.gamma, p) > error_at(other, p) + 1e-6).sum() == values
    # The program again, with rows by the definition: teachers at three of the corners.
    e = math.exp(0.1)
    corners = [((e + 1e-5) / (e + 1), (1 - 1e-5) / (e + 1)), (1e-5, 0.0), (1.0, 1 - 1e-5)]
    rows = []
    for up in range(12):
        for falls in range(12 - up):
            teachers = [corners[0]] * up + [corners[1]] * falls + [corners[2]] * (11 - up - falls)
            alpha, beta = (pmf(side) for side in zip(*teachers, strict=True))
            weight = alpha - math.exp(m * 0.1) * beta
            rows.append((weight - weight[::-1])[6:])
    room = math.exp(m * 0.1) - 1 + 2 * (1 - (1 - 1e-5) ** m)
    law = pmf(np.full(11, 0.75))
    objective = (law - law[::-1])[6:]
    floor = np.maximum(other, gamma_constant(11, m, 0.1, 1e-5))[6:]
    utility = {
        name: -linprog(-objective, A_ub=rows, b_ub=[room] * 78, bounds=[(x, 1) for x in low]).fun
        for name, low in (("free", np.zeros(6)), ("never below", floor))
    }
    assert utility["free"] == pytest.approx(found.utility, abs=1e-6)
    assert utility["never below"] < found.utility - 5e-5
    assert found.utility == pytest.approx(objective @ found.gamma[6:])
    cell = {"row": f"m={m}", "published": "0"}
    assert statements.the_optimum_gives_way_somewhere(cell)
    assert not statements.the_optimum_gives_way_somewhere(cell | {"row": "m=7"})
