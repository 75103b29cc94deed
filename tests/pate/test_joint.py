"""The joint cost of threshold and label against exact divergences, and its sensitivity by force."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from benchmarks import smooth_sensitivity as benchmark
from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.pate.joint import JointProfile, StepCost
from private_ensembles.pate.rdp import gnmax_log_q
from private_ensembles.pate.rounds import confident_round, interactive_round

from .oracle import (
    clear_labels_delta,
    confident_gnmax_expected_rdp,
    divergence,
    gaussian_label,
    histograms,
    lattice_label,
    lattice_mass,
    neighbours,
)


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


@pytest.mark.parametrize("sigma1", [0.7, 3.0, 11.0])
def test_secure_cost_is_the_formula_at_sixty_digits_rounded_up(sigma1):
    margins, orders, rhos = (-40, -3, 0, 1, 7, 40), (1.01, 3.0, 20.0), (0.0, 0.01, 2.0)
    reach = int(20 * sigma1) + 60  # beyond, e^-200 is left

    def outcomes(margin):
        """The weights of failing and of passing."""
        return mpmath.fsum(weights[: reach - margin]), mpmath.fsum(weights[reach - margin :])

    with mpmath.workdps(60):
        numbers = (mpmath.mpf(x) / sigma1 for x in range(-reach, reach + 1))
        weights = [mpmath.exp(-(x**2) / 2) for x in numbers]
        for margin, order, rho in product(margins, orders, rhos):
            l, (fails, passes) = mpmath.mpf(order), outcomes(margin)
            branches = []
            for other_fails, other_passes in (outcomes(margin - 1), outcomes(margin + 1)):
                label = mpmath.exp((l - 1) * mpmath.mpf(rho))
                total = (
                    fails**l * other_fails ** (1 - l) + passes**l * other_passes ** (1 - l) * label
                )
                branches.append(mpmath.log(total / mpmath.fsum(weights)) / (l - 1))
            computed = float(StepCost(sigma1, order, "secure").cost(margin, rho))
            assert computed >= max(branches)
            assert computed == pytest.approx(float(max(branches)), rel=1e-8, abs=1e-9)


STEPS = [
    (6, 3, 4, 1.5, 0.8),
    (6, 3, 4, 4.0, 1.0),
    (12, 2, 8, 2.0, 1.0),
    (12, 2, -6, 1.0, 1.5),
    (10, 3, 6, 1.5, 1.0),
]


def continuous_step(row, threshold, sigma1, sigma2):
    margin = (max(row) - threshold) / sigma1
    return np.r_[ndtr(-margin), ndtr(margin) * gaussian_label(row, sigma2)]


def lattice_step(row, threshold, sigma1, sigma2):
    x, mass = lattice_mass(sigma1)
    passing = max(row) + x >= threshold
    passes, fails = math.fsum(mass[passing]), math.fsum(mass[~passing])
    return np.r_[fails, passes * lattice_label(row, sigma2)]


STEP = {"reproducible": continuous_step, "secure": lattice_step}


@pytest.mark.parametrize("noise", STEP)
@pytest.mark.parametrize(("teachers", "classes", "threshold", "sigma1", "sigma2"), STEPS)
def test_cost_is_never_below_the_exact_divergence_of_the_whole_step_in_either_direction(
    teachers, classes, threshold, sigma1, sigma2, noise
):
    rows = histograms(teachers, classes)
    given = threshold - 0.3, sigma1, sigma2
    exact = {row: STEP[noise](row, *given) for row in rows}
    one = confident_round(rows, *given, noise=noise)
    missed = 0
    for order in (1.2, 1.8):
        curve = one.curve(order)
        assert curve is not None  # the data-dependent cost is put to the test
        rho = curve.beta(one.log_q)
        forward = StepCost(sigma1, order, noise).cost(one.leads - one.threshold, rho)
        for row, one_way in zip(rows, forward, strict=True):
            both = JointProfile(confident_round([row], *given, noise=noise), order).total_rdp()
            for moved in neighbours(row):
                to = divergence(exact[row], exact[moved], order)
                back = divergence(exact[moved], exact[row], order)
                assert to <= one_way + 1e-9
                assert max(to, back) <= both + 1e-9
                missed += back > one_way + 1e-6
    assert missed


@pytest.mark.parametrize("noise", STEP)
def test_an_interactive_step_costs_at_least_the_exact_divergence_in_either_direction(noise):
    scores, given, order = np.array([0.5, 0.4, 0.1]), (1.7, 1.2, 0.9), 1.6
    rows = histograms(8, 3)
    expected = np.rint(8 * scores)  # whole, so that both kinds of noise look at the same leads

    def step(row):
        lead = [int((row - expected).max())]  # the step of a histogram with that lead
        passes = STEP[noise](lead, *given)
        label = lattice_label if noise == "secure" else gaussian_label
        return np.r_[passes[0], passes[1:].sum() * label(row, given[2])]

    exact = {row: step(row) for row in rows}
    for row in rows:
        one = interactive_round([row], [expected / 8], *given, noise=noise)
        both = JointProfile(one, order).total_rdp()
        for moved in neighbours(row):
            to = divergence(exact[row], exact[moved], order)
            assert max(to, divergence(exact[moved], exact[row], order)) <= both + 1e-9


def test_a_release_of_300_clear_labels_is_charged_for_the_way_back():
    """docs/gnss.md: votes 9-2, sigma = 1, delta = 1e-5; every query passes the threshold."""
    order = 1.95
    one = confident_round([[9, 2]] * 300, -1000.0, 1.0, 1.0)
    rho = one.curve(order).beta(gnmax_log_q(one.counts, 1.0))
    forward = StepCost(1.0, order).cost(one.leads + 1000, rho).sum()
    one_way, _ = rdp_to_dp([order], [forward], 1e-5)
    both, _ = rdp_to_dp([order], [JointProfile(one, order).total_rdp()], 1e-5)
    assert clear_labels_delta(7, 5, one_way) <= 1e-5 < 3e-4 < clear_labels_delta(5, 7, one_way)
    assert max(clear_labels_delta(7, 5, both), clear_labels_delta(5, 7, both)) <= 1e-5


CASES = [
    (14, 3, 9.0, 4.0, 2.0, 2.0),
    (12, 2, 7.0, 3.0, 2.5, 1.5),
    (12, 2, 6.5, 2.0, 1.0, 1.8),
    (13, 3, 20.0, 2.0, 2.0, 2.0),
]


@pytest.fixture(scope="module", params=[(*case, noise) for case in CASES for noise in STEP])
def everyone(request):
    """Every histogram: one round of all, and a profile of each by itself, at one order."""
    teachers, classes, *given, order, noise = request.param
    rows = histograms(teachers, classes)
    one = confident_round(rows, *given, noise=noise)
    alone = (confident_round([row], *given, noise=noise) for row in rows)
    return (
        one,
        order,
        {row: JointProfile(each, order) for row, each in zip(rows, alone, strict=True)},
    )


def test_sensitivity_bounds_every_move_and_is_smooth(everyone):
    beta, (one, _, profiles) = 0.25, everyone
    cost = {row: profile.total_rdp() for row, profile in profiles.items()}
    smooth = {row: profile.smooth(beta) for row, profile in profiles.items()}
    moves = set()
    for row, profile in profiles.items():
        values = [profile.at(d)[0] for d in range(one.teachers + 1)]
        assert (np.diff(values) >= -1e-15).all()
        for other in neighbours(row):
            assert abs(cost[row] - cost[other]) <= values[0]
            assert smooth[row] <= np.exp(beta) * smooth[other] * (1 + 1e-8)
            moves.add(abs(cost[row] - cost[other]) / values[0])
    assert max(moves) > 0.1  # the bound is of the size of what it bounds


def test_smooth_sensitivity_is_at_least_what_all_histograms_give(everyone):
    """By its definition: the largest e^(-beta distance) times a move's change, over all pairs."""
    beta, (one, order, profiles) = 0.25, everyone
    rows = list(profiles)
    step = StepCost(one.sigma1, order, one.noise)
    forward = step.cost(one.leads - one.threshold, one.curve(order).beta(one.log_q))
    one_way = dict(zip(rows, forward, strict=True))
    # What is charged, and the least that a guarantee in both directions charges by these bounds.
    charged = {row: profile.total_rdp() for row, profile in profiles.items()}
    least = {row: max(one_way[other] for other in [row, *neighbours(row)]) for row in rows}
    for cost in (charged, least):
        moves = [max(abs(cost[row] - cost[other]) for other in neighbours(row)) for row in rows]
        for row in rows:
            distances = np.abs(np.array(rows) - row).sum(axis=1) / 2
            assert profiles[row].smooth(beta) >= (np.exp(-beta * distances) * moves).max()
            assert charged[row] >= least[row] * (1 - 1e-12)


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
    rho = one.curve(case.order).beta(gnmax_log_q(one.counts, case.sigma2))
    forward = StepCost(case.sigma1, case.order).cost(one.leads - case.threshold, rho).sum()
    assert 1.005 < profile.total_rdp() / forward < 1.03
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


@pytest.mark.parametrize("noise", STEP)
def test_labels_that_are_level_cost_what_no_votes_are_needed_for(noise):
    """lambda / sigma2^2 where every query passes, and lambda / (2 sigma1^2) more at the most."""
    sigma1, sigma2, order = 5.0, 7.0, 2.0
    one = confident_round([[6, 6, 6]] * 4, -1000, sigma1, sigma2, noise=noise)
    profile = JointProfile(one, order)
    assert profile.largest == pytest.approx(order / (2 * sigma1**2) + order / sigma2**2)
    assert profile.total_rdp() == pytest.approx(4 * order / sigma2**2, rel=1e-9)
