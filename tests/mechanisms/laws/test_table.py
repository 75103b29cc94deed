"""Labels of a table: seeded ones by their own sampler, secure ones by exact coins."""

import itertools
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from private_ensembles.mechanisms.families.table import coins_delta

from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise.sources import Secure
from private_ensembles.papers.darrm.one_label import Budget, for_budget

TASK = Task(0.5, 1e-3, 1, 1, n_teachers=5, n_classes=2)


def test_secure_coins_follow_the_table():
    laplace = load("lnmax_pure")
    parameters = laplace.calibrate(replace(TASK, secure=True))
    chances = laplace.table(5, parameters)
    runs = 20_000
    for ones in (1, 3):
        counts = np.tile([5 - ones, ones], (runs, 1))
        share = laplace.law.draw(counts, parameters, Secure()).mean()
        # Hoeffding: wrong once in 1e8.
        assert abs(share - chances[ones, 1]) < np.sqrt(np.log(4e8) / (2 * runs))


def test_secure_labels_are_for_one_label_of_two_classes():
    laplace = load("lnmax_pure")
    assert laplace.refusal(replace(TASK, secure=True)) is None
    many = replace(TASK, secure=True, queries=2, labels=2)
    assert "noise: secure beyond one label of two classes" in laplace.refusal(many)
    with pytest.raises(ValueError, match="noise = secure: lnmax_pure draws it for two classes"):
        laplace.law.draw(np.array([[3, 1, 1]]), laplace.calibrate(TASK), Secure())


def test_a_mechanism_of_two_classes_has_no_distribution_on_three():
    ladder = load("ladder")
    with pytest.raises(ValueError, match="ladder: is for two classes only"):
        ladder.law.distribution(np.array([[3, 1, 1]]), ladder.calibrate(TASK))


@pytest.mark.parametrize("epsilon", [0.01, 0.7, 5.0])
def test_coins_cost_what_their_floats_say(epsilon):
    table = np.array([[0.9, 0.1], [0.7, 0.3], [0.25, 0.75], [0.4, 0.6]])
    ones = [Fraction(0.1), Fraction(0.3), 1 - Fraction(0.25), 1 - Fraction(0.4)]
    worst = max(
        max(p - Fraction(math.exp(epsilon)) * q, Fraction(0))
        for here, there in itertools.pairwise(ones)
        for a, b in ((here, there), (there, here))
        for p, q in ((a, b), (1 - a, 1 - b))
    )
    assert float(coins_delta(table, epsilon)) == pytest.approx(float(worst), rel=1e-12)


@pytest.mark.parametrize("name", ["lnmax_pure", "exponential", "lnmax_exact", "gnmax_exact"])
def test_one_secure_label_is_proven_of_its_coins(name):
    mechanism, task = load(name), replace(TASK, secure=True)
    found = mechanism.calibrate(task)
    assert coins_delta(mechanism.table(5, found), task.epsilon) <= Decimal(task.delta)


def test_a_sigma_from_another_job_is_proven_of_its_coins_too():
    budget = Budget(5, 1, 0.5, 1e-3, 0.5, 1e-3, 1e-3, secure=True)
    exact = load("gnmax_exact")
    sigma = exact.calibrate(replace(TASK, secure=True)).sigma
    assert for_budget(exact, budget, {"sigma_exact": sigma}).sigma == sigma
    with pytest.raises(ValueError, match="coins of gnmax_exact cost"):
        for_budget(exact, budget, {"sigma_exact": 0.9 * sigma})


def test_coins_that_cost_more_than_delta_are_refused(monkeypatch):
    laplace = load("lnmax_exact")
    less = laplace.law.less_noise(laplace.calibrate(TASK), 0.999)
    monkeypatch.setattr(laplace, "find", lambda *given, **free: less, raising=False)
    assert laplace.calibrate(TASK) == less
    with pytest.raises(ValueError, match=r"delta = 0\.001: coins of lnmax_exact cost 0\.001"):
        laplace.calibrate(replace(TASK, secure=True))


def test_neither_order_of_neighbours_is_overlooked():
    """Label 1 at 0.01 and at 0.4: only who knows the former's votes is told much by it."""
    table = np.array([[0.99, 0.01], [0.6, 0.4], [0.55, 0.45]])
    exact = Fraction(0.4) - Fraction(math.e) * Fraction(0.01)
    for rows in (table, table[::-1]):
        assert float(coins_delta(rows, 1.0)) == pytest.approx(float(exact), rel=1e-12)
