"""What is exported composes in dp_accounting to no less than ours, and with DP-SGD."""

import math

import numpy as np
import pytest
from dp_accounting import pld

from private_ensembles.accounting.budgets import pld_epsilon
from private_ensembles.accounting.export import to_pld
from private_ensembles.audit import FiniteMechanism

EPSILON = 0.4
TRUTH = 1 / (1 + math.exp(-EPSILON))
RESPONSE = FiniteMechanism(
    np.array([0, 1]), np.array([[TRUTH, 1 - TRUTH], [1 - TRUTH, TRUTH]]), np.array([[0, 1]])
)


def test_the_distribution_has_the_label_s_curve_and_composes_as_ours_does():
    exported = to_pld(RESPONSE.curve, EPSILON + 0.01)
    epsilons = [0.0, 0.1234, 0.39]
    theirs = np.array(exported.get_delta_for_epsilon(epsilons))
    ours = RESPONSE.curve(epsilons)
    assert (theirs >= ours - 1e-15).all()
    np.testing.assert_allclose(theirs, ours, atol=1e-6)
    many = exported.self_compose(50).get_epsilon_for_delta(1e-6)
    expected = pld_epsilon(RESPONSE.curve, 50, 1e-6, largest_epsilon=EPSILON + 0.01)
    assert many == pytest.approx(expected, rel=1e-3)
    # dp_accounting's own randomised response, whose noise says the same.
    known = pld.privacy_loss_distribution.from_randomized_response(
        2 * (1 - TRUTH), 2, value_discretization_interval=1e-3
    )
    own = known.self_compose(50).get_epsilon_for_delta(1e-6)
    assert many == pytest.approx(own, rel=2e-3)


def test_what_leaks_is_an_infinite_loss():
    exported = to_pld(lambda epsilons: np.maximum(RESPONSE.curve(epsilons), 1e-3), EPSILON)
    assert exported.get_epsilon_for_delta(9e-4) == math.inf
    assert exported.get_epsilon_for_delta(2e-3) < EPSILON


def test_labels_compose_with_steps_of_dp_sgd():
    sgd = pld.privacy_loss_distribution.from_gaussian_mechanism(
        2.0, value_discretization_interval=1e-3, sampling_prob=0.01
    ).self_compose(200)
    labels = to_pld(RESPONSE.curve, EPSILON + 0.01).self_compose(10)
    both = labels.compose(sgd).get_epsilon_for_delta(1e-5)
    alone = [each.get_epsilon_for_delta(1e-5) for each in (labels, sgd)]
    assert max(alone) < both < sum(alone)


def test_an_interval_is_above_zero():
    with pytest.raises(ValueError, match="interval"):
        to_pld(RESPONSE.curve, 1.0, interval=0.0)
