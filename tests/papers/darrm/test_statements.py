"""What DaRRM says of figures, sizes and GNMax that needs no data, worked out again.

`workflow/published/darrm_statements.csv` has these numbers, and fidelity.csv compares them.
"""

import math
from functools import cache

import numpy as np
import pytest
from scipy.optimize import linprog

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.labels.gnmax import least_order, order_grid, sigma_curve
from private_ensembles.papers.compare.printed import FOLDER, read_published
from private_ensembles.papers.darrm.mathematics.error import (
    error_at,
    expected_error,
    expected_error_estimate,
)
from private_ensembles.papers.darrm.mathematics.gamma import (
    gamma_constant,
    gamma_double_subsampling,
    gamma_subsampling,
)
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.pate.mathematics.small_print import unanimous_condition

PRINTED = read_published([FOLDER / "darrm_statements.csv"]).to_dict("records")
# Sections 6.1 and D.1: K and epsilon of the simulations, Delta of Figure 2, the two priors by
# symmetry on the upper half.
K, EPSILON, DELTA = 11, 0.1, 1e-5
UNIFORM, CLEAR = "uniform:0.5,1", "uniform:0.7,1"
ACTUAL = {"p to 1": "absolute-uniform:0,1", "p to 0.1": "absolute-uniform:0,0.1"}
# Table 4: GNMax's sigma, and epsilon and delta that it was searched for.
GNMAX = {"mnist": 21.46, "fashion-mnist": 22.46}
BUDGET = {"mnist": (0.2676, 3e-4), "fashion-mnist": (0.2556, 3e-4)}
# Values of p at which errors are compared, and what two solutions of one program differ by.
POINTS = np.linspace(0, 1, 1001)
SOLVED = 1e-6


def number_in(cell, name):
    """The whole number behind ``name=`` in the row of a claim, such as m."""
    words = dict(word.split("=") for word in cell["row"].split() if "=" in word)
    return int(words[name])


def is_certified(cell):
    """Footnote 1: whether gamma is found and certified at so many teachers, m = 5."""
    pure = "delta=0" in cell["row"]
    solution = optimize_gamma(number_in(cell, "K"), 5, EPSILON, 0.0 if pure else DELTA)
    gap = solution.utility_upper_bound - solution.utility
    return solution.certificate.holds and gap <= SOLVED


@cache
def optimal(m, Delta, prior=UNIFORM):
    return optimize_gamma(K, m, EPSILON, Delta, prior=prior).gamma


def baselines(m, Delta):
    return [gamma_subsampling(K, m), gamma_constant(K, m, EPSILON, Delta)]


def figure_2(cell):
    m = number_in(cell, "m")
    gamma, others = optimal(m, DELTA), baselines(m, DELTA)
    match cell["column"]:
        case "gap_to_subsampling":
            return np.abs(gamma - others[0]).max()
        case "counts_below_a_baseline":
            return np.any([gamma < other - SOLVED for other in others], axis=0).sum()
        case "error_above_a_baseline":
            error = error_at(gamma, POINTS)
            more = [error > error_at(other, POINTS) + SOLVED for other in others]
            return np.any(more, axis=0).sum()
    return expected_error(gamma, UNIFORM) - min(expected_error(other, UNIFORM) for other in others)


def largest_error(cell):
    """Figure 7: the largest error of a family of gammas over p, pure privacy."""
    m = number_in(cell, "m")
    gammas = {
        "error_opt": optimal(m, 0.0),
        "error_dsub": gamma_double_subsampling(K, m),
        "error_sub": gamma_subsampling(K, m),
        "error_const": gamma_constant(K, m, EPSILON, 0.0),
    }
    return error_at(gammas[cell["column"]], POINTS).max()


def error_by_prior(cell):
    """Figure 9: differences of expected errors, if the p_i are distributed as the row says.

    opt_p_less_opt_u: what optimising for the other prior changes. opt_less_baselines: the worse of
    the two optimised gammas less the better of subsampling and the constant one.
    """
    m, actual = number_in(cell, "m"), ACTUAL[cell["row"].split(" ", 1)[1]]
    errors = {
        prior: expected_error_estimate(optimal(m, 0.0, prior), actual).error
        for prior in (UNIFORM, CLEAR)
    }
    if cell["column"].startswith("opt_p_less_opt_u"):
        return errors[CLEAR] - errors[UNIFORM]
    others = [expected_error_estimate(other, actual).error for other in baselines(m, 0.0)]
    return max(errors.values()) - min(others)


def conditions_met(sigma, budget):
    """Appendix D.2.1: orders at which Algorithm 6's condition is met if all 11 teachers agree."""
    orders = order_grid(*budget, order_max=500, order_step=0.5)
    return sum(unanimous_condition(K, sigma, order).applies for order in orders)


def turns_of_sigma(cell):
    """Figure 10: how often sigma squared turns from falling to rising or back over the orders."""
    budget = BUDGET[cell["dataset"]]
    squares = sigma_curve(*budget, np.arange(least_order(*budget) + 0.5, 500, 0.5))
    return np.count_nonzero(np.diff(np.diff(squares) > 0))


NUMBERS = {
    "section5": is_certified,
    "figure2": figure_2,
    "figure7": largest_error,
    "figure9": error_by_prior,
    "appendixD.2.1": lambda cell: conditions_met(GNMAX[cell["dataset"]], BUDGET[cell["dataset"]]),
    "figure10": turns_of_sigma,
}


@pytest.mark.parametrize("cell", PRINTED, ids=lambda cell: " ".join(list(cell.values())[1:5]))
def test_numbers_are_those_that_are_compared(cell):
    ours = float(NUMBERS[cell["item"]](cell))
    assert cell["low"] == cell["high"]
    assert ours == pytest.approx(float(cell["low"]), rel=1e-6, abs=1e-9)


def test_the_condition_of_algorithm_6_is_met_by_less_noise():
    assert conditions_met(4.0, (3.0, 0.03)) > 0


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
