"""Levels that share a budget, against all adaptive strategies in fractions and one level alone."""

import inspect
import re
from fractions import Fraction

import pytest

from private_ensembles.accounting.adaptive import levels
from private_ensembles.accounting.adaptive.account import adaptive_epsilon
from private_ensembles.accounting.adaptive.levels import levels_curve, levels_delta, levels_epsilon

from ..adversaries import power
from .fractions_of import exact_of_moves, fractions, gain, strategies, table, with_units
from .labels import gnmax


@pytest.mark.parametrize("bounds", [levels_epsilon, levels_delta, levels_curve])
def test_each_function_says_what_its_arguments_and_bounds_are(bounds):
    text = inspect.getdoc(bounds)
    given = re.search(
        r"^Args:\n(.*?)^Returns:\n.*^Raises:\n.*^Source: ", text, re.DOTALL | re.MULTILINE
    )
    named = re.findall(r"^    (\w[\w, ]*):", given[1], re.MULTILINE)
    assert {name for names in named for name in names.split(", ")} == {
        *inspect.signature(bounds).parameters
    }


@pytest.mark.parametrize(("units", "total"), [((1, 2), 2), ((1, 1), 2), ((2, 3), 4)])
def test_the_recursion_is_the_dearest_of_all_strategies_one_by_one(units, total):
    """The theorem itself: a strategy names a level and a pair for every run of labels, or stops."""
    families = {0: fractions(table(2, 2.0))[:2], 1: fractions(table(1, 1.2))}
    moves = with_units(units)
    for y in (Fraction(1), Fraction(5, 4), Fraction(2)):
        every = max(gain(strategy, y) for strategy in strategies(families, moves, total))
        assert every == exact_of_moves(families, moves, total, y)


@pytest.mark.parametrize(
    ("teachers", "scales", "units", "total"),
    [
        (5, (3.0, 2.2), (1, 2), 3),
        (5, (2.0, 1.0), (1, 3), 4),
        (4, (4.0, 4.0, 2.0), (2, 1, 3), 3),
        (3, (1.0, 0.8), (2, 3), 4),
        pytest.param(3, (6.0, 4.0, 3.0), (1, 2, 4), 4, marks=pytest.mark.slow),
        pytest.param(5, (6.0, 4.0), (1, 2), 4, marks=pytest.mark.slow),
    ],
)
def test_no_choice_of_levels_costs_more_than_the_claim_and_some_costs_as_much(
    teachers, scales, units, total
):
    families = [table(teachers, scale) for scale in scales]
    exact = dict(enumerate(map(fractions, families)))
    for epsilon in (0.1, 0.6):
        y = power(epsilon)
        most = exact_of_moves(exact, with_units(units), total, y[0])
        found = levels_delta(families, units, total, epsilon, fineness=20)
        assert most <= Fraction(found.upper)
        assert Fraction(found.lower) <= exact_of_moves(exact, with_units(units), total, y[1])
        assert found.upper <= 1.02 * float(most) + 1e-9


@pytest.mark.parametrize(
    ("units", "reserves", "total"), [((1, 2), (0, 1), 4), ((2, 4), (0, 3), 9), ((1, 2), (0, 2), 4)]
)
def test_labels_of_little_noise_that_leave_a_reserve_cost_less_and_exactly_as_claimed(
    units, reserves, total
):
    families = [table(3, scale) for scale in (4.0, 2.0)]
    exact, epsilon = dict(enumerate(map(fractions, families))), 0.3
    moves = with_units(units, reserves)
    low, high = power(epsilon)
    found = levels_delta(families, units, total, epsilon, reserves=reserves, fineness=20)
    most = exact_of_moves(exact, moves, total, low)
    assert most <= Fraction(found.upper) <= Fraction(102, 100) * most + Fraction(1, 10**9)
    assert Fraction(found.lower) <= exact_of_moves(exact, moves, total, high)
    assert most < exact_of_moves(exact, with_units(units), total, low)


def test_a_twin_with_less_noise_than_it_says_is_caught():
    """What its labels cost is above what the stated noise claims."""
    units, total, epsilon = (1, 2), 3, 0.3
    stated = [table(5, scale) for scale in (3.0, 2.2)]
    twin = dict(enumerate(fractions(table(5, 0.95 * scale)) for scale in (3.0, 2.2)))
    most = exact_of_moves(twin, with_units(units), total, power(epsilon)[0])
    assert most > Fraction(levels_delta(stated, units, total, epsilon, fineness=20).upper)


def test_the_choice_costs_more_than_either_level_alone_and_less_than_both():
    """A level whose units are too few for what it costs decides."""
    families, total = [gnmax(31, scale) for scale in (20.0, 14.0)], 30
    both = levels_epsilon(families, (1, 2), total, 1e-5)
    alone = [adaptive_epsilon(f, total // u, 1e-5) for f, u in zip(families, (1, 2), strict=True)]
    assert max(bounds.lower for bounds in alone) <= both.upper
    assert both.lower >= max(bounds.lower for bounds in alone) * 0.999
    assert both.upper <= max(bounds.upper for bounds in alone) * 1.01
    cheap = levels_epsilon(families, (1, 1), total, 1e-5)
    assert cheap.upper == pytest.approx(adaptive_epsilon(families[1], total, 1e-5).upper, rel=0.005)


def test_one_level_is_the_account_of_its_labels():
    family = gnmax(31, 20.0)
    for units in (1, 3):
        found = levels_epsilon([family], [units], 30 * units + units - 1, 1e-5)
        assert found.upper == pytest.approx(adaptive_epsilon(family, 30, 1e-5).upper, rel=1e-9)
        assert found.lower == pytest.approx(adaptive_epsilon(family, 30, 1e-5).lower, rel=1e-9)


def test_more_units_cost_no_less_and_bounds_near_one_epsilon_are_those_of_the_whole_grid():
    families, units = [gnmax(21, scale) for scale in (20.0, 13.0)], (2, 5)
    last = 0.0
    for total in (4, 5, 9, 10, 31):
        every = levels_curve(families, units, total, 0.4, 1e-5, lower=False)
        near = levels_curve(families, units, total, 0.4, 1e-5, lower=False, least=0.4)
        assert near.delta(0.4) == pytest.approx(every.delta(0.4), rel=1e-6)
        assert near.delta(0.4) >= last
        last = every.delta(0.4) * (1 - 0.05)  # each total has a grid of its own


def test_a_level_that_the_budget_does_not_pay_for_costs_nothing():
    families = [gnmax(21, 20.0), gnmax(21, 1.0)]
    with_dear = levels_epsilon(families, (1, 11), 10, 1e-5)
    assert with_dear == levels_epsilon(families[:1], (1,), 10, 1e-5)


def test_many_units_in_blocks_cost_no_less_and_little_more(monkeypatch):
    families, units, total = [gnmax(21, scale) for scale in (60.0, 42.0)], (1, 2), 420
    steps = levels_epsilon(families, units, total, 1e-5, fineness=4)
    monkeypatch.setattr(levels, "MANY", 100)
    blocks = levels_epsilon(families, units, total, 1e-5, fineness=4)
    assert steps.upper * (1 - 1e-4) <= blocks.upper <= 1.04 * steps.upper


@pytest.mark.parametrize(
    ("units", "total", "words"),
    [((1,), 5, "one for each"), ((1, 0), 5, "units"), ((2, 3), 1, "total"), ((1, 1.5), 4, "units")],
)
def test_units_that_make_no_sense_are_refused(units, total, words):
    with pytest.raises(ValueError, match=words):
        levels_epsilon([gnmax(5, 9.0)] * 2, units, total, 1e-5)


@pytest.mark.parametrize("reserves", [(1,), (0, -1), (4, 5)])
def test_reserves_that_make_no_sense_are_refused(reserves):
    with pytest.raises(ValueError, match="must be"):
        levels_epsilon([gnmax(5, 9.0)] * 2, (1, 2), 4, 1e-5, reserves=reserves)
