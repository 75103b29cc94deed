"""One label of two classes within the cost of m private teachers."""

import pytest

from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.papers.darrm.one_label import LabelBudget, calibrate_label, make_label_task


@pytest.mark.parametrize("name", ["darrm_opt", "darrm_sub"])
def test_a_label_of_a_budget_is_darrm_s_own(name):
    budget = LabelBudget(5, 3, 0.1, 1e-4, 0.3, 3e-4, 1 - (1 - 1e-4) ** 3)
    task = make_label_task(load_mechanism(name).entry, budget)
    assert (task.budget.epsilon, task.budget.delta) == (0.3, budget.delta_gamma)
    assert (task.protection.privacy_model, task.protection.adjacency) == (
        "shared_data",
        "add_remove",
    )
    assert (task.ensemble.private.epsilon, task.ensemble.private.delta) == (0.1, 1e-4)


def test_a_sigma_from_another_job_is_proven_of_its_coins_too():
    budget = LabelBudget(5, 1, 0.5, 1e-3, 0.5, 1e-3, 1e-3, secure=True)
    exact = load_mechanism("gnmax_exact")
    sigma = exact.calibrate(Task(Ensemble(5, 2), Budget(0.5, 1e-3), Wanted(1), secure=True)).sigma
    assert calibrate_label(exact, budget, {"sigma_exact": sigma}).sigma == sigma
    with pytest.raises(ValueError, match="which the coins of gnmax_exact cost"):
        calibrate_label(exact, budget, {"sigma_exact": 0.9 * sigma})
