"""The worst private teachers against DaRRM's certificate, the paper's formula and random ones."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.audit import (
    shared_data,
    shared_data_delta,
    shared_data_epsilon,
    worst_teachers,
)
from private_ensembles.audit.shared_data import corner_multisets, teacher_corners
from private_ensembles.papers.darrm.mathematics import certify, gamma_subsampling
from private_ensembles.papers.darrm.mathematics.gamma import label_probability
from tests.papers.darrm.mathematics import oracle


def wild_mechanism(rng, K):
    """Pr[1 | l] in [0, 1], neither symmetric nor monotone."""
    return rng.random(K + 1)


@pytest.mark.parametrize(("K", "epsilon", "Delta"), [(1, 0.3, 0.0), (3, 0.1, 1e-3), (5, 0.7, 0.05)])
def test_darrms_cost_has_the_papers_worst_case(K, epsilon, Delta):
    """delta(m epsilon) = (worst f - e^(m epsilon) + 1) / 2, Lemma 3.4, in 40 digits."""
    rng = np.random.default_rng(K)
    for m in {1, K}:
        gamma = oracle.random_gamma(rng, K)
        worst = oracle.worst_cost(gamma, m, epsilon, Delta)
        exact = max(0, (worst - mpmath.exp(mpmath.mpf(m) * mpmath.mpf(epsilon)) + 1) / 2)
        found = shared_data_delta(label_probability(gamma), epsilon, Delta, m * epsilon)
        assert exact <= found <= float(exact) + 1e-10


@pytest.mark.parametrize(("K", "m"), [(7, 2), (11, 3)])
def test_certificate_of_subsampling_is_the_audits_value(K, m):
    epsilon, Delta = 0.0892, 1e-4
    gamma = gamma_subsampling(K, m)
    found = shared_data_delta(label_probability(gamma), epsilon, Delta, m * epsilon)
    certificate = certify(gamma, m, epsilon, Delta, 3e-4)
    by_cost = (certificate.worst_cost - math.expm1(m * epsilon)) / 2
    assert found == pytest.approx(by_cost, abs=1e-10)


def test_no_feasible_teachers_are_worse_than_the_corners():
    rng = np.random.default_rng(0)
    K, epsilon, Delta = 5, 0.4, 0.02
    ones = wild_mechanism(rng, K)
    found = shared_data_epsilon(ones, epsilon, Delta, 0.03)
    growth = math.exp(found)
    corners = teacher_corners(epsilon, Delta)
    for _ in range(300):
        mixture = rng.dirichlet(np.full(8, rng.uniform(0.05, 1)), K)
        p, q = (mixture @ corners).T
        here, there = pmf(p) @ ones, pmf(q) @ ones
        assert here <= growth * there + 0.03 + 1e-12
        assert 1 - here <= growth * (1 - there) + 0.03 + 1e-12


def test_corners_are_what_privacy_allows_and_nothing_less():
    epsilon, Delta = 0.4, 0.02
    p, q = teacher_corners(epsilon, Delta).T
    slacks = np.stack(
        [
            math.exp(epsilon) * q + Delta - p,
            math.exp(epsilon) * (1 - q) + Delta - (1 - p),
            math.exp(epsilon) * p + Delta - q,
            math.exp(epsilon) * (1 - p) + Delta - (1 - q),
            p,
            q,
            1 - p,
            1 - q,
        ]
    )
    assert (slacks > -1e-12).all()
    assert (np.sum(slacks < 1e-12, axis=0) >= 2).all()  # each is a vertex


@pytest.mark.parametrize(
    "ones",
    [
        label_probability(gamma_subsampling(7, 2)),
        wild_mechanism(np.random.default_rng(1), 7),
        wild_mechanism(np.random.default_rng(2), 4),
    ],
)
def test_epsilon_and_delta_are_inverse_and_attained(ones):
    found = worst_teachers(ones, 0.2, 1e-3, 2e-3)
    assert shared_data_delta(ones, 0.2, 1e-3, found.epsilon) == pytest.approx(2e-3, abs=1e-10)
    here, there = pmf(found.first) @ ones, pmf(found.second) @ ones
    attained = max(math.log((here - 2e-3) / there), math.log((1 - here - 2e-3) / (1 - there)))
    assert attained == pytest.approx(found.epsilon, abs=1e-9)


def test_all_teachers_together_cost_simple_composition_at_most():
    majority = (2 * np.arange(6) > 5).astype(float)
    assert shared_data_epsilon(majority, 0.3, 0.0, 0.0) <= 5 * 0.3 + 1e-9
    assert shared_data_epsilon(np.array([0.0, 1.0]), 0.3, 0.0, 0.0) == pytest.approx(0.3, abs=1e-9)
    assert shared_data_epsilon(np.full(6, 0.5), 0.3, 0.01, 0.0) < 1e-12


def test_tiny_leaks_are_bounded_from_above():
    """One teacher, no noise: epsilon is the teacher's own, whatever logarithms of 1e-200 round to.

    Of the release that says 1 with a tiny probability q when the teacher does, and q e^-2 else.
    """
    for q in np.random.default_rng(0).uniform(1, 9, 300) * 1e-200:
        low = q * 0.13
        with mpmath.workdps(40):
            e, a, b = mpmath.mpf(0.7), mpmath.mpf(q), mpmath.mpf(low)
            high = mpmath.exp(e) / (1 + mpmath.exp(e))
            says = [high * a + (1 - high) * b, (1 - high) * a + high * b]
            true = mpmath.log(says[0] / says[1])
        assert shared_data_epsilon([low, q], 0.7, 0.0, 0.0) >= true


def test_the_loss_at_each_epsilon_is_rounded_up(monkeypatch):
    """Whatever the two sides are: next to nothing may be left of their difference."""
    rng = np.random.default_rng(5)
    below = rng.uniform(0.1, 0.3, 200)
    above = below * math.exp(1.0) * (1 + 4 * np.finfo(float).eps)
    for one in zip(above, below, strict=True):
        sides = [tuple(np.array([[side]]) for side in one)]
        monkeypatch.setattr(shared_data, "_sides", lambda *_, sides=sides: sides)
        found = shared_data.shared_data_curve([0.5, 0.5], 0.1, 0.0, [1.0])[0]
        with mpmath.workdps(40):
            assert found >= mpmath.mpf(one[0]) - mpmath.e * mpmath.mpf(one[1])


@pytest.mark.parametrize(("epsilon", "Delta"), [(0.3, 0.0), (2.0, 1e-3), (1e-6, 0.2)])
def test_chances_of_every_choice_of_corners_are_moved_outwards(epsilon, Delta):
    """Of three teachers, in forty digits: the first data set's up, the second's down."""
    ones = [0.1, 0.35, 0.9, 1.0]
    with mpmath.workdps(40):
        e, D = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(Delta)
        high, low = (e + D) / (e + 1), (1 - D) / (e + 1)
        ends = [(0, 0), (0, D), (D, 0), (1, 1), (1, 1 - D), (1 - D, 1), (high, low), (low, high)]

        def chance(teachers, label):
            """Pr[label], by all votes of the three."""
            total = mpmath.mpf(0)
            for votes in itertools.product((0, 1), repeat=3):
                says = mpmath.mpf(ones[sum(votes)])
                each = [p if vote else 1 - p for p, vote in zip(teachers, votes, strict=True)]
                total += mpmath.fprod(each) * (says if label else 1 - says)
            return total

        sides = shared_data._sides(np.array(ones), epsilon, Delta)
        for label, (above, below) in zip((1, 0), sides, strict=True):
            for row, up, down in zip(corner_multisets(3), above, below, strict=True):
                first, second = (
                    chance([ends[corner][side] for corner in row], label) for side in (0, 1)
                )
                assert first <= float(up) <= first * (1 + 1e-13)
                assert second * (1 - 1e-13) <= float(down) <= second
