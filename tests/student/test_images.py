"""Networks on images: layout, scores, and training that goes on after a kill."""

import numpy as np
import pytest
import torch

from private_ensembles.student.images import channels_first, network_scores, train_network
from private_ensembles.student.networks import student_cnn
from private_ensembles.student.training import Conditions, Training

POOL = np.random.default_rng(0).integers(0, 17, (24, 8, 8)).astype(np.uint8)
LABELS = np.arange(8) % 3
DEFAULTS = {"unlabelled": True, "pixel_max": 16}


def train(**more):
    training = Training(epochs=3, unlabelled_batch_size=16, widths=(4, 4, 4), checkpoint_every=1)
    way = {name: more.pop(name, value) for name, value in DEFAULTS.items()}
    conditions = Conditions(**{"seed": 0} | more)
    model, observed = train_network(POOL, np.arange(8), LABELS, 3, training, conditions, **way)
    return torch.cat([value.flatten() for value in model.state_dict().values()]), observed


def test_channels_come_first():
    grey, colour = POOL, np.repeat(POOL[..., None], 3, axis=3)
    assert channels_first(grey).shape == (24, 1, 8, 8)
    assert np.array_equal(channels_first(colour)[:, 2], POOL)
    for wrong in (POOL.astype(float), POOL[0], POOL[:0]):
        with pytest.raises(ValueError, match="images: "):
            channels_first(wrong)


def test_scores_are_probabilities_whatever_the_batch(monkeypatch):
    model = student_cnn((1, 8, 8), 3, widths=(4, 4, 4)).eval()
    whole = network_scores(model, POOL, 16)
    np.testing.assert_allclose(whole.sum(axis=1), 1, atol=1e-12)
    monkeypatch.setattr("private_ensembles.student.images._EVALUATION_BATCH", 5)
    np.testing.assert_allclose(network_scores(model, POOL, 16), whole, atol=1e-6)


def test_watching_the_network_does_not_change_it():
    watched, observed = train(observe=lambda scores: scores(POOL)[:, 0].mean())
    alone, nothing = train()
    assert torch.equal(watched, alone)
    assert (len(observed), nothing) == (3, [])


def test_a_killed_training_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr("private_ensembles.jobs.progress._EVERY", 0.0)

    class Killed(Exception):
        pass

    def die(message):
        if message.startswith("2 of 3"):
            raise Killed

    file, messages = tmp_path / "folder" / "checkpoint.pt", []
    with pytest.raises(Killed):
        train(checkpoint=file, progress=die)
    resumed, _ = train(checkpoint=file, progress=messages.append)
    assert messages[0] == "goes on after epoch 1 of 3"
    assert messages[-1].startswith("2 epochs in ")
    assert torch.equal(resumed, train()[0])
    assert not file.exists()
