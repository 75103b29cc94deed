"""Discrete Gaussian noise: against sums over the lattice in 40 digits, which nothing shares."""

import functools
import itertools
import math
import tracemalloc

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from private_ensembles.accounting import discrete_gaussian as dg
from private_ensembles.accounting.gaussian import gaussian_delta

mpmath.mp.dps = 40


@functools.cache
def exact_law(sigma, terms, reach):
    """Pr[S = s] of a sum, a dict of 40-digit numbers, by adding up all products."""
    sigma = mpmath.mpf(sigma)
    one = {x: mpmath.exp(-(x**2) / (2 * sigma**2)) for x in range(-reach, reach + 1)}
    total = mpmath.fsum(one.values())
    one = {x: w / total for x, w in one.items()}
    found = {0: mpmath.mpf(1)}
    for _ in range(terms):
        added = {}
        for s, p in found.items():
            for x, w in one.items():
                added[s + x] = added.get(s + x, mpmath.mpf(0)) + p * w
        found = added
    return found


def exact_delta(epsilon, groups, reach):
    """Sum over all outcomes of the noise, of (Pr - e^epsilon Pr')_+ , counts moved by 1 each.

    It is the sum of the chance less e^epsilon times the chance on the neighbour, which is that
    e^-loss times as large, over all losses above epsilon.
    """
    found, growth = mpmath.mpf(0), mpmath.exp(mpmath.mpf(epsilon))
    for outcome in itertools.product(*(exact_losses(*group, reach) for group in groups)):
        losses, chances, others = zip(*outcome, strict=True)
        if sum(losses) > epsilon:
            found += mpmath.fprod(chances) - growth * mpmath.fprod(others)
    return found


@functools.cache
def exact_losses(counts, sigma, reach):
    """Of each outcome of a group of counts its loss, and its chance here and on the neighbour."""
    square = 2 * mpmath.mpf(sigma) ** 2
    law = exact_law(sigma, counts, reach).items()
    losses = [((2 * s + counts) / square, p) for s, p in law]
    return [(loss, p, p * mpmath.exp(-loss)) for loss, p in losses]


@pytest.mark.keeps(
    "accounting.discrete_gaussian:Law.upper_tail",
    "accounting.discrete_gaussian:Law.lower_tail",
)
@pytest.mark.parametrize(("sigma", "terms"), [(0.3, 1), (0.5, 3), (1.0, 2), (1.3, 5), (2.5, 4)])
def test_law_of_a_sum_is_that_of_all_products(sigma, terms):
    law, exact = dg.law(sigma, terms), exact_law(sigma, terms, math.ceil(16 * sigma))
    tail = mpmath.mpf(0)
    for s in range(law.support_radius, -law.support_radius - 1, -1):
        p = exact.get(s, mpmath.mpf(0))
        tail += p
        if p < 1e-40:  # the exact law above is cut there
            continue
        at = s + law.support_radius
        assert abs(mpmath.mpf(law.mass[at]) - p) <= law.error * p
        assert law.lower_tail(np.array(s)) <= tail * (1 + mpmath.mpf(10) ** -30)
        assert law.upper_tail(np.array(s)) >= tail * (1 - mpmath.mpf(10) ** -30)
        assert law.upper_tail(np.array(s)) <= tail * (1 + mpmath.mpf(10) ** -9)


@pytest.mark.keeps("accounting.discrete_gaussian:log_tail")
@pytest.mark.parametrize("terms", [1, 2])
@pytest.mark.parametrize("sigma", [0.2, 0.7, 1.0, 6.0, 40.0])
def test_log_tails_hold_however_far_out(sigma, terms):
    square = 2 * terms * mpmath.mpf(sigma) ** 2
    parity = [mpmath.mpf(1), mpmath.mpf(1)]
    if terms == 2:  # Pr[D = d] is exp(-d^2 / (4 sigma^2)) times the sum over y of what is left
        parity = [
            mpmath.fsum(
                mpmath.exp(-2 * (y - mpmath.mpf(odd) / 2) ** 2 / (square / 2))
                for y in range(-10 - int(14 * sigma), 11 + int(14 * sigma))
            )
            for odd in (0, 1)
        ]

    def weight(x):
        return mpmath.exp(-(mpmath.mpf(x) ** 2) / square) * parity[x % 2]

    reach = 30 + int(20 * sigma)
    total = mpmath.fsum(weight(x) for x in range(-reach, reach + 1))
    for start in (-90, 0, 1, 17, 250, 5000):
        to = max(reach, start + reach)
        beyond = mpmath.fsum(weight(x) for x in range(max(start, -reach), to))
        exact_log = mpmath.log(beyond / total)
        found = dg.log_tail(start, sigma, terms=terms)
        assert exact_log <= found <= exact_log + 1e-11 * (1 + abs(exact_log))


@pytest.mark.keeps("accounting.discrete_gaussian:log_overtakes")
def test_a_tie_is_half_an_overtaking():
    sigma = 1.7
    law = dg.law(sigma, 2)
    for gap in (0, 1, 2, 9):
        at = gap + law.support_radius
        exact = law.tail[at + 1] + law.mass[at] / 2
        assert dg.log_overtakes(gap, sigma) == pytest.approx(math.log(exact), abs=1e-10)
        assert dg.log_overtakes(gap, sigma) >= math.log(exact) - 1e-13
    assert dg.log_overtakes(np.array([[0, 3]]), sigma).shape == (1, 2)
    assert math.exp(dg.log_overtakes(0, sigma)) == pytest.approx(0.5)


def test_an_epsilon_that_rounding_takes_for_a_loss_costs_no_less_than_it_does():
    """Nearly all noise is 0, whose loss is 240: epsilon is up to 35 floats above it."""
    sigma = math.sqrt(1 / 480)
    counts, epsilon = dg.DiscreteGaussianCounts(1, sigma), 240.0
    loss = 1 / (2 * mpmath.mpf(sigma) ** 2)
    while epsilon < loss + 1e-12:
        exact = exact_delta(epsilon, [(1, sigma)], 4)
        assert exact <= counts.delta(epsilon) <= exact + 1e-11
        epsilon = math.nextafter(epsilon, math.inf)


GROUPS = [
    ([(1, 0.05)], 4),
    ([(1, 0.5)], 12),
    ([(2, 0.5)], 12),
    ([(2, 1.0)], 16),
    ([(4, 0.8)], 14),
    ([(3, 2.0)], 20),
    ([(1, 1.0), (2, 1.5)], 16),
    ([(2, 0.6), (4, 1.0)], 14),
    ([(2, 2.4), (1, 0.7)], 24),
]


@pytest.mark.keeps(
    "accounting.discrete_gaussian:delta",
    "accounting.discrete_gaussian:DiscreteGaussianCounts.delta",
    "accounting.discrete_gaussian:epsilon",
)
@pytest.mark.parametrize(("groups", "reach"), GROUPS)
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 4.0, 12.0])
def test_delta_is_the_sum_over_all_outcomes(groups, reach, epsilon):
    exact = exact_delta(epsilon, groups, reach)
    found = dg.delta(epsilon, [dg.DiscreteGaussianCounts(*one) for one in groups])
    assert found >= exact * (1 - mpmath.mpf(10) ** -20)
    assert found <= exact * (1 + 1e-8) + 1e-30


@pytest.mark.parametrize("by", [2, 3])
@pytest.mark.parametrize(("sigma", "reach"), [(0.5, 14), (1.2, 24), (3.0, 60)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 4.0])
def test_one_count_that_moves_by_more_is_no_cheaper(sigma, reach, by, epsilon):
    """By the sum over all numbers; and what moves by less, in either direction, costs less."""
    weights = {
        z: mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * mpmath.mpf(sigma) ** 2))
        for z in range(-2 * reach, 2 * reach + 1)
    }
    whole, growth = mpmath.fsum(weights.values()), mpmath.exp(mpmath.mpf(epsilon))
    exact = [
        mpmath.fsum(
            max(mpmath.mpf(0), weights[z] - growth * weights[z + step]) / whole
            for z in range(-reach, reach + 1)
        )
        for step in range(-by, by + 1)
    ]
    found = dg.delta(epsilon, [dg.DiscreteGaussianCounts(1, sigma, by)])
    assert found >= max(exact) * (1 - mpmath.mpf(10) ** -20)
    assert found <= exact[-1] * (1 + 1e-8) + 1e-30


def test_counts_that_move_by_more_cost_about_what_less_noise_does():
    for counts in (1, 40, 10_000):
        more = dg.delta(1.0, [dg.DiscreteGaussianCounts(counts, 300.0, 3)])
        assert more == pytest.approx(
            dg.delta(1.0, [dg.DiscreteGaussianCounts(counts, 100.0)]), rel=1e-2, abs=1e-30
        )
    both = [dg.DiscreteGaussianCounts(30, 50.0, 2), dg.DiscreteGaussianCounts(30, 50.0)]
    assert dg.delta(1.0, both) > dg.delta(1.0, [dg.DiscreteGaussianCounts(60, 50.0)])


def test_order_and_splitting_of_groups_do_not_matter():
    moves = [dg.DiscreteGaussianCounts(4, 3.0), dg.DiscreteGaussianCounts(2, 5.0)]
    split = [
        dg.DiscreteGaussianCounts(2, 5.0),
        dg.DiscreteGaussianCounts(1, 3.0),
        dg.DiscreteGaussianCounts(3, 3.0),
        dg.DiscreteGaussianCounts(0, 9.0),
    ]
    assert dg.delta(1.0, moves) == dg.delta(1.0, split)
    assert dg.delta(1.0, []) == 0.0
    assert dg.delta(-1.0, []) == pytest.approx(1 - math.exp(-1))


@pytest.mark.parametrize(
    "moves",
    [
        [dg.DiscreteGaussianCounts(2, 40.0)],
        [dg.DiscreteGaussianCounts(40, 30.0)],
        [dg.DiscreteGaussianCounts(600, 9.0)],
        [dg.DiscreteGaussianCounts(20, 70.0), dg.DiscreteGaussianCounts(4, 12.0)],
    ],
)
def test_the_rounded_gaussian_is_an_upper_bound_and_close(moves, monkeypatch):
    for epsilon in (0.05, 0.5, 2.0):
        exact = dg.delta(epsilon, moves)
        for largest in (0.0, 250.0):
            monkeypatch.setattr(dg, "_LARGEST", largest)
            bound = dg.delta(epsilon, moves)
            assert exact * (1 - 1e-9) - 1e-100 <= bound <= 1.1 * exact + 1e-12
        monkeypatch.undo()


def theorem_3(epsilon, groups, by=1):
    """(1 + eta) times the delta of one Gaussian mechanism of mu, at epsilon - 3 eta.

    Args:
        by: what mu, eta and epsilon grow by in a bound that is as much too large.
    """
    mu, eta = mpmath.mpf(0), mpmath.mpf(0)
    for counts, sigma in groups:
        variance = counts * mpmath.mpf(sigma) ** 2
        mu += counts**2 / (variance - mpmath.mpf("2.25"))
        eta += 5 * (counts - 1) * mpmath.exp(-(mpmath.pi**2) * mpmath.mpf(sigma) ** 2)
        eta += mpmath.mpf(10) ** -18
    eta = by * (eta + mpmath.mpf(10) ** -14 * (by > 1))
    mu, x = mpmath.sqrt(mu) * (1 + (eta if by > 1 else 0)), epsilon - 3 * eta
    below, above = (mpmath.ncdf(side * mu / 2 - x / mu) for side in (-1, 1))
    return (1 + eta) * (above - mpmath.exp(x) * below)


@pytest.mark.parametrize(
    "groups",
    [
        [(50, 1.2)],
        [(1, 1.6), (9, 1.15)],
        [(7, 1.3), (300, 1.5), (4, 2.0)],
        [(2, 400.0)],
        [(90_000, 2.0), (1000, 30.0)],
    ],
    ids=str,
)
def test_a_large_sum_costs_all_that_theorem_3_grants_it_and_hardly_more(groups):
    """Mu is no smaller, epsilon no larger, and the delta has its 1 + eta, in 40 digits."""
    counts = [dg.DiscreteGaussianCounts(*group) for group in groups]
    mu = math.sqrt(sum(group.total_shift**2 / group.variance for group in counts))
    for deviations in (-1.0, 0.0, 0.5, 2.0, 4.0, 8.0):
        epsilon = mu**2 / 2 + deviations * mu
        found = float(dg._smooth_delta(epsilon, counts))
        exact, more = (theorem_3(epsilon, groups, by) for by in (1, 2))
        assert exact <= found <= more * (1 + 1e-9) + 1e-11


def test_many_labels_cost_next_to_what_continuous_noise_does():
    # 286 labels of sigma 40 after 640 thresholds of sigma 150, as PATE's Table 2 has them.
    moves = [dg.DiscreteGaussianCounts(640, 150.0), dg.DiscreteGaussianCounts(2 * 286, 40.0)]
    mu = math.sqrt(640 / 150**2 + 2 * 286 / 40**2)
    for epsilon in (0.5, 2.5):
        continuous = float(gaussian_delta(mu, epsilon))
        assert dg.delta(epsilon, moves) == pytest.approx(continuous, rel=1e-4)


def test_epsilon_is_the_least_at_which_delta_is_kept():
    moves = [dg.DiscreteGaussianCounts(6, 4.0), dg.DiscreteGaussianCounts(10, 8.0)]
    found = dg.epsilon(1e-5, moves)
    assert dg.delta(found, moves) <= 1e-5 < dg.delta(found * (1 - 1e-6), moves)
    assert dg.epsilon(0.5, [dg.DiscreteGaussianCounts(2, 100.0)]) == 0.0


def test_a_delta_below_what_is_granted_has_no_epsilon():
    moves = [dg.DiscreteGaussianCounts(2, 1.0)]
    assert dg.epsilon(1e-200, moves) == math.inf


def test_a_sufficient_factor_is_the_least_found_and_keeps_the_budget():
    moves = [dg.DiscreteGaussianCounts(4, 0.6), dg.DiscreteGaussianCounts(2, 0.7)]
    factor = dg.sufficient_factor(moves, 3.0, 1e-3)
    at = [
        [dg.DiscreteGaussianCounts(4, 0.6 * f), dg.DiscreteGaussianCounts(2, 0.7 * f)]
        for f in (factor, factor * (1 - 1e-5))
    ]
    assert dg.delta(3.0, at[0]) <= 1e-3 < dg.delta(3.0, at[1])
    assert dg.sufficient_factor(at[0], 3.0, 1e-3) == 1.0


def test_continuous_accounting_claims_too_little_for_discrete_noise():
    """Issue 14.1: at sigma = 1 the lattice's delta is up to 1.3 times the Gaussian's."""
    worst = max(
        dg.delta(epsilon, [dg.DiscreteGaussianCounts(2, 1.0)])
        / float(gaussian_delta(math.sqrt(2), epsilon))
        for epsilon in np.linspace(0.1, 6, 60)
    )
    assert worst > 1.2


@pytest.mark.parametrize("sigma", [2.0, 11.0])
@pytest.mark.parametrize("lead", [0, 1, 3])
def test_whole_votes_are_as_near_to_continuous_noise_as_theorem_5_says(sigma, lead):
    """Two classes and few votes of noise, where the distance can be seen."""
    x = np.arange(-40 * sigma, 40 * sigma + 1)
    weights = np.exp(-(x**2) / (2 * sigma**2))
    weights /= weights.sum()
    below = np.cumsum(weights) - weights
    padded = np.clip(np.arange(x.size) + lead, 0, x.size - 1)
    wins = (weights * (below[padded] + weights[padded] / 2)).sum()
    distance = abs(wins - ndtr(lead / (math.sqrt(2) * sigma)))
    assert distance <= (math.sqrt(2 * math.log(2)) + 2 / sigma) / sigma


@pytest.mark.parametrize("classes", [2, 10, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("spread", [0.0, 0.5, 3.0])
def test_the_two_largest_counts_are_as_rarely_near_as_theorem_5_says(classes, spread):
    """By quadrature, in units of sigma; with equal counts the bound is nearly reached."""
    counts = spread * np.random.default_rng(classes).standard_normal(classes)
    step = 0.04
    y = np.arange(-45, 60, step)
    density = np.exp(-((y - counts[:, None]) ** 2) / 2) / math.sqrt(2 * math.pi)
    for h in (0.001, 0.1):
        ahead = ndtr(y - h - counts[:, None])  # of one at y, the others by more than h
        logs = np.log(np.maximum(ahead, 1e-300))
        apart = (density * np.exp(logs.sum(axis=0) - logs)).sum() * step
        near, bound = 1 - apart, math.sqrt(2 * math.log(classes)) * h
        assert 0 < near <= bound
        if spread == 0 and h == 0.001:
            assert near > 0.45 * bound


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dg.log_tail(1.5, 1.0), "start: must be whole"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_delta_takes_a_list_as_it_takes_an_array():
    moves = dg.DiscreteGaussianCounts(2, 3.0)
    assert moves.delta([0.0, 1.0]).tolist() == moves.delta(np.array([0.0, 1.0])).tolist()


@pytest.mark.parametrize(
    "move",
    [
        dg.DiscreteGaussianCounts(3, 5.0),
        dg.DiscreteGaussianCounts(500, 300.0),
        dg.DiscreteGaussianCounts(9, 0.7, 2),
    ],
)
def test_deltas_at_many_epsilons_are_those_at_each(move):
    epsilons = np.linspace(-1.0, 3.0, 9)
    each = [dg.delta(epsilon, [move]) for epsilon in epsilons]
    assert dg.deltas(epsilons, move) == pytest.approx(each, rel=1e-14)


def test_the_error_of_log_tails_grows_with_the_standard_deviation():
    """A ratio's few round-offs add up along the tail (docs/noise.md)."""
    (_, near), (_, far) = (dg._log_tails(sigma, 1, 1) for sigma in (1.0, 4000.0))
    assert near == 1e-12
    assert far >= 32 * 4000 * np.finfo(float).eps / 2


@pytest.mark.parametrize("sigmas", [(0.7, 1.0, 1.75), (0.7, 1.45, 1.5), (0.5, 0.6, 2.5)])
def test_a_third_group_of_little_noise_is_no_gaussian(sigmas):
    """Theorem 3 takes 2.25 off a variance: where nothing is left, delta is 1."""
    chance, loss, x = 1.0, 0.0, np.arange(-25, 26)
    for axis, sigma in enumerate(sigmas):
        law = np.exp(-((x / sigma) ** 2) / 2)
        shape = np.ones(3, dtype=int)
        shape[axis] = x.size
        chance = chance * (law / law.sum()).reshape(shape)
        loss = loss + ((2 * x + 1) / (2 * sigma**2)).reshape(shape)
    exact = (chance * -np.expm1(np.minimum(1.0 - loss, 0.0))).sum()
    found = dg.delta(1.0, [dg.DiscreteGaussianCounts(1, sigma) for sigma in sigmas])
    assert exact * (1 - 1e-12) <= found <= 1.0


@pytest.mark.parametrize("sigma", [4.0, 30.0, 900.0])
def test_a_rounded_gaussian_is_as_near_as_is_granted_beyond_what_is_listed(sigma, monkeypatch):
    start = np.arange(-math.ceil(6 * sigma), math.ceil(6 * sigma), max(1, int(sigma) // 4))
    exact = dg.tail_probability(start, sigma)
    assert dg.tail_probability_error(sigma) == (dg.law(sigma).error, dg.TRUNCATED_MASS)
    monkeypatch.setattr(dg, "MAX_TABULATED_SIGMA", 2.0)
    near = dg.tail_probability(start, sigma)
    relative, absolute = dg.tail_probability_error(sigma)
    assert (np.abs(near - exact) <= relative * exact + absolute).all()
    assert np.abs(near - exact).max() > 0
    assert absolute == pytest.approx(sigma**-2)


def test_noise_of_any_scale_is_asked_for_without_listing_it():
    """At epsilon = 1e-5 a list of the law took 3 GB."""
    tracemalloc.start()
    start = np.array([-(10**7), 0, 1, 10**7])
    assert dg.tail_probability(start, 1e7) == pytest.approx(ndtr([1.0, 0.0, 0.0, -1.0]), abs=1e-7)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    assert dg.tail_probability_error(1e7)[1] < 1.1e-14
    with pytest.raises(ValueError, match=r"sigma = 32768\.0: must be above"):
        dg.whole_lattice_total_variation(2.0**15, 2)
