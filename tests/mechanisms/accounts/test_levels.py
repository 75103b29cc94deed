"""Levels of noise of a mechanism: any choice between them keeps the task's budget."""

from dataclasses import replace

import pytest

from private_ensembles.accounting.adaptive.levels import levels_curve
from private_ensembles.accounting.adaptive.scales import grid_fineness
from private_ensembles.mechanisms.accounts.levels import level_noise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task


@pytest.mark.parametrize("name", ["gnmax_exact", "exponential"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_any_choice_of_levels_keeps_the_budget_and_each_has_less_noise_than_the_last(
    name, n_classes
):
    mechanism, task, units = load(name), Task(1.0, 1e-5, 40, 40, 21, n_classes), (1, 2, 4)
    noise = level_noise(mechanism, task, units)
    assert [level.labels for level in noise] == [40, 20, 10]
    families = [mechanism.law.pairs(task, level) for level in noise]
    fineness = grid_fineness(n_classes, 40)
    found = levels_curve(families, units, 40, 1.0, 1e-5, fineness=fineness, least=1.0)
    assert found.delta(1.0) <= 1e-5


def test_a_level_has_little_more_noise_than_its_labels_need_alone():
    mechanism, units = load("gnmax_exact"), (1, 2, 4)
    for level in level_noise(mechanism, Task(1.0, 1e-5, 40, 40, 21, 3), units):
        alone = mechanism.calibrate(Task(1.0, 1e-5, 40, level.labels, 21, 3))
        assert 1 < level.sigma / alone.sigma < 1.02


def test_reserves_leave_less_noise():
    mechanism, task = load("gnmax_exact"), Task(1.0, 1e-5, 60, 60, 21, 2)
    free = level_noise(mechanism, task, (1, 4))
    late = level_noise(mechanism, task, (1, 4), reserves=(0, 24))
    assert all(less.sigma < more.sigma for less, more in zip(late, free, strict=True))


@pytest.mark.parametrize("n_classes", [2, 5])
def test_levels_of_several_votes_have_as_much_more_noise(n_classes):
    mechanism, units = load("gnmax_exact"), (1, 2)
    task = Task(1.0, 1e-5, 40, 40, 41, n_classes, reach=2)
    noise = level_noise(mechanism, task, units)
    one = level_noise(mechanism, replace(task, reach=1), units)
    for level, of_one in zip(noise, one, strict=True):
        assert 1.9 < level.sigma / of_one.sigma < 2.1
    families = [mechanism.law.pairs(task, level) for level in noise]
    fineness = grid_fineness(n_classes, 40)
    found = levels_curve(families, units, 40, 1.0, 1e-5, fineness=fineness, least=1.0)
    assert found.delta(1.0) <= 1e-5
