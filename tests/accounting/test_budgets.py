"""Total budgets: PLD against exact compositions, and the majority on disjoint shards."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from private_ensembles.accounting.budgets import (
    disjoint_shards_majority_cost,
    pld_epsilon,
    total_budgets,
)
from private_ensembles.accounting.composition import (
    optimal_composition,
    replace_one_from_add_remove,
)
from private_ensembles.audit import delta_curve, two_class_matrix, two_class_pairs
from private_ensembles.labels.gnmax import analytic_epsilon
from private_ensembles.labels.ladder import ladder_probabilities


@pytest.mark.parametrize(("sigma", "queries", "delta"), [(40.0, 286, 1e-5), (150.0, 640, 1e-8)])
def test_pld_of_the_gaussian_is_its_exact_composition(sigma, queries, delta):
    u = math.sqrt(2) / sigma

    def curve(epsilon):
        return ndtr(u / 2 - epsilon / u) - np.exp(epsilon) * ndtr(-u / 2 - epsilon / u)

    exact = analytic_epsilon(sigma, delta, labels=queries)
    found = pld_epsilon(curve, queries, delta, largest_epsilon=12 * u)
    assert exact - 1e-6 <= found <= 1.005 * exact
    if queries == 286:
        assert exact == pytest.approx(2.435, abs=1e-3)


@pytest.mark.parametrize("queries", [1, 7, 60])
def test_pld_of_randomised_response_is_optimal_composition(queries):
    high = 1 / (1 + math.exp(-0.2))
    matrix = two_class_matrix([1 - high, high])

    def curve(epsilons):
        return delta_curve(matrix, [(0, 1)], epsilons, relative_error=1e-15)

    exact = optimal_composition(0.2, 0.0, queries, 1e-4).epsilon
    found = pld_epsilon(curve, queries, 1e-4, largest_epsilon=0.2)
    assert exact - 1e-6 <= found <= exact + 2e-3


@pytest.mark.parametrize("queries", [1, 20, 100])
def test_total_budgets_fall_with_what_they_know(queries):
    epsilon, delta = 0.2676, 3e-4
    matrix = ladder_probabilities(11, epsilon, delta, np.arange(12))
    pairs = two_class_pairs(11)
    total = queries * delta + 1e-4
    found = total_budgets(epsilon, delta, queries, total)

    def curve(epsilons):
        return delta_curve(matrix, pairs, epsilons, relative_error=2.0**-52)

    assert pld_epsilon(curve, queries, total, largest_epsilon=0.4) <= found["optimal"] + 1e-3
    assert found["optimal"] <= found["general"]


def test_general_budget_is_infinite_when_leaks_use_everything():
    assert total_budgets(0.1, 1e-3, 10, 5e-3)["general"] == math.inf


def test_majority_costs_one_teacher_under_both_adjacencies():
    one = disjoint_shards_majority_cost(0.0892, 1e-4, "add_remove")
    assert (one.epsilon, one.delta) == (0.0892, 1e-4)
    group = disjoint_shards_majority_cost(0.0892, 1e-4, "replace_one")
    by_hand = replace_one_from_add_remove(0.0892, 1e-4)
    assert (group.epsilon, group.delta) == (by_hand.epsilon, by_hand.delta)
    with pytest.raises(ValueError, match="adjacency"):
        disjoint_shards_majority_cost(0.0892, 1e-4, "zero_out")
