"""Exponential mechanism and permute-and-flip: exact distributions, samplers, privacy."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from private_ensembles.mechanisms.exponential import MECHANISM as EXPONENTIAL
from private_ensembles.mechanisms.exponential import Exponential
from private_ensembles.mechanisms.families.composed import composed
from private_ensembles.mechanisms.families.gaussian import rho_cost
from private_ensembles.mechanisms.families.selection import SelectionRate, selection_rate
from private_ensembles.mechanisms.permute_and_flip import MECHANISM as PERMUTE_AND_FLIP
from private_ensembles.mechanisms.permute_and_flip import PermuteAndFlip

from private_ensembles.audit import exact_epsilon, reduced_histograms
from private_ensembles.mechanisms.task import Task

ERRORS = {"relative_error": 1e-12, "absolute_error": 1e-300}
BOTH = (Exponential.weigh, PermuteAndFlip.weigh)


def permute_and_flip_by_definition(counts, rate):
    """Average over all orders of visiting the classes, in fractions."""
    q = [Fraction(math.exp(rate * (n - max(counts)))) for n in counts]
    out = [Fraction(0)] * len(counts)
    orders = list(permutations(range(len(counts))))
    for order in orders:
        refused = Fraction(1)
        for j in order:
            out[j] += refused * q[j] / len(orders)
            refused *= 1 - q[j]
    return [float(p) for p in out]


@pytest.mark.parametrize("counts", [[5], [3, 3], [7, 2], [4, 4, 1], [0, 9, 3, 2], [2, 2, 2, 2, 3]])
@pytest.mark.parametrize("rate", [0.01, 0.4, 5.0])
def test_permute_and_flip_is_its_average_over_orders(counts, rate):
    found = PermuteAndFlip.weigh(np.array([counts]), rate)[0]
    np.testing.assert_allclose(found, permute_and_flip_by_definition(counts, rate), rtol=1e-12)


@given(st.integers(0, 10**9), st.integers(2, 150), st.floats(1e-3, 50))
def test_distributions_add_up_to_one_and_follow_the_counts(seed, n_classes, rate):
    counts = np.random.default_rng(seed).integers(0, 300, (3, n_classes))
    for distribution in BOTH:
        found = distribution(counts, rate)
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
        order = np.argsort(counts, axis=1, kind="stable")
        assert (np.diff(np.take_along_axis(found, order, axis=1)) >= -1e-15).all()


@given(st.integers(0, 10**9), st.integers(2, 10), st.floats(0.01, 3))
def test_permute_and_flip_errs_less_in_expectation(seed, n_classes, rate):
    counts = np.random.default_rng(seed).integers(0, 30, (5, n_classes))
    value = [(d(counts, rate) * counts).sum(axis=1) for d in BOTH]
    assert (value[1] >= value[0] - 1e-9).all()


@given(st.floats(0.02, 3), st.integers(1, 12), st.integers(2, 4))
def test_pure_rate_is_an_upper_bound_on_the_exact_epsilon(epsilon, n_teachers, n_classes):
    histograms, pairs = reduced_histograms(n_teachers, n_classes)
    for distribution in BOTH:
        matrix = distribution(histograms, epsilon / 2)
        assert exact_epsilon(matrix, pairs, 0.0, relative_error=1e-12) <= epsilon + 1e-10


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("distribution", BOTH)
def test_exact_rate_spends_its_budget_and_beats_the_pure_one(distribution, n_classes):
    rate = selection_rate(0.2676, 3e-4, distribution, 11, n_classes)
    assert rate > 0.2676 / 2
    histograms, pairs = reduced_histograms(11, n_classes)
    found = exact_epsilon(distribution(histograms, rate), pairs, 3e-4, **ERRORS)
    assert found == pytest.approx(0.2676, abs=1e-7)
    assert found <= 0.2676 + 1e-12


@pytest.mark.parametrize("mechanism", [Exponential, PermuteAndFlip])
def test_samplers_follow_their_distributions(mechanism):
    counts = np.array([[5, 3, 3, 0], [4, 4, 2, 1]])
    runs = 40_000
    drawn = mechanism.choose(np.repeat(counts, runs, axis=0), np.random.default_rng(0), rate=0.5)
    seen = np.stack([np.bincount(row, minlength=4) for row in drawn.reshape(2, runs)]) / runs
    limit = math.sqrt(math.log(16e9) / (2 * runs))
    assert np.abs(seen - mechanism.weigh(counts, 0.5)).max() < limit


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: Exponential.weigh([1, 2], 0.1), "counts"),
        (lambda: Exponential.weigh([[1.0, 2.0]], 0.1), "counts"),
        (lambda: PermuteAndFlip.weigh([[1, 2]], 0.0), "rate"),
        (lambda: selection_rate(-0.1, 0.0, BOTH[0], 11), "epsilon"),
        (lambda: selection_rate(0.1, 1.5, BOTH[0], 11), "delta"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


@pytest.mark.parametrize("mechanism", [EXPONENTIAL, PERMUTE_AND_FLIP], ids=lambda one: one.name)
@pytest.mark.parametrize("labels", [2, 40])
def test_labels_of_more_classes_cost_no_more_than_they_compose_to(mechanism, labels):
    task = Task(1.0, 1e-5, 60, labels, 9, 3)
    parameters = mechanism.calibrate(task)
    found = mechanism.cost(task, parameters).claimed
    assert found <= composed(parameters.label_epsilon, labels, task.delta)
    assert 0.999 * task.epsilon < found <= task.epsilon


def test_very_many_labels_of_two_classes_compose_as_well():
    task = Task(1.0, 1e-5, 20_000, 20_000, 9, 2)
    assert EXPONENTIAL.refusal(task) is None
    assert EXPONENTIAL.calibrate(task) == EXPONENTIAL.account.start.find(
        EXPONENTIAL.law, task, 20_000
    )
    assert "has no sampler" in EXPONENTIAL.refusal(replace(task, secure=True))


@pytest.mark.parametrize("labels", [400, 5000])
def test_many_labels_of_the_exponential_mechanism_compose_by_their_bounded_range(labels):
    """epsilon^2 / 8 of rho each (Dong, Durfee and Rogers 2020), in both directions."""
    task = Task(1.0, 1e-5, labels, labels, n_teachers=50, n_classes=3)
    one = EXPONENTIAL.epsilon_of_one(task, labels)
    rho = Fraction(labels) * Fraction(one) ** 2 / 8
    spent = EXPONENTIAL.composition(task, SelectionRate(one, labels))
    assert spent == pytest.approx(rho_cost(float(rho), 1e-5, "improved"), rel=1e-9)
    assert 0.9999 < spent <= 1.0
