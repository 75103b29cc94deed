"""Curves of hockey-sticks, kernels and groups lie above what they stand for, exactly."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from private_ensembles.accounting.adaptive_composition import hockey_sticks
from private_ensembles.accounting.adaptive_composition.backward_induction import (
    Grid,
    value_upper_bounds,
)
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    bounded_range_pairs,
    two_class_dominating_pairs,
)
from private_ensembles.accounting.adaptive_composition.hockey_sticks import (
    hockey_stick_divergences,
    keep_maximal_curves,
    kernels,
    merge_curves,
    thresholds,
)
from tests.accounting.adversaries import power, random_rows

STEP, REACH = 0.07, 40


def exact_curve(first, second, t):
    """E(t) of one pair, in mpmath."""
    return mpmath.fsum(
        max(mpf(p) - t * mpf(q), 0) for p, q in zip(first.tolist(), second.tolist(), strict=True)
    )


def kernel_curve(kernel, row, t):
    """What a kernel's masses on the grid's exact ratios give at t, in mpmath."""
    reach = kernel.support_radius
    ratios = [mpmath.exp(mpf(kernel.step) * k) for k in range(-reach, reach + 1)]  # P' / P
    found = mpf(float(kernel.infinite_loss_mass[row]))
    for mass, ratio in zip(kernel.masses[row].tolist(), ratios, strict=True):
        found += mpf(mass) * max(1 - t * ratio, 0)
    return found


@pytest.mark.keeps("accounting.adaptive_composition.hockey_sticks:hockey_stick_divergences")
@pytest.mark.parametrize(("error", "spare"), [(0.0, 0.0), (1e-3, 0.0), (0.0, 1e-9), (1e-6, 1e-9)])
def test_hockey_sticks_are_rounded_up_to_the_last_digit(error, spare):
    """In fractions, at the far ends of what probabilities and thresholds may be."""
    rng = np.random.default_rng(7)
    first, second = random_rows(rng, 4, 3)
    logs = [-50.0, -2.0, -1e-9, 0.0, 0.7, 500.0]
    found = hockey_stick_divergences(first, second, np.exp(logs), error, spare)
    error, spare = Fraction(error), Fraction(spare)
    for pair in range(4):
        p, q = ([Fraction(x) for x in law[pair].tolist()] for law in (first, second))
        for place, log in enumerate(logs):
            # The threshold's logarithm may be rounded: more weighs the first law here.
            off = Fraction((abs(log) + 8) * 2**-53)
            with mpmath.workdps(60):
                t = power(mpmath.mpf(log))[0] * (1 + off if log < 0 else 1 - off)
            # Below 1 it is the sum of (t P' - P)_+, which is the same less (1 - t)_+.
            more, less, factors = (q, p, (t, 1)) if log < 0 else (p, q, (1, t))
            exact = Fraction(0)
            for x, y in zip(more, less, strict=True):
                gain = factors[0] * (x * (1 + error) + spare)
                exact += max(Fraction(0), gain - factors[1] * max(0, y * (1 - error) - spare))
            ours = Fraction(float(found[pair, place]))
            assert exact <= ours <= exact + Fraction(1e-12) * (1 + t)


@pytest.mark.parametrize("at_once", [1, 7, 2048])
def test_curves_that_are_merged_in_parts_are_those_merged_at_once(monkeypatch, at_once):
    """One by one, seven at a time and a rest, and all: the same groups."""
    rng = np.random.default_rng(8)
    ones = np.sort(rng.random(60))
    both = np.stack([1 - ones, ones], axis=1)
    curves = hockey_stick_divergences(both[:-1], both[1:], thresholds(STEP, REACH))
    orders = np.array([2.0, 9.0])
    whole = merge_curves(curves, STEP, orders)
    monkeypatch.setattr(hockey_sticks, "_AT_ONCE", at_once)
    np.testing.assert_array_equal(merge_curves(curves, STEP, orders), whole)
    assert (curves[:, None] <= whole).all(axis=2).any(axis=1).all()


@pytest.mark.parametrize(("error", "spare"), [(0.0, 0.0), (1e-3, 0.0), (0.0, 1e-3), (0.9, 1e-9)])
def test_excesses_bound_every_pair_within_the_error(error, spare):
    rng = np.random.default_rng(1)
    first, second = random_rows(rng, 6, 3)
    t = thresholds(STEP, REACH)
    found = hockey_stick_divergences(first, second, t, error, spare)
    for _ in range(10):
        shift = error * rng.uniform(-1, 1, 2)[:, None, None], spare * rng.uniform(-1, 1, 2)
        moved = [
            np.maximum(x * (1 + e) + s, 0) for x, e, s in zip((first, second), *shift, strict=True)
        ]
        # What is compared needs rows that add up to 1 only where t < 1 is turned into t > 1.
        large = [np.maximum(moved[0] - x * moved[1], 0).sum(axis=1) for x in t]
        other = [np.maximum(x * moved[1] - moved[0], 0).sum(axis=1) for x in t]
        exact = np.where(t < 1, np.transpose(other), np.transpose(large))
        assert (found >= exact * (1 - 1e-13)).all()


@pytest.mark.keeps("accounting.adaptive_composition.hockey_sticks:kernels")
@pytest.mark.parametrize("near", [None, 1, 6, REACH])
def test_kernels_lie_on_or_above_their_curves_everywhere(near):
    rng = np.random.default_rng(2)
    with mpmath.workdps(40):
        for _ in range(2):
            first, second = random_rows(rng, 4, 3)
            found = kernels(
                hockey_stick_divergences(first, second, thresholds(STEP, REACH)), STEP, near
            )
            inside = STEP * rng.uniform(-REACH, REACH, 6)
            points = STEP * rng.integers(-REACH, REACH + 1, 4)
            logs = [*inside, *points, -400.0, -STEP * (REACH + 0.5), STEP * (REACH + 3), 50.0]
            for row in range(len(first)):
                assert (found.masses[row] >= 0).all()
                for log in logs:
                    t = mpmath.exp(mpf(float(log)))
                    exact = exact_curve(first[row], second[row], t)
                    assert kernel_curve(found, row, t) >= exact


def test_far_from_one_kernels_have_few_masses():
    rng = np.random.default_rng(5)
    first, second = random_rows(rng, 4, 400)
    found = kernels(hockey_stick_divergences(first, second, thresholds(STEP, REACH)), STEP, 4)
    used = np.flatnonzero(found.masses.any(axis=0)) - REACH
    few = [*range(6), 7, 9, 11, 15, 19, 25, 33, REACH]
    assert set(np.abs(used)) <= set(few)
    assert len(used) > len(few)


@pytest.mark.parametrize("noise", [1e-16, 1e-12, 1e-3])
def test_kernels_reach_their_curves_whatever_the_noise_on_them(noise):
    """Curves that are no longer convex, as floats' errors leave them."""
    rng = np.random.default_rng(3)
    first, second = random_rows(rng, 5, 4)
    curves = hockey_stick_divergences(first, second, thresholds(STEP, REACH))
    curves = np.maximum(curves + noise * rng.standard_normal(curves.shape), 0)
    found = kernels(curves, STEP)
    with mpmath.workdps(40):
        for row in range(len(curves)):
            for k in range(-REACH, REACH + 1, 5):
                t = mpmath.exp(mpf(STEP) * k)
                wanted = mpf(float(curves[row, k + REACH])) + max(1 - t, 0)
                assert kernel_curve(found, row, t) >= wanted


def test_a_loss_without_bound_is_charged_once():
    found = kernels(
        hockey_stick_divergences([[0.75, 0.25]], [[1.0, 0.0]], thresholds(STEP, REACH)), STEP
    )
    assert 0.25 <= found.infinite_loss_mass[0] <= 0.25 * (1 + 1e-12)


def test_small_probabilities_that_lost_their_digits_are_allowed_for():
    """1 - ones is 1.11e-16, where the truth is 1e-16."""
    family = two_class_dominating_pairs([0.5, 1 - 2.0**-53])
    t = thresholds(STEP, REACH)
    true = Fraction(1, 10**16)
    found = family.hockey_stick_divergences(t).max(axis=0)
    assert Fraction(found[-1]) >= Fraction(1, 2) - Fraction(t[-1]) * true


@pytest.mark.keeps("accounting.adaptive_composition.hockey_sticks:merge_curves")
def test_every_curve_lies_below_its_group():
    rng = np.random.default_rng(4)
    votes = np.arange(120)
    ones = 1 / (1 + np.exp(-(votes - 60) / 8))
    both = np.stack([1 - ones, ones], axis=1)
    curves = hockey_stick_divergences(both[:-1], both[1:], thresholds(STEP, REACH))
    groups = merge_curves(curves, STEP, np.array([5.0, 10.0]))
    assert len(groups) < len(curves) / 4
    assert (curves[:, None] <= groups).all(axis=2).any(axis=1).all()
    rows = rng.permutation(len(curves))
    shuffled = merge_curves(curves[rows], STEP, np.array([5.0, 10.0]))
    assert (curves[:, None] <= shuffled).all(axis=2).any(axis=1).all()


def test_last_bits_decide_of_no_group():
    """Those of sums depend on the processor; the costliest pair costs exactly 1, and others fit."""
    pairs = bounded_range_pairs(0.3)
    curves = pairs.hockey_stick_divergences(thresholds(STEP, REACH))
    weights = np.ones((curves.shape[1], 2)) / curves.sum(axis=1).max()
    first, cheap = hockey_sticks._merge_cheapest(curves, np.arange(len(curves)), weights)
    for seed in range(5):
        noise = np.random.default_rng(seed).uniform(-1, 1, weights.shape)
        other, count = hockey_sticks._merge_cheapest(
            curves, np.arange(len(curves)), weights * (1 + 4e-16 * noise)
        )
        assert count == cheap
        np.testing.assert_array_equal(other, first)
    costliest = curves[[curves.sum(axis=1).argmax()]]
    above = weights * (1 + 8e-16)
    assert (costliest @ above > 1).all()
    assert hockey_sticks._merge_cheapest(costliest, np.arange(1), above)[1] == 1


def test_of_many_curves_neighbours_are_joined_and_groups_are_as_few_and_as_tight():
    rng = np.random.default_rng(6)
    # Leads of one class over another that a third one, of any noisy count, may beat.
    lead, third = (x.ravel() for x in np.meshgrid(np.linspace(-4, 4, 60), np.linspace(0, 1, 50)))

    def law(lead):
        ones = (1 - third) / (1 + np.exp(-lead))
        return np.stack([ones, 1 - third - ones, third], axis=1)

    curves = hockey_stick_divergences(law(lead), law(lead - 0.3), thresholds(STEP, REACH))
    orders = np.array([1.0, 3.0])
    groups = merge_curves(curves, STEP, orders)
    assert len(curves) > 2 * hockey_sticks._MANY
    for part in np.array_split(curves, 30):
        assert (part[:, None] <= groups).all(axis=2).any(axis=1).all()
    shuffled = merge_curves(curves[rng.permutation(len(curves))], STEP, orders)
    assert len(groups) <= 1.3 * len(shuffled) < len(curves) / 10
    # Nothing costs more than the dearest curve, but for what neighbours may add.
    weights = thresholds(STEP, REACH)[:, None] ** orders
    dearest = (curves @ weights).max(axis=0)
    assert ((groups @ weights).max(axis=0) <= dearest * (1 + 2 * hockey_sticks._NEARLY)).all()


@pytest.mark.parametrize("pairs", [1, 2, 37, 1000])
def test_each_pair_is_in_the_run_that_it_is_said_to_be_in(pairs):
    rng = np.random.default_rng(pairs)
    curves = np.repeat(rng.random((pairs, 9)), rng.integers(1, 9, pairs), axis=0)
    curves *= 1 + 1e-6 * rng.random(curves.shape)
    weights = rng.random((9, 2)) / 9
    costs = curves @ weights
    runs, dearest, which = hockey_sticks.merge_neighbouring_curves(
        curves, costs, weights, 1e-4, 0.3
    )
    assert pairs < 37 or len(runs) < len(curves)
    assert set(which) == set(range(len(runs)))
    for run, cost, number in zip(runs, dearest, range(len(runs)), strict=True):
        assert (run == curves[which == number].max(axis=0)).all()
        assert (cost == costs[which == number].max(axis=0)).all()
        assert (run @ weights <= np.maximum(cost + 1e-4, 0.3)).all()


def test_equal_laws_and_a_single_curve_are_gathered_as_they_are():
    for curves in (np.zeros((60, 81)), np.full((1, 81), 0.1)):
        assert (merge_curves(curves, STEP, np.array([1.0])) == curves[:1]).all()


def test_a_curve_below_another_one_changes_no_bound():
    """Whatever a kept curve dominates it stands for, so fewer kernels give the same bounds."""
    generator = np.random.default_rng(5)
    pairs = generator.dirichlet(np.ones(3), (2, 12))
    curves = hockey_stick_divergences(*pairs, thresholds(STEP, REACH))
    curves = np.concatenate([curves, 0.5 * curves, curves[:3]])
    kept = keep_maximal_curves(curves)
    assert len(kept) <= 12
    assert all((kept >= curve).all(axis=1).any() for curve in curves)
    grid = Grid(STEP, -80, 161)
    few, every = (value_upper_bounds(kernels(rows, STEP), grid, 5) for rows in (kept, curves))
    assert few == pytest.approx(every, rel=1e-9)
