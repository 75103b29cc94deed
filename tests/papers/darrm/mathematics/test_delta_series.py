"""The series in Delta: its terms, what is left of it, and where it exceeds a floor."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from private_ensembles.papers.darrm.mathematics import delta_series
from private_ensembles.papers.darrm.mathematics.privacy_cost import CORNERS, PrivacyProblem
from tests.papers.darrm.mathematics import oracle


def test_every_teacher_at_an_end_moves_where_it_gains_most():
    rng = np.random.default_rng(2)
    problem = PrivacyProblem(5, 2, 0.1, 1e-3, 3e-3)
    t, n, D, c = 2, 3, problem.Delta, problem.c
    for _ in range(50):
        V = rng.uniform(-1, 1, (t + 1, n + 1))
        for i, b in ((0, 1), (1, 2), (2, 1), (1, 0), (1, 3)):
            here, there = V[i], V[t - i]
            gains = {"0,0": 0.0, "1,1": 0.0}
            if b < n:
                gains["D,0"] = D * (here[b + 1] - here[b])
                gains["0,D"] = -c * D * (there[b + 1] - there[b])
            if b > 0:
                gains["1-D,1"] = -D * (here[b] - here[b - 1])
                gains["1,1-D"] = c * D * (there[b] - there[b - 1])
            found = dict(zip(CORNERS, delta_series.choose_corners(problem, V, i, b), strict=True))
            for size, ends in ((n - b, ("0,0", "0,D", "D,0")), (b, ("1,1", "1-D,1", "1,1-D"))):
                if size:
                    best = max((end for end in ends if end in gains), key=gains.get)
                    assert found[best] == size


def test_the_bound_holds_terms_of_the_second_order():
    problem = PrivacyProblem(5, 2, 0.1, 1e-2, 3e-2)
    V = np.random.default_rng(6).uniform(-1, 1, (3, 4))
    box, sizes = (slice(0, 3), slice(0, 4)), [1.0, 2.0, 4.0, 8.0, 16.0]
    f = delta_series.bound_to_first_order(problem, V, box)
    found = delta_series.bound_to_all_orders(problem, V, box, f, sizes)
    least = f + delta_series._remainder(problem, 3, sizes)
    assert (found >= least).all()
    second = math.comb(3, 2) * problem.Delta**2 * np.abs(np.diff(V, 2, axis=1)).min()
    assert (found - least).max() >= second > 0


@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
def test_bounds_order_by_order_are_the_bounds_above_the_floor(share):
    problem = PrivacyProblem(25, 2, 0.1, 1e-2, 3e-2)
    g = problem.odd_vector(oracle.random_gamma(np.random.default_rng(8), 25))
    for t, (V, sizes, _) in enumerate(delta_series.iterate_boxes(problem, g, 3, -np.inf)):
        box = slice(0, t + 1), slice(0, 26 - t)
        every = delta_series.bound_to_all_orders(
            problem, V, box, delta_series.bound_to_first_order(problem, V, box), sizes
        )
        floor = float(np.quantile(every, share))
        (rows, columns), some = delta_series.find_bounds_exceeding(problem, V, box, sizes, floor)
        np.testing.assert_allclose(some, every[rows, columns], rtol=0, atol=1e-14)
        left_out = np.ones_like(every, dtype=bool)
        left_out[rows, columns] = False
        assert (every[left_out] <= floor + 1e-14).all()


@pytest.mark.parametrize("Delta", [1e-6, 1e-3])
@pytest.mark.parametrize("n", [3, 10, 100, 1000, 3000])
def test_the_remainder_bounds_the_terms_that_are_left_out(n, Delta):
    """A difference of order r > R is at most 2^(r - R) times those of order R."""
    problem, sizes = PrivacyProblem(5, 2, 0.1, Delta, 3e-3), [1.0, 0.8, 0.5, 0.3]
    left_out = sum(
        math.comb(n, r) * Delta**r * problem.c * 0.3 * 2.0 ** (r - 3)
        for r in range(3, min(n, 60) + 1)
    )
    most = math.exp(2 * n * Delta) * problem.c * 0.3 * (n * Delta) ** 3 / 6 * (1 + 1e-12)
    assert left_out <= delta_series._remainder(problem, n, sizes) <= most
    assert delta_series._remainder(problem, 2, sizes) == 0


@pytest.mark.parametrize("order", [1, 2, 3])
def test_no_box_leaves_out_what_exceeds_the_floor(order):
    """Whatever the slice: with one teacher at the ends, too, who gains by a move alone."""
    problem = PrivacyProblem(5, 2, 0.1, 0.05, 0.15)
    for seed in range(20):
        g = problem.odd_vector(oracle.random_gamma(np.random.default_rng(seed), problem.K))
        every = []
        for t, (V, sizes, box) in enumerate(delta_series.iterate_boxes(problem, g, order, -np.inf)):
            assert box == (slice(0, t + 1), slice(0, problem.K - t + 1))
            f = delta_series.bound_to_first_order(problem, V, box)
            every.append(
                f if order == 1 else delta_series.bound_to_all_orders(problem, V, box, f, sizes)
            )
        for floor in (float(bounds.max()) - 1e-9 for bounds in every):
            found = {
                len(V) - 1: box
                for V, _, box in delta_series.iterate_boxes(problem, g, order, floor)
            }
            for t, bounds in enumerate(every):
                left_out = bounds.copy()
                left_out[found.get(t, (slice(0, 0), slice(0, 0)))] = -np.inf
                assert left_out.max() <= floor


def test_sizes_of_differences_are_no_less_than_exact_ones():
    """In fractions, and with what the means themselves are off by: three round-offs each."""
    V = np.random.default_rng(3).uniform(-1, 1, (3, 9))
    exact = [[Fraction(value) for value in row] for row in V.tolist()]
    for r, size in enumerate(delta_series._sizes(V, 4)):
        if r:
            exact = [[b - a for a, b in pairwise(row)] for row in exact]
        largest = max(abs(value) for row in exact for value in row)
        assert Fraction(size) >= largest + (3 * 2**r * Fraction(1, 2**53) if r else 0)
