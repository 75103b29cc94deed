"""GNMax by the account of its labels: more than two classes, from continuous and secure noise."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.discrete_gaussian import fine_distance
from private_ensembles.mechanisms import mechanism as assembly
from private_ensembles.mechanisms.laws import gaussian
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.release import release
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise.sources import Secure, Seeded

MECHANISM = load("gnmax_exact")
TASK = Task(epsilon=2.0, delta=1e-5, queries=100, labels=100, n_teachers=50, n_classes=10)
SECURE = replace(TASK, secure=True)
COUNTS = np.array([[14, 9, 8, 5, 4, 4, 3, 1, 1, 1]])


@pytest.fixture(scope="module")
def noise_of():
    return {task.secure: MECHANISM.calibrate(task) for task in (TASK, SECURE)}


def test_labels_of_many_classes_need_a_fifth_less_noise(noise_of):
    analytic = load("gnmax_analytic").calibrate(TASK)
    for task in (TASK, SECURE):
        parameters = noise_of[task.secure]
        assert MECHANISM.refusal(task) is None
        assert parameters.sigma < 0.83 * analytic.sigma
        cost = MECHANISM.cost(task, parameters)
        assert cost.claimed == cost.proven
        assert 0.99 * task.epsilon < cost.claimed <= task.epsilon
    assert noise_of[True].sigma == pytest.approx(noise_of[False].sigma, rel=1e-3)


def test_one_label_of_many_classes_is_no_coin(monkeypatch):
    # Few teachers and classes: one label alone takes the longest, and neither decides what it is.
    one = replace(SECURE, labels=1, queries=1, n_teachers=10, n_classes=3)
    for module, name in ((assembly, "coins_delta"), (gaussian, "draw_coins")):
        monkeypatch.setattr(module, name, lambda *_: pytest.fail("no coin is tossed"))
    parameters = MECHANISM.calibrate(one)
    assert MECHANISM.cost(one, parameters).proven <= one.epsilon
    assert release(MECHANISM, np.array([[5, 3, 2]]), parameters, Secure()).shape == (1,)


def test_half_the_noise_costs_more_than_twice_as_much(noise_of):
    for task in (TASK, SECURE):
        twin = MECHANISM.law.less_noise(noise_of[task.secure], 0.5)
        assert MECHANISM.cost(task, twin).proven > 2 * task.epsilon


@pytest.mark.parametrize("noise", [Secure(), Seeded(np.random.default_rng(0))])
def test_labels_have_their_distribution(noise_of, noise):
    parameters = noise_of[noise.secure]
    chances = MECHANISM.law.distribution(COUNTS, parameters, noise.secure)[0]
    drawn = MECHANISM.law.draw(np.tile(COUNTS, (6000, 1)), parameters, noise)
    observed = np.bincount(drawn, minlength=10)
    assert stats.chisquare(observed, 6000 * chances / chances.sum()).pvalue > 1e-6


def test_secure_labels_are_released_of_secure_parameters_alone(noise_of):
    rows = np.tile(COUNTS, (100, 1))
    assert (release(MECHANISM, rows, noise_of[True], Secure()) >= 0).all()
    with pytest.raises(ValueError, match="was calibrated for continuous noise"):
        release(MECHANISM, rows, noise_of[False], Secure())


def test_every_secure_label_is_charged_its_distance_from_continuous_noise(noise_of):
    sigma, t = noise_of[True].sigma, np.exp([-0.3, 0.0, 0.3])
    spare = fine_distance(sigma, 10)
    plain = GaussianMaximum(sigma, 50, 10).excesses(t)
    charged = MECHANISM.law.pairs(SECURE, noise_of[True]).excesses(t)
    np.testing.assert_allclose(
        charged - plain, np.tile(spare * (1 + t), (len(plain), 1)), atol=1e-15
    )
    error = MECHANISM.law.error(50, 10, noise_of[True], secure=True)
    assert error["absolute_error"] >= spare


def test_one_secure_label_of_two_classes_costs_what_its_audit_says():
    task = replace(SECURE, queries=1, labels=1, n_teachers=11, n_classes=2)
    parameters = MECHANISM.calibrate(task)
    assert MECHANISM.cost(task, parameters).proven == task.epsilon
    assert MECHANISM.cost(replace(task, secure=False), parameters).proven == task.epsilon
