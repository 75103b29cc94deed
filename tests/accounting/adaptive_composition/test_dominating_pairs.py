"""Dominating pairs: of labels in many classes by a bound on losses, and of very many teachers."""

import itertools
import math
import tracemalloc
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.special import ndtr

from private_ensembles.accounting.adaptive_composition import dominating_pairs, hockey_sticks
from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    NeighbourPairs,
    bounded_range_pairs,
    dominating_pairs_from_table,
    pure_pair,
)
from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.base.laplace_tail import difference_tail
from tests.accounting.adversaries import (
    both_orders,
    bounds_at,
    convex_value,
    costliest_row,
    exact_value,
    power,
)

RATES = [0.02, 0.3, 2.0]


def exponential_law(counts, rate):
    """Pr[j] in proportion to e^(rate n_j), counts any numbers."""
    weights = [mpmath.exp(mpf(rate) * (n - max(counts))) for n in counts]
    return [weight / mpmath.fsum(weights) for weight in weights]


def permute_and_flip_law(counts, rate):
    """Each class is visited at a uniform time t and is taken with e^(rate (n_j - max))."""
    acceptances = [mpmath.exp(mpf(rate) * (n - max(counts))) for n in counts]
    found = []
    for j, acceptance in enumerate(acceptances):
        refused = [mpf(1)]  # coefficients of the product of 1 - q_i t
        for other in acceptances[:j] + acceptances[j + 1 :]:
            longer = [*refused, mpf(0)]
            for power_of_t, coefficient in enumerate(refused):
                longer[power_of_t + 1] -= other * coefficient
            refused = longer
        found.append(acceptance * mpmath.fsum(c / (n + 1) for n, c in enumerate(refused)))
    return found


LAWS = [(exponential_law, bounded_range_pairs), (permute_and_flip_law, pure_pair)]


def random_neighbours(rng, whole):
    """Counts of three to six classes and the same with a vote moved from one to another."""
    classes = int(rng.integers(3, 7))
    shares = rng.dirichlet(np.full(classes, rng.choice([0.3, 1.0, 30.0])))
    counts = [int(n) for n in np.ceil(30 * shares)]
    if not whole:  # of the others any number may be what a proof asks for
        counts[2:] = [float(n) + float(rng.uniform(-1, 1)) for n in counts[2:]]
    neighbour = [counts[0] - 1, counts[1] + 1, *counts[2:]]
    return counts, neighbour


@pytest.mark.keeps(
    "accounting.adaptive_composition.dominating_pairs:bounded_range_pairs",
    "accounting.adaptive_composition.dominating_pairs:pure_pair",
    "accounting.adaptive_composition.dominating_pairs:PessimisticPairs",
)
@pytest.mark.parametrize(("law", "pairs_of"), LAWS)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("whole", [True, False])
def test_no_neighbours_do_more_to_a_convex_function_than_the_pairs(law, pairs_of, rate, whole):
    rng = np.random.default_rng([int(100 * rate), whole])
    pairs = pairs_of(2 * rate)
    for _ in range(40):
        counts, neighbour = random_neighbours(rng, whole)
        first, second = (np.array(law(n, rate), dtype=float) for n in (counts, neighbour))
        kinks = np.exp(2 * rate * rng.uniform(-1.2, 1.2, 4))
        weights = rng.dirichlet(np.ones(4))
        most = costliest_row(pairs, kinks, weights)
        for pair in ((first, second), (second, first)):
            assert convex_value(*pair, kinks, weights) <= most + 1e-13
    if law is permute_and_flip_law:
        return
    # The pairs are no costlier than they have to be at a tie of two classes that are far ahead.
    ahead = [[-lead, lead - 1, -100 / rate] for lead in (0, 1)]
    first, second = (np.array(law(counts, rate), dtype=float) for counts in ahead)
    one = np.ones(1)
    found = convex_value(second, first, one, one)
    assert 0.999 * costliest_row(pairs, one, one) <= found


@pytest.mark.parametrize("pairs_of", [bounded_range_pairs, pure_pair])
@pytest.mark.parametrize("loss", [2e-4, 0.04, 0.6, 4.0, 20.0])
def test_rows_are_distributions_whose_losses_have_the_bound(pairs_of, loss):
    pairs = pairs_of(loss)
    for rows in (pairs.first, pairs.second):
        assert (rows >= 0).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-14)
    assert (pairs.first > 0).all()
    assert np.abs(np.log(pairs.first / pairs.second)).max() <= loss * (1 + 1e-3)


@pytest.mark.parametrize("law", [exponential_law, permute_and_flip_law])
@pytest.mark.parametrize(
    ("labels", "teachers"),
    [(2, 4), (3, 3), *(pytest.param(n, 5, marks=pytest.mark.slow) for n in (1, 2))],
)
def test_all_strategies_of_small_adversaries_stay_below_the_bound(law, labels, teachers):
    """All histograms of three classes, all pairs of neighbours, all choices: in fractions."""
    rate, unit = 0.4, 2**40
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
    label = dict(LAWS)[law](2 * rate)
    for epsilon in (0.0, 0.3 * labels, 0.9 * labels):
        _, high = power(epsilon)
        found = bounds_at(label, labels, epsilon, fineness=20)
        # Probabilities are rounded to 2^-40.
        assert float(exact_value(pairs, labels, high)) <= found.upper + labels * 4 / unit


@pytest.mark.parametrize("labels", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3))])
def test_the_exponential_mechanism_costs_what_optimal_composition_of_its_range_says(labels):
    """Dong, Durfee and Rogers (2020): never less, and more by the grid alone."""
    size = 0.6
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
        found = bounds_at(bounded_range_pairs(size), labels, epsilon, fineness=20)
        assert exact * (1 - 1e-4) <= found.upper <= 1.03 * exact


def test_the_pair_of_pure_privacy_composes_optimally():
    labels, delta = 30, 1e-5
    most = optimal_composition(0.2, 0.0, labels, delta).epsilon
    found = adaptive_epsilon(pure_pair(0.2), labels, delta)
    assert most * (1 - 1e-9) <= found.upper <= 1.005 * most


@pytest.mark.parametrize("range_", [1e-3, 0.3, 5.0, 600.0])
def test_pairs_of_bounded_range_hold_their_own_reverses(range_):
    """So one order of each is enough, and there are as many rows on every processor."""
    pairs = bounded_range_pairs(range_)
    reverse = replace(pairs, first=pairs.second, second=pairs.first, relative_error=0.0)
    t = np.exp(np.linspace(-range_, range_, 41))
    rows = pairs.hockey_stick_divergences(t)
    assert len(rows) == len(pairs.first)
    assert (reverse.hockey_stick_divergences(t)[::-1] <= rows).all()


@pytest.mark.parametrize("label", [bounded_range_pairs(0.2), pure_pair(0.2)])
def test_pairs_that_only_dominate_claim_no_lower_bound(label):
    assert adaptive_epsilon(label, 10, 1e-5).lower == 0.0


def _normal_table(teachers, scale):
    margins = (2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))
    return np.stack([ndtr(-margins), ndtr(margins)], axis=1)


def _laplace_table(teachers, scale):
    leads = 2.0 * np.arange(teachers + 1) - teachers
    trailing = difference_tail(np.abs(leads) / scale)
    ones = np.where(leads >= 0, 1 - trailing, trailing)
    return np.stack([np.where(leads >= 0, trailing, 1 - trailing), ones], axis=1)


@pytest.mark.keeps(
    "accounting.adaptive_composition.dominating_pairs:MergedPairs.hockey_stick_divergences",
)
@pytest.mark.parametrize("table_of", [_normal_table, _laplace_table])
@pytest.mark.parametrize(("teachers", "scale"), [(151, 3.0), (150, 8.0), (151, 60.0)])
def test_a_shortened_table_lies_above_every_pair_of_the_whole_one(
    monkeypatch, table_of, teachers, scale
):
    """Mixtures of rows: any one of them, and the two of what is negligible at half each."""
    monkeypatch.setattr(dominating_pairs, "MANY_TEACHERS", 10)
    monkeypatch.setattr(dominating_pairs, "_MOST_LISTED", 40)
    monkeypatch.setattr(dominating_pairs, "_AT_ONCE", 500)
    table = table_of(teachers, scale)
    t = np.exp(np.linspace(-30, 30, 121))
    negligible = 1e-9
    short = dominating_pairs_from_table(table, 1e-12, 1e-300, negligible=negligible)
    found = short.hockey_stick_divergences(t)
    assert len(found) < 2 * teachers / 3
    pairs = [(table[:-1], table[1:]), (table[1:], table[:-1])]
    exact = np.concatenate([hockey_sticks.hockey_stick_divergences(*pair, t) for pair in pairs])
    mean = negligible * np.minimum(1, t)
    for row in exact:
        above = (found >= row * (1 - 1e-11)).all(axis=1).any()
        assert above or (row <= mean * (1 + 1e-11)).all()
    if scale < 5:
        rare = NeighbourPairs(
            np.array([[1.0, 2 * negligible]]), np.array([[1.0, 0.0]]), 1e-12, 1e-300
        )
        half = rare.hockey_stick_divergences(t)
        assert len(half) == 2
        assert (half.mean(axis=0) >= mean).all()
        assert all((found >= row).all(axis=1).any() for row in half)


def test_what_is_negligible_costs_twice_its_chance_and_no_more(monkeypatch):
    """Far beyond every other ratio, where it alone is left."""
    monkeypatch.setattr(dominating_pairs, "MANY_TEACHERS", 10)
    table, negligible = _normal_table(151, 3.0), 1e-9
    short = dominating_pairs_from_table(table, 1e-12, 1e-14, negligible=negligible)
    exact = 2 * (negligible * (1 + 1e-12) + 1e-14)
    most = short.hockey_stick_divergences(np.exp([30.0])).max()
    assert exact <= most <= (exact + 1e-14) * (1 + 1e-11)


@pytest.mark.parametrize("table_of", [_normal_table, _laplace_table])
@pytest.mark.parametrize(("teachers", "scale", "listed"), [(251, 4.0, 4000), (1001, 100.0, 500)])
def test_a_shortened_table_costs_no_less_and_hardly_more(
    monkeypatch, table_of, teachers, scale, listed
):
    table = table_of(teachers, scale)
    whole = adaptive_epsilon(dominating_pairs_from_table(table, 1e-12, 1e-300), 30, 1e-5)
    monkeypatch.setattr(dominating_pairs, "MANY_TEACHERS", 10)
    monkeypatch.setattr(dominating_pairs, "_MOST_LISTED", listed)
    short = adaptive_epsilon(
        dominating_pairs_from_table(table, 1e-12, 1e-300, negligible=1e-21), 30, 1e-5
    )
    # Curves may be gathered otherwise, which takes less than 1 % of epsilon either way.
    assert whole.lower <= short.upper
    assert whole.upper * 0.99 <= short.upper <= whole.upper * 1.01
    assert short.lower <= whole.upper


def test_a_million_teachers_take_little_memory():
    table = _normal_table(1_000_000, 50.0)
    tracemalloc.start()
    found = dominating_pairs_from_table(
        table, 1e-12, 1e-300, negligible=1e-21
    ).hockey_stick_divergences(np.exp(np.linspace(-1, 1, 99)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 256 << 20
    assert len(found) < 4000


@pytest.mark.parametrize("many", [2000, 10])
@pytest.mark.parametrize("rises", [True, False])
def test_all_votes_up_to_those_that_move_lie_below_one_row(monkeypatch, rises, many):
    """Of a table that falls somewhere, too, where fewer votes may tell more."""
    monkeypatch.setattr(dominating_pairs, "MANY_TEACHERS", many)
    table, moved = _normal_table(40, 9.0), 3
    if not rises:
        table[17] = table[25]
    t = np.exp(np.linspace(-8, 8, 65))
    found = dominating_pairs_from_table(
        table, 1e-12, 1e-300, group_size=moved
    ).hockey_stick_divergences(t)
    for step in range(1, moved + 1):
        before, after = table[:-step], table[step:]
        for pair in ((before, after), (after, before)):
            for row in hockey_sticks.hockey_stick_divergences(*pair, t):
                assert (found >= row * (1 - 1e-11)).all(axis=1).any()
    fewer = dominating_pairs_from_table(
        table, 1e-12, 1e-300, group_size=moved - 1
    ).hockey_stick_divergences(t)
    assert fewer.max(axis=0).max() < found.max(axis=0).max()


@pytest.mark.parametrize("spare", [0.0, np.array([1e-9, 0.0])])
def test_pairs_that_are_alike_are_worked_out_once(spare, monkeypatch):
    """Far from a tie most of a ladder's steps are: with 1,000 teachers that took seconds."""
    ones = np.concatenate([np.full(300, 0.1), [0.2, 0.4], np.full(300, 0.6)])
    rows = np.stack([1 - ones, ones], axis=1)
    family, t = NeighbourPairs(rows[:-1], rows[1:], 1e-12, spare), np.exp(np.linspace(-1, 1, 9))
    asked, whole = [], hockey_sticks.hockey_stick_divergences
    each = [
        whole(*pair, t, 1e-12, spare) for pair in ((rows[:-1], rows[1:]), (rows[1:], rows[:-1]))
    ]
    monkeypatch.setattr(
        hockey_sticks,
        "hockey_stick_divergences",
        lambda first, *rest: asked.append(len(first)) or whole(first, *rest),
    )
    found = family.hockey_stick_divergences(t)
    assert asked == [5, 5]
    assert {row.tobytes() for row in found} == {row.tobytes() for row in np.concatenate(each)}


@pytest.mark.parametrize(
    ("error", "spare"), [(1e-3, 0.0), (0.0, 1e-4), (1e-2, np.array([0, 1e-3]))]
)
def test_what_an_adversary_can_choose_is_less_by_all_that_may_be_off(error, spare):
    """No more than any P within the errors, and no less than any P', in both orders."""
    rows = np.array([[0.25, 0.75], [1e-5, 1 - 1e-5]]), np.array([[0.5, 0.5], [0.0, 1.0]])
    first, second = NeighbourPairs(*rows, error, spare).attainable_pairs()
    for ours, exact, side in (
        (first, np.concatenate(rows), -1),
        (second, np.concatenate(rows[::-1]), 1),
    ):
        moved = exact + side * (error * exact + spare)
        np.testing.assert_allclose(ours, np.maximum(moved, 0), rtol=1e-14, atol=1e-18)
