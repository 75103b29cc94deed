"""No law of two classes is right more often than the theorem of docs/many-labels.md says.

"Is Gaussian noise the right noise?": the bound, the laws there are, and exact arithmetic.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from private_ensembles.audit.histograms import both_counts
from private_ensembles.base.root_search import bisect
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from tests.accounting.adversaries import power

OF_TWO = ["gnmax_exact", "exponential", "permute_and_flip", "ladder"]


def bound_on_any_law(n_teachers, labels, epsilon, delta):
    """Return the theorem's p_0, p_1, ...: of leads 1, 3, ..., K."""

    def furthest(of, start):
        """The least probability from `start` on that is ruled out, or 1."""

        def ruled_out(p):
            return worst_delta(*of(p), labels, epsilon) > delta * (1 + 1e-6)

        return bisect(ruled_out, start, 1.0, relative=1e-9) if ruled_out(1.0) else 1.0

    bounds = [furthest(lambda p: (1 - p, p), 0.5)]
    while len(bounds) < (n_teachers + 1) // 2:
        last = bounds[-1]
        bounds.append(furthest(lambda p, last=last: (last, p), last))
    return np.array(bounds)


def worst_delta(low, high, labels, epsilon):
    """Delta of that many independent coins, Pr[1] = low in place of high or the other way round."""
    ones = np.arange(labels + 1)
    growth = math.exp(epsilon)
    few = binom.cdf(ones, labels, low) - growth * binom.cdf(ones, labels, high)
    many = binom.sf(ones - 1, labels, high) - growth * binom.sf(ones - 1, labels, low)
    return max(few.max(), many.max(), 0.0)


def exact_delta(low, high, labels, epsilon):
    """Of coins with Pr[1] = low or high: every sum of ones that tells, in fractions."""
    least, _ = power(epsilon)
    low, high = Fraction(low), Fraction(high)

    def law(p):
        return [math.comb(labels, n) * p**n * (1 - p) ** (labels - n) for n in range(labels + 1)]

    both = law(low), law(high)
    return max(
        sum(max(Fraction(0), p - least * q) for p, q in zip(*order, strict=True))
        for order in (both, both[::-1])
    )


@pytest.mark.parametrize(
    ("K", "Q", "epsilon"),
    [
        *((5, 1, 0.3), (11, 4, 1.0), (21, 7, 3.0)),
        *(
            pytest.param(K, Q, epsilon, marks=pytest.mark.slow)
            for K, Q in ((5, 1), (11, 4), (21, 20), (51, 100))
            for epsilon in (0.3, 1.0, 3.0)
        ),
    ],
)
def test_no_law_is_right_more_often(K, Q, epsilon):
    task = Task(Ensemble(K, 2), Budget(epsilon, 1e-5), Wanted(Q))
    bound = bound_on_any_law(K, Q, epsilon, 1e-5)
    for mechanism in map(load_mechanism, OF_TWO):
        table = mechanism.law.distribution(both_counts(K), mechanism.calibrate(task))
        right = table[(K + 1) // 2 :, 1]
        assert (right <= bound * (1 + 1e-12)).all(), mechanism.name


@pytest.mark.slow
def test_the_bound_is_near_gaussian_noise_with_many_labels():
    """So that no other noise can gain much: at a lead of 51 of 251, less than a point."""
    task = Task(Ensemble(251, 2), Budget(1.0, 1e-5), Wanted(100))
    noise = load_mechanism("gnmax_exact").calibrate(task)
    right = load_mechanism("gnmax_exact").law.distribution(both_counts(251), noise)[151, 1]
    bound = bound_on_any_law(251, 100, 1.0, 1e-5)[25]
    assert right < bound < right + 0.007


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (2.0, 1e-5)])
@pytest.mark.parametrize("Q", [1, 2, 7])
def test_every_step_of_the_bound_breaks_the_budget(Q, epsilon, delta):
    """In fractions: at the bound a coin too many is told apart, a little below it is not."""
    bounds = bound_on_any_law(9, Q, epsilon, delta)
    steps = [(1 - bounds[0], bounds[0])]
    steps += [(p, q) for p, q in itertools.pairwise(bounds) if q < 1]
    for low, high in steps:
        assert exact_delta(low, high, Q, epsilon) > delta
        less = low + (high - low) * (1 - 1e-4)
        assert exact_delta(low, less, Q, epsilon) < delta


def test_a_budget_that_allows_everything_bounds_nothing():
    assert bound_on_any_law(5, 1, 50.0, 0.5).tolist() == [1.0, 1.0, 1.0]
    assert (np.diff(bound_on_any_law(21, 5, 1.0, 1e-5)) >= 0).all()
