"""training: what DP-SGD promises in public, and which trainings are refused."""

import math

import pytest

from private_ensembles.training.teachers.training import (
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
