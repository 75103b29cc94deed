"""Gaussian noise on the counts: three analyses of one rho, and what a neighbour may see."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from private_ensembles.mechanisms.families.audited import both_counts
from private_ensembles.mechanisms.families.gaussian import (
    gaussian_distance,
    label_distribution,
    paper_epsilon,
    rho_cost,
    rho_within,
    sigma_of_one,
)


@pytest.mark.parametrize("analysis", ["classic", "improved", "exact"])
def test_rho_spends_the_budget(analysis):
    rho = rho_within(1.5, 1e-6, analysis)
    assert 1.4999 < rho_cost(rho, 1e-6, analysis) <= 1.5


def test_analyses_are_ordered_from_the_loosest_to_the_tightest():
    paper, classic, improved, exact = (
        paper_epsilon(0.02, 1e-5),
        *(rho_cost(0.02, 1e-5, analysis) for analysis in ("classic", "improved", "exact")),
    )
    assert paper >= classic > improved > exact > 0


def test_a_small_budget_has_orders_enough():
    # At the paper's orders, 500 at most, no sigma would do.
    assert math.isfinite(sigma_of_one(1e-3, 1e-5, "rdp", 1))
    sigmas = [sigma_of_one(0.5, 1e-4, method, 11) for method in ("rdp", "analytic", "exact")]
    assert sigmas == sorted(sigmas, reverse=True)


@pytest.mark.parametrize("sigma", [0.5, 4.0])
def test_labels_of_two_classes_follow_the_noisy_lead(sigma):
    found = label_distribution(both_counts(7), sigma)
    leads = 2 * np.arange(8) - 7
    np.testing.assert_allclose(found[:, 1], ndtr(leads / (math.sqrt(2) * sigma)), rtol=1e-12)
    many = label_distribution(np.column_stack([both_counts(7) + 200, np.zeros(8, int)]), sigma)
    np.testing.assert_allclose(many[:, :2], found, rtol=1e-9)


def test_distance_of_gaussians_is_the_best_guess_s_advantage():
    x = np.linspace(-12, 12, 200_001)
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    shifted = np.exp(-((x - 1.3) ** 2) / 2) / math.sqrt(2 * math.pi)
    advantage = np.maximum(density - shifted, 0).sum() * (x[1] - x[0])
    assert gaussian_distance(1.3) == pytest.approx(advantage, rel=1e-6)
