"""The tables behind registered audits, whichever kind of audit it is."""

import numpy as np
import pytest

from private_ensembles.ledger.finite_labels import LEVELS, gaussian_columns
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
