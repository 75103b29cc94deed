"""What every account promises: noise for a budget, from the arguments that it names."""

import pytest

from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

TASK = Task(Ensemble(9, 3, private=Budget(0.3, 0.0)), Budget(1.0, 1e-5), Wanted(40, 60))


@pytest.mark.parametrize("name", registry.offered_mechanisms())
def test_a_range_is_named_for_every_argument_that_a_planner_chooses(name):
    assert all(
        0 <= low < high for low, high in load_mechanism(name).account.free_parameters.values()
    )


@pytest.mark.parametrize("name", registry.offered_mechanisms())
def test_fewer_labels_are_guessed_to_need_no_more_noise(name):
    """What a search asks of many labels; noise that depends on their number falls with it."""
    mechanism = load_mechanism(name)
    if mechanism.refusal(TASK) is not None or "cap" not in mechanism.account.free_parameters:
        return
    few, many = (mechanism.guess_parameters(TASK, cap=cap) for cap in (0.1, 1.0))
    assert (few.labels, many.labels) == (4, 40)
    for scale in ("sigma", "sigma2", "scale"):
        if hasattr(many, scale):
            assert getattr(few, scale) < getattr(many, scale)


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("gnmax", "sigma_rdp"),
        ("gnmax_analytic", "sigma_analytic"),
        ("gnmax_exact", "sigma_exact"),
        ("lnmax_pure", ""),
        ("ladder", ""),
    ],
)
def test_a_sigma_of_one_label_is_known_by_its_quantity(name, quantity):
    assert load_mechanism(name).account.quantity == quantity
