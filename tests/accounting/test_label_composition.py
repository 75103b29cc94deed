"""What one label may cost: never less than the optimal composition of all."""

import pytest

from private_ensembles.accounting import label_composition as accounted
from private_ensembles.accounting.composition import (
    optimal_composition,
    randomised_response_rdp,
    rdp_to_dp,
)
from private_ensembles.accounting.label_composition import (
    largest_label_epsilon,
    total_label_epsilon,
)
from private_ensembles.base.root_search import find_largest
from private_ensembles.base.rounding import round_multiple_up


@pytest.mark.parametrize("labels", [2, 30, 299, 301, 5000])
@pytest.mark.parametrize("epsilon", [1e-3, 0.05, 1.0])
def test_composition_of_many_labels_is_no_less_than_the_optimal_one(labels, epsilon):
    optimal = optimal_composition(epsilon, 0.0, labels, 1e-5).epsilon
    total = total_label_epsilon(epsilon, labels, 1e-5)
    assert total >= optimal * (1 - 1e-12)
    assert total <= 1.35 * optimal + 1e-9


@pytest.mark.parametrize("leak", [0.0, 1e-8])
@pytest.mark.parametrize("labels", [1, 20, 200])
def test_one_label_takes_what_all_may_cost_together(labels, leak):
    each = largest_label_epsilon(2.0, labels, 1e-5, leak)
    assert 1.9999 < total_label_epsilon(each, labels, 1e-5, leak) <= 2.0


def test_what_many_labels_leak_is_composed_as_well():
    """The Rényi curve of randomised response knows of no leak."""
    for labels in (301, 1000):
        leaking = total_label_epsilon(0.01, labels, 1e-5, 5e-9)
        assert leaking == optimal_composition(0.01, 5e-9, labels, 1e-5).epsilon
        assert leaking > optimal_composition(0.01, 0.0, labels, 1e-5).epsilon


@pytest.mark.parametrize("leak", [0.0, 1e-12, 9.9e-8])
@pytest.mark.parametrize("epsilon", [0.1, 8.0])
def test_the_exact_composition_is_asked_of_few_epsilons_and_of_the_one_returned(
    epsilon, leak, monkeypatch
):
    """Floats find where to ask; 60 digits took nearly all of the time."""
    asked = []
    exact = find_largest(
        lambda x: total_label_epsilon(x, 100, 1e-5, leak) <= epsilon, relative=1e-7
    )

    def counted(x, labels, *rest):
        asked.append(x)
        return total_label_epsilon(x, labels, *rest)

    monkeypatch.setattr(accounted, "total_label_epsilon", counted)
    found = largest_label_epsilon.__wrapped__(epsilon, 100, 1e-5, leak)
    assert found == exact
    assert found in asked
    assert len(asked) <= 4


@pytest.mark.parametrize(("epsilon", "labels"), [(0.01, 301), (0.03, 777), (0.2, 1001)])
def test_no_product_of_a_renyi_cost_and_a_number_of_labels_is_rounded_down(epsilon, labels):
    each = randomised_response_rdp(epsilon, accounted.ORDERS).tolist()
    products = [round_multiple_up(cost, labels) for cost in each]
    exact = rdp_to_dp(accounted.ORDERS, products, 1e-5)[0]
    assert exact <= total_label_epsilon(epsilon, labels, 1e-5) <= exact * (1 + 1e-12)
