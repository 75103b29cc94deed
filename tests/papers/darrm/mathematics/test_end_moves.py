"""The best moves, and bounds of whole boxes, against every combination of moves, one by one."""

import numpy as np
import pytest
from scipy.special import comb

from private_ensembles.papers.darrm.mathematics import end_moves
from private_ensembles.papers.darrm.mathematics.end_moves import (
    STEPS,
    best_moves,
    bound_curvature,
    box_bounds,
)
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem


def binomial(trials, chance):
    r = np.arange(trials + 1)
    return comb(trials, r) * chance**r * (1 - chance) ** (trials - r)


def mean(V, b, up, down, Delta):
    """G with b ones, `up` of the zeros at Delta and `down` of the ones at 1 - Delta."""
    lead = np.convolve(binomial(up, Delta), binomial(down, Delta)[::-1])  # from -down to up
    return V[b - down : b + up + 1] @ lead


def cost(problem, V, W, b, counts):
    ours = mean(V, b, counts["D_zero"], counts["below_one"], problem.Delta)
    return ours - problem.c * mean(W, b, counts["zero_D"], counts["one_below"], problem.Delta)


def table_of_costs(problem, V, W, b):
    """f by the moves up and down on one side, then on the other; -inf where teachers lack."""
    a = len(V) - 1 - b
    P, Q = (
        [[mean(side, b, up, down, problem.Delta) for down in range(b + 1)] for up in range(a + 1)]
        for side in (V, W)
    )
    ups = np.add.outer(np.arange(a + 1), np.arange(a + 1))[:, None, :, None]
    downs = np.add.outer(np.arange(b + 1), np.arange(b + 1))[None, :, None, :]
    all_moves = np.array(P)[:, :, None, None] - problem.c * np.array(Q)
    return np.where((ups <= a) & (downs <= b), all_moves, -np.inf)


def every_cost(problem, V, W, b):
    """f of every combination of moves."""
    f = table_of_costs(problem, V, W, b)
    return f[np.isfinite(f)]


def smooth_sides(scale):
    """Means of a steep step: the moves of most teachers are the same everywhere."""
    places = np.arange(25)
    V = np.tanh((places - 12) / scale)[None, :]
    return V, np.tanh((places - 14) / scale)[None, :]


def sides(seed, n, rows):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (rows, n + 1)), rng.uniform(-1, 1, (rows, n + 1))


def largest(problem, V, W, ones):
    return np.array(
        [[max(every_cost(problem, v, w, b)) for b in ones] for v, w in zip(V, W, strict=True)]
    )


@pytest.mark.parametrize("Delta", [0.01, 0.3])
@pytest.mark.parametrize(("seed", "parts"), [(0, 1), (1, 2), (2, 3)])
def test_no_move_exceeds_the_bounds(seed, Delta, parts, monkeypatch):
    """Rough tables: with the floor below all of them every cell is worked out in parts."""
    monkeypatch.setattr(end_moves, "PARTS", parts)
    problem = PrivacyProblem(11, 2, 0.3, Delta, 0.4)
    V, W = sides(seed, 9, 3)
    exact = largest(problem, V, W, range(10))
    for box in (slice(0, 10), slice(0, 1), slice(3, 5), slice(9, 10)):
        known = np.full((3, box.stop - box.start), np.inf)
        for floor in (-np.inf, 0.0, np.inf):
            found = box_bounds(problem, V, W, box, known, floor)
            assert (found >= exact[:, box] - 1e-13).all()


def test_parts_of_one_teacher_are_exact_where_the_floor_asks_for_them(monkeypatch):
    monkeypatch.setattr(end_moves, "PARTS", 9)
    problem = PrivacyProblem(11, 2, 0.3, 0.3, 0.4)
    V, W = sides(1, 9, 3)
    exact = largest(problem, V, W, range(10))
    box, known = slice(0, 10), np.full((3, 10), np.inf)
    coarse = box_bounds(problem, V, W, box, known, np.inf)
    floor = float(exact.max())  # all moves or none exceed it nowhere
    fine = box_bounds(problem, V, W, box, known, floor)
    assert (coarse > floor).any()
    asked = coarse > floor
    np.testing.assert_allclose(fine[asked], exact[asked], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(fine[~asked], coarse[~asked])


@pytest.mark.parametrize("scale", [1.5, 6.0])
def test_where_one_move_is_best_the_bounds_are_exact(scale):
    problem = PrivacyProblem(25, 2, 0.3, 0.02, 0.1)
    V, W = smooth_sides(scale)
    box = slice(0, 25)
    exact = largest(problem, V, W, range(25))
    _, plain = bound_curvature(problem, V, W, box)
    found = box_bounds(problem, V, W, box, np.full((1, 25), np.inf), np.inf)
    settled = plain.all(axis=0)
    assert settled.any()
    np.testing.assert_allclose(found[settled], exact[settled], rtol=0, atol=1e-13)
    assert (found >= exact - 1e-13).all()


@pytest.mark.parametrize("Delta", [0.05, 0.1])
def test_no_mixed_move_is_better_where_one_move_is_said_to_be_best(Delta):
    """Whatever the teachers at the other end do: none, all on one side, or all on the other."""
    problem, settled = PrivacyProblem(7, 2, 0.3, Delta, 0.4), 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        steps = rng.uniform(-0.1, 0.1, (2, 3, 1)) + rng.uniform(-0.05, 0.05, (2, 3, 7))
        V, W = np.cumsum(steps, axis=2)
        _, plain = bound_curvature(problem, V, W, slice(0, 7))
        for row, b in np.ndindex(3, 7):
            f = table_of_costs(problem, V[row], W[row], b)
            for end in np.flatnonzero(plain[:, row, b]):
                by_end = np.moveaxis(f, (end, 2 + end), (0, 1))
                best = np.maximum(np.maximum(by_end[0, 0], by_end[-1, 0]), by_end[0, -1])
                assert (by_end.max(axis=(0, 1)) <= best + 1e-12).all(), (seed, row, b)
                settled += 1
    assert 300 < settled < 1200  # otherwise nothing is said, or nothing is open


def test_bounds_known_before_are_kept_where_they_are_lower():
    problem = PrivacyProblem(11, 2, 0.3, 0.01, 0.4)
    V, W = sides(2, 9, 3)
    known = np.full((3, 10), -5.0)
    np.testing.assert_array_equal(box_bounds(problem, V, W, slice(0, 10), known, -np.inf), known)


def test_a_box_is_bounded_as_each_of_its_columns_is(monkeypatch):
    """Strips of columns and few cells at a time leave no seam."""
    monkeypatch.setattr(end_moves, "STRIP", 4)
    monkeypatch.setattr(end_moves, "ENTRIES", 1)
    problem = PrivacyProblem(25, 2, 0.3, 0.02, 0.1)
    V, W = sides(3, 24, 2)
    known = np.full((2, 25), np.inf)
    box = box_bounds(problem, V, W, slice(0, 25), known, 0.0)
    for b in range(25):
        column = box_bounds(problem, V, W, slice(b, b + 1), known[:, :1], 0.0)
        np.testing.assert_allclose(column[:, 0], box[:, b], rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("bends", "Delta"),
    [
        *(((-1, 0), 0.3), ((0, 1), 0.01), ((-1, 1), 0.3), ((-1, 1), 0.01)),
        *(((1, -1), 0.3), ((-1, -1), 0.3), ((1, 1), 0.3)),
    ],
)
def test_sides_that_bend_one_way_are_bounded(monkeypatch, bends, Delta):
    """A peak of f with some of the teachers moved, wherever along the ones it is."""
    monkeypatch.setattr(end_moves, "PARTS", 1)
    problem = PrivacyProblem(11, 2, 0.3, Delta, 0.4)
    b, box = np.arange(10), slice(0, 10)
    for peak in (0.5, 3.0, 4.5, 8.5):
        V, W = (sign * ((b - peak) ** 2 / 81)[None] for sign in bends)
        found = box_bounds(problem, V, W, box, np.full((1, 10), np.inf), np.inf)
        assert (found >= largest(problem, V, W, range(10)) - 1e-13).all()


@pytest.mark.parametrize("steps", [STEPS, (1,), (4, 2, 1)])
@pytest.mark.parametrize(("b", "Delta"), [(0, 0.3), (3, 0.01), (3, 0.3), (8, 0.3)])
def test_the_best_of_all_moves_is_found(b, Delta, steps):
    problem = PrivacyProblem(11, 2, 0.3, Delta, 0.4)
    V, W = sides(b, 8, 4)
    every = [max(every_cost(problem, V[k], W[k], b)) for k in range(4)]
    found = best_moves(problem, V, W, b, steps=steps)
    assert found.value == pytest.approx(max(every), abs=1e-13)
    assert found.row == int(np.argmax(every))
    assert found.remaining_bound == -np.inf
    assert sum(found.counts.values()) == 8
    assert cost(problem, V[found.row], W[found.row], b, found.counts) == pytest.approx(
        found.value, abs=1e-13
    )


@pytest.mark.parametrize("b", [0, 1, 12, 24])
@pytest.mark.parametrize("scale", [0.3, 1.5, 6.0])
def test_one_move_of_all_is_taken_only_where_it_is_best(scale, b):
    problem = PrivacyProblem(25, 2, 0.3, 0.02, 0.1)
    V, W = smooth_sides(scale)
    exact = max(every_cost(problem, V[0], W[0], b))
    found = best_moves(problem, V, W, b)
    assert found.value == pytest.approx(exact, abs=1e-13)
    end_moves = best_moves(problem, V, W, b, steps=STEPS[:1])
    assert max(end_moves.value, end_moves.remaining_bound) >= exact - 1e-13


def test_moves_of_smooth_sides_are_settled_by_the_ends_alone():
    problem = PrivacyProblem(25, 2, 0.3, 0.02, 0.1)
    V, W = smooth_sides(6.0)
    assert all(best_moves(problem, V, W, b).entries_used <= 2 * 2 * 2 for b in range(25))
    V, W = smooth_sides(0.3)
    assert max(best_moves(problem, V, W, b).entries_used for b in range(25)) > 2 * 13 * 13


@pytest.mark.parametrize("step", [2, 3, 5, 100])
@pytest.mark.parametrize("seed", range(2))
def test_few_numbers_of_moves_bound_all_of_them(seed, step):
    """Rough tables and a large Delta: what lies between two nodes is more than the nodes show."""
    problem = PrivacyProblem(13, 2, 0.3, 0.4, 0.5)
    V, W = sides(seed, 12, 1)
    exact = max(every_cost(problem, V[0], W[0], 6))
    coarse = best_moves(problem, V, W, 6, steps=(step,))
    assert coarse.value <= exact + 1e-13
    assert coarse.remaining_bound >= exact
    assert cost(problem, V[0], W[0], 6, coarse.counts) == pytest.approx(coarse.value, abs=1e-13)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("n", "b", "zeros"), [(12, 0, True), (18, 6, True), (12, 12, False)])
def test_a_bound_between_two_nodes_is_what_a_parabola_exceeds_its_chord_by(n, b, zeros, side):
    """A parabola has one curvature everywhere, and is best with six of twelve teachers moved.

    With m of them moved at one end, G is -a (m Delta (1 - Delta) + (m Delta - d)^2). Over a chord
    of twelve moves it rises by 12^2 / 8 times 2 a Delta^2, and over four by 4^2 / 8 times as much.
    """
    Delta, a = 1e-3, 1 / 400
    problem = PrivacyProblem(19, 2, 0.3, Delta, 0.4)
    c, d = (1.0, problem.c)[side], 6 * Delta + (1 - Delta) / 2
    places = np.arange(n + 1) - b
    parabola = -a * (places - (d if zeros else -d))[None, :] ** 2
    sides = [np.zeros((1, n + 1)), np.zeros((1, n + 1))]
    sides[side] = parabola if side == 0 else -parabola
    exact, curvature = (
        -c * a * (6 * Delta * (1 - Delta) + (6 * Delta - d) ** 2),
        c * 2 * a * Delta**2,
    )
    assert max(every_cost(problem, sides[0][0], sides[1][0], b)) == pytest.approx(exact, rel=1e-9)
    others = n - 12  # at the other end, for whom it is left open that they stay
    for step in (12, 4):
        found = best_moves(problem, *sides, b, steps=(step,))
        rise = curvature * step**2 / 8
        open_ = rise + curvature * min(step, others) ** 2 / 8
        assert found.value == pytest.approx(exact - rise, abs=0.01 * rise)
        assert exact <= found.remaining_bound <= found.value + 1.1 * open_
    box, known = slice(b, b + 1), np.full((1, 1), np.inf)
    (bound,) = box_bounds(problem, *sides, box, known, np.inf)[0]
    whole = exact - curvature * 12**2 / 8
    assert exact <= bound <= whole + 1.1 * curvature * (12**2 + others**2) / 8


def test_nothing_is_found_above_a_floor_that_nothing_exceeds():
    problem = PrivacyProblem(9, 2, 0.3, 0.05, 0.1)
    V, W = sides(1, 8, 3)
    largest = best_moves(problem, V, W, 4).value
    assert best_moves(problem, V, W, 4, largest + 1e-9).counts is None
    assert best_moves(problem, V, W, 4, largest - 1e-9).value == largest


def test_effort_that_runs_out_leaves_a_bound():
    problem = PrivacyProblem(13, 2, 0.3, 0.4, 0.5)
    V, W = sides(2, 12, 2)
    exact = best_moves(problem, V, W, 6)
    short = best_moves(problem, V, W, 6, effort=exact.entries_used / 2)
    assert short.entries_used <= exact.entries_used / 2
    assert short.remaining_bound >= exact.value >= short.value
    assert best_moves(problem, V, W, 6, effort=0).remaining_bound == np.inf
