"""A noisy threshold before the label: outcomes, and the cost of all that may be looked at."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from private_ensembles.mechanisms import load
from private_ensembles.mechanisms.families.checked import CheckedNoise, rounds_cost
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.pate.data_independent import exact_data_independent_epsilon

NOISE = CheckedNoise(threshold=4.0, sigma1=3.0, sigma2=2.0, queries=50, labels=20, score=0.7)
COUNTS = np.array([[6, 1], [3, 4], [0, 7]])


@pytest.mark.parametrize("name", ["confident_gnmax", "interactive_gnmax"])
def test_outcomes_are_no_answer_and_the_labels(name):
    found = load(name).outcomes(COUNTS, NOISE)
    assert load(name).outcome_names(2) == (-1, 0, 1)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


def test_a_query_is_answered_where_consensus_and_noise_reach_the_threshold():
    found = load("confident_gnmax").outcomes(COUNTS, NOISE)[:, 0]
    np.testing.assert_allclose(found, ndtr((4 - COUNTS.max(axis=1)) / 3), rtol=1e-12)


def test_the_cost_is_that_of_every_threshold_and_every_answer():
    assert NOISE.rho == pytest.approx(50 / (2 * 9) + 20 / 4)
    task = Task(1.0, 1e-5, 50, 20, 7, 2)
    cost = load("confident_gnmax").cost_at_noise(task, NOISE)
    assert cost.proven == exact_data_independent_epsilon(NOISE.rho, 1e-5) < cost.claimed
    less = load("confident_gnmax").weaker(NOISE, 0.5)
    assert less.rho == pytest.approx(4 * NOISE.rho)
    assert less == replace(NOISE, sigma1=1.5, sigma2=1.0)


def test_rounds_are_paid_as_if_every_query_were_answered():
    rounds = [{"queries": 30, "sigma1": 3.0, "sigma2": 2.0}] * 2
    rho = 60 * (1 / 18 + 1 / 4)
    queries, epsilon = rounds_cost(rounds, 1e-5)
    assert queries == 60
    assert epsilon == pytest.approx(exact_data_independent_epsilon(rho, 1e-5))
    assert math.isfinite(epsilon)
