"""Many findings of one query: what is charged, against every adaptive adversary, exactly."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task

from ..accounting.adversaries import exact_value, power
from .accounts.test_groups import OF_TEACHERS, OF_TWO, ON_COUNTS

# Findings, ones of a ballot at most, teachers, queries.
SIZES = [(2, 1, 3, 1), (2, 1, 2, 3), (2, 2, 2, 2), (3, 1, 3, 1), (3, 1, 2, 2), (3, 2, 2, 1)]


def task_of(k, most, K, Q, **others):
    size = {"queries": k * Q, "labels": k * Q, "n_teachers": K, "n_classes": 2}
    return Task(1.0, 1e-3, findings=k, most_ones=most, **size, **others)


def ballots(k, most):
    """All ballots of so many findings with so many ones at most."""
    return [np.array(ones) for ones in itertools.product((0, 1), repeat=k) if sum(ones) <= most]


def moves(k, most, K, reach=1):
    """Counts of yes before and after: up to `reach` ballots become others, the rest are any."""
    allowed = ballots(k, most)
    rest = {
        tuple(np.sum(others, axis=0)) if others else (0,) * k
        for others in itertools.combinations_with_replacement(allowed, K - reach)
    }
    sums = {
        tuple(np.sum(some, axis=0))
        for some in itertools.combinations_with_replacement(allowed, reach)
    }
    for others, one, other in itertools.product(rest, sums, sums):
        yield np.add(others, one), np.add(others, other)


def exact_delta(law, parameters, task):
    """Delta of all findings at the task's epsilon, in fractions, whatever an adversary asks next.

    One query at a time: the adversary sees all of its findings, and then chooses the next one.
    """
    K, k = task.n_teachers, task.findings
    counts = np.stack([K - np.arange(K + 1), np.arange(K + 1)], axis=1)
    named = [[Fraction(float(p)) for p in row] for row in law.outcomes(counts, parameters)]

    def joint(yes):
        """Of all findings together, which have fresh noise each."""
        outcomes = [Fraction(1)]
        for count in yes:
            outcomes = [p * q for p in outcomes for q in named[count]]
        return outcomes

    pairs = {
        tuple(sorted(zip(joint(before), joint(after), strict=True)))
        for before, after in moves(k, task.most_ones, K, task.reach)
    }
    listed = [tuple(zip(*pair, strict=True)) for pair in pairs]
    return exact_value(listed, task.labels // k, power(task.epsilon)[1])


@pytest.mark.parametrize(("k", "most", "K", "Q"), SIZES)
@pytest.mark.parametrize("name", ON_COUNTS)
def test_no_adversary_who_moves_a_ballot_reaches_delta(name, k, most, K, Q):
    """The noise that is found, and what is claimed of it at another epsilon."""
    mechanism, task = load(name), task_of(k, most, K, Q)
    assert mechanism.refusal(task) is None
    parameters = mechanism.calibrate(task)
    assert parameters.labels == task.labels
    cost = mechanism.cost(task, parameters)
    assert cost.proven <= cost.claimed <= task.epsilon
    assert exact_delta(mechanism.law, parameters, task) <= task.delta
    at_cost = replace(task, epsilon=cost.proven)
    assert exact_delta(mechanism.law, parameters, at_cost) <= task.delta * (1 + 1e-9)


@pytest.mark.parametrize("name", OF_TWO)
def test_several_ballots_move_as_many_findings(name):
    mechanism, task = load(name), task_of(3, 1, 3, 1, reach=2)
    assert mechanism.charged(task).labels == 3
    parameters = mechanism.calibrate(task)
    assert exact_delta(mechanism.law, parameters, task) <= task.delta


# One moved ballot brings one finding from a tie to the other side, and another one back.
@pytest.mark.parametrize(("k", "most", "K", "Q"), [(2, 1, 3, 1), (3, 1, 5, 1), (2, 2, 3, 2)])
@pytest.mark.parametrize("name", OF_TWO)
def test_five_per_cent_less_noise_is_caught(name, k, most, K, Q):
    mechanism, task = load(name), task_of(k, most, K, Q)
    twin = mechanism.law.less_noise(mechanism.calibrate(task), 0.95)
    assert exact_delta(mechanism.law, twin, task) > task.delta
    assert mechanism.cost(task, twin).proven > task.epsilon


@pytest.mark.parametrize("name", OF_TWO)
def test_a_ballot_that_changes_its_one_changes_two_findings(name):
    """Were it charged for one of them, an adversary would gain more than delta."""
    mechanism, task = load(name), task_of(3, 1, 5, 1)
    one = replace(mechanism.calibrate(Task(1.0, 1e-3, 1, 1, 5, 2)), labels=3)
    assert exact_delta(mechanism.law, one, task) > task.delta


@pytest.mark.parametrize("name", ON_COUNTS)
def test_findings_cost_what_labels_of_two_classes_do(name):
    """With few ones, of as many as may change; without a limit, of all of them."""
    mechanism = load(name)
    size = {"n_teachers": 30, "n_classes": 2}
    task = Task(1.0, 1e-5, 56, 56, findings=14, most_ones=3, **size)
    parameters, changed = mechanism.calibrate(task), Task(1.0, 1e-5, 24, 24, **size)
    drawn = {"labels": 56} | ({"queries": 56} if mechanism.law.silent else {})
    assert parameters == replace(mechanism.calibrate(changed), **drawn)
    alone = replace(parameters, labels=24, **({"queries": 24} if mechanism.law.silent else {}))
    assert mechanism.cost(task, parameters) == mechanism.cost(changed, alone)
    every = replace(task, most_ones=None)
    plain = Task(1.0, 1e-5, 56, 56, **size)
    assert mechanism.calibrate(every) == mechanism.calibrate(plain)
    for many in (7, 14):
        assert mechanism.calibrate(replace(task, most_ones=many)) == mechanism.calibrate(plain)


def test_after_a_threshold_any_finding_may_be_answered():
    """Labels that are wanted of few: all of them may be of findings that change."""
    mechanism = load("confident_gnmax_exact")
    task = Task(1.0, 1e-5, 140, 28, 30, 2, findings=14, most_ones=1)
    charged = mechanism.charged(task)
    assert (charged.queries, charged.labels) == (20, 20)
    assert load("gnmax").charged(task).labels == 4


@pytest.mark.parametrize("name", OF_TEACHERS)
def test_the_teachers_own_privacy_charges_for_all_findings(name):
    facts = {"teacher_epsilon": 0.1, "adjacency": "add_remove"}
    mechanism, task = load(name), task_of(3, 1, 3, 1, **facts)
    assert mechanism.charged(task).labels == task.labels == 3


def test_whole_vectors_are_planned():
    mechanism, task = load("gnmax_exact"), task_of(3, 1, 30, 7)
    for cap in (0.02, 0.3, 0.5, 1.0):
        assert mechanism.calibrate(task, cap=cap).labels % 3 == 0


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"findings": 0}, "findings = 0"),
        ({"findings": 3, "most_ones": 4}, "most_ones = 4: must be an integer >= 1 and <= 3"),
        ({"findings": 3, "n_classes": 3}, "n_classes = 3: must be 2, as findings are yes or no"),
    ],
)
def test_what_cannot_be_is_refused(others, words):
    size = {"queries": 6, "labels": 6, "n_teachers": 5, "n_classes": 2}
    with pytest.raises(ValueError, match=words):
        Task(1.0, 1e-5, **size | others)
