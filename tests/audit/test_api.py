"""audit_mechanism: the exact audit of a function, in one record."""

import math

import numpy as np
import pytest

from private_ensembles.audit.api import audit_mechanism


def soft(rate):
    def probabilities(counts):
        weights = np.exp(rate * counts)
        return weights / weights.sum(axis=1, keepdims=True)

    return probabilities


def test_the_exponential_mechanism_s_worst_counts():
    found = audit_mechanism(soft(0.5), teachers=5, classes=2, delta=0.0)
    # The loss of class 0 is 1/2 plus what the sum changes: most where class 0 has no vote to lose.
    weights = [np.exp(0.5 * np.array([n, 5 - n])) for n in range(6)]
    chances = [row[0] / row.sum() for row in weights]
    exact = max(math.log(chances[n + 1] / chances[n]) for n in range(5))
    assert found.epsilon_lower <= exact <= found.epsilon <= exact * (1 + 1e-6)
    assert {frozenset(ends) for ends in found.worst_counts} <= {
        frozenset({0, 5}),
        frozenset({1, 4}),
    }
    assert found.rho <= found.epsilon**2 / 2 * (1 + 1e-9)
    assert found.table.verdict(found.epsilon, 0.0) == "holds"
    assert found.table.verdict(exact * 0.99, 0.0) == "fails"


def test_half_the_noise_costs_about_twice():
    sizes = {"teachers": 6, "classes": 3, "delta": 0.0}
    full, half = (audit_mechanism(soft(rate), **sizes).epsilon for rate in (0.3, 0.6))
    assert 1.9 * full < half <= 2 * 0.6
    assert full <= 2 * 0.3


def test_adding_a_vote_is_less_than_moving_one():
    sizes = {"teachers": 6, "classes": 2, "delta": 0.0}
    added = audit_mechanism(soft(0.5), **sizes, neighbours="missing_vote").epsilon
    assert added < audit_mechanism(soft(0.5), **sizes).epsilon


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"adjacency": "swap"}, "adjacency = 'swap'"),
        ({"adjacency": "add_remove"}, "say neighbours='missing_vote'"),
        ({"neighbours": "swap"}, "neighbours = 'swap'"),
        ({"delta": -0.1}, "delta = -0.1"),
        ({"teachers": 0}, "n_teachers = 0"),
    ],
)
def test_bad_values(change, says):
    given = {"teachers": 3, "classes": 2, "delta": 0.0} | change
    with pytest.raises(ValueError, match=says):
        audit_mechanism(soft(1.0), **given)
