"""A law with its account: what is refused, and which parameters a budget is found for."""

import contextlib
from dataclasses import dataclass, replace

import numpy as np
import pytest

from private_ensembles.labels import registry
from private_ensembles.labels.accounts.label import LabelAccount
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

NAMES = registry.offered_mechanisms()


BASE = Task(Ensemble(9, 2, private=Budget(0.3, 0.0)), Budget(1.0, 1e-5), Wanted(40, 60))


def suited_task(name, **change):
    """The task, in a privacy model that the mechanism is for."""
    model = min(load_mechanism(name).guarantee.privacy_models)
    return Task.from_dict(BASE.to_dict() | {"privacy_model": model, **change})


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("gnmax", {"privacy_model": "shared_data"}, "private for disjoint_shards only"),
        (
            "exponential",
            {"secure": True, "queries": 10_001, "labels": 10_001},
            "has no sampler for secure noise beyond 10,000 labels of two classes",
        ),
        (
            "lnmax_pure",
            {"secure": True, "n_classes": 3},
            "has no sampler for secure noise beyond one label of two classes",
        ),
        ("ladder", {"n_classes": 3}, "for two classes only"),
        ("gnmax_exact", {"queries": 10_001, "labels": 10_001, "n_classes": 3}, "at most 10,000"),
        ("gnmax_exact", {"queries": 10_001, "labels": 10_001}, "for at most 10,000 labels"),
        ("ladder", {"queries": 10_001, "labels": 10_001}, "for at most 10,000 labels"),
        ("darrm_opt", {"n_classes": 3}, "for two classes only"),
        ("darrm_opt", {"n_teachers": 8}, "for an odd number of teachers"),
        ("darrm_opt", {"labels": 2}, "proven for one label: teachers that are trained once"),
        ("darrm_sub", {"teacher_epsilon": 0.6}, "one teacher costs (1.2, 0), more than"),
        ("darrm_sub", {"teacher_epsilon": None}, "needs teachers that are private"),
        ("majority_private", {"teacher_epsilon": None}, "needs teachers that are private"),
        ("majority_private", {"teacher_epsilon": 0.6}, "one teacher costs (1.2, 0), more than"),
        ("majority_private", {"teacher_Delta": 1e-4}, "one teacher costs (0.6, 0.000235)"),
        ("committee", {"teacher_epsilon": None}, "needs teachers that are private"),
        ("committee", {"teacher_epsilon": 0.6}, "one teacher costs (1.2, 0), more than"),
        ("committee", {"counts_only": True}, "needs each teacher's votes, not counts"),
        (
            "committee",
            {"privacy_model": "disjoint_shards"},
            "on disjoint shards all teachers together cost what one does: majority_private",
        ),
    ],
)
def test_what_does_not_apply_is_refused_with_the_reason(name, change, reason):
    assert load_mechanism(name).refusal(suited_task(name, labels=1)) is None
    assert reason in load_mechanism(name).refusal(suited_task(name, **change))


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


@pytest.mark.parametrize(
    ("classes", "secure"),
    [
        (2, True),
        *(
            pytest.param(*rest, marks=pytest.mark.slow)
            for rest in ((2, False), (3, False), (3, True))
        ),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_noise_of_a_single_teacher_is_found(name, classes, secure):
    """One vote, a large epsilon, a tiny delta: curves are steep, and searches have far to go."""
    mechanism = load_mechanism(name)
    task = Task(Ensemble(1, classes), Budget(20.0, 1e-12), Wanted(2), secure=secure)
    if mechanism.refusal(task) is None:
        with contextlib.suppress(ValueError):  # of some, no secure noise is proven
            cost = mechanism.cost(task, mechanism.calibrate(task))
            assert 0 < cost.proven <= cost.claimed <= 20.0


def test_a_table_shows_numbers_that_are_there():
    @dataclass(frozen=True)
    class Noise(Parameters):
        sigma: float
        gamma: np.ndarray
        rate: float | None = None

    assert Noise(2.0, np.ones(3)).table_values() == {"sigma": 2.0}
