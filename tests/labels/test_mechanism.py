"""A law with its account: what is refused, and which parameters a budget is found for."""

import contextlib
import time
from dataclasses import replace

import pytest

from private_ensembles.labels import registry
from private_ensembles.labels.accounts.label import LabelAccount
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

NAMES = registry.offered_mechanisms()


BASE = Task(Ensemble(9, 2, private=Budget(0.3, 0.0)), Budget(1.0, 1e-5), Wanted(40, 60))


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_argument_of_calibrate_is_a_type_error(name):
    with pytest.raises(TypeError, match=f"{name}: calibrate takes .*, not capp"):
        load_mechanism(name).calibrate(BASE, capp=0.5)


@pytest.mark.parametrize(
    ("name", "free", "allowed"),
    [
        ("gnmax", {"cap": -0.1}, r"cap = -0.1: must be in \[0, 1.0\]"),
        ("ladder", {"leak": 2.0}, r"leak = 2.0: must be in \[0, 1.0\]"),
        ("confident_gnmax", {"share": 1.0}, r"share = 1.0: must be in \[0, 0.9\]"),
        ("confident_gnmax", {"share": 0.0}, "share = 0: must be above 0"),
        ("confident_gnmax", {"threshold": float("nan")}, "threshold = nan: must be in"),
    ],
)
def test_an_argument_of_calibrate_outside_its_range_is_named(name, free, allowed):
    with pytest.raises(ValueError, match=allowed):
        load_mechanism(name).calibrate(BASE, **free)


@pytest.mark.parametrize("name", sorted(set(registry.entries()) - set(NAMES)))
def test_noise_that_is_given_keeps_no_budget(name):
    mechanism = load_mechanism(name)
    assert mechanism.refusal(BASE)
    with pytest.raises(ValueError, match="it is given, not found"):
        mechanism.calibrate(BASE)


def test_a_cap_is_a_share_of_the_labels_wanted_and_at_least_one():
    gnmax = load_mechanism("gnmax")
    assert [gnmax.calibrate(BASE, cap=cap).labels for cap in (1.0, 0.5, 0.001)] == [40, 20, 1]


TASK = Task(Ensemble(5, 2), Budget(0.5, 1e-3), Wanted(1))


def test_coins_that_cost_more_than_delta_are_refused(monkeypatch):
    flip = load_mechanism("permute_and_flip")
    less = flip.law.scale_noise(flip.calibrate(TASK), 0.999)
    monkeypatch.setattr(LabelAccount, "find_noise", lambda *arguments, **free: less)
    assert flip.calibrate(TASK) == less
    with pytest.raises(ValueError, match=r"delta = 0\.001: must be at least 0\.001"):
        flip.calibrate(replace(TASK, secure=True))


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("name", registry.entries())
def test_noise_of_a_single_teacher_is_found_in_seconds(name, secure):
    """One vote, a large epsilon, a tiny delta: curves are steep, and searches have far to go."""
    started = time.process_time()
    for classes in (2, 3):
        task = Task(Ensemble(1, classes), Budget(20.0, 1e-12), Wanted(2), secure=secure)
        if load_mechanism(name).refusal(task) is None:
            with contextlib.suppress(ValueError):  # of some, no secure noise is proven
                load_mechanism(name).calibrate(task)
    assert time.process_time() - started < 20
