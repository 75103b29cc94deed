"""What every mechanism inherits: its refusals, the cap on labels, what a table shows of it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.laws.gaussian import GaussianNoise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.mechanisms.release import release, release_votes
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise.sources import Seeded
from private_ensembles.votes.cache import Votes

NAMES = registry.offered()


BASE = Task(
    epsilon=1.0, delta=1e-5, queries=60, labels=40, n_teachers=9, n_classes=2, teacher_epsilon=0.3
)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_argument_of_calibrate_is_a_type_error(name):
    with pytest.raises(TypeError, match=f"{name}: calibrate takes .*, not capp"):
        load(name).calibrate(BASE, capp=0.5)


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_the_task_s_and_no_argument_of_calibrate(name):
    with pytest.raises(TypeError, match="not labels"):
        load(name).calibrate(BASE, labels=37)
    with pytest.raises(TypeError, match="labels"):
        load(name).cost(BASE, load(name).calibrate, labels=37)


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
        load(name).calibrate(BASE, **free)


@pytest.mark.parametrize("name", sorted(set(sorted(registry.entries())) - set(NAMES)))
def test_noise_that_is_given_keeps_no_budget(name):
    mechanism = load(name)
    assert mechanism.refusal(BASE)
    with pytest.raises(ValueError, match="its noise is given"):
        mechanism.calibrate(BASE)


def test_a_cap_is_a_share_of_the_labels_wanted_and_at_least_one():
    gnmax = load("gnmax")
    assert [gnmax.calibrate(BASE, cap=cap).labels for cap in (1.0, 0.5, 0.001)] == [40, 20, 1]


def test_no_label_is_released_beyond_those_paid_for():
    gnmax = load("gnmax")
    parameters = gnmax.calibrate(replace(BASE, labels=3))
    counts = np.tile([9, 0], (5, 1))
    released = release(gnmax, counts, parameters, Seeded(np.random.default_rng(0)))
    assert released[3:].tolist() == [-1, -1]
    assert (released[:3] >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_counts_of_other_teachers_than_it_was_calibrated_for_are_refused(name):
    """They would be released at a cost that nobody proved."""
    mechanism = load(name)
    private = mechanism.entry.teachers == "private"
    task = replace(
        BASE,
        labels=1,
        privacy_model=sorted(mechanism.entry.privacy_models)[-1 if name == "committee" else 0],
        adjacency="add_remove" if private else "replace_one",
    )
    parameters = mechanism.calibrate(task)
    noise = Seeded(np.random.default_rng(0))
    assert release(mechanism, np.array([[9, 0]]), parameters, noise).shape == (1,)
    bad = [
        ([[9, 1]], "add up to 10 to 10: must add up to the 9 teachers"),
        ([[4, 4]], "add up to 8 to 8: must add up to the 9 teachers"),
        ([[10, -1]], "must be numbers of votes, at least 0"),
        ([[4.5, 4.5]], "must be integers"),
    ]
    for counts, message in bad:
        with pytest.raises(ValueError, match=message):
            release(mechanism, np.array(counts), parameters, noise)
    if mechanism.name != "committee":
        with pytest.raises(ValueError, match="add up to 8 to 9"):
            release(mechanism, np.array([[9, 0], [4, 4]]), parameters, noise)
    votes = Votes(2, np.array([-1]), np.zeros((1, 8), np.uint8))
    with pytest.raises(ValueError, match=r"9 (teachers|of whom)"):
        release_votes(mechanism, votes, parameters, noise)


def test_counts_of_no_given_size_must_be_of_one_size():
    given = GaussianNoise(3.0, 5)
    noise = Seeded(np.random.default_rng(0))
    assert release(load("gnmax"), np.array([[2, 0]]), given, noise).shape == (1,)
    with pytest.raises(ValueError, match="add up to 2 to 3"):
        release(load("gnmax"), np.array([[2, 0], [3, 0]]), given, noise)
    with pytest.raises(ValueError, match="n_teachers = 1000001: must be at most 1,000,000"):
        release(load("gnmax"), np.array([[1_000_000, 1]]), given, noise)


def test_a_table_shows_numbers_that_are_there():
    @dataclass(frozen=True)
    class Given(Parameters):
        sigma: float
        gamma: np.ndarray
        rate: float | None = None

    assert Given(2.0, np.ones(3)).shown() == {"sigma": 2.0}


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("name", ["gnmax", "gnmax_exact", "lnmax_improved", "exponential"])
def test_what_is_right_is_an_entry_of_the_distribution(name, secure, n_classes):
    mechanism = load(name)
    task = Task(2.0, 1e-5, 20, 20, 30, n_classes)
    parameters = mechanism.calibrate(task)
    drawn = np.random.default_rng(4)
    counts = drawn.multinomial(30, np.full(n_classes, 1 / n_classes), size=40)
    labels = drawn.integers(0, n_classes, 40)
    table = mechanism.law.distribution(counts, parameters, secure)
    found = mechanism.law.right(counts, labels, parameters, secure)
    np.testing.assert_allclose(found, table[np.arange(40), labels], rtol=1e-13)
    wanted = (table.sum() / 2, table[np.arange(40), labels].sum() / 2)  # 20 labels, 40 queries
    secured = replace(task, secure=secure)
    assert mechanism.law.expected(counts, labels, secured, parameters) == pytest.approx(wanted)


@pytest.mark.parametrize("name", ["ladder", "darrm_sub", "darrm_opt"])
def test_a_mechanism_of_two_classes_is_refused_beyond_them(name):
    mechanism = load(name)
    task = replace(
        BASE, queries=1, labels=1, privacy_model=sorted(mechanism.entry.privacy_models)[0]
    )
    assert mechanism.refusal(task) is None
    assert mechanism.refusal(replace(task, n_classes=3)) == "for two classes only"
