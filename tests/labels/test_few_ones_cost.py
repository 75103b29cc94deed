"""Few ones of a teacher: what is charged, against every adaptive adversary, exactly."""

import functools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from tests.accounting.adversaries import power
from tests.labels.accounts.test_groups import OF_TEACHERS, OF_TWO, ON_COUNTS

# Queries, ones of a teacher at most, teachers.
SIZES = [(2, 1, 3), (3, 1, 2), (3, 1, 3), (4, 1, 2), (4, 2, 2), (5, 2, 2)]


def task_of(Q, most, K, **others):
    size = {"queries": Q, "labels": Q, "n_teachers": K, "n_classes": 2}
    return Task.from_dict({"epsilon": 1.0, "delta": 1e-3, "most_ones": most, **size, **others})


def exact_delta(law, parameters, task):
    """Delta of all labels at the task's epsilon, in fractions, whatever an adversary does next.

    After each label it chooses, for the next query, what the others vote and what up to `reach`
    teachers vote before and after, who may vote 1 so often in all.
    """
    K = task.ensemble.teachers
    counts = np.stack([K - np.arange(K + 1), np.arange(K + 1)], axis=1)
    named = [
        [Fraction(float(p)) for p in row] for row in law.outcome_distribution(counts, parameters)
    ]
    growth, moved = power(task.budget.epsilon)[1], range(task.protection.reach + 1)

    @functools.cache
    def best(queries, before, after, ratio):
        """The sum of (P - growth P')_+, for each unit of P; before, after: ones that are left."""
        value = max(Fraction(0), 1 - growth * ratio)
        if queries == 0:
            return value
        for here, there in ((b, a) for b in moved for a in moved if b <= before and a <= after):
            for others in range(K - task.protection.reach + 1):
                pair = zip(named[others + here], named[others + there], strict=True)
                later = queries - 1, before - here, after - there
                gain = sum(p * best(*later, ratio * q / p) for p, q in pair if p)
                value = max(value, gain)
                if here == there:  # whatever the others vote, the label tells nothing
                    break
        return value

    ones = task.protection.reach * task.wanted.most_ones
    return best(task.wanted.labels, ones, ones, Fraction(1))


@pytest.mark.parametrize(("Q", "most", "K"), SIZES)
@pytest.mark.parametrize("name", ON_COUNTS)
def test_no_adversary_who_moves_a_teacher_reaches_delta(name, Q, most, K):
    """The noise that is found, and what is claimed of it at another epsilon."""
    mechanism, task = load_mechanism(name), task_of(Q, most, K)
    assert mechanism.refusal(task) is None
    parameters = mechanism.calibrate(task)
    assert parameters.labels == task.wanted.labels
    cost = mechanism.cost(task, parameters)
    assert cost.proven <= cost.claimed <= task.budget.epsilon
    assert exact_delta(mechanism.law, parameters, task) <= task.budget.delta
    at_cost = replace(task, budget=replace(task.budget, epsilon=cost.proven))
    assert exact_delta(mechanism.law, parameters, at_cost) <= task.budget.delta * (1 + 1e-9)


@pytest.mark.parametrize("name", OF_TWO)
def test_several_teachers_move_as_many_queries(name):
    mechanism, task = load_mechanism(name), task_of(3, 1, 3, reach=2)
    assert mechanism.charged_task(task).wanted.labels == 3
    parameters = mechanism.calibrate(task)
    assert exact_delta(mechanism.law, parameters, task) <= task.budget.delta


# One moved teacher brings one query from a tie to the other side, and another one back.
@pytest.mark.parametrize(("Q", "most", "K"), [(2, 1, 3), (3, 1, 5), (4, 2, 3)])
@pytest.mark.parametrize("name", OF_TWO)
def test_five_per_cent_less_noise_is_caught(name, Q, most, K):
    mechanism, task = load_mechanism(name), task_of(Q, most, K)
    twin = mechanism.law.scale_noise(mechanism.calibrate(task), 0.95)
    assert exact_delta(mechanism.law, twin, task) > task.budget.delta
    assert mechanism.cost(task, twin).proven > task.budget.epsilon


@pytest.mark.parametrize("name", OF_TWO)
def test_a_teacher_that_moves_its_one_changes_two_labels(name):
    """Were it charged for one of them, an adversary would gain more than delta."""
    mechanism, task = load_mechanism(name), task_of(3, 1, 5)
    one = replace(mechanism.calibrate(Task(Ensemble(5, 2), Budget(1.0, 1e-3), Wanted(1))), labels=3)
    assert exact_delta(mechanism.law, one, task) > task.budget.delta


@pytest.mark.parametrize("name", ON_COUNTS)
def test_few_ones_cost_what_as_many_labels_as_may_change_do(name):
    """And if they are no fewer than the labels, what all of these do."""
    mechanism = load_mechanism(name)
    size = {"n_teachers": 30, "n_classes": 2}
    task = Task.from_dict(
        {"epsilon": 1.0, "delta": 1e-5, "queries": 56, "labels": 56, "most_ones": 12, **size}
    )
    parameters, changed = (
        mechanism.calibrate(task),
        Task.from_dict({"epsilon": 1.0, "delta": 1e-5, "queries": 24, "labels": 24, **size}),
    )
    drawn = {"labels": 56} | ({"queries": 56} if mechanism.law.may_abstain else {})
    assert parameters == replace(mechanism.calibrate(changed), **drawn)
    alone = replace(parameters, labels=24, **({"queries": 24} if mechanism.law.may_abstain else {}))
    assert mechanism.cost(task, parameters) == mechanism.cost(changed, alone)
    plain = Task.from_dict({"epsilon": 1.0, "delta": 1e-5, "queries": 56, "labels": 56, **size})
    for many in (28, 56):
        assert mechanism.calibrate(
            replace(task, wanted=replace(task.wanted, most_ones=many))
        ) == mechanism.calibrate(plain)


@pytest.mark.parametrize("name", ["confident_gnmax_exact", "gnmax"])
def test_any_label_that_is_wanted_may_be_one_that_changes(name):
    """After a threshold nobody knows beforehand which are answered; without one, the first are."""
    charged = load_mechanism(name).charged_task(
        Task(Ensemble(30, 2), Budget(1.0, 1e-5), Wanted(28, 140, most_ones=10))
    )
    assert (charged.wanted.queries, charged.wanted.labels) == (20, 20)
    charged = load_mechanism(name).charged_task(
        Task(Ensemble(30, 2), Budget(1.0, 1e-5), Wanted(12, 140, most_ones=10))
    )
    assert (charged.wanted.queries, charged.wanted.labels) == (20, 12)


@pytest.mark.parametrize("name", OF_TEACHERS)
def test_the_teachers_own_privacy_charges_for_all_labels(name):
    facts = {"teacher_epsilon": 0.1, "adjacency": "add_remove"}
    mechanism, task = load_mechanism(name), task_of(3, 1, 3, **facts)
    assert mechanism.charged_task(task).wanted.labels == task.wanted.labels == 3


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"most_ones": 0}, "most_ones = 0: must be an integer >= 1"),
        ({"n_classes": 3}, "most_ones = 2: must be left out with 3 classes"),
        ({"absent": True}, "most_ones = 2: must be left out where ballots may be absent"),
    ],
)
def test_what_cannot_be_is_refused(others, words):
    size = {"queries": 6, "labels": 6, "n_teachers": 5, "n_classes": 2, "most_ones": 2}
    with pytest.raises(ValueError, match=words):
        Task.from_dict({"epsilon": 1.0, "delta": 1e-5, **size | others})
