"""The joint cost of threshold and label against exact divergences, and its sensitivity by force."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr

from benchmarks import smooth_sensitivity as benchmark
from private_ensembles.pate.joint import JointProfile, StepCost
from private_ensembles.pate.rdp import gnmax_log_q
from private_ensembles.pate.rounds import confident_round, gnmax_round, interactive_round

from .oracle import confident_gnmax_expected_rdp


def exact_cost(margin, sigma1, order, rho):
    with mpmath.workdps(60):
        t, h = mpmath.mpf(margin) / sigma1, 1 / mpmath.mpf(sigma1)
        l = mpmath.mpf(order)
        E = mpmath.exp((l - 1) * mpmath.mpf(rho))

        def branch(s):
            P0, P1 = mpmath.ncdf(-t), mpmath.ncdf(t)
            Q0, Q1 = mpmath.ncdf(-t - s * h), mpmath.ncdf(t + s * h)
            return mpmath.log(P0**l * Q0 ** (1 - l) + P1**l * Q1 ** (1 - l) * E) / (l - 1)

        return max(branch(-1), branch(1)), max(branch(mpmath.mpf(k) / 8) for k in range(-8, 9))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.floats(-25, 25),
    st.sampled_from([0.7, 3.0, 150.0]),
    st.sampled_from([1.01, 2.0, 14.0, 50.0]),
    st.sampled_from([0.0, 1e-12, 0.01, 2.0]),
)
def test_cost_is_the_formula_at_sixty_digits_rounded_up(t, sigma1, order, rho):
    margin = t * sigma1
    ends, inside = exact_cost(margin, sigma1, order, rho)
    computed = float(StepCost(sigma1, order).cost(margin, rho))
    assert computed >= inside * (1 - mpmath.mpf(10) ** -40)  # no |s| < 1 costs more than s = -1, 1
    assert computed == pytest.approx(float(ends), rel=1e-9, abs=1e-12 * order / (order - 1))


def label_distribution(row, sigma):
    return np.array(
        [
            quad(
                lambda z, i=i: np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
                * np.prod([ndtr(z + (row[i] - n) / sigma) for j, n in enumerate(row) if j != i]),
                -12, 12, epsabs=1e-13, limit=400,
            )[0]
            for i in range(len(row))
        ]
    )  # fmt: skip


def neighbours(row):
    for i, j in product(range(len(row)), repeat=2):
        if i != j and row[i]:
            moved = list(row)
            moved[i] -= 1
            moved[j] += 1
            yield tuple(moved)


def histograms(teachers, classes):
    return [r for r in product(range(teachers + 1), repeat=classes) if sum(r) == teachers]


@pytest.mark.parametrize(("sigma1", "sigma2"), [(1.5, 0.5), (4.0, 1.0)])
def test_cost_is_never_below_the_exact_divergence_of_the_whole_step(sigma1, sigma2):
    teachers, threshold, orders = 6, 4, (1.5, 3.0)
    rows = histograms(teachers, 3)

    def step(row):
        passes = ndtr((max(row) - threshold) / sigma1)
        return np.r_[1 - passes, passes * label_distribution(row, sigma2)]

    exact = {row: step(row) for row in rows}
    one = confident_round(np.array(rows), threshold, sigma1, sigma2)
    for order in orders:
        curve = one.curve(order)
        assert curve is not None  # the data-dependent cost is put to the test
        rho = curve.beta(gnmax_log_q(np.array(rows), sigma2))
        costs = StepCost(sigma1, order).cost(one.leads - threshold, rho)
        for row, bound in zip(rows, costs, strict=True):
            P = exact[row]
            for moved in neighbours(row):
                Q = exact[moved]
                divergence = np.log(np.sum(P**order * Q ** (1 - order))) / (order - 1)
                assert divergence <= bound + 1e-9


CASES = [(14, 3, 9.0, 4.0, 2.0, 2.0), (12, 2, 7.0, 3.0, 2.5, 1.5), (13, 3, 20.0, 2.0, 2.0, 2.0)]


@pytest.mark.parametrize(("teachers", "m", "threshold", "sigma1", "sigma2", "order"), CASES)
def test_sensitivity_bounds_every_move_and_is_smooth(teachers, m, threshold, sigma1, sigma2, order):
    beta = 0.25
    rows = histograms(teachers, m)
    cost, smooth, profiles = {}, {}, {}
    for row in rows:
        profile = JointProfile(confident_round([row], threshold, sigma1, sigma2), order)
        cost[row], smooth[row] = profile.total_rdp(), profile.smooth(beta)
        profiles[row] = profile
        values = [profile.at(d)[0] for d in range(teachers + 1)]
        assert (np.diff(values) >= -1e-15).all()
    moves = set()
    for row in rows:
        for other in neighbours(row):
            assert abs(cost[row] - cost[other]) <= profiles[row].at(0)[0]
            assert smooth[row] <= np.exp(beta) * smooth[other] * (1 + 1e-8)
            moves.add(abs(cost[row] - cost[other]) / profiles[row].at(0)[0])
    assert max(moves) > 0.1  # the bound is of the size of what it bounds


def test_total_over_queries_moves_by_no_more_than_the_sum_of_their_sensitivities():
    rng = np.random.default_rng(0)
    for _ in range(30):
        counts = rng.multinomial(14, rng.dirichlet([4, 1, 1]), size=4)
        moved = np.array([next(neighbours(tuple(row))) for row in counts])
        profiles = [
            JointProfile(confident_round(votes, 9, 4.0, 2.0), 2.0) for votes in (counts, moved)
        ]
        change = abs(profiles[0].total_rdp() - profiles[1].total_rdp())
        assert change <= min(profile.smooth(0.3) for profile in profiles)


def test_the_guarantee_can_be_below_the_papers_expectation():
    """A clear query passes or fails the threshold almost surely, which hardly tells anything."""
    counts = np.tile([4900, 60, 40], (100, 1))
    one = confident_round(counts, 1000, 500.0, 100.0)
    guarantee = JointProfile(one, 20.5).total_rdp()
    _, expectation = confident_gnmax_expected_rdp(counts, 1000, 500.0, 100.0, [20.5])
    assert guarantee < expectation[0] / 1000


@pytest.mark.parametrize("name", ["MNIST", "SVHN", "Adult", "Glyph"])
def test_numbers_that_docs_gnss_states_of_synthetic_votes(name):
    case = benchmark.CASES[name]
    one = confident_round(benchmark.votes(name), case.threshold, case.sigma1, case.sigma2)
    profile = JointProfile(one, case.order)
    ratio = profile.smooth(0.3 / case.order) / one.profile(case.order).smooth(0.3 / case.order)
    assert 1.15 < ratio < 1.55
    if name == "Glyph":
        expected = one.threshold_rdp(case.order) + one.label_rdp(case.order)
        assert profile.total_rdp() == pytest.approx(0.054, abs=5e-4)
        assert expected[0] == pytest.approx(0.536, abs=5e-4)


def test_cost_never_exceeds_the_sum_of_its_parts():
    margins = np.arange(-600, 601)
    for order in (1.5, 14.0):
        cost = StepCost(150.0, order).cost(margins, np.full(1201, order / 1600))
        assert (cost <= (order / (2 * 150**2) + order / 1600) * (1 + 1e-9)).all()
        assert cost[-1] == pytest.approx(order / 1600, rel=1e-3)  # passes for certain
        assert cost[0] < 1e-3 * cost[-1]  # fails for certain


def test_extreme_votes_have_finite_costs():
    rows = np.array([[5000] + [0] * 9, [500] * 10, [2501, 2499] + [0] * 8])
    profile = JointProfile(confident_round(rows, 3000, 10.0, 40.0), 7.5)
    assert 0 < profile.total_rdp() <= 3 * profile.largest * (1 + 1e-9)
    assert math.isfinite(profile.smooth(0.01))
    single = JointProfile(confident_round([[9], [9]], 5, 10.0, 4.0), 2.0)
    assert single.total_rdp() <= 2 * 2.0 / 200 * (1 + 1e-9)


def test_interactive_rounds_need_whole_votes():
    counts = [[8, 2], [5, 5]]
    whole = interactive_round(counts, [[0.5, 0.5], [1, 0]], 2, 3.0, 2.0)
    profile = JointProfile(whole, 2.0)
    assert profile.total_rdp() > 0
    with pytest.raises(ValueError, match="whole votes"):
        JointProfile(interactive_round(counts, [[0.55, 0.45], [1, 0]], 2, 3.0, 2.0), 2.0)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="threshold"):
        JointProfile(gnmax_round([[3, 1]], 1.0), 2.0)
    with pytest.raises(ValueError, match="sigma"):
        StepCost(0.0, 2.0)
    with pytest.raises(ValueError, match="orders"):
        StepCost(1.0, 1.0)
    with pytest.raises(ValueError, match="condition C6"):
        JointProfile(confident_round([[60, 0, 0]], 30, 3.0, 3.0), 4.0)
