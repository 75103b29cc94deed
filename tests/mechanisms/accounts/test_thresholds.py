"""Confident-GNMax by the account of thresholds and labels: continuous and secure noise."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from private_ensembles.accounting.discrete_gaussian import fine_distance
from private_ensembles.audit.histograms import both_counts
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.accounts import thresholds
from private_ensembles.mechanisms.checks.checked import CheckedNoise
from private_ensembles.mechanisms.laws.gaussian import GaussianNoise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.release import release
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise.sources import Secure, Seeded
from private_ensembles.papers.pate.given_noise import at_noise
from private_ensembles.planner import ranking

from ..strategies import dearest

MECHANISM = load("confident_gnmax_exact")
COUNTED = load("confident_gnmax")
TASK = Task(epsilon=2.0, delta=1e-5, queries=400, labels=100, n_teachers=50, n_classes=10)
TWO = replace(TASK, n_classes=2)
ROW = np.array([[24, 9, 8, 3, 2, 1, 1, 1, 1, 0]])


@cache
def calibrated(task, share=0.3):
    return MECHANISM.calibrate(task, share=share)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("task", [TASK, TWO], ids=["ten", "two"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
def test_labels_behind_a_threshold_need_a_fifth_less_noise(task, share, secure):
    task = replace(task, secure=secure)
    parameters, counted = calibrated(task, share), COUNTED.calibrate(task, share=share)
    assert parameters.sigma2 < 0.83 * counted.sigma2
    assert parameters.sigma1 == pytest.approx(counted.sigma1, rel=0.03)
    cost = MECHANISM.cost(task, parameters)
    assert 0.999 * task.epsilon < cost.proven == cost.claimed <= task.epsilon
    assert parameters.continuous == (not secure)


@pytest.mark.parametrize("secure", [False, True])
def test_less_noise_costs_more_than_the_budget(secure):
    task = replace(TWO, secure=secure)
    parameters = calibrated(task)
    for factor in (0.99, 0.5):
        weaker = MECHANISM.law.less_noise(parameters, factor)
        assert MECHANISM.cost(task, weaker).proven > task.epsilon / math.sqrt(factor)
    for name in ("sigma1", "sigma2"):
        less = replace(parameters, **{name: 0.9 * getattr(parameters, name)})
        assert MECHANISM.cost(task, less).proven > task.epsilon


def test_continuous_noise_never_costs_more_than_its_counts():
    for labels, share in ((1, 0.05), (1, 0.8), (3, 0.3)):
        task = replace(TWO, labels=labels, epsilon=0.5)
        parameters, counted = calibrated(task, share), COUNTED.calibrate(task, share=share)
        assert parameters.sigma2 <= counted.sigma2
        assert MECHANISM.cost(task, counted).proven <= COUNTED.cost(task, counted).proven


@pytest.mark.parametrize(("queries", "answers"), [(3, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize("share", [0.2, 0.7])
@pytest.mark.parametrize("secure", [False, True])
def test_no_adaptive_choice_of_queries_costs_more_than_the_budget(queries, answers, share, secure):
    """Every strategy: the next pair of histograms depends on all that was released before."""
    task = Task(1.0, 1e-3, queries, answers, 3, 2, secure=secure)
    parameters = MECHANISM.calibrate(task, share=share, threshold=0.8)
    rows = MECHANISM.law.outcomes(both_counts(3), parameters, secure)
    most = dearest(rows)
    assert most(queries, answers, 1.0, task.epsilon) <= task.delta
    assert most(queries, answers, 1.0, 0.1) > task.delta


@pytest.mark.parametrize("task", [TASK, TWO], ids=["ten", "two"])
@pytest.mark.parametrize("noise", [Secure(), Seeded(np.random.default_rng(0))])
def test_outcomes_have_their_distribution(task, noise):
    task = replace(task, secure=noise.secure)
    parameters = replace(calibrated(task), threshold=25.0)
    row = ROW if task.n_classes > 2 else np.array([[30, 20]])
    chances = MECHANISM.law.outcomes(row, parameters, noise.secure)[0]
    drawn = MECHANISM.law.draw(np.tile(row, (6000, 1)), parameters, noise)
    observed = np.bincount(drawn + 1, minlength=task.n_classes + 1)
    assert 0.2 < chances[0] < 0.8
    assert stats.chisquare(observed, 6000 * chances / chances.sum()).pvalue > 1e-6


@pytest.mark.parametrize("noise", [Secure(), Seeded(np.random.default_rng(0))])
def test_a_release_stops_at_both_caps(noise):
    parameters = CheckedNoise(0.0, 1.0, 1.0, queries=30, labels=5)
    rows = np.tile([[6, 3]], (40, 1))
    released = release(MECHANISM, rows, parameters, noise)
    assert (released[:5] >= 0).all()
    assert (released[5:] == -1).all()
    some = replace(parameters, threshold=6.5, labels=29)
    released = release(MECHANISM, np.tile([[6, 3]], (4000, 1)), replace(some, queries=30), noise)
    assert 0 < (released[:30] >= 0).sum() < 30
    assert (released[30:] == -1).all()


def test_secure_labels_are_released_of_secure_parameters_alone():
    rows = np.tile(ROW, (100, 1))
    released = release(MECHANISM, rows, calibrated(replace(TASK, secure=True)), Secure())
    assert released.shape == (100,)
    with pytest.raises(ValueError, match="confident_gnmax_exact was calibrated for continuous"):
        release(MECHANISM, rows, calibrated(TASK), Secure())


@pytest.mark.parametrize("task", [TASK, TWO], ids=["ten", "two"])
def test_every_secure_label_is_charged_its_distance_from_continuous_noise(task):
    t, spare = np.exp([-0.3, 0.0, 0.3]), fine_distance(9.0, task.n_classes)
    label, noise = MECHANISM.law.law, GaussianNoise(9.0)
    plain = label.pairs(task, noise).excesses(t)
    charged = label.pairs(replace(task, secure=True), noise).excesses(t)
    assert (charged - plain)[:, 1].min() > 0.99 * spare
    error = MECHANISM.law.error(50, task.n_classes, CheckedNoise(5.0, 3.0, 9.0), secure=True)
    assert error["absolute_error"] >= spare


def test_a_search_guesses_about_what_is_found():
    for task in (TASK, TWO):
        guess, exact = (
            MECHANISM.guess(task, share=0.3, cap=0.5),
            MECHANISM.calibrate(task, share=0.3, cap=0.5),
        )
        assert (guess.queries, guess.labels) == (exact.queries, exact.labels)
        assert guess.sigma1 == pytest.approx(exact.sigma1, rel=0.03)
        assert guess.sigma2 == pytest.approx(exact.sigma2, rel=0.02)


def test_the_planner_sets_it_beside_what_the_counts_give():
    task = replace(TWO, queries=60, labels=40, n_teachers=51, epsilon=1.0)
    generator = np.random.default_rng(3)
    ones = generator.binomial(51, generator.beta(2, 2, 60))
    counts, labels = np.stack([51 - ones, ones], axis=1), (ones > 25).astype(int)
    names = ["confident_gnmax", "confident_gnmax_exact"]
    (row,) = ranking.plan(task, counts, labels, names)
    (alone,) = ranking.plan(task, counts, labels, names[:1])
    assert row.mechanism == "confident_gnmax_exact"
    assert row.correct > row.published == alone.correct > 0
    assert row.epsilon <= task.epsilon


def test_at_given_noise_it_is_the_published_mechanism():
    assert MECHANISM.name not in registry.aggregators()
    noise = {"confident": {"threshold": 5.0, "sigma1": 3.0, "sigma2": 2.0}, "student_score": 0.5}
    assert at_noise(MECHANISM, noise, 2) is None
    assert at_noise(COUNTED, noise, 2) is not None


def test_very_many_labels_are_refused():
    many = replace(TASK, queries=20_000, labels=10_001)
    assert MECHANISM.refusal(many) == "for at most 10,000 labels"
    assert MECHANISM.refusal(replace(many, labels=10_000)) is None


def test_secure_noise_that_is_not_proven_is_refused(monkeypatch):
    """Where no sigma1 is found continuous noise falls back on the counts' own, a lattice cannot."""
    monkeypatch.setattr(thresholds, "_least_noise", lambda *_: (math.inf, math.inf))
    task = replace(TWO, queries=30, labels=10)
    assert MECHANISM.calibrate(task).sigma2 == COUNTED.calibrate(task).sigma2
    with pytest.raises(ValueError, match="noise = secure: no noise of confident_gnmax_exact"):
        MECHANISM.calibrate(replace(task, secure=True))
