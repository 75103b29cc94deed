"""The tables behind registered audits, whichever kind of audit it is."""

import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import PLDAccountant

from private_ensembles.accounting.budgets import pld_epsilon
from private_ensembles.accounting.export import gaussian_event
from private_ensembles.ledger.finite_labels import (
    LEVELS,
    gaussian_columns,
    label_pld,
)
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task

TASKS = {
    "gnmax_analytic": Task(1.0, 1e-5, 1, 1, 7, 3),
    "ladder": Task(1.0, 1e-5, 1, 1, 7, 2),
    "darrm_sub": Task(1.0, 1e-5, 1, 1, 5, 2, teacher_epsilon=0.3),
}


@pytest.mark.parametrize("name", TASKS)
def test_the_table_has_the_audit_s_epsilon_and_curve(name):
    mechanism, task = load(name), TASKS[name]
    audited = mechanism.law.audited(task, mechanism.calibrate(task))
    found = audited.table()
    assert found.epsilon(1e-3) == pytest.approx(audited.worst(1e-3).epsilon, rel=1e-9)
    epsilons = np.array([0.0, 0.1, 0.5])
    np.testing.assert_allclose(found.curve(epsilons), audited.curve(epsilons), rtol=1e-8, atol=1e-9)
    columns = gaussian_columns(audited)
    assert columns["mu"] == found.mu()
    assert columns["misses"] == found.trade_off(LEVELS).tolist()


def test_what_is_made_from_the_claim_says_nothing_of_it():
    mechanism = load("majority_private")
    task = Task(1.0, 1e-5, 1, 1, 5, 2, teacher_epsilon=0.3)
    audited = mechanism.law.audited(task, mechanism.calibrate(task))
    assert audited.table() is None
    assert gaussian_columns(audited) == {}


@pytest.mark.parametrize("name", registry.offered())
def test_labels_of_every_mechanism_compose_elsewhere_to_no_less_than_here(name):
    """One label costs what the audit says, ten cost what our own composition says, or more."""
    mechanism = load(name)
    task = Task(1.0, 1e-4, 1, 1, 5, 2, teacher_epsilon=0.3)
    audited = mechanism.law.audited(task, mechanism.calibrate(task))
    exported = label_pld(audited)
    one = audited.worst(1e-4).epsilon
    assert one - 1e-9 <= exported.get_epsilon_for_delta(1e-4) <= one + 2e-3
    ten = pld_epsilon(audited.curve, 10, 1e-3, largest_epsilon=10.0)
    theirs = exported.self_compose(10).get_epsilon_for_delta(1e-3)
    assert theirs == pytest.approx(ten, rel=1e-2)
    found = audited.table()
    if found is not None and np.isfinite(found.mu()):
        accountant = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE, 1e-3)
        accountant.compose(gaussian_event(found.mu()), 10)
        assert accountant.get_epsilon(1e-3) >= theirs * (1 - 1e-2)
