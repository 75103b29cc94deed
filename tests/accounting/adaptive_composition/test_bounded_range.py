"""Draws by bounded scores: above every adversary, and near the best that is not adaptive."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from private_ensembles.accounting.adaptive_composition import bounded_range
from private_ensembles.accounting.adaptive_composition.bounded_range import (
    curve_of_draws,
    epsilon_of_draws,
    largest_range,
    least_epsilon,
)
from tests.accounting.adversaries import exact_value, power

# e^(half a range) as a fraction: whole numbers of it keep all probabilities exact.
HALVES = [Fraction(21, 20), Fraction(5, 4), Fraction(2), Fraction(5)]


def law(halves, half):
    """Pr[j] in proportion to e^(s_j), s_j a whole number of half ranges."""
    weights = [half**k for k in halves]
    return [weight / sum(weights) for weight in weights]


def all_pairs(classes, most, half, largest_change=2):
    """Neighbours among all scores 0, ..., most halves whose change has a range of that at most."""
    scores = [row for row in itertools.product(range(most + 1), repeat=classes) if min(row) == 0]
    pairs = set()
    for one, other in itertools.product(scores, repeat=2):
        change = np.subtract(other, one)
        if 0 < change.max() - change.min() <= largest_change:
            named = zip(law(one, half), law(other, half), strict=True)
            pairs.add(tuple(sorted(named)))
    return [tuple(zip(*pair, strict=True)) for pair in pairs]


def range_above(half, largest_change=2):
    """The least float of at least `largest_change` times ln(half)."""
    with mpmath.workdps(40):
        return math.nextafter(
            float(largest_change * mpmath.log(mpf(half.numerator) / half.denominator)), 9
        )


SIZES = [(2, 6, 1), (2, 6, 2), (2, 5, 3), (3, 3, 1), (3, 3, 2), (3, 1, 3)]
# Each number of draws and of classes, and each range, once.
QUICK = [(2, 6, 2, HALVES[3]), (2, 5, 3, HALVES[1]), (3, 3, 1, HALVES[2]), (3, 3, 2, HALVES[0])]


@pytest.mark.parametrize(
    ("classes", "most", "draws", "half"),
    [
        pytest.param(*size, half, marks=() if (*size, half) in QUICK else pytest.mark.slow)
        for half in HALVES
        for size in SIZES
    ],
)
def test_no_adversary_with_scores_of_this_range_reaches_delta(classes, most, draws, half):
    """All scores of a grid, all neighbours, all that is chosen after each draw: in fractions."""
    pairs, delta = all_pairs(classes, most, half), 1e-3
    found = epsilon_of_draws(range_above(half), draws, delta, guess=draws * range_above(half))
    _, growth = power(found.upper)
    assert exact_value(pairs, draws, growth) <= Fraction(delta)


@pytest.mark.parametrize(
    ("epsilon", "draws"),
    [(0.3, 1), (4.0, 1), (1.0, 2)]
    + [pytest.param(epsilon, 2, marks=pytest.mark.slow) for epsilon in (0.3, 4.0)]
    + [pytest.param(epsilon, 3, marks=pytest.mark.slow) for epsilon in (0.3, 1.0, 4.0)],
)
def test_five_per_cent_less_noise_is_caught(draws, epsilon):
    """Two classes with leads up to six: one adversary gains more than delta."""
    delta = 1e-3
    found = largest_range(epsilon, draws, delta, start=epsilon / draws)
    odds = [Fraction(math.exp(lead)).limit_denominator(100) for lead in np.linspace(-4, 6, 21)]
    for factor, caught in ((1.0, False), (1.05, True)):
        less = Fraction(math.ceil(10**4 * math.exp(-factor * found)), 10**4)
        both = [(coin(odd), coin(odd * less)) for odd in odds]
        pairs = both + [pair[::-1] for pair in both]
        assert (exact_value(pairs, draws, power(epsilon)[1]) > Fraction(delta)) is caught


def coin(odds):
    return odds / (1 + odds), 1 / (1 + odds)


def optimal_delta(range_, draws, epsilon, low):
    """Dong, Durfee and Rogers (2020): one pair again and again, from the definition."""
    range_, low = mpf(range_), mpf(low)
    rare = -mpmath.expm1(-low) / (mpmath.expm1(range_ - low) - mpmath.expm1(-low))
    total = mpf(0)
    for number in range(draws + 1):
        probability = mpmath.binomial(draws, number) * rare**number * (1 - rare) ** (draws - number)
        loss = draws * low - number * range_
        total += probability * max(mpf(0), -mpmath.expm1(mpf(epsilon) - loss))
    return total


@pytest.mark.keeps(
    "accounting.adaptive_composition.bounded_range:epsilon_of_draws",
    "accounting.adaptive_composition.bounded_range:least_epsilon",
)
@pytest.mark.parametrize(
    ("range_", "draws", "delta"),
    [(1.0, 1, 1e-6), (0.8, 3, 1e-2), (0.1, 60, 1e-6)]
    + [
        pytest.param(*rest, marks=pytest.mark.slow)
        for rest in [(0.01, 1, 1e-2), (1.0, 1, 1e-2), (3.0, 2, 1e-6), (0.3, 20, 1e-2)]
    ],
)
def test_both_bounds_hold_the_best_composition_that_is_not_adaptive(range_, draws, delta):
    found = epsilon_of_draws(range_, draws, delta, guess=min(5.0, range_ * draws))
    assert found.lower <= found.upper <= 1.02 * found.lower + 0.01 * range_
    with mpmath.workdps(40):
        for low in np.array([0.01, 0.3, 0.5, 0.6, 0.9, 0.99]) * range_:
            of_pair = bounded_range._repeated_pair_epsilon(range_, low, draws, delta)
            reached = optimal_delta(range_, draws, of_pair, low)
            if of_pair:
                assert delta <= reached <= delta * 1.2  # near an end it is steep
            assert of_pair <= found.lower + 0.01 * range_
            assert optimal_delta(range_, draws, found.upper, low) <= delta


@pytest.mark.parametrize(
    "draws", [500, 30_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 4000, 10**6))]
)
def test_an_adaptive_adversary_gains_one_per_cent_at_most(draws):
    range_ = 1.2 / math.sqrt(draws)
    found = epsilon_of_draws(range_, draws, 1e-6, guess=3.2)
    assert found.lower < found.upper <= found.lower * 1.01


@pytest.mark.keeps("accounting.adaptive_composition.bounded_range:curve_of_draws")
@pytest.mark.parametrize("draws", [3, 4])
def test_blocks_of_blocks_lie_above_every_adversary(monkeypatch, draws):
    """Blocks of one draw and of two of these, in exact arithmetic; three draws count as four."""
    monkeypatch.setattr(bounded_range, "_FEW", 1)
    monkeypatch.setattr(bounded_range, "_FIRST", (1, 1))
    monkeypatch.setattr(bounded_range, "_NEXT", (2, 2))
    monkeypatch.setattr(bounded_range, "_FINE", 3.0)
    half = Fraction(5, 4)
    found = curve_of_draws(range_above(half), draws, 1.0, 1e-3)
    pairs = all_pairs(2, 4, half)
    for epsilon in (0.1, 0.4, 0.8):
        exact = exact_value(pairs, draws, power(epsilon)[1])
        assert exact <= Fraction(found.delta(epsilon)) <= exact + Fraction(1, 10)


@pytest.mark.slow
@pytest.mark.parametrize("draws", [11_000, 200_001])
def test_blocks_of_blocks_cost_what_blocks_do(monkeypatch, draws):
    range_ = 1.2 / math.sqrt(draws)
    by_levels = curve_of_draws(range_, draws, 3.0, 1e-6).epsilon(1e-6)
    monkeypatch.setattr(bounded_range, "_FEW", 11_000)
    if draws <= 11_000:
        in_one = curve_of_draws(range_, draws, 3.0, 1e-6).epsilon(1e-6)
        assert by_levels == pytest.approx(in_one, rel=0.003)
    assert by_levels >= least_epsilon(range_, draws, 1e-6)


def test_blocks_hold_all_draws_and_few_more():
    for draws in (10_001, 123_457, 10**6, 10**7, 99_999_989):
        left, sizes, held = draws, bounded_range._FIRST, 1
        while left > bounded_range._NEXT[1]:
            size, left = bounded_range._blocks(left, sizes)
            held, sizes = held * size, bounded_range._NEXT
        assert draws <= held * left <= draws * 1.02


def test_probabilities_of_a_binomial_number_lie_between_their_bounds():
    for draws in (1, 2, 3, 10, 1000, 10**8):
        number = np.unique(np.linspace(0, draws, 7).astype(np.int64))
        found = bounded_range._log_choices(draws, number)
        with mpmath.workdps(50):
            exact = [
                mpmath.loggamma(draws + 1) - mpmath.loggamma(n + 1) - mpmath.loggamma(draws - n + 1)
                for n in number.tolist()
            ]
        for low, value, high in zip(found.lower, exact, found.upper, strict=True):
            assert mpf(float(low)) <= value <= mpf(float(high))
        assert (found.upper - found.lower).max() < (1e-12 if draws < 100 else 1e-4)
