"""The account of labels that ours is compared with: it keeps budgets, and needs more noise."""

import pytest

from private_ensembles import label_epsilon, noise_scale
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task

from .test_groups import exact_delta


@pytest.mark.parametrize(
    ("epsilon", "teachers", "labels", "printed"),
    [(1, 51, 20, 20.67), (1, 251, 100, 45.76), (2, 51, 100, 24.32)],
)
def test_documented_scales_are_found(epsilon, teachers, labels, printed):
    """docs/many-labels.md prints the least; what the grid proves is 0.05 % above it at most."""
    task = {"epsilon": epsilon, "delta": 1e-5, "labels": labels, "teachers": teachers}
    scale = noise_scale("gnmax", **task, analysis="label_rdp")
    assert printed - 0.005 <= scale <= printed * 1.0006
    ours, counts = noise_scale("gnmax", **task), noise_scale("gnmax", **task, analysis="analytic")
    assert 0.93 < ours / scale < 0.95
    assert 0.86 < scale / counts < 0.88


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize(("C", "K", "Q"), [(2, 4, 2), (2, 5, 3), (3, 3, 2), (4, 4, 1)])
def test_no_adversary_reaches_delta(C, K, Q, secure):
    mechanism = load("gnmax_label_rdp")
    task = Task(1.0, 1e-3, Q, Q, K, C, secure=secure)
    noise = mechanism.calibrate(task)
    assert mechanism.cost(task, noise).proven <= 1
    assert exact_delta(mechanism.law, noise, task) <= task.delta


@pytest.mark.parametrize("classes", [2, 10])
def test_less_noise_costs_more_and_the_account_of_labels_less(classes):
    mechanism, task = load("gnmax_label_rdp"), Task(2.0, 1e-5, 50, 50, 40, classes)
    noise = mechanism.calibrate(task)
    assert 1.99 < mechanism.cost(task, noise).proven <= 2
    twin = mechanism.law.less_noise(noise, 0.95)
    assert mechanism.cost(task, twin).proven > 2
    size = {"delta": 1e-5, "labels": 50, "teachers": 40, "classes": classes}
    ours = label_epsilon("gnmax", noise.sigma, **size)
    theirs = label_epsilon("gnmax", noise.sigma, **size, analysis="label_rdp")
    assert ours.lower == theirs.lower < ours.upper < theirs.upper <= 2


def test_it_is_compared_with_and_not_planned():
    assert registry.compared() == ["gnmax_label_rdp"]
    assert not set(registry.compared()) & set(registry.offered())
    with pytest.raises(ValueError, match="analysis = 'label_rdp': must be"):
        label_epsilon("lnmax", 9.0, delta=1e-5, labels=5, teachers=9, analysis="label_rdp")
    task = Task(1.0, 1e-5, 10_001, 10_001, 250, 2)
    assert "10,000 labels" in load("gnmax_label_rdp").refusal(task)
