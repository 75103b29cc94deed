"""What DP-SGD promises in public, which trainings are refused, and a source for each draw."""

import math

import pytest
import torch

from private_ensembles.training.teachers.sources import Randomness, SecureTensors, SeededTensors
from private_ensembles.training.teachers.training import (
    SOURCES,
    PlainTraining,
    PrivateTraining,
    build_training,
    poisson_schedule,
)

PLAIN = {"batch_size": 8, "epochs": 2, "learning_rate": 0.1}
PRIVATE = {"noise_multiplier": 12.0, "max_grad_norm": 1.0, **PLAIN}


def test_noise_and_momentum_may_be_zero():
    assert PrivateTraining(**(PRIVATE | {"noise_multiplier": 0})).noise_multiplier == 0
    assert PlainTraining(**PLAIN, momentum=0).momentum == 0


@pytest.mark.parametrize("kind", ["private", "plain"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learning_rate": 0}, "learning_rate = 0: must be a finite number > 0"),
        ({"learning_rate": math.nan}, "learning_rate = nan: must be a finite number > 0"),
        ({"batch_size": 0}, "batch_size = 0: must be an integer >= 1"),
        ({"epochs": 1.5}, r"epochs = 1\.5: must be an integer >= 1"),
        ({"momentum": math.inf}, "momentum = inf: must be a finite number >= 0"),
        ({"learning_rate_schedule": "cosine"}, "learning_rate_schedule = 'cosine': must be one of"),
        ({"noise_multiplier": -1}, "noise_multiplier = -1: must be a finite number >= 0"),
        ({"max_grad_norm": 0}, "max_grad_norm = 0: must be a finite number > 0"),
        ({"shard_size": 0}, "shard_size = 0: must be an integer >= 1"),
    ],
)
def test_impossible_trainings_are_refused(kind, change, message):
    parameters = (PRIVATE if kind == "private" else PLAIN) | change
    (name,) = change
    if name not in (PrivateTraining if kind == "private" else PlainTraining).__dataclass_fields__:
        message = f"{kind} teachers: unknown parameter {name}: must be one of batch_size, epochs"
    with pytest.raises(ValueError, match=message):
        build_training(kind, parameters)


def test_the_public_size_decides_about_steps_where_there_is_one():
    training = PrivateTraining(**PRIVATE, shard_size=80)
    assert training.schedule(3) == training.schedule(1000) == training.schedule(80)
    assert PrivateTraining(**PRIVATE).schedule(80) == training.schedule(3)


@pytest.mark.parametrize(
    ("n", "batch", "epochs", "rate", "steps"),
    [(1024, 32, 5, 1 / 32, 160), (1090, 32, 5, 1 / 35, 175), (10, 32, 3, 1.0, 3)],
)
def test_schedule_is_the_one_of_opacus(n, batch, epochs, rate, steps):
    schedule = poisson_schedule(n, batch, epochs)
    assert (schedule.sample_rate, schedule.steps) == (rate, steps)
    assert schedule.expected_batch_size == pytest.approx(n * rate)


def test_a_shard_without_records_has_no_schedule():
    with pytest.raises(ValueError, match="shard_size = 0: must be an integer >= 1"):
        PlainTraining(**PLAIN).steps(0)
    with pytest.raises(ValueError, match="shard_size = 0: must be an integer >= 1"):
        PrivateTraining(**PRIVATE).schedule(0)


def test_only_private_teachers_have_noise_and_only_theirs_is_secure():
    seeded, secure = Randomness(1), Randomness(1, noise="secure")
    assert SOURCES == {"private": ("sampling", "noise"), "plain": ("sampling",)}
    for name in SOURCES["private"]:
        assert isinstance(seeded.source("private", 0, name), SeededTensors)
        assert isinstance(secure.source("private", 0, name), SecureTensors)
    plain = (ways.source("plain", 0, "sampling") for ways in (seeded, secure))
    assert torch.equal(*(source.permutation(100) for source in plain))
    assert secure.initial_seed("private", 0) == seeded.initial_seed("private", 0)
    with pytest.raises(ValueError, match="noise = 'none'"):
        Randomness(1, noise="none")


def test_no_two_sources_of_an_ensemble_are_the_same():
    firsts = []
    for path in ((), ("other",)):
        randomness = Randomness(0, path)
        for kind, names in SOURCES.items():
            for teacher in range(3):
                weights = SeededTensors(randomness.initial_seed(kind, teacher))
                training = [randomness.source(kind, teacher, name) for name in names]
                firsts += [source.uniform(1).item() for source in (weights, *training)]
    assert len(set(firsts)) == len(firsts) == 2 * 3 * (3 + 2)


def test_a_source_is_fresh_each_time_that_it_is_asked_for():
    same = (Randomness(0).source("private", 1, "noise") for _ in range(2))
    assert torch.equal(*(source.uniform(5) for source in same))
