"""Runs of several families together, against all adaptive strategies in fractions."""

from fractions import Fraction

import pytest

from private_ensembles.accounting.adaptive import sequences
from private_ensembles.accounting.adaptive.account import adaptive_epsilon
from private_ensembles.accounting.adaptive.sequences import (
    common_units,
    joint_curve,
    joint_epsilon_of,
)

from ..adversaries import power
from .fractions_of import counters, exact_of_moves, fractions, gain, in_order, strategies, table
from .labels import gnmax

MOVES = {False: in_order, True: counters}


@pytest.mark.parametrize("interleaved", MOVES)
def test_the_recursion_is_the_dearest_of_all_strategies_one_by_one(interleaved):
    families = {0: fractions(table(2, 2.0))[:2], 1: fractions(table(1, 1.2))[:1]}
    moves = MOVES[interleaved]
    for y in (Fraction(1), Fraction(5, 4)):
        every = max(gain(strategy, y) for strategy in strategies(families, moves, (1, 1)))
        assert every == exact_of_moves(families, moves, (1, 1), y)


@pytest.mark.parametrize("interleaved", MOVES)
@pytest.mark.parametrize(
    ("teachers", "scales", "counts"),
    [
        (5, (3.0, 1.5), (1, 1)),
        (5, (3.0, 1.5), (2, 1)),
        (3, (1.0, 4.0), (1, 2)),
        (3, (2.0, 3.0, 4.0), (1, 1, 1)),
        pytest.param(3, (2.0, 5.0), (2, 2), marks=pytest.mark.slow),
    ],
)
def test_no_strategy_costs_more_than_the_claim_and_some_costs_as_much(
    interleaved, teachers, scales, counts
):
    families = [table(teachers, scale) for scale in scales]
    exact = dict(enumerate(map(fractions, families)))
    for epsilon in (0.1, 0.6):
        most = exact_of_moves(exact, MOVES[interleaved], counts, power(epsilon)[0])
        runs = list(zip(families, counts, strict=True))
        found = joint_curve(runs, epsilon, 1e-2, interleaved=interleaved, fineness=20)
        assert most <= Fraction(found.delta(epsilon))
        assert Fraction(found.least_delta(epsilon)) <= most
        assert found.delta(epsilon) <= 1.02 * float(most) + 1e-9
        twin = dict(enumerate(fractions(table(teachers, 0.95 * scale)) for scale in scales))
        less = exact_of_moves(twin, MOVES[interleaved], counts, power(epsilon)[0])
        if most:
            assert less > Fraction(found.delta(epsilon))


def test_runs_of_one_family_are_the_account_of_all_its_labels():
    family = gnmax(31, 30.0)
    for interleaved in MOVES:
        found = joint_epsilon_of([(family, 12), (family, 8)], 1e-5, interleaved=interleaved)
        whole = adaptive_epsilon(family, 20, 1e-5)
        assert found.upper == pytest.approx(whole.upper, rel=1e-9)
        assert found.lower == pytest.approx(whole.lower, rel=1e-9)


def test_a_free_order_costs_no_less_than_a_fixed_one_and_common_units_no_less_than_counters(
    monkeypatch,
):
    runs = [(gnmax(31, 30.0), 24), (gnmax(31, 20.0), 12)]
    fixed = joint_epsilon_of(runs, 1e-5)
    free = joint_epsilon_of(runs, 1e-5, interleaved=True)
    monkeypatch.setattr(sequences, "_MOST_STATES", 0)
    by_units = joint_epsilon_of(runs, 1e-5, interleaved=True)
    assert fixed.upper * (1 - 1e-12) <= free.upper <= by_units.upper <= 1.02 * fixed.upper
    alone = [adaptive_epsilon(family, labels, 1e-5) for family, labels in runs]
    assert max(bounds.upper for bounds in alone) < fixed.lower
    assert fixed.upper < sum(bounds.lower for bounds in alone)


def test_twelve_releases_cost_far_less_than_their_sum():
    family = gnmax(51, 60.0)
    one = adaptive_epsilon(family, 30, 1e-6)
    all_of_them = joint_epsilon_of([(family, 30)] * 12, 1e-6)
    assert all_of_them.upper < 0.5 * 12 * one.lower


def test_a_run_of_many_labels_is_taken_in_blocks():
    runs = [(gnmax(11, 150.0), 1100), (gnmax(11, 90.0), 50)]
    found = joint_epsilon_of(runs, 1e-5, fineness=3)
    assert found.lower < found.upper < 1.05 * found.lower


def test_units_are_small_and_in_proportion():
    assert common_units([1.0, 1.0]) == [1, 1]
    assert common_units([2.0, 1.0, 3.0]) == [4, 1, 9]
    units = common_units([1.0, 1.21])
    assert units[1] / units[0] == pytest.approx(1.46, rel=0.05)


@pytest.mark.parametrize("runs", [[], [(gnmax(3, 2.0), 0)], [(gnmax(3, 2.0), 1.5)]])
def test_runs_that_make_no_sense_are_refused(runs):
    with pytest.raises(ValueError, match="must be"):
        joint_epsilon_of(runs, 1e-5)
