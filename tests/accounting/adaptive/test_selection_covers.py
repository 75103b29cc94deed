"""Exponential mechanism and permute-and-flip in many classes: few pairs dominate, exactly."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from private_ensembles.accounting.adaptive.account import adaptive_delta
from private_ensembles.accounting.adaptive.families import Covered, Pairs
from private_ensembles.accounting.adaptive.selection_covers import (
    bent,
    exponential_cover,
    permute_and_flip_cover,
)
from private_ensembles.accounting.composition import optimal_homogeneous

from ..adversaries import both_orders, convex_value, dearest_row, exact_value, power

RATES = [0.02, 0.3, 2.0]


def exponential_law(counts, rate):
    """Pr[j] in proportion to e^(rate n_j), counts any numbers."""
    weights = [mpmath.exp(mpf(rate) * (n - max(counts))) for n in counts]
    return [weight / mpmath.fsum(weights) for weight in weights]


def permute_and_flip_law(counts, rate):
    """Each class is visited at a uniform time t and is taken with e^(rate (n_j - max))."""
    chances = [mpmath.exp(mpf(rate) * (n - max(counts))) for n in counts]
    found = []
    for j, chance in enumerate(chances):
        refused = [mpf(1)]  # coefficients of the product of 1 - q_i t
        for other in chances[:j] + chances[j + 1 :]:
            longer = [*refused, mpf(0)]
            for power_of_t, coefficient in enumerate(refused):
                longer[power_of_t + 1] -= other * coefficient
            refused = longer
        found.append(chance * mpmath.fsum(c / (n + 1) for n, c in enumerate(refused)))
    return found


LAWS = [(exponential_law, exponential_cover), (permute_and_flip_law, permute_and_flip_cover)]


def random_neighbours(rng, whole):
    """Counts of three to six classes and the same with a vote moved from one to another."""
    classes = int(rng.integers(3, 7))
    shares = rng.dirichlet(np.full(classes, rng.choice([0.3, 1.0, 30.0])))
    counts = [int(n) for n in np.ceil(30 * shares)]
    if not whole:  # of the others any number may be what a proof asks for
        counts[2:] = [float(n) + float(rng.uniform(-1, 1)) for n in counts[2:]]
    moved = [counts[0] - 1, counts[1] + 1, *counts[2:]]
    return counts, moved


@pytest.mark.parametrize(("law", "cover_of"), LAWS)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("whole", [True, False])
def test_no_neighbours_do_more_to_a_convex_function_than_the_cover(law, cover_of, rate, whole):
    rng = np.random.default_rng([int(100 * rate), whole])
    cover = cover_of(rate)
    for _ in range(40):
        counts, moved = random_neighbours(rng, whole)
        first, second = (np.array(law(n, rate), dtype=float) for n in (counts, moved))
        kinks = np.exp(2 * rate * rng.uniform(-1.2, 1.2, 4))
        weights = rng.dirichlet(np.ones(4))
        most = dearest_row(cover, kinks, weights)
        for pair in ((first, second), (second, first)):
            assert convex_value(*pair, kinks, weights) <= most + 1e-13
    # At a tie of two classes that are far ahead the cover is no larger than it has to be.
    ahead = [[-lead, lead - 1, -100 / rate] for lead in (0, 1)]
    first, second = (np.array(law(counts, rate), dtype=float) for counts in ahead)
    one = np.ones(1)
    found = convex_value(second, first, one, one)
    assert 0.999 * dearest_row(cover, one, one) <= found


@pytest.mark.parametrize("cover_of", [exponential_cover, permute_and_flip_cover])
@pytest.mark.parametrize("rate", [1e-4, *RATES, 10.0])
def test_rows_are_distributions_whose_losses_have_the_mechanisms_bound(cover_of, rate):
    cover = cover_of(rate)
    for rows in (cover.first, cover.second):
        assert (rows >= 0).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-14)
    assert ((cover.first > 0) == (cover.second > 0)).all()
    both = cover.first > 0
    losses = np.log(cover.first[both] / cover.second[both])
    assert np.abs(losses).max() <= 2 * rate * (1 + 1e-3) + 1e-12


@pytest.mark.parametrize("law", [exponential_law, permute_and_flip_law])
@pytest.mark.parametrize(("labels", "teachers"), [(1, 5), (2, 5), (3, 3)])
def test_all_strategies_of_small_adversaries_stay_below_the_bound(law, labels, teachers):
    """All histograms of three classes, all pairs of neighbours, all choices: in fractions."""
    rate, unit = 0.4, 2**40
    cover_of = dict(LAWS)[law]
    histograms = [c for c in itertools.product(range(teachers + 1), repeat=3) if sum(c) == teachers]

    def rounded(counts):
        found = [Fraction(int(mpmath.nint(p * unit)), unit) for p in law(counts, rate)[:2]]
        return [*found, 1 - sum(found)]

    laws = {counts: rounded(counts) for counts in histograms}
    # Up to the names of classes.
    near = {
        tuple(sorted(zip(one, other, strict=True))): (one, other)
        for one in histograms
        for other in histograms
        if sorted(np.subtract(one, other)) == [-1, 0, 1]
    }.values()
    first, second = ([laws[pair[i]] for pair in near] for i in (0, 1))
    pairs = both_orders(np.array(first, dtype=float), np.array(second, dtype=float))
    played = Pairs(np.array(first, dtype=float), np.array(second, dtype=float))
    family = Covered(cover_of(rate), played)
    for epsilon in (0.0, 0.3 * labels, 0.9 * labels):
        low, high = power(epsilon)
        found = adaptive_delta(family, labels, epsilon, fineness=20)
        # Probabilities are rounded to 2^-40.
        assert float(exact_value(pairs, labels, high)) <= found.upper + labels * 4 / unit
        assert found.lower <= float(exact_value(pairs, labels, low)) * (1 + 1e-9) + 1e-12
        if not epsilon:
            assert found.lower > 0.7 * found.upper


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_the_exponential_mechanism_costs_what_optimal_composition_of_its_range_says(labels):
    """Dong, Durfee and Rogers (2020): never less, and more by the grid alone."""
    size = 0.6
    cover = exponential_cover(size / 2)
    tops = np.linspace(0, size, 401)

    def worst(left, epsilon):
        if not left:
            return np.maximum(-np.expm1(epsilon), 0.0)
        share = ((np.exp(size) - np.exp(tops)) / np.expm1(size))[:, None]
        low, high = epsilon[None] - tops[:, None], epsilon[None] - tops[:, None] + size
        if left > 1:  # read between points; chords of a convex function in e^epsilon lie above
            points = np.linspace(-4, 4, 4001)
            values = worst(left - 1, points)
            ends = [np.interp(np.exp(x), np.exp(points), values) for x in (low, high)]
        else:
            ends = [worst(0, x) for x in (low, high)]
        return (share * ends[0] + (1 - share) * ends[1]).max(axis=0)

    for epsilon in (0.3 * labels * size, 0.6 * labels * size):
        exact = worst(labels, np.array([epsilon]))[0]
        found = adaptive_delta(Covered(cover, cover), labels, epsilon, fineness=20)
        assert exact * (1 - 1e-4) <= found.upper <= 1.03 * exact


def test_permute_and_flip_in_many_classes_composes_no_worse_than_any_pure_mechanism():
    cover, labels, delta = permute_and_flip_cover(0.1), 30, 1e-5
    most = optimal_homogeneous(0.2, 0.0, labels, delta).epsilon
    found = adaptive_delta(Covered(cover, cover), labels, most)
    assert 0.1 * delta < found.lower <= found.upper <= delta


@pytest.mark.parametrize(("cells", "rate"), [(4, 0.1), (7, 0.3), (20, 2.0)])
def test_probabilities_bend_within_a_vote_by_no_more_than_is_granted(cells, rate):
    """a one vote above b's new count, or all others at b's; the third class in between."""
    width = rate / cells
    for rival in (-60, 0):
        for below in range(cells):
            ends = [[0, rival - (below + i) / cells, -(below + i) / cells] for i in (0, 1)]
            middle = [0, rival - (below + 0.4) / cells, -(below + 0.4) / cells]
            for move in (0, 1):
                laws = []
                for counts in (*ends, middle):
                    moved = [counts[0] - move, counts[1] - 1 + move, counts[2]]
                    laws.append([float(p) for p in permute_and_flip_law(moved, rate)])
                chord = 0.6 * np.array(laws[0]) + 0.4 * np.array(laws[1])
                assert (np.abs(laws[2] - chord) <= bent(width) * chord).all()
    assert bent(0.6) == math.inf


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf, 301.0])
def test_rates_out_of_range_are_refused(rate):
    for cover_of in (exponential_cover, permute_and_flip_cover):
        with pytest.raises(ValueError, match="rate = "):
            cover_of(rate)


@pytest.mark.parametrize("width", [0.0, 1e-6, 0.02, 0.3, 0.5])
def test_what_is_granted_a_chord_is_relative_to_the_chord(width):
    """Off by `share` of the probability, which is no less than 1 - share of the chord's."""
    with mpmath.workdps(40):
        share = mpf(3) / 8 * mpf(width) ** 2 * mpmath.exp(3 * mpf(width))
        exact = share / (1 - share)
        assert exact <= bent(width) <= exact * (1 + 1e-11) + 1e-11
