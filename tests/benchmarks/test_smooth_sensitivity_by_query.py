"""Algorithms 3 to 5 one query at a time; PATE's tests have their values."""

import math

import pytest

from benchmarks.smooth_sensitivity_by_query import ByQuery

CURVE = ByQuery(sigma=40.0, order=20.0, n_classes=10, log_q0=-8.0)


def test_cost_rises_with_q_to_the_data_independent_ceiling():
    ceiling = 20.0 / 40.0**2
    costs = [CURVE.beta(log_q) for log_q in (-300.0, -100.0, -30.0, -8.0, -1.0)]
    assert costs == sorted(costs)
    assert costs[-1] == ceiling


def test_a_vote_more_or_less_brackets_q():
    for log_q in (-300.0, -50.0, -2.0):
        assert CURVE.lower(log_q) < log_q < CURVE.upper(log_q)


def test_two_equal_leaders_are_wrong_half_of_the_time():
    assert ByQuery(40.0, 20.0, 2, -8.0).log_q([125, 125]) == pytest.approx(math.log(0.5))
