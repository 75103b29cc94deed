"""Labels in dp_accounting: never cheaper than they are, and far cheaper than black boxes."""

import math

import dp_accounting
import pytest
from dp_accounting import pld, rdp

from private_ensembles import (
    label_epsilon,
    label_loss_distribution,
    label_trade_off,
    to_dp_event,
)

Relation = dp_accounting.NeighboringRelation
CASES = [
    ("gnmax", 19.5, {"labels": 20, "teachers": 51}, 1e-12),
    ("gnmax", 8.0, {"labels": 10, "teachers": 30, "classes": 4}, 1e-12),
    ("exponential", 7.474, {"labels": 100, "teachers": 11}, 0.0),
    ("lnmax", 20.0, {"labels": 40, "teachers": 30, "classes": 3}, 0.0),
    ("permute_and_flip", 20.0, {"labels": 40, "teachers": 30, "classes": 3}, 0.0),
    ("gnmax", 39.0, {"labels": 20, "teachers": 51, "reach": 2}, 1e-12),
]


@pytest.mark.parametrize(("mechanism", "scale", "sizes", "reserve"), CASES)
def test_what_is_exported_costs_no_less_than_the_labels_and_little_more(
    mechanism, scale, sizes, reserve
):
    bounds = label_epsilon(mechanism, scale, delta=1e-5, **sizes)
    # Losses are rounded up to whole intervals, and a whole curve gathers its pairs by the orders
    # that decide at its far end, not at this delta.
    interval = 1e-3
    whole = label_loss_distribution(mechanism, scale, **sizes, interval=interval)
    most = bounds.upper * 1.004 + interval
    assert bounds.lower <= whole.get_epsilon_for_delta(1e-5) <= most
    event = to_dp_event(mechanism, scale, **sizes, reserve=reserve)
    for accountant in (pld.PLDAccountant(Relation.ADD_OR_REMOVE_ONE), rdp.RdpAccountant()):
        accountant.compose(event)
        assert bounds.lower < accountant.get_epsilon(1e-5 - reserve) < 1.25 * bounds.upper


def test_a_hundred_labels_of_the_exponential_mechanism_are_no_black_boxes():
    """As black boxes they cost 13.9; dp_accounting has no event for the mechanism."""
    event = to_dp_event("exponential", 7.474, labels=100, teachers=11)
    accountant = pld.PLDAccountant().compose(event)
    assert 6.13 < accountant.get_epsilon(1e-5) < 6.25
    assert isinstance(event, dp_accounting.GaussianDpEvent)
    black_box = pld.PLDAccountant().compose(dp_accounting.LaplaceDpEvent(1 / 0.2676), 100)
    assert black_box.get_epsilon(1e-5) > 10


def test_every_relation_charges_at_least_the_labels():
    event = to_dp_event("gnmax", 19.5, labels=20, teachers=51, reserve=1e-12)
    costs = {
        relation: pld.PLDAccountant(relation).compose(event).get_epsilon(1e-5)
        for relation in Relation
    }
    assert costs[Relation.ADD_OR_REMOVE_ONE] == pytest.approx(costs[Relation.REPLACE_SPECIAL])
    assert costs[Relation.REPLACE_ONE] > 2 * costs[Relation.ADD_OR_REMOVE_ONE]


def test_labels_compose_with_dp_sgd_in_one_total():
    sgd = pld.privacy_loss_distribution.from_gaussian_mechanism(
        2.0, value_discretization_interval=1e-3, sampling_prob=0.01
    ).self_compose(500)
    labels = label_loss_distribution("gnmax", 19.5, labels=20, teachers=51, interval=1e-3)
    both = labels.compose(sgd).get_epsilon_for_delta(1e-5)
    alone = [each.get_epsilon_for_delta(1e-5) for each in (labels, sgd)]
    assert max(alone) < both < sum(alone)


def test_a_trade_off_is_no_better_than_that_of_the_event():
    """A curve below a Gaussian's in delta is above it in misses; and no labels miss 1 - level."""
    sizes = {"labels": 100, "teachers": 11}
    mu = 1 / to_dp_event("exponential", 7.474, **sizes).noise_multiplier
    levels = [0.01, 0.05, 0.1, 0.5]
    misses = label_trade_off("exponential", 7.474, **sizes, levels=levels)
    normal = pld.privacy_loss_distribution.from_gaussian_mechanism(1 / mu)
    epsilons = [0.01 * i for i in range(800)]
    deltas = normal.get_delta_for_epsilon(epsilons)
    for level, missed in zip(levels, misses, strict=True):
        assert missed <= 1 - level
        gaussian = max(
            max(1 - d - math.exp(e) * level, math.exp(-e) * (1 - d - level))
            for e, d in zip(epsilons, deltas, strict=True)
        )
        assert missed >= gaussian - 1e-3


@pytest.mark.parametrize("function", [to_dp_event, label_loss_distribution, label_trade_off])
def test_what_is_out_of_range_is_refused_in_one_line(function):
    good = {"labels": 5, "teachers": 11}
    with pytest.raises(ValueError, match="mechanism"):
        function("laplace", 1.0, **good)
    with pytest.raises(ValueError, match="scale"):
        function("gnmax", 0.0, **good)
    with pytest.raises(ValueError, match="labels"):
        function("gnmax", 1.0, labels=0, teachers=11)
