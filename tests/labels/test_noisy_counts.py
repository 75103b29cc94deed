"""Costs at the caps, against PATE's numbers and dp-accounting's privacy loss distributions."""

import math

import numpy as np
import pytest

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.labels.noisy_counts import (
    GaussianReleases,
    data_independent_epsilon,
    exact_data_independent_epsilon,
    largest_rho,
    paper_epsilon,
    rho_to_epsilon,
)


def test_286_labels_of_table_1_cost_what_design_says():
    rho = GaussianReleases(0, None, 286, 40.0).rho
    assert data_independent_epsilon(rho, 1e-5, conversion="classic")[0] == pytest.approx(
        3.05, abs=5e-3
    )
    assert data_independent_epsilon(rho, 1e-5)[0] == pytest.approx(2.64, abs=5e-3)
    assert exact_data_independent_epsilon(rho, 1e-5) == pytest.approx(2.435, abs=1e-3)


@pytest.mark.parametrize("rho", [1e-9, 1e-5, 0.02, 1.0, 12.0, 30.0, 500.0])
def test_the_paper_s_epsilon_is_the_least_of_its_orders(rho):
    """3/2, 2, ..., 1000.5: the first is the best of a large rho, the last one of a tiny rho."""
    orders = [halves / 2 for halves in range(3, 2002)]
    least = min(order * rho + math.log(1e5) / (order - 1) for order in orders)
    assert paper_epsilon(rho, 1e-5) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize(("thresholds", "labels", "delta"), [(640, 283, 1e-5), (50, 20, 1e-8)])
def test_exact_epsilon_agrees_with_composed_privacy_loss_distributions(thresholds, labels, delta):
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    def distribution(sigma, times):
        return from_gaussian_mechanism(
            sigma, pessimistic_estimate=True, value_discretization_interval=1e-4
        ).self_compose(times)

    # Sensitivity 1 for a threshold, sqrt(2) for a vector of counts.
    both = distribution(150.0, thresholds).compose(distribution(40.0 / math.sqrt(2), labels))
    rho = GaussianReleases(thresholds, 150.0, labels, 40.0).rho
    claimed = exact_data_independent_epsilon(rho, delta)
    assert claimed == pytest.approx(both.get_epsilon_for_delta(delta), abs=2e-3)


@pytest.mark.parametrize("rho", [1e-6, 0.01, 0.3, 20.0])
def test_no_order_is_better_than_the_one_found(rho):
    orders = 1 + np.geomspace(1e-3, 1e5, 20000)
    for conversion in ("classic", "improved"):
        found, _ = data_independent_epsilon(rho, 1e-5, conversion=conversion)
        best, _ = rdp_to_dp(orders, orders * rho, 1e-5, conversion)
        assert found <= best * (1 + 1e-5)
    exact = exact_data_independent_epsilon(rho, 1e-5)
    assert exact <= data_independent_epsilon(rho, 1e-5)[0] * (1 + 1e-9)


def test_nothing_released_costs_nothing():
    assert data_independent_epsilon(0.0, 1e-5)[0] == 0
    assert exact_data_independent_epsilon(0.0, 1e-5) == 0


@pytest.mark.parametrize("analysis", ["classic", "improved", "exact"])
def test_rho_spends_the_budget(analysis):
    rho = largest_rho(1.5, 1e-6, analysis)
    assert 1.4999 < rho_to_epsilon(rho, 1e-6, analysis) <= 1.5


def test_analyses_are_ordered_from_the_loosest_to_the_tightest():
    paper, classic, improved, exact = (
        paper_epsilon(0.02, 1e-5),
        *(rho_to_epsilon(0.02, 1e-5, analysis) for analysis in ("classic", "improved", "exact")),
    )
    assert paper >= classic > improved > exact > 0
