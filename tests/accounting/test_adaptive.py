"""What many labels cost, against exact adversaries, closed forms, and the best accounts known."""

import functools
import math
import tracemalloc

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import beta, binom

from private_ensembles.accounting import adaptive, hockey_sticks
from private_ensembles.accounting.adaptive import (
    Bounds,
    Curve,
    Pairs,
    adaptive_delta,
    adaptive_epsilon,
    curve,
    least_scale,
    of_table,
    share_of_scale,
    two_classes,
)
from private_ensembles.accounting.composition import optimal_homogeneous
from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.noise.laplace import difference_tail


def gnmax(teachers, scale):
    margins = (2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))
    return two_classes(ndtr(margins), ndtr(-margins))


def exponential(teachers, epsilon):
    """The exponential mechanism on counts: bounded range epsilon for one vote that moves."""
    margins = (2 * np.arange(teachers + 1) - teachers) * epsilon / 2
    ones = 1 / (1 + np.exp(-margins))
    return two_classes(ones, ones[::-1])


@functools.cache
def least_gnmax(teachers, labels, epsilon, delta, start):
    return least_scale(lambda scale: gnmax(teachers, scale), labels, epsilon, delta, start)


# Published nowhere: DESIGN 5.12. `analytic` is what the noisy counts need.
TARGETS = [
    (51, 20, 1.0, 19.55, 23.59),
    (251, 100, 1.0, 42.9, 52.76),
    (51, 100, 2.0, 22.80, 28.20),
]


@pytest.mark.parametrize(("teachers", "labels", "epsilon", "most", "analytic"), TARGETS)
def test_gnmax_needs_less_noise_than_its_counts(teachers, labels, epsilon, most, analytic):
    scale = least_gnmax(teachers, labels, epsilon, 1e-5, 0.82 * analytic)
    assert math.sqrt(2 / math.pi) * analytic < scale <= most
    found = adaptive_epsilon(gnmax(teachers, scale), labels, 1e-5)
    assert found.upper <= epsilon * (1 + 1e-4)
    assert found.lower >= 0.985 * epsilon


@pytest.mark.parametrize(("teachers", "labels", "epsilon", "most", "analytic"), TARGETS)
def test_half_the_noise_is_caught(teachers, labels, epsilon, most, analytic):
    """A mechanism that claims the budget and adds half the noise costs more, for certain."""
    scale = least_gnmax(teachers, labels, epsilon, 1e-5, 0.82 * analytic)
    twin = adaptive_delta(gnmax(teachers, scale / 2), labels, epsilon)
    assert twin.lower > 100 * 1e-5


@pytest.mark.parametrize("labels", [1, 7, 100])
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_randomised_response_costs_what_optimal_composition_says(labels, delta):
    """And never less; the largest loss lies on the grid, so that nothing is lost to it."""
    epsilon = math.log(3)
    exact = optimal_homogeneous(epsilon, 0.0, labels, delta).epsilon
    found = adaptive_epsilon(two_classes([0.25, 0.75], error=2**-50), labels, delta)
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
        assert adaptive_delta(gnmax(31, scale), labels, epsilon).upper <= most


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_the_exponential_mechanism_costs_no_more_than_its_bounded_range_allows(labels):
    """Dong, Durfee and Rogers (2020): the worst of all that is bounded in range, adaptively.

    A label's loss is t or t - e, for any t in [0, e]; here t runs over the mechanism's own values
    and more, which leaves their cost as it is or makes it less.
    """
    size, teachers = 0.6, 11
    family = exponential(teachers, size)
    own = np.log(family.first[:, 0] / family.second[:, 0])
    tops = np.unique(np.concatenate([np.linspace(0, size, 41), own[(own >= 0) & (own <= size)]]))

    def worst(left, epsilon):
        if not left:
            return np.maximum(-np.expm1(epsilon), 0.0)
        # Of a loss t: Pr p with p e^-t + (1 - p) e^(e - t) = 1.
        share = (np.exp(size) - np.exp(tops)) / np.expm1(size)
        share = share[:, None]
        low, high = epsilon[None] - tops[:, None], epsilon[None] - tops[:, None] + size
        values = share * worst(left - 1, low.ravel()).reshape(low.shape)
        values += (1 - share) * worst(left - 1, high.ravel()).reshape(low.shape)
        return values.max(axis=0)

    for epsilon in (0.3 * labels * size, 0.6 * labels * size):
        most = worst(labels, np.array([epsilon]))[0]
        found = adaptive_delta(family, labels, epsilon)
        assert 0 < found.lower <= found.upper <= most


def test_no_pair_played_over_and_over_costs_more():
    """100 labels of one pair are a binomial; at the scale that is claimed, all stay below delta."""
    labels, epsilon, delta = 100, 2.0, 1e-5
    family = gnmax(51, least_gnmax(51, labels, epsilon, delta, 0.82 * 28.20))
    counts = np.arange(labels + 1)
    dearest = 0.0
    for first, second in zip(*family.pairs(), strict=True):
        logs = counts * np.log(second[1] / first[1])
        logs += (labels - counts) * np.log(second[0] / first[0])
        gain = np.maximum(-np.expm1(epsilon + logs), 0.0)
        dearest = max(dearest, float(gain @ binom.pmf(counts, labels, first[1])))
    assert 0.5 * delta < dearest < delta
    found = adaptive_delta(family, labels, epsilon)
    assert dearest <= found.lower * (1 + 1e-9) <= found.upper <= delta * (1 + 1e-9)


def test_the_worst_strategy_found_stays_below_the_bound_when_it_is_played():
    """Monte-Carlo at 100 labels: Clopper and Pearson's interval of the played strategy's delta."""
    labels, teachers, epsilon, plays = 100, 21, 1.0, 100_000
    family = gnmax(teachers, 40.0)
    first, second = (rows[:, 1] for rows in family.pairs())  # Pr[label 1]
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
    found = adaptive_delta(family, labels, epsilon)
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
        found = adaptive_delta(family, 1, epsilon)
        assert found.lower * (1 - 1e-9) <= exact <= found.upper
        assert found.upper <= 1.05 * exact


def test_labels_that_tell_nothing_cost_nothing():
    family = two_classes([0.25, 0.25])
    assert adaptive_epsilon(family, 100, 1e-6).upper <= 1e-6
    assert adaptive_delta(family, 100, 0.5).upper <= 1e-10
    assert adaptive_delta(family, 100, 0.0).upper <= 1e-6


def test_losses_without_bound_use_delta_up():
    exact = 1 - (1 - 2.0**-7) ** 3
    family = two_classes([0.0, 2.0**-7], error=0.0)
    found = adaptive_delta(family, 3, 0.5)
    assert found.lower <= exact * (1 + 1e-12)
    assert exact <= found.upper * (1 + 1e-12)
    assert found.upper <= exact * (1 + 1e-6)
    assert adaptive_epsilon(family, 3, 2.0**-7).upper == math.inf
    apart = Pairs(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    assert adaptive_epsilon(apart, 3, 0.1) == Bounds(0.0, math.inf)
    assert adaptive_delta(apart, 3, 3.0).upper == 1


def test_a_curve_is_read_between_its_points_on_the_safe_side():
    found = curve(gnmax(21, 6.0), 5, 1.5, 1e-4)
    for epsilon in np.linspace(0, found.logs[-1] + 1, 200):
        delta = found.delta(epsilon)
        assert found.least_delta(epsilon) <= delta
        if 1e-12 < delta < 0.9:
            assert found.epsilon(delta * (1 + 1e-12)) <= epsilon + 1e-9
            assert found.delta(found.epsilon(delta)) <= delta * (1 + 1e-9)
            assert found.least_epsilon(delta) <= epsilon * (1 + 1e-12) + 1e-12
    assert found.epsilon(0.9999) == 0.0
    assert found.epsilon(0.0) == math.inf
    assert found.least_epsilon(0.9999) == 0.0
    with pytest.raises(ValueError, match="must be >="):
        found.delta(-1.0)


def test_a_scale_is_the_least_but_for_its_slack():
    scale = least_scale(lambda scale: gnmax(21, scale), 10, 1.0, 1e-4, 10.0)
    assert adaptive_delta(gnmax(21, scale), 10, 1.0).upper <= 1e-4 * (1 + 1e-6)
    assert adaptive_delta(gnmax(21, 0.99 * scale), 10, 1.0).upper > 1e-4
    again = least_scale(lambda scale: gnmax(21, scale), 10, 1.0, 1e-4, 100.0)
    assert again == pytest.approx(scale, rel=2e-3)


def test_a_search_for_many_labels_asks_a_few_scales_and_starts_near():
    asked = []

    def family(scale):
        asked.append(scale)
        return gnmax(51, scale)

    counts = 50.0
    start = counts * share_of_scale(gnmax(51, counts), 300, 1.0, 1e-5)
    scale = least_scale(family, 300, 1.0, 1e-5, start)
    assert start == pytest.approx(scale, rel=0.02)
    assert len(asked) <= 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: adaptive_epsilon(f, 0, 0.1), "labels = 0"),
        (lambda f: adaptive_epsilon(f, 1.5, 0.1), "labels = 1.5"),
        (lambda f: adaptive_epsilon(f, 1, 0.0), "delta = 0"),
        (lambda f: adaptive_delta(f, 1, -1.0), "epsilon = -1"),
        (lambda f: adaptive_delta(f, 1, math.inf), "epsilon = inf"),
        (lambda f: Pairs(f.first, f.second[:, :1]), "one shape"),
        (lambda f: Pairs(f.first, 2 * f.second), "must be a distribution"),
    ],
)
def test_numbers_out_of_range_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(two_classes([0.25, 0.75]))


@pytest.mark.parametrize(
    ("value", "slope"), [(0.1, -0.9), (0.5, -1e-3), (1e-7, -3e-4), (0.9, -1.0)]
)
def test_a_line_below_a_curve_is_read_below_itself_to_the_last_digit(value, slope):
    """Steep and flat lines, at their own point and beside it, against many digits."""
    logs = np.array([0.0, 0.25])
    found = Curve(logs, np.ones(2), np.array([value, 0.0]), np.array([slope, 0.0]))
    with mpmath.workdps(50):
        height, fall = mpmath.mpf(value), -mpmath.mpf(slope)
        for epsilon in (0.0, 1e-9, 0.1, 0.25):
            exact = max(height - fall * mpmath.expm1(epsilon), 0)
            assert exact * (1 - mpmath.mpf(1e-12)) - 1e-13 <= found.least_delta(epsilon) <= exact
        for less in (0.0, 2.0**-50, 1e-9, 0.3):
            delta = value * (1 - less)
            exact = mpmath.log1p((height - delta) / fall)
            room = 1e-12 * (1 + float(height / fall))
            assert exact - room <= found.least_epsilon(delta) <= exact


@pytest.mark.parametrize(("labels", "delta"), [(2, 1e-5), (1, 1e-8), (5, 1e-8)])
def test_a_rare_and_large_loss_is_found_beyond_the_first_guess(labels, delta):
    """ln 10^4 with a chance of 1 % each: far more than the losses' standard deviation foretells."""
    found = adaptive_epsilon(two_classes([1e-6, 0.01]), labels, delta)
    assert found.lower <= found.upper <= found.lower * (1 + 2e-3)
    # So many labels with the large loss come with a chance above delta, one more does not.
    times = int((binom.sf(np.arange(labels), labels, 0.01) > delta).sum())
    assert found.upper == pytest.approx(times * math.log(1e4), rel=0.01)


def _normal_table(teachers, scale):
    margins = (2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))
    return np.stack([ndtr(-margins), ndtr(margins)], axis=1)


def _laplace_table(teachers, scale):
    leads = 2.0 * np.arange(teachers + 1) - teachers
    trailing = difference_tail(np.abs(leads) / scale)
    ones = np.where(leads >= 0, 1 - trailing, trailing)
    return np.stack([np.where(leads >= 0, trailing, 1 - trailing), ones], axis=1)


@pytest.mark.parametrize("table_of", [_normal_table, _laplace_table])
@pytest.mark.parametrize(("teachers", "scale"), [(151, 3.0), (150, 8.0), (151, 60.0)])
def test_a_shortened_table_lies_above_every_pair_of_the_whole_one(
    monkeypatch, table_of, teachers, scale
):
    """Mixtures of rows: any one of them, and the two of what is negligible at half each."""
    monkeypatch.setattr(adaptive, "MANY_TEACHERS", 10)
    monkeypatch.setattr(adaptive, "_MOST_LISTED", 40)
    monkeypatch.setattr(adaptive, "_AT_ONCE", 500)
    table = table_of(teachers, scale)
    t = np.exp(np.linspace(-30, 30, 121))
    negligible = 1e-9
    short = of_table(table, 1e-12, 1e-300, negligible=negligible)
    found = short.excesses(t)
    assert len(found) < 2 * teachers / 3
    pairs = [(table[:-1], table[1:]), (table[1:], table[:-1])]
    exact = np.concatenate([hockey_sticks.excesses(*pair, t) for pair in pairs])
    mean = negligible * np.minimum(1, t)
    for row in exact:
        above = (found >= row * (1 - 1e-11)).all(axis=1).any()
        assert above or (row <= mean * (1 + 1e-11)).all()
    if scale < 5:
        rare = Pairs(np.array([[1.0, 2 * negligible]]), np.array([[1.0, 0.0]]), 1e-12, 1e-300)
        half = rare.excesses(t)
        assert len(half) == 2
        assert (half.mean(axis=0) >= mean).all()
        assert all((found >= row).all(axis=1).any() for row in half)


@pytest.mark.parametrize("table_of", [_normal_table, _laplace_table])
@pytest.mark.parametrize(("teachers", "scale", "listed"), [(251, 4.0, 4000), (1001, 100.0, 500)])
def test_a_shortened_table_costs_no_less_and_hardly_more(
    monkeypatch, table_of, teachers, scale, listed
):
    table = table_of(teachers, scale)
    whole = adaptive_epsilon(of_table(table, 1e-12, 1e-300), 30, 1e-5)
    monkeypatch.setattr(adaptive, "MANY_TEACHERS", 10)
    monkeypatch.setattr(adaptive, "_MOST_LISTED", listed)
    short = adaptive_epsilon(of_table(table, 1e-12, 1e-300, negligible=1e-21), 30, 1e-5)
    # Curves may be gathered otherwise, which takes less than 1 % of epsilon either way.
    assert whole.lower <= short.upper
    assert whole.upper * 0.99 <= short.upper <= whole.upper * 1.01
    assert short.lower <= whole.upper


def test_a_million_teachers_take_little_memory():
    table = _normal_table(1_000_000, 50.0)
    tracemalloc.start()
    found = of_table(table, 1e-12, 1e-300, negligible=1e-21).excesses(
        np.exp(np.linspace(-1, 1, 99))
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 256 << 20
    assert len(found) < 4000
