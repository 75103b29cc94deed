"""training: which trainings are refused."""

import math

import pytest

from private_ensembles.teachers.training import (
    PlainTraining,
    PrivateTraining,
    training_of,
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
        training_of(kind, parameters)


def test_the_public_size_decides_about_steps_where_there_is_one():
    training = PrivateTraining(**PRIVATE, shard_size=80)
    assert training.schedule(3) == training.schedule(1000) == training.schedule(80)
    assert PrivateTraining(**PRIVATE).schedule(80) == training.schedule(3)
