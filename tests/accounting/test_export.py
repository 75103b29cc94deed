"""What is exported composes in dp_accounting to no less than ours, and with DP-SGD."""

import math

import dp_accounting
import numpy as np
import pytest
from dp_accounting import pld, rdp

from private_ensembles.accounting.budgets import pld_epsilon
from private_ensembles.accounting.export import gaussian_event, to_pld
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


@pytest.mark.parametrize("mu", [1e-3, 0.3, 1.7])
def test_an_event_has_no_more_noise_than_mu_says(mu):
    event = gaussian_event(mu)
    assert event.noise_multiplier <= 1 / mu
    assert event.noise_multiplier == pytest.approx(1 / mu, rel=1e-15)


def test_events_cost_at_least_what_the_label_does():
    relation = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    accountants = [
        (pld.PLDAccountant(relation), gaussian_event(RESPONSE.mu())),
        (rdp.RdpAccountant(neighboring_relation=relation), gaussian_event(RESPONSE.mu())),
    ]
    exact = pld_epsilon(RESPONSE.curve, 30, 1e-5, largest_epsilon=EPSILON + 0.01)
    for accountant, event in accountants:
        accountant.compose(event, 30)
        assert exact < accountant.get_epsilon(1e-5) < 2 * exact


def test_no_privacy_and_no_loss_are_events_too():
    assert gaussian_event(math.inf) == dp_accounting.NonPrivateDpEvent()
    assert gaussian_event(0.0) == dp_accounting.NoOpDpEvent()
    with pytest.raises(ValueError, match="must be a number >= 0"):
        gaussian_event(-1.0)
    with pytest.raises(ValueError, match="interval"):
        to_pld(RESPONSE.curve, 1.0, interval=0.0)
