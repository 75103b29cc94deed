"""Confident-GNMax by the account of thresholds and labels: continuous and secure noise."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels.accounts import thresholds
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.release_gate import release_from_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

MECHANISM = load_mechanism("confident_gnmax_exact")
COUNTED = load_mechanism("confident_gnmax")
TASK = Task(Ensemble(50, 10), Budget(2.0, 1e-5), Wanted(100, 400))
TWO = replace(TASK, ensemble=replace(TASK.ensemble, classes=2))


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
    # Thresholds take about their share: how nearly is a matter of time, and makes no labels wrong.
    assert parameters.sigma1 == pytest.approx(counted.sigma1, rel=0.06)
    cost = MECHANISM.cost(task, parameters)
    assert 0.999 * task.budget.epsilon < cost.proven == cost.claimed <= task.budget.epsilon
    assert parameters.continuous == (not secure)


@pytest.mark.parametrize("secure", [False, True])
def test_less_noise_costs_more_than_the_budget(secure):
    task = replace(TWO, secure=secure)
    parameters = calibrated(task)
    for factor in (0.99, 0.5):
        weaker = MECHANISM.law.scale_noise(parameters, factor)
        assert MECHANISM.cost(task, weaker).proven > task.budget.epsilon / math.sqrt(factor)
    for name in ("sigma1", "sigma2"):
        less = replace(parameters, **{name: 0.9 * getattr(parameters, name)})
        assert MECHANISM.cost(task, less).proven > task.budget.epsilon


def test_continuous_noise_never_costs_more_than_its_counts():
    for labels, share in ((1, 0.05), (1, 0.8), (3, 0.3)):
        task = replace(
            TWO, budget=replace(TWO.budget, epsilon=0.5), wanted=replace(TWO.wanted, labels=labels)
        )
        parameters, counted = calibrated(task, share), COUNTED.calibrate(task, share=share)
        assert parameters.sigma2 <= counted.sigma2
        assert MECHANISM.cost(task, counted).proven <= COUNTED.cost(task, counted).proven


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(np.random.default_rng(0))])
def test_a_release_stops_at_both_caps(noise):
    parameters = CheckedNoise(0.0, 1.0, 1.0, queries=30, labels=5)
    rows = np.tile([[6, 3]], (40, 1))
    released = release_from_counts(MECHANISM, rows, parameters, noise)
    assert (released[:5] >= 0).all()
    assert (released[5:] == -1).all()
    some = replace(parameters, threshold=6.5, labels=29)
    released = release_from_counts(
        MECHANISM, np.tile([[6, 3]], (4000, 1)), replace(some, queries=30), noise
    )
    assert 0 < (released[:30] >= 0).sum() < 30
    assert (released[30:] == -1).all()


def test_a_search_guesses_about_what_is_found():
    for task in (TASK, TWO):
        guess, exact = (
            MECHANISM.guess_parameters(task, share=0.3, cap=0.5),
            MECHANISM.calibrate(task, share=0.3, cap=0.5),
        )
        assert (guess.queries, guess.labels) == (exact.queries, exact.labels)
        assert guess.sigma1 == pytest.approx(exact.sigma1, rel=0.03)
        assert guess.sigma2 == pytest.approx(exact.sigma2, rel=0.02)


def test_very_many_labels_are_refused():
    many = replace(TASK, wanted=Wanted(10_001, 20_000))
    assert MECHANISM.refusal(many) == "for at most 10,000 labels"
    assert MECHANISM.refusal(replace(many, wanted=replace(many.wanted, labels=10_000))) is None


def test_secure_noise_that_is_not_proven_is_refused(monkeypatch):
    """Where no sigma1 is found continuous noise falls back on the counts' own, a lattice cannot."""
    monkeypatch.setattr(thresholds, "_least_noise", lambda *_: (math.inf, math.inf))
    task = replace(TWO, wanted=Wanted(10, 30))
    assert MECHANISM.calibrate(task).sigma2 == COUNTED.calibrate(task).sigma2
    with pytest.raises(ValueError, match="noise = secure: no noise of confident_gnmax_exact"):
        MECHANISM.calibrate(replace(task, secure=True))
