"""Labels in dp_accounting: never cheaper than they are, and far cheaper than black boxes."""

import pytest
from dp_accounting import pld

from private_ensembles import label_epsilon, label_loss_distribution

CASES = [
    ("gnmax", 19.5, {"labels": 20, "teachers": 51}),
    ("gnmax", 8.0, {"labels": 10, "teachers": 30, "classes": 4}),
    ("exponential", 7.474, {"labels": 100, "teachers": 11}),
    ("lnmax", 20.0, {"labels": 40, "teachers": 30, "classes": 3}),
    ("permute_and_flip", 20.0, {"labels": 40, "teachers": 30, "classes": 3}),
    ("gnmax", 39.0, {"labels": 20, "teachers": 51, "reach": 2}),
]


@pytest.mark.parametrize(("mechanism", "scale", "sizes"), CASES)
def test_what_is_exported_costs_no_less_than_the_labels_and_little_more(mechanism, scale, sizes):
    bounds = label_epsilon(mechanism, scale, delta=1e-5, **sizes)
    # Losses are rounded up to whole intervals, and a whole curve gathers its pairs by the orders
    # that decide at its far end, not at this delta.
    interval = 1e-3
    whole = label_loss_distribution(mechanism, scale, **sizes, interval=interval)
    most = bounds.upper * 1.004 + interval
    assert bounds.lower <= whole.get_epsilon_for_delta(1e-5) <= most


def test_labels_compose_with_dp_sgd_in_one_total():
    sgd = pld.privacy_loss_distribution.from_gaussian_mechanism(
        2.0, value_discretization_interval=1e-3, sampling_prob=0.01
    ).self_compose(500)
    labels = label_loss_distribution("gnmax", 19.5, labels=20, teachers=51, interval=1e-3)
    both = labels.compose(sgd).get_epsilon_for_delta(1e-5)
    alone = [each.get_epsilon_for_delta(1e-5) for each in (labels, sgd)]
    assert max(alone) < both < sum(alone)


def test_what_is_out_of_range_is_refused_in_one_line():
    good = {"labels": 5, "teachers": 11}
    with pytest.raises(ValueError, match="mechanism"):
        label_loss_distribution("laplace", 1.0, **good)
    with pytest.raises(ValueError, match="scale"):
        label_loss_distribution("gnmax", 0.0, **good)
    with pytest.raises(ValueError, match="labels"):
        label_loss_distribution("gnmax", 1.0, labels=0, teachers=11)
