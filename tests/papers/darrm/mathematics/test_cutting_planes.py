"""The optimised gamma against the paper's full program, at its own size and far from its settings.

Drawn points up to K = 7 and one at K = 9 and 11 each; a whole grid of them is in the slow lane.
"""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from benchmarks import enumeration
from private_ensembles.papers.darrm.mathematics import (
    certificate,
    cutting_planes,
    interior_search,
    optimize,
    violations,
)
from private_ensembles.papers.darrm.mathematics.certificate import certify
from private_ensembles.papers.darrm.mathematics.cutting_planes import GAP, CuttingPlaneSearch
from private_ensembles.papers.darrm.mathematics.linear_program import Highs
from private_ensembles.papers.darrm.mathematics.objective import (
    LinearObjective,
    coefficients,
    parse_prior,
)
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from private_ensembles.papers.darrm.mathematics.violations import Cuts
from tests.papers.darrm.mathematics import oracle
from tests.papers.lanes import slow_but

DELTAS = (0.0, 1e-9, 1e-5, 1e-3, 0.02)
EPSILONS = (0.01, 0.1, 1.0, 3.0)


def allowances(K):
    """From one teacher's budget to nearly all of them, fractions among them."""
    return (1, 1.5, 2, 3.3, K / 2, K - 0.5, K)


@pytest.mark.parametrize("Delta", [0.0, 0.02])
def test_rows_of_the_full_program_are_those_of_the_definition(Delta):
    problem = PrivacyProblem(5, 2, 0.3, Delta, 2 * Delta)
    seen = set()
    for rows, counts in enumeration.row_blocks(problem):
        for row, size in zip(rows, counts, strict=True):
            np.testing.assert_allclose(row, problem.row(size), rtol=0, atol=1e-14)
            seen.add(tuple(size.tolist()))
    kinds = 8 if Delta else 4
    assert len(seen) == enumeration.row_count(5, kinds) == (792 if Delta else 56)
    assert all(sum(size) == 5 for size in seen)


def check_against_all_rows(K, m, epsilon, Delta, delta=None):
    solution = optimize_gamma(K, m, epsilon, Delta, delta, solver="highs")
    rows = enumeration.all_rows(solution.problem)
    _, full = enumeration.solve(coefficients(K, parse_prior("uniform:0.5,1")), rows)
    assert solution.utility == pytest.approx(full, abs=1e-8)
    assert solution.utility_upper_bound >= full - 1e-9
    assert solution.utility_upper_bound <= full + 1e-8
    assert (rows @ solution.gamma[(K + 1) // 2 :]).max() <= 1 + 1e-13
    assert certify(solution.gamma, m, epsilon, Delta, delta).holds


@pytest.mark.parametrize("point", [(9, 3.3, 0.1, 1e-3), (11, 1.5, 1.0, 0.0)])
def test_cutting_planes_agree_with_all_rows_at_once(point):
    check_against_all_rows(*point)


@pytest.mark.slow
@pytest.mark.parametrize("Delta", DELTAS)
@pytest.mark.parametrize("K", [5, 7, 9, 11])
def test_cutting_planes_agree_with_all_rows_at_once_on_a_grid(K, Delta):
    for m, epsilon in product(allowances(K), EPSILONS):
        check_against_all_rows(K, m, epsilon, Delta)


@settings(max_examples=40)
@given(
    st.sampled_from([1, 3, 5, 7]),
    st.floats(0, 1),
    st.floats(1e-3, 3),
    st.sampled_from([0.0, 1e-9, 1e-7, 1e-4, 0.02, 0.1]),
    st.floats(1, 4),
)
def test_cutting_planes_agree_with_all_rows_at_once_wherever_drawn(K, share, epsilon, Delta, more):
    check_against_all_rows(K, 1 + share * (K - 1), epsilon, Delta, min(0.9, Delta * more))


def utility_bound(problem, cost, rows, counts):
    """No private gamma has a larger utility: weak duality in 40 digits from a solver's multipliers.

    For any y >= 0: cost @ x <= sum(y) + sum_j max(0, cost_j - (y @ rows)_j), rows over the exact
    allowance.
    """
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    program = linprog(
        -cost, A_ub=rows, b_ub=np.ones(len(rows)), bounds=(0, 1), method="highs", options=tight
    )
    p = problem
    allowance = oracle.allowance(p.m, p.epsilon, p.delta)
    reduced, bound = [mpmath.mpf(float(value)) for value in cost], mpmath.mpf(0)
    for k in np.nonzero(program.ineqlin.marginals < 0)[0]:
        y = mpmath.mpf(-float(program.ineqlin.marginals[k]))
        bound += y
        row = oracle.row(p.K, p.m, p.epsilon, p.Delta, counts[k])
        reduced = [r - y * a / allowance for r, a in zip(reduced, row, strict=True)]
    return bound + sum(max(r, mpmath.mpf(0)) for r in reduced)


@pytest.mark.parametrize("seed", slow_but(range(30), *range(6)))
def test_no_private_gamma_exceeds_the_upper_bound_however_small_the_budget(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.choice([3, 5]))
    m = float(rng.choice([1, 1.5, 2, K / 2]))
    epsilon = float(10 ** rng.uniform(-10, 0.5))
    Delta = float(rng.choice([0, epsilon / 100, epsilon])) if K == 3 else 0.0
    solution = optimize_gamma(K, m, epsilon, Delta, solver="highs")
    best = oracle.largest_utility(K, m, epsilon, Delta, solution.problem.delta)
    assert solution.utility <= best <= solution.utility_upper_bound
    assert solution.utility_upper_bound <= best + 1e-8 + 1e-13 / epsilon


@pytest.mark.parametrize("K", [1, 3, 5, 11])
@pytest.mark.parametrize("epsilon", [1e-11, 1e-8, 1e-6, 1e-3])
def test_subsampling_is_private_and_within_the_upper_bound(K, epsilon):
    best = mpmath.fdot(oracle.uniform_objective(K), map(mpmath.mpf, [1] * ((K + 1) // 2)))
    if K > 1:  # gamma = (2 l - K) / K draws one teacher, whatever epsilon
        gamma = [mpmath.mpf(2 * l - K) / K for l in range((K + 1) // 2, K + 1)]
        best = mpmath.fdot(oracle.uniform_objective(K), gamma)
    assert optimize_gamma(K, 1, epsilon, solver="highs").utility_upper_bound >= best


def test_a_budget_that_rounding_uses_up_is_refused():
    with pytest.raises(ValueError, match=r"m \* epsilon = 1e-15, .* must be above .* at K = 3"):
        optimize_gamma(3, 1, 1e-15)


# In the default lane every allowance, exponent and kind of Delta once.
LARGE = slow_but(
    product(
        ((5, 1), (5, 1.5), (5, 5), (11, 1), (11, 3), (11, 10.5)),
        (10.0, 27.631, 689.0),
        (0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.02),
    ),
    ((5, 1), 10.0, 1e-5),
    ((5, 1.5), 27.631, 1e-8),
    ((5, 1.5), 689.0, 1e-12),
    ((5, 5), 10.0, 1e-3),
    ((5, 5), 689.0, 0.02),
    ((11, 3), 27.631, 0.0),
    ((11, 10.5), 689.0, 0.0),
)


@pytest.mark.parametrize(("size", "exponent", "Delta"), LARGE)
def test_large_budgets_stay_private_and_optimal_to_40_digits(size, exponent, Delta):
    K, m = size
    epsilon = float(exponent / m)
    solution = optimize_gamma(K, m, epsilon, Delta, solver="highs")
    problem, gamma = solution.problem, solution.gamma
    blocks = list(enumeration.row_blocks(problem))
    rows = np.vstack([block for block, _ in blocks]) / problem.allowance
    counts = np.vstack([size for _, size in blocks])
    assert solution.certificate.holds
    # Rows are exact to 1e-13 of the allowance: the worst assignment is among the 30 worst of them.
    allowance = oracle.allowance(m, epsilon, problem.delta)
    worst = np.argsort(-(rows @ gamma[(K + 1) // 2 :]))[:30]
    assert max(oracle.cost(gamma, m, epsilon, Delta, counts[k]) for k in worst) <= allowance
    cost = coefficients(K, parse_prior("uniform:0.5,1"))
    bound = utility_bound(problem, cost, rows, counts)
    assert 0 <= bound - mpmath.mpf(solution.utility) + 1e-15 <= 1e-8
    assert solution.utility_upper_bound >= solution.utility
    assert solution.scaling_loss < 1e-5


@pytest.mark.parametrize("K", [3, 11, 35, 61])
def test_what_an_objective_may_be_off_by_covers_its_rounding(K):
    """The exact utility of gamma = 1, p_i uniform on [0.5, 1]: two binomial tails at 3 / 4."""
    found = LinearObjective(coefficients(K, parse_prior("uniform:0.5,1")))
    pmf = [Fraction(math.comb(K, l) * 3**l, 4**K) for l in range(K + 1)]
    exact = sum(max(pmf[l] - pmf[K - l], 0) for l in range((K + 1) // 2, K + 1))
    assert abs(exact - Fraction(found.total)) <= Fraction(found.rounding)
    # Each c_l is off by fewer than 5 K round-offs of two probabilities, of which all add up to 1.
    assert 5 * K * 2.0**-53 <= found.rounding <= 1e-13


def test_the_upper_bound_grants_what_the_objective_may_be_off_by():
    problem = PrivacyProblem(11, 3, 0.1, 1e-5, 3e-5)
    found = []
    for rounding in (0.0, 1e-3):
        goal = LinearObjective(coefficients(11, parse_prior("uniform:0.5,1")))
        goal.rounding = rounding
        one = CuttingPlaneSearch(problem, goal, Highs(), Cuts(problem), monotone=False)
        assert one.upper_bound == goal.total + rounding
        one.run()
        found.append(one.upper_bound)
    assert found[1] == pytest.approx(found[0] + 1e-3, abs=1e-12)


@pytest.mark.parametrize("Delta", [0.0, 1e-5])
def test_what_the_utility_leaves_open_is_filled(Delta):
    """With teachers that nearly always agree, gamma at the smallest majority weighs nothing."""
    prior = "uniform:0.99,1"
    solution = optimize_gamma(11, 3, 0.1, Delta, prior=prior)
    cost = coefficients(11, parse_prior(prior))
    assert cost[0] < cutting_planes.FINE_GAP * solution.utility < cost[1]
    rows = enumeration.all_rows(solution.problem)
    largest = linprog(
        -np.ones(6),
        A_ub=np.vstack([rows, -cost]),
        b_ub=np.append(np.ones(len(rows)), -(1 - cutting_planes.FINE_GAP) * solution.utility),
        bounds=(0, 1),
    )
    assert 0.98 * -largest.fun <= solution.gamma[6:].sum() <= -largest.fun * (1 + 1e-6)


def test_a_row_that_binds_holds_back_no_gamma_that_it_hardly_weighs():
    """Rows are violated by round-offs where filling starts; without slack 0.9998 would be left."""
    gamma = optimize_gamma(101, 20, 0.1).gamma
    np.testing.assert_allclose(gamma[:3], 1.0, atol=1e-8)


@pytest.fixture(params=["coarse", "inside"])
def many(request, monkeypatch):
    """More than ten teachers are many: for the solver's search, or for the one from the inside."""

    def many(*point, **options):
        with monkeypatch.context() as few:
            few.setattr(
                cutting_planes if request.param == "coarse" else optimize, "MANY_TEACHERS", 10
            )
            return optimize_gamma(*point, **options)

    many.module = cutting_planes if request.param == "coarse" else interior_search
    many.search = (
        cutting_planes.CuttingPlaneSearch
        if request.param == "coarse"
        else interior_search.InteriorSearch
    )
    return many


@pytest.mark.parametrize(
    ("point", "prior"),
    slow_but(
        product(
            ((11, 3, 0.1, 1e-5), (21, 1, 0.5, 0.0), (35, 1.5, 1.0, 1e-3), (51, 5, 0.05, 1e-5)),
            ("uniform:0.5,1", "common:0.5,1"),
        ),
        ((11, 3, 0.1, 1e-5), "uniform:0.5,1"),
        ((21, 1, 0.5, 0.0), "common:0.5,1"),
    ),
)
def test_searches_of_many_teachers_agree_with_a_fine_one(many, point, prior):
    K, m, epsilon, Delta = point
    fine = optimize_gamma(K, m, epsilon, Delta, prior=prior)
    found = many(K, m, epsilon, Delta, prior=prior)
    assert found.utility == pytest.approx(fine.utility, rel=3 * GAP)
    assert found.utility <= fine.utility_upper_bound
    assert fine.utility <= found.utility_upper_bound
    assert found.utility_upper_bound - found.utility <= 2 * GAP * found.utility
    assert certify(found.gamma, m, epsilon, Delta).holds


def test_what_the_last_look_proved_is_the_certificate(many, monkeypatch):
    """No second look: the certificate of a fresh one agrees with it."""
    point = (35, 1.5, 1.0, 1e-3)

    def twice(*arguments, **named):
        raise AssertionError("a second look at all corners")

    with monkeypatch.context() as without:
        without.setattr(certificate, "eight_corner_worst_case", twice)
        found = many(*point, prior="common:0.5,1")
    assert found.certificate.method == "eight_corners"
    fresh = certify(found.gamma, *point[1:])
    assert fresh.method == "eight_corners"
    assert found.certificate.worst_cost == pytest.approx(fresh.worst_cost, rel=1e-11)
    assert found.certificate.worst_cost >= fresh.attained_cost


@pytest.mark.slow
@pytest.mark.parametrize("point", [(101, 3, 3.0, 1e-3), (101, 2, 2.0, 1e-3)])
def test_filling_asks_about_all_corners_twice_at_most(many, monkeypatch, point):
    """These looks took four fifths of the time at K = 1001, for nothing that the utility weighs."""
    looks, while_filling = [], []

    def looked(*arguments):
        looks.append(arguments)
        return exact_corners(*arguments)

    def filled(one):
        before = len(looks)
        fill(one)
        while_filling.append(len(looks) - before)

    exact_corners, fill = violations.find_exact_violations, many.search._raise_sum
    with monkeypatch.context() as watched:
        watched.setattr(violations, "find_exact_violations", looked)
        watched.setattr(many.search, "_raise_sum", filled)
        gamma = many(*point).gamma
    assert while_filling[-1] <= 2
    share = 0.97 if many.module is cutting_planes else 0.99
    assert np.mean(gamma) > share * np.mean(optimize_gamma(*point).gamma)


@pytest.mark.slow
@pytest.mark.parametrize("point", [(51, 3, 3.0, 1e-3), (101, 3, 3.0, 1e-3), (101, 2, 2.0, 1e-3)])
def test_the_gap_is_small_beside_the_errors_where_nearly_every_label_is_right(many, point):
    solution = many(*point)
    total = coefficients(point[0], parse_prior("uniform:0.5,1")).sum()
    enough = max(10 * GAP * (total - solution.utility), many.module.LEAST_GAP)
    # What filling gives away beside the gap itself, and what a violation overlooked does.
    assert solution.utility_upper_bound - solution.utility <= 1.8 * enough


def test_no_noise_is_needed_where_the_majority_is_private_already(many):
    solution = many(11, 7, 0.1, 1e-5)
    assert (solution.gamma == 1).all()
    assert solution.utility <= solution.utility_upper_bound <= solution.utility * (1 + 1e-12)


def test_monotone_gamma_is_searched_among_the_monotone(many):
    fine = optimize_gamma(35, 3, 0.1, 1e-5, monotone=True)
    found = many(35, 3, 0.1, 1e-5, monotone=True)
    assert found.monotone
    assert found.certificate.method == "three_corners"
    assert found.utility == pytest.approx(fine.utility, rel=3 * GAP)


def test_rounds_that_run_out_leave_a_certified_gamma_and_an_honest_gap(many, monkeypatch):
    fine = optimize_gamma(35, 1.5, 1.0, 1e-3, prior="common:0.5,1")
    monkeypatch.setattr(many.module, "MAX_ROUNDS", 3)
    found = many(35, 1.5, 1.0, 1e-3, prior="common:0.5,1")
    assert found.certificate.holds
    assert found.utility <= fine.utility_upper_bound
    assert fine.utility <= found.utility_upper_bound
    assert found.utility_upper_bound - found.utility > 2 * GAP * found.utility
