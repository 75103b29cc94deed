"""Sorted histograms, weights, rows and multipliers against all that they stand for."""

import math
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.audit.divergence import exact_delta
from private_ensembles.audit.histograms import count_sorted_histograms as number
from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.labels.laws import exponential
from studies.best_label import interior_point
from studies.best_label.objective import WEIGHT_ROUNDINGS, correct_label_weights
from studies.best_label.program import Program
from studies.best_label.sorted_histograms import list_moves, tie_groups

from . import oracle


def draw_table(program, seed):
    """Random probabilities by tie group, those of every histogram adding up to 1."""
    given = program.histograms
    masses = np.random.default_rng(seed).exponential(size=program.size) * given.sizes
    return masses / np.add.reduceat(masses, given.starts)[given.owners] / given.sizes


@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize(("K", "C"), [(3, 3), (5, 3), (4, 4), (6, 2)])
def test_what_a_table_needs_is_what_the_audit_finds_on_all_histograms(K, C, delta):
    program, rows = Program(K, C, 0.4, delta), enumerate_histograms(K, C)
    for seed in range(5):
        p = draw_table(program, seed)
        table = p[program.histograms.groups_of(rows)]
        errors = {"relative_error": 1e-15}
        wanted = exact_delta(table, neighbour_pairs(rows), 0.4, **errors)
        assert program.add_violated_rows(p) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_rows_found_are_violated_and_hold_for_private_tables(delta):
    """Permute-and-flip, private at delta = 0, meets them all."""
    program = Program(7, 4, 0.6, delta)
    before = len(program.singles)
    p = draw_table(program, 3)
    program.add_violated_rows(p)
    matrix = program.matrix()
    assert len(program.singles) > before
    assert (program.events.shape[0] > 0) == (delta > 0)
    assert (program.events @ p > delta).all()
    q = np.empty(program.size)
    weigh = exponential.label_probabilities
    q[program.histograms.groups] = weigh(program.histograms.counts, 0.3)
    assert (matrix @ q <= 1e-15).all()
    np.testing.assert_allclose(program.totals() @ q, 1, rtol=1e-14)


def test_rows_are_found_once():
    program = Program(6, 3, 0.6, 0.02)
    program.add_violated_rows(draw_table(program, 0))
    singles = len(program.singles)
    program.add_violated_rows(draw_table(program, 1))
    assert len(program.singles) > singles
    assert len(np.unique(program.singles, axis=0)) == len(program.singles)


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_any_multipliers_bound_every_mechanism(delta):
    program = Program(4, 3, 0.5, delta)
    program.weights = correct_label_weights(program.histograms, 0.6)
    best = oracle.best_utility(4, 3, 0.5, delta, oracle.weights(4, 3, 0.6))
    generator = np.random.default_rng(2)
    for seed in range(6):
        program.add_violated_rows(draw_table(program, seed))
        rows = program.row_count
        for size in (0.0, 1e-3, 0.1, 1.0):
            y = size * generator.normal(size=rows)
            assert program.upper_bound(y) >= best * (1 - 1e-9)
    assert program.upper_bound(np.zeros(rows)) < 1 + 1e-9


SIZES = [(1, 2), (1, 3), (2, 2), (4, 4), (7, 3)]


@pytest.mark.parametrize(("K", "C"), SIZES)
def test_groups_are_the_ties_of_all_sorted_histograms(K, C):
    found = tie_groups(K, C)
    every = np.unique(-np.sort(-enumerate_histograms(K, C), axis=1), axis=0)
    np.testing.assert_array_equal(found.counts, every)
    assert len(every) == number(K, C)
    assert (found.n_teachers, found.n_classes) == (K, C)
    for row, groups, start in zip(found.counts, found.groups, found.starts, strict=True):
        assert groups[0] == start
        for a in range(C):
            assert found.votes[groups[a]] == row[a]
            assert found.sizes[groups[a]] == (row == row[a]).sum()
            assert np.array_equal(groups == groups[a], row == row[a])
    np.testing.assert_array_equal(found.owners, np.repeat(range(len(every)), _ties(found)))


def _ties(found):
    return [len(set(row)) for row in found.counts.tolist()]


@pytest.mark.parametrize(("K", "C"), SIZES)
def test_moves_are_those_of_all_neighbouring_histograms(K, C):
    """As sets of how many classes go from which tie group to which."""
    groups, listed = tie_groups(K, C), list_moves(K, C)

    def kinds(first, second):
        both = np.sort(first.astype(np.int64) * len(groups.sizes) + second, axis=1)
        return set(map(tuple, both.tolist()))

    rows = enumerate_histograms(K, C)
    pairs, of = neighbour_pairs(rows), groups.groups_of(rows)
    every = kinds(of[pairs[:, 0]], of[pairs[:, 1]]) | kinds(of[pairs[:, 1]], of[pairs[:, 0]])
    first, second = (listed.placed[side] for side in listed.pairs.T)
    assert kinds(first, second) | kinds(second, first) == every


def test_groups_of_other_votes_are_refused():
    with pytest.raises(ValueError, match="every row must be 3 votes on 3 classes"):
        tie_groups(3, 3).groups_of([[2, 2, 0]])


@pytest.mark.parametrize(
    ("K", "C", "accuracy"), [(1, 2, 0.6), (5, 3, 0.7), (6, 3, 0.4), (4, 4, 0.9)]
)
def test_weights_are_the_chances_of_all_votes(K, C, accuracy):
    groups = tie_groups(K, C)
    of = groups.groups_of(enumerate_histograms(K, C))
    every = np.bincount(of.ravel(), oracle.weights(K, C, accuracy).ravel(), len(groups.sizes))
    found = correct_label_weights(groups, accuracy)
    np.testing.assert_allclose(found, every, rtol=1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize(("K", "C", "accuracy"), [(11, 10, 0.4), (40, 3, 0.35)])
def test_weights_are_as_exact_as_they_say(K, C, accuracy):
    groups = tie_groups(K, C)
    right, wrong = Fraction(accuracy), (1 - Fraction(accuracy)) / (C - 1)
    for g, weight in enumerate(correct_label_weights(groups, accuracy).tolist()):
        row, votes = groups.counts[groups.owners[g]].tolist(), int(groups.votes[g])
        others = row.copy()
        others.remove(votes)
        ways = math.factorial(K) * math.factorial(C - 1)
        for n in row:
            ways //= math.factorial(n)
        names = math.prod(math.factorial(others.count(n)) for n in set(others))
        exact = Fraction(ways, names) * right**votes * wrong ** (K - votes)
        assert abs(Fraction(weight) - exact) <= exact * WEIGHT_ROUNDINGS * Fraction(UNIT_ROUNDOFF)


def test_arguments_out_of_range_are_refused():
    groups = tie_groups(5, 3)
    with pytest.raises(ValueError, match=r"accuracy = 0\.3: must be above 1 / 3 and below 1"):
        correct_label_weights(groups, 0.3)
    with pytest.raises(ValueError, match=r"accuracy = 1\.0: must be above"):
        correct_label_weights(groups, 1.0)
    with pytest.raises(ValueError, match="n_teachers = 1011: must be at most 1010"):
        correct_label_weights(tie_groups(1011, 2), 0.6)


@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_point_and_multipliers_agree(delta):
    program = Program(8, 4, 0.5, delta)
    program.weights = correct_label_weights(program.histograms, 0.5)
    p, multipliers = interior_point.solve(program)
    np.testing.assert_allclose(program.totals() @ p, 1, atol=1e-9)
    assert (program.matrix() @ p).max() <= delta + 1e-8
    assert multipliers.min() > -1e-9
    assert program.weights @ p == pytest.approx(program.upper_bound(multipliers), rel=1e-7)


def test_probabilities_are_within_their_bounds_whatever_the_solver_allows_itself(stand_in):
    """HiGHS 1.15 calls p = -6.8e-8 optimal here; without that this test says nothing."""
    program = Program(7, 4, 5.0, 1e-5)
    program.weights = correct_label_weights(program.histograms, 0.5)
    seen = []
    stand_in(interior_point, "np", clip=lambda p, *ends: seen.append(min(p)) or np.clip(p, *ends))
    p, _ = interior_point.solve(program)
    assert min(seen) < 0
    assert 0 <= p.min() <= p.max() <= 1


def test_a_solver_that_gives_up_is_an_error(monkeypatch):
    program = Program(3, 3, 0.5, 0.0)
    monkeypatch.setattr(program, "totals", lambda: -Program.totals(program))
    with pytest.raises(RuntimeError, match="HiGHS ended with status 'Infeasible'"):
        interior_point.solve(program)
