"""voting: one vote per teacher and query."""

import numpy as np
import pytest
import torch

from private_ensembles.base.progress import Meter
from private_ensembles.training.teachers.device import scale_pixels
from private_ensembles.training.teachers.models import build_model
from private_ensembles.training.teachers.voting import cast_votes

IMAGES = np.random.default_rng(0).integers(0, 17, (60, 8, 8)).astype(np.uint8)


def teachers():
    return [build_model("linear", (8, 8), 2, seed).state_dict() for seed in range(3)]


def test_votes_are_the_largest_logits_one_column_per_teacher():
    ensemble = teachers()
    votes = cast_votes(ensemble, IMAGES, model="linear", pixel_max=16, n_classes=2, batch_size=7)
    inputs = scale_pixels(torch.from_numpy(IMAGES), 16).flatten(1)
    assert votes.dtype == np.uint8
    for i, teacher in enumerate(ensemble):
        logits = inputs @ teacher["1.weight"].T + teacher["1.bias"]
        assert np.array_equal(votes[:, i], logits.argmax(1).numpy())


def test_meter_counts_teachers():
    lines = []
    meter = Meter(3, "teachers", say=None, log=lines.append)
    cast_votes(teachers(), IMAGES, model="linear", pixel_max=16, n_classes=2, meter=meter)
    meter.finish()
    assert lines[0].startswith("3 teachers in ")


def test_teacher_that_cannot_vote_is_named():
    ensemble = teachers()
    with pytest.raises(ValueError, match="teacher 0 does not fit model darrm_cnn"):
        cast_votes(ensemble, IMAGES, model="darrm_cnn", pixel_max=16, n_classes=2)
    ensemble[1]["1.bias"][0] = float("nan")
    with pytest.raises(ValueError, match="teacher 1: logits are not finite"):
        cast_votes(ensemble, IMAGES, model="linear", pixel_max=16, n_classes=2)


@pytest.mark.parametrize("model", ["darrm_cnn", "mlp"])
def test_votes_do_not_depend_on_the_size_of_the_batches(model):
    states = [build_model(model, (8, 8), 5, seed).state_dict() for seed in range(2)]
    how = {"model": model, "pixel_max": 16, "n_classes": 5}
    votes = [cast_votes(states, IMAGES, **how, batch_size=size) for size in (1, 7, 60)]
    assert np.array_equal(votes[0], votes[1])
    assert np.array_equal(votes[0], votes[2])
    assert votes[0].dtype == np.uint8
