"""The best moves of teachers at the ends against every combination of them."""

import itertools
import math

import numpy as np
import pytest

from private_ensembles.darrm.moves import STEPS, best_moves
from private_ensembles.darrm.privacy_cost import PrivacyProblem


def mean(V, b, up, down, Delta):
    """G with b ones, `up` of the zeros at Delta and `down` of the ones at 1 - Delta."""
    return sum(
        math.comb(up, r)
        * Delta**r
        * (1 - Delta) ** (up - r)
        * math.comb(down, s)
        * Delta**s
        * (1 - Delta) ** (down - s)
        * V[b + r - s]
        for r in range(up + 1)
        for s in range(down + 1)
    )


def cost(problem, V, W, b, counts):
    ours = mean(V, b, counts["D_zero"], counts["below_one"], problem.Delta)
    return ours - problem.c * mean(W, b, counts["zero_D"], counts["one_below"], problem.Delta)


def every_cost(problem, V, W, b):
    """f of every combination of moves."""
    a, D = len(V) - 1 - b, problem.Delta
    ends = range(a + 1), range(b + 1)
    P = {key: mean(V, b, *key, D) for key in itertools.product(*ends)}
    Q = {key: mean(W, b, *key, D) for key in itertools.product(*ends)}
    return [
        P[aP, bP] - problem.c * Q[aQ, bQ]
        for aP, bP in P
        for aQ, bQ in Q
        if aP + aQ <= a and bP + bQ <= b
    ]


def smooth_sides(scale):
    """Means of a steep step: the moves of most teachers are the same everywhere."""
    places = np.arange(25)
    V = np.tanh((places - 12) / scale)[None, :]
    return V, np.tanh((places - 14) / scale)[None, :]


def sides(seed, n, rows):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (rows, n + 1)), rng.uniform(-1, 1, (rows, n + 1))


@pytest.mark.parametrize("steps", [STEPS, (1,), (4, 2, 1)])
@pytest.mark.parametrize("b", [0, 3, 8])
@pytest.mark.parametrize("Delta", [0.01, 0.3])
def test_the_best_of_all_moves_is_found(Delta, b, steps):
    problem = PrivacyProblem(11, 2, 0.3, Delta, 0.4)
    V, W = sides(b, 8, 4)
    every = [max(every_cost(problem, V[k], W[k], b)) for k in range(4)]
    found = best_moves(problem, V, W, b, steps=steps)
    assert found.value == pytest.approx(max(every), abs=1e-13)
    assert found.row == int(np.argmax(every))
    assert found.left_over == -np.inf
    assert sum(found.counts.values()) == 8
    assert cost(problem, V[found.row], W[found.row], b, found.counts) == pytest.approx(
        found.value, abs=1e-13
    )


@pytest.mark.parametrize("b", [0, 1, 6, 12, 13, 23, 24])
@pytest.mark.parametrize("scale", [0.3, 1.5, 6.0])
def test_one_move_of_all_is_taken_only_where_it_is_best(scale, b):
    problem = PrivacyProblem(25, 2, 0.3, 0.02, 0.1)
    V, W = smooth_sides(scale)
    exact = max(every_cost(problem, V[0], W[0], b))
    found = best_moves(problem, V, W, b)
    assert found.value == pytest.approx(exact, abs=1e-13)
    ends = best_moves(problem, V, W, b, steps=STEPS[:1])
    assert max(ends.value, ends.left_over) >= exact - 1e-13


def test_moves_of_smooth_sides_are_settled_by_the_ends_alone():
    problem = PrivacyProblem(25, 2, 0.3, 0.02, 0.1)
    V, W = smooth_sides(6.0)
    assert all(best_moves(problem, V, W, b).spent <= 2 * 2 * 2 for b in range(25))
    V, W = smooth_sides(0.3)
    assert max(best_moves(problem, V, W, b).spent for b in range(25)) > 2 * 13 * 13


@pytest.mark.parametrize("step", [2, 3, 5, 100])
@pytest.mark.parametrize("seed", range(5))
def test_few_numbers_of_moves_bound_all_of_them(seed, step):
    """Rough tables and a large Delta: what lies between two nodes is more than the nodes show."""
    problem = PrivacyProblem(13, 2, 0.3, 0.4, 0.5)
    V, W = sides(seed, 12, 1)
    exact = max(every_cost(problem, V[0], W[0], 6))
    coarse = best_moves(problem, V, W, 6, steps=(step,))
    assert coarse.value <= exact + 1e-13
    assert coarse.left_over >= exact
    assert cost(problem, V[0], W[0], 6, coarse.counts) == pytest.approx(coarse.value, abs=1e-13)


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
    short = best_moves(problem, V, W, 6, effort=exact.spent / 2)
    assert short.spent <= exact.spent / 2
    assert short.left_over >= exact.value >= short.value
    assert best_moves(problem, V, W, 6, effort=0).left_over == np.inf
