"""A certificate of labels: what it proves lies a little above the account, and its curve falls."""

import pytest

from private_ensembles.accounting.adaptive.account import adaptive_epsilon
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.release import certificate, label_certificate
from private_ensembles.release.release_plan import ReleasePlan

DELTA = 1e-5


def planned(name, teachers, classes, labels):
    sizes = {"queries": labels, "labels": labels, "n_teachers": teachers, "n_classes": classes}
    task = Task.read({"epsilon": 2.0, "delta": DELTA, **sizes, "secure": True})
    mechanism = load(name)
    return ReleasePlan(task, name, mechanism.calibrate(task), 0.0, None, "0")


@pytest.mark.parametrize(
    ("name", "teachers", "classes", "labels"),
    [("permute_and_flip", 21, 2, 5), ("gnmax_exact", 21, 2, 12), ("gnmax_exact", 21, 4, 12)],
)
def test_what_is_proven_lies_a_little_above_the_account(name, teachers, classes, labels):
    plan = planned(name, teachers, classes, labels)
    noise = certificate._noise(plan, plan.parameters)
    body, epsilon, curve = label_certificate.adaptive(noise, labels, DELTA, 2.0)
    family = plan.mechanism.law.pairs(plan.task, plan.parameters)
    account = adaptive_epsilon(family, labels, DELTA)
    assert account.lower <= epsilon <= account.upper * 1.01
    assert certificate.proven(body) == (epsilon, DELTA)
    epsilons, deltas = zip(*sorted(curve), strict=True)
    assert list(deltas) == sorted(deltas, reverse=True)
    assert len(set(epsilons)) == len(epsilons)


def test_more_labels_of_the_same_noise_cost_more():
    plan = planned("gnmax_exact", 21, 2, 12)
    noise = certificate._noise(plan, plan.parameters)
    costs = [label_certificate.adaptive(noise, n, DELTA, 0.5)[1] for n in (6, 12, 24)]
    assert costs[0] < costs[1] < costs[2]
