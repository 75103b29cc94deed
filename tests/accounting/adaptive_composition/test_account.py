"""What many labels cost, against exact adversaries, closed forms, and the best accounts known."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import beta, binom

from private_ensembles.accounting.adaptive_composition.account import (
    Bounds,
    PrivacyCurve,
    adaptive_epsilon,
    deciding_orders,
    grid_and_orders,
    kernels_on,
    pairs_value_bounds,
    privacy_curve,
)
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    NeighbourPairs,
    max_loss_deviation,
    two_class_dominating_pairs,
)
from private_ensembles.accounting.adaptive_composition.hockey_sticks import LEAST_LOST
from private_ensembles.accounting.adaptive_composition.whole_curve import WholeCurve
from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.accounting.gaussian import gaussian_delta
from tests.accounting.adaptive_composition.labels import gnmax, least_gnmax
from tests.accounting.adversaries import bounds_at


@pytest.mark.parametrize("labels", [1, 7, 100])
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_randomised_response_costs_what_optimal_composition_says(labels, delta):
    """And never less; the largest loss lies on the grid, so that nothing is lost to it."""
    epsilon = math.log(3)
    exact = optimal_composition(epsilon, 0.0, labels, delta).epsilon
    found = adaptive_epsilon(
        two_class_dominating_pairs([0.25, 0.75], relative_error=2**-50), labels, delta
    )
    assert found.lower <= exact <= found.upper * (1 + 1e-12)
    assert found.upper == pytest.approx(exact, rel=1e-6)
    assert found.lower == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("scale", [3.0, 10.0, 40.0])
@pytest.mark.parametrize("labels", [1, 30])
def test_labels_cost_no_more_than_the_noisy_counts(scale, labels):
    """The Gaussian condition, on two counts that move by 1 each, bounds every release of labels."""
    mu = math.sqrt(2 * labels) / scale
    for epsilon in (0.5 * mu, 2 * mu):
        most = float(gaussian_delta(mu, epsilon))
        assert bounds_at(gnmax(31, scale), labels, epsilon).upper <= most


def test_no_pair_played_over_and_over_costs_more():
    """100 labels of one pair are a binomial; at the scale that is claimed, all stay below delta."""
    labels, epsilon, delta = 100, 2.0, 1e-5
    family = gnmax(51, least_gnmax(51, labels, epsilon, delta, 0.82 * 28.20))
    counts = np.arange(labels + 1)
    dearest = 0.0
    for first, second in zip(*family.attainable_pairs(), strict=True):
        logs = counts * np.log(second[1] / first[1])
        logs += (labels - counts) * np.log(second[0] / first[0])
        gain = np.maximum(-np.expm1(epsilon + logs), 0.0)
        dearest = max(dearest, float(gain @ binom.pmf(counts, labels, first[1])))
    assert 0.5 * delta < dearest < delta
    found = bounds_at(family, labels, epsilon)
    assert dearest <= found.lower * (1 + 1e-9) <= found.upper <= delta * (1 + 1e-9)


def test_the_worst_strategy_found_stays_below_the_bound_when_it_is_played():
    """Monte-Carlo at 100 labels: Clopper and Pearson's interval of the played strategy's delta."""
    labels, teachers, epsilon, plays = 100, 21, 1.0, 100_000
    family = gnmax(teachers, 40.0)
    first, second = (rows[:, 1] for rows in family.attainable_pairs())  # Pr[label 1]
    wins = np.log(second / first)
    misses = np.log((1 - second) / (1 - first))
    # A policy by backward induction on a rough grid of ln x, the nearest point taken.
    step = 0.01
    logs = step * np.arange(-400, 401)
    value = np.maximum(-np.expm1(epsilon + logs), 0.0)
    policy = []
    for _ in range(labels):
        options = first[:, None] * np.interp(logs + wins[:, None], logs, value)
        options += (1 - first[:, None]) * np.interp(logs + misses[:, None], logs, value)
        policy.append(options.argmax(axis=0))
        value = options.max(axis=0)
    rng = np.random.default_rng(16)
    assert len(np.unique(policy)) > 2  # it does adapt
    hits = []
    for laws in (first, second):
        x = np.zeros(plays)
        for choice in policy[::-1]:
            place = np.clip(np.rint(x / step).astype(int) + 400, 0, 800)
            pair = choice[place]
            x += np.where(rng.random(plays) < laws[pair], wins[pair], misses[pair])
        hits.append(int((x < -epsilon).sum()))
    # delta >= Pr[set] - e^epsilon Pr'[set], with confidence 1 - 2e-6.
    least = beta.ppf(1e-6, hits[0], plays - hits[0] + 1)
    most = beta.ppf(1 - 1e-6, hits[1] + 1, plays - hits[1])
    found = bounds_at(family, labels, epsilon)
    assert least - math.exp(epsilon) * most < found.upper
    # The strategy is close to the dearest: its upper confidence bound is above ours.
    upper = beta.ppf(1 - 1e-6, hits[0] + 1, plays - hits[0])
    lower = beta.ppf(1e-6, hits[1], plays - hits[1] + 1)
    assert upper - math.exp(epsilon) * lower > found.lower
    assert hits[0] / plays - math.exp(epsilon) * hits[1] / plays > 0.8 * found.upper


def test_one_label_costs_what_its_dearest_pair_does():
    family = gnmax(21, 5.0)
    for epsilon in (0.0, 0.2, 0.7):
        exact = np.maximum(family.first - math.exp(epsilon) * family.second, 0).sum(axis=1).max()
        found = bounds_at(family, 1, epsilon)
        assert found.lower * (1 - 1e-9) <= exact <= found.upper
        assert found.upper <= 1.05 * exact


@pytest.mark.parametrize("least", [None, 0.9])
def test_the_curve_of_one_label_is_above_its_pairs_and_as_good_as_on_them(least):
    """In any number of classes, with kernels and without; each point by fractions of the floats."""
    rng = np.random.default_rng(3)
    first, second = rng.dirichlet(np.ones(4), 5), rng.dirichlet(np.ones(4), 5)
    found = privacy_curve(NeighbourPairs(first, second), 1, 1.0, 1e-3, least=least)
    asked = found.upper < 1
    assert asked.sum() >= 3
    for log, above in zip(found.epsilons[asked].tolist(), found.upper[asked].tolist(), strict=True):
        t = Fraction(mpmath.nstr(mpmath.exp(mpmath.mpf(log)), 30))
        both = (first, second), (second, first)
        most = max(
            sum(max(Fraction(0), Fraction(p) - t * Fraction(q)) for p, q in zip(a, b, strict=True))
            for left, right in both
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
        )
        assert most <= Fraction(above) <= most + Fraction(1e-11)


@pytest.mark.parametrize("points", [1, 32, 37])
def test_few_points_of_one_label_are_worked_out_a_few_at_a_time(points):
    """And none is left out of the last few: outside of what is wanted bounds are 1."""
    label = gnmax(21, 5.0)
    resolution = grid_and_orders(label, 1, 1.0, 1e-4)
    start = -resolution.grid.lowest + 5
    wanted = slice(start, start + points)
    found = pairs_value_bounds(label, 1, 1e-4, resolution, wanted)
    t = np.exp(resolution.grid.logs()[wanted])
    exact = label.hockey_stick_divergences(t).max(axis=0)
    assert (found[wanted] >= exact).all()
    assert found[wanted] == pytest.approx(exact, rel=1e-12)
    assert (np.delete(found, np.r_[wanted]) == 1).all()


def test_labels_that_tell_nothing_cost_nothing():
    family = two_class_dominating_pairs([0.25, 0.25])
    assert adaptive_epsilon(family, 100, 1e-6).upper <= 1e-6
    assert bounds_at(family, 100, 0.5).upper <= 1e-10
    assert bounds_at(family, 100, 0.0).upper <= 1e-6


def test_losses_without_bound_use_delta_up():
    exact = 1 - (1 - 2.0**-7) ** 3
    family = two_class_dominating_pairs([0.0, 2.0**-7], relative_error=0.0)
    found = bounds_at(family, 3, 0.5)
    assert found.lower <= exact * (1 + 1e-12)
    assert exact <= found.upper * (1 + 1e-12)
    assert found.upper <= exact * (1 + 1e-6)
    assert adaptive_epsilon(family, 3, 2.0**-7).upper == math.inf
    apart = NeighbourPairs(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    assert adaptive_epsilon(apart, 3, 0.1) == Bounds(0.0, math.inf)
    assert bounds_at(apart, 3, 3.0).upper == 1


@pytest.mark.parametrize(("labels", "delta"), [(2, 1e-5), (1, 1e-8), (5, 1e-8)])
def test_a_rare_and_large_loss_is_found_beyond_the_first_guess(labels, delta):
    """ln 10^4 with a chance of 1 % each: far more than the losses' standard deviation foretells."""
    found = adaptive_epsilon(two_class_dominating_pairs([1e-6, 0.01]), labels, delta)
    assert found.lower <= found.upper <= found.lower * (1 + 2e-3)
    # So many labels with the large loss come with a chance above delta, one more does not.
    times = int((binom.sf(np.arange(labels), labels, 0.01) > delta).sum())
    assert found.upper == pytest.approx(times * math.log(1e4), rel=0.01)


@pytest.mark.parametrize("leak", [1e-8, 1e-6])
def test_what_a_label_loses_at_any_distance_is_no_reason_to_lose_more(leak):
    """Some labels tell all, beside coins: each costs its leak, and the others what they cost."""
    ones = ndtr((2 * np.arange(41) - 40) / 8)
    coins = np.column_stack([1 - ones, ones])
    told, never = np.full((40, 1), leak), np.zeros((40, 1))
    leaky = NeighbourPairs(
        np.hstack([(1 - leak) * coins[:-1], told, never]),
        np.hstack([(1 - leak) * coins[1:], never, told]),
        2**-50,
    )
    without = adaptive_epsilon(two_class_dominating_pairs(ones), 100, 1e-3 - 100 * leak)
    found = adaptive_epsilon(leaky, 100, 1e-3)
    assert found.upper <= 1.002 * without.upper


@pytest.mark.parametrize("scale", [3.0, 11.0, 40.0])
@pytest.mark.parametrize(("labels", "delta"), [(1, 1e-3), (30, 1e-5), (300, 1e-9)])
def test_kernels_give_away_a_ten_thousandth_of_delta(scale, labels, delta):
    """Losses beyond their reach count as infinite, once for each label."""
    pairs = gnmax(31, scale)
    deviation = max_loss_deviation(pairs)
    orders = deciding_orders(1.0, deviation * math.sqrt(labels))
    kernels = kernels_on(pairs, deviation / 7, labels, delta, orders, deviation)
    given_away = labels * (kernels.infinite_loss_mass.max() - LEAST_LOST)
    assert 0 < given_away <= 1.001e-4 * delta


def test_beyond_its_ends_a_curve_says_what_is_certain():
    found = privacy_curve(gnmax(21, 6.0), 5, 1.5, 1e-4)
    assert found.epsilon(0.9999) == 0.0
    assert found.epsilon(0.0) == math.inf
    assert found.least_epsilon(0.9999) == 0.0
    with pytest.raises(ValueError, match="must be >="):
        found.delta(-1.0)


@pytest.mark.parametrize(
    ("value", "slope"), [(0.1, -0.9), (0.5, -1e-3), (1e-7, -3e-4), (0.9, -1.0)]
)
def test_a_line_below_a_curve_is_read_below_itself_to_the_last_digit(value, slope):
    """Steep and flat lines, at their own point and beside it, against many digits."""
    logs = np.array([0.0, 0.25])
    found = PrivacyCurve(logs, np.ones(2), np.array([value, 0.0]), np.array([slope, 0.0]))
    with mpmath.workdps(50):
        height, fall = mpmath.mpf(value), -mpmath.mpf(slope)
        for less in (0.0, 2.0**-50, 1e-9, 0.3):
            delta = value * (1 - less)
            exact = mpmath.log1p((height - delta) / fall)
            room = 1e-12 * (1 + float(height / fall))
            assert exact - room <= found.least_epsilon(delta) <= exact


@pytest.mark.parametrize("low", [0.0, 3.0, 40.0])
@pytest.mark.parametrize("fall", [1e-9, 0.3, 0.999999])
def test_a_chord_is_read_above_itself_to_the_last_digit(low, fall):
    """delta at an epsilon and epsilon at a delta, flat and steep, against many digits."""
    logs, upper = low + np.array([0.0, 0.3, 0.6]), np.array([0.7, 0.7 * (1 - fall), 1e-9])
    found = PrivacyCurve(logs, upper, np.zeros(3), np.zeros(3))
    whole = WholeCurve(found)
    start, end = (mpmath.mpf(x) for x in logs[:2].tolist())
    high, less = (mpmath.mpf(x) for x in upper[:2].tolist())
    with mpmath.workdps(50):
        for share in (0.0, 1e-12, 0.1, 0.5, 0.9999):
            epsilon = float(logs[0] + share * (logs[1] - logs[0]))
            along = mpmath.expm1(mpmath.mpf(epsilon) - start) / mpmath.expm1(end - start)
            exact = (1 - along) * high + along * less
            for ours in (found.delta(epsilon), float(whole.delta(epsilon))):
                assert exact <= ours <= exact + mpmath.mpf(10) ** -12 * (1 + low)
            delta = float(high - (high - less) * mpmath.mpf(share))
            if less < delta < high:
                part = (high - mpmath.mpf(delta)) / (high - less)
                crossing = start + mpmath.log1p(part * mpmath.expm1(end - start))
                ours = found.epsilon(delta)
                assert crossing <= ours <= crossing + mpmath.mpf(10) ** -12 * (1 + low)


@pytest.mark.parametrize("points", [2, 3, 6])
def test_each_chord_is_read_between_its_own_ends_and_what_follows_at_the_last(points):
    """Every chord of a curve, the last one too; at the last point and beyond nothing falls."""
    logs, upper = -0.2 + 0.3 * np.arange(points), 0.7 / np.array([1, 2, 3, 50, 60, 1e6])[:points]
    found = PrivacyCurve(logs, upper, np.zeros(points), np.zeros(points))
    whole = WholeCurve(found)
    with mpmath.workdps(40):
        for left in range(points - 1):
            start, end = (mpmath.mpf(x) for x in logs[left : left + 2].tolist())
            high, low = (mpmath.mpf(x) for x in upper[left : left + 2].tolist())
            for share in (0.0, 0.3, 0.999):
                epsilon = float(logs[left] + share * (logs[left + 1] - logs[left]))
                along = mpmath.expm1(mpmath.mpf(epsilon) - start) / mpmath.expm1(end - start)
                exact = (1 - along) * high + along * low
                for ours in (found.delta(epsilon), float(whole.delta(epsilon))):
                    assert exact <= ours <= exact + 1e-12
                crossing = found.epsilon(float(exact))
                assert max(0.0, epsilon - 1e-12) <= crossing <= max(0.0, epsilon) + 1e-12
        for beyond in (0.0, 1e-9, 0.2, 500.0):
            epsilon = float(logs[-1]) + beyond
            assert found.delta(epsilon) == float(whole.delta(epsilon)) == upper[-1]
        assert found.epsilon(math.nextafter(upper[-1], 0.0)) == math.inf
