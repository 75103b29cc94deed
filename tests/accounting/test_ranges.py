"""The ends of what each function takes: just beyond, it refuses; at the end, it answers."""

import math

import numpy as np
import pytest

from private_ensembles.accounting import composition, discrete_gaussian, zero_concentrated
from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.counts_and_labels import (
    NoisyCounts,
    joint_epsilon,
)
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    NeighbourPairs,
    bounded_range_pairs,
    pure_pair,
)
from private_ensembles.accounting.adaptive_composition.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.budgets import pld_epsilon
from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.accounting.poisson_binomial import binomial_pmf, grouped_pmf, pmf
from private_ensembles.accounting.privacy_loss_distribution import mirrored_deltas
from private_ensembles.accounting.trade_off import trade_off
from tests.ranges import NEGATIVE, NO_COUNT, NOT_POSITIVE, NOT_WITHIN_0_1, OUTSIDE_0_1, check_ends

COIN = NeighbourPairs(np.array([[0.5, 0.5]]), np.array([[0.45, 0.55]]))
LITTLE = math.nextafter(2.0**-20, 0)

# What is called with one number, which it refuses, and which it takes.
RANGES = {
    "adaptive_epsilon, delta": (lambda x: adaptive_epsilon(COIN, 2, x), NOT_WITHIN_0_1, (0.5,)),
    "adaptive_epsilon, labels": (lambda x: adaptive_epsilon(COIN, x, 0.1), NO_COUNT, (1,)),
    "Pairs": (
        lambda x: NeighbourPairs(np.array([[x, 1 - x]]), np.array([[0.5, 0.5]])),
        (-1e-12, 1 + 1e-12),
        (0.0, 1.0),
    ),
    "pld_epsilon, delta": (
        lambda x: pld_epsilon(lambda e: 0.1 * np.exp(-e), 1, x, largest_epsilon=1.0, interval=0.1),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "pld_epsilon, queries": (
        lambda x: pld_epsilon(np.zeros_like, x, 0.1, largest_epsilon=1.0, interval=0.1),
        NO_COUNT,
        (1,),
    ),
    "mirrored_deltas, interval": (
        lambda x: mirrored_deltas(np.zeros_like, 1.0, x),
        NOT_POSITIVE,
        (0.5,),
    ),
    "mirrored_deltas, epsilon": (
        lambda x: mirrored_deltas(np.zeros_like, x, 0.5),
        NOT_POSITIVE,
        (1.0,),
    ),
    "simple_composition, epsilon": (
        lambda x: composition.simple_composition(x, 0.1, 2),
        NEGATIVE,
        (0.0,),
    ),
    "simple_composition, delta": (
        lambda x: composition.simple_composition(0.1, x, 2),
        OUTSIDE_0_1,
        (0.0, 1.0),
    ),
    "simple_composition, k": (
        lambda x: composition.simple_composition(0.1, 0.1, x),
        NO_COUNT,
        (1,),
    ),
    "general_composition, slack": (
        lambda x: composition.general_composition(0.1, 0.0, 2, x),
        (0.0, *OUTSIDE_0_1),
        (1.0, 1e-300),
    ),
    "optimal_composition, delta": (
        lambda x: composition.optimal_composition(0.1, 0.0, 2, x),
        OUTSIDE_0_1,
        (0.0, 1.0),
    ),
    "rdp_to_dp, order": (
        lambda x: composition.rdp_to_dp([x], [0.1], 0.1),
        (1.0, 0.5, math.nan),
        (1 + 1e-9,),
    ),
    "rdp_to_dp, cost": (
        lambda x: composition.rdp_to_dp([2.0], [x], 0.1),
        (-1e-9, math.nan),
        (0.0, math.inf),
    ),
    "rdp_to_dp, delta": (lambda x: composition.rdp_to_dp([2.0], [0.1], x), NOT_WITHIN_0_1, (0.5,)),
    "randomised_response_rdp, order": (
        lambda x: composition.randomised_response_rdp(0.1, [x]),
        (1.0, 0.5, math.inf, math.nan),
        (1 + 1e-9,),
    ),
    "exact_conversion_cost, delta": (
        lambda x: composition.exact_conversion_cost(2.0, x, "classic"),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "NoisyCounts, counts": (lambda x: NoisyCounts(x, 1.0), NO_COUNT, (1,)),
    "NoisyCounts, sigma": (lambda x: NoisyCounts(1, x), NOT_POSITIVE, (1e-3,)),
    "joint_epsilon, delta": (
        lambda x: joint_epsilon(COIN, 1, NoisyCounts(1, 5.0), x),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "joint_epsilon, labels": (
        lambda x: joint_epsilon(COIN, x, NoisyCounts(1, 5.0), 0.1),
        NO_COUNT,
        (1,),
    ),
    "log_tail, terms": (lambda x: discrete_gaussian.log_tail(1, 1.0, terms=x), (0, 3, 1.5), (1, 2)),
    "law, sigma": (lambda x: discrete_gaussian.law(x, 1), NOT_POSITIVE, (0.1,)),
    "law, terms": (lambda x: discrete_gaussian.law(1.0, x), (0, -1, 1.5), (1,)),
    "DiscreteGaussianCounts, counts": (
        lambda x: discrete_gaussian.DiscreteGaussianCounts(x, 1.0),
        (-1, -2, 1.5),
        (0, 1),
    ),
    "DiscreteGaussianCounts, sigma": (
        lambda x: discrete_gaussian.DiscreteGaussianCounts(1, x),
        NOT_POSITIVE,
        (0.1,),
    ),
    "discrete epsilon": (
        lambda x: discrete_gaussian.epsilon(x, [discrete_gaussian.DiscreteGaussianCounts(1, 2.0)]),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "gaussian_delta": (lambda x: gaussian_delta(x, 1.0), NOT_POSITIVE, (1e-6,)),
    "GaussianMaximum, scale": (lambda x: GaussianMaximum(x, 3, 2), NOT_POSITIVE, (1e-6,)),
    "GaussianMaximum, teachers": (lambda x: GaussianMaximum(1.0, x, 2), (0, -1), (1,)),
    "GaussianMaximum, classes": (lambda x: GaussianMaximum(1.0, 3, x), (1, 0), (2,)),
    "GaussianMaximum, group": (
        lambda x: GaussianMaximum(1.0, 3, 2, group_size=x),
        (0, -1, 4, 1.5),
        (1, 3),
    ),
    "pmf": (lambda x: pmf([x, 0.5]), OUTSIDE_0_1, (0.0, 1.0)),
    "pmf, rank": (pmf, (0.5,), ([0.5],)),
    "binomial_pmf, probability": (lambda x: binomial_pmf(2, x), OUTSIDE_0_1, (0.0, 1.0)),
    "binomial_pmf, size": (lambda x: binomial_pmf(x, 0.5), (-1,), (0, 1)),
    "grouped_pmf, size": (lambda x: grouped_pmf([0.5], [x]), (-1,), (0, 1)),
    "bounded_range_pairs": (bounded_range_pairs, (0.0, -1.0, 600.1, math.nan), (1e-3, 600.0)),
    "pure_pair": (pure_pair, (0.0, -1.0, 600.1, math.nan), (1e-3, 600.0)),
    "trade_off, levels": (
        lambda x: trade_off([[0.5, 0.5]], [[0.4, 0.6]], [x]),
        OUTSIDE_0_1,
        (0.0, 1.0),
    ),
    "least_rho, epsilon": (
        lambda x: zero_concentrated.least_rho(np.zeros_like, x),
        (-1e-9, math.nan),
        (0.0, math.inf),
    ),
    "least_rho, tolerance": (
        lambda x: zero_concentrated.least_rho(lambda a: a / 2, 1.0, tolerance=x),
        (0.0, -1.0, math.nan),
        (0.1,),
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
