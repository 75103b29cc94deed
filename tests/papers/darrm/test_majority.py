"""The plurality without noise, and what the audit sees of it if one teacher's vote decides."""

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.papers.darrm.majority import LAW, Answers

COUNTS = np.array([[3, 1, 1], [2, 2, 1], [1, 2, 2], [0, 5, 0]])
TASK = Task(Ensemble(5, 2, private=Budget(0.7, 1e-3)), Budget(0.7, 1e-3), Wanted(1))
# A bit beyond delta a leak that uses it up, and is rounded up, does not read as infinite.
NEXT = TASK.ensemble.private.delta * (1 + 1e-6)


@pytest.mark.parametrize("source", [SeededNoise(np.random.default_rng(0)), SecureNoise()])
def test_the_plurality_is_certain_and_ties_go_to_the_first_class(source):
    assert LAW.draw(COUNTS, Answers(4), source).tolist() == [0, 0, 1, 1]
    chances = LAW.distribution(COUNTS, Answers(4))
    np.testing.assert_array_equal(chances, np.eye(3)[[0, 0, 1, 1]])


def test_the_audit_finds_the_teacher_s_own_cost_and_confirms_no_claim():
    """Its probabilities are the claim's own corners: they test the sampler alone."""
    audited = LAW.build_audit(TASK, Answers(1))
    assert audited.worst_inputs(NEXT).epsilon == pytest.approx(0.7, rel=1e-6)
    assert audited.assumes_claim


def test_a_twin_s_teacher_costs_twice_as_much():
    twin = LAW.build_audit(TASK, LAW.scale_noise(Answers(1), 0.5))
    assert twin.worst_inputs(NEXT).epsilon == pytest.approx(1.4, rel=1e-6)
