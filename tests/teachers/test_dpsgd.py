"""dpsgd: the mechanism that is run is the one that is accounted for."""

import copy

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector

from private_ensembles.teachers.dpsgd import poisson_batch, train_private_teacher
from private_ensembles.teachers.models import build_model
from private_ensembles.teachers.sources import SeededTensors
from private_ensembles.teachers.training import PrivateTraining

SETTINGS = {
    "noise_multiplier": 12.0,
    "max_grad_norm": 1.0,
    "batch_size": 4,
    "epochs": 2,
    "learning_rate": 0.03,
}


def records(n, side=8):
    source = torch.Generator().manual_seed(0)
    images = torch.rand(n, 1, side, side, generator=source)
    return images, torch.randint(0, 2, (n,), generator=source)


def vector(state):
    return torch.cat([tensor.flatten() for tensor in state.values()])


def train(model, images, labels, noise_seed=2, **changes):
    training = PrivateTraining(**(SETTINGS | changes))
    sources = {"sampling": SeededTensors(1), "noise": SeededTensors(noise_seed)}
    return vector(train_private_teacher(model, images, labels, training, **sources))


@pytest.mark.parametrize("name", ["darrm_cnn", "linear"])
@pytest.mark.parametrize("clip", [0.05, 0.5, 1e6])
def test_one_step_is_the_sum_of_clipped_gradients_over_the_expected_batch(name, clip):
    images, labels = records(6)
    model = build_model(name, (8, 8), 2, seed=3)
    start = parameters_to_vector(model.parameters()).detach().clone()
    total = torch.zeros_like(start)
    for image, label in zip(images, labels, strict=True):  # one record at a time, by autograd
        loss = cross_entropy(model(image[None]), label[None])
        gradient = parameters_to_vector(torch.autograd.grad(loss, list(model.parameters())))
        total += gradient * min(1.0, clip / gradient.norm().item())
    # batch_size >= N: every record is in the one batch, and N is the expected batch size
    end = train(
        model, images, labels, noise_multiplier=0, max_grad_norm=clip, batch_size=6, epochs=1
    )
    assert torch.allclose(end, start - 0.03 * total / 6, atol=2e-6)


def test_layout_of_images_in_memory_makes_no_difference():
    # Opacus 1.6 by itself computes other gradients for channels-last images.
    images = torch.rand(6, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(6) % 2
    ends = [
        train(build_model("svhn_cnn", (8, 8, 3), 2), layout, labels, noise_multiplier=0)
        for layout in (images, images.contiguous(memory_format=torch.channels_last))
    ]
    assert torch.equal(*ends)


def test_divisor_is_the_expected_batch_size_and_not_the_drawn_one():
    images, labels = records(10)
    model = build_model("linear", (8, 8), 2)
    start = parameters_to_vector(model.parameters()).detach().clone()
    same = copy.deepcopy(model)
    ends = [
        train(
            m, images, labels, noise_multiplier=0, max_grad_norm=1e6, batch_size=99, epochs=1, **k
        )
        for m, k in ((model, {}), (same, {"shard_size": 40}))
    ]
    # the same ten records in the batch; the public shard size says to divide by 40
    assert torch.allclose(ends[1] - start, (ends[0] - start) / 4, atol=1e-7)


def test_empty_batches_get_the_same_noise_as_others():
    model = build_model("linear", (28, 28), 2)
    start = parameters_to_vector(model.parameters()).detach().clone()
    none = torch.zeros(0, 1, 28, 28), torch.zeros(0, dtype=torch.int64)
    end = train(model, *none, batch_size=32, epochs=5, shard_size=1024)
    # a sum of 160 noises of deviation 12, times the learning rate, over the expected batch of 32
    expected = 0.03 * 12 / 32 * 160**0.5
    moved = (end - start) / expected
    n = len(moved)
    assert abs(moved.mean()) < 5 / n**0.5
    assert abs(moved.square().mean() - 1) < 5 * (2 / n) ** 0.5


def test_noise_is_the_only_difference_that_its_seed_makes():
    images, labels = records(12)
    runs = {
        seed: train(build_model("linear", (8, 8), 2), images, labels, noise_seed=seed)
        for seed in (2, 3)
    }
    noiseless = [
        train(build_model("linear", (8, 8), 2), images, labels, noise_multiplier=0, noise_seed=seed)
        for seed in (2, 3)
    ]
    assert not torch.equal(runs[2], runs[3])
    assert torch.equal(*noiseless)


@pytest.mark.parametrize("name", ["darrm_cnn", "linear"])
def test_training_repeats_exactly_and_leaves_the_global_generator_alone(name):
    images, labels = records(12)
    before = torch.get_rng_state()
    first, again = (train(build_model(name, (8, 8), 2), images, labels) for _ in range(2))
    assert torch.equal(first, again)
    assert torch.equal(before, torch.get_rng_state())


def test_batches_draw_every_record_independently_at_the_sample_rate():
    source = SeededTensors(0)
    draws, n, rate = 4000, 50, 1 / 16
    drawn = torch.zeros(draws, n)
    for row in drawn:
        row[poisson_batch(n, rate, source)] = 1
    deviation = (rate * (1 - rate) / draws) ** 0.5
    assert (drawn.mean(0) - rate).abs().max() < 5 * deviation
    sizes = drawn.sum(1)
    variance = n * rate * (1 - rate)  # a binomial size: no fixed batch, no dependence
    assert abs(sizes.var() / variance - 1) < 5 * (2 / draws) ** 0.5
    assert (sizes == 0).any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise_multiplier": -1}, "noise_multiplier = -1: must be a finite number >= 0"),
        ({"max_grad_norm": 0}, "max_grad_norm = 0"),
        ({"learning_rate": float("nan")}, "learning_rate = nan"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"epochs": 1.5}, "epochs = 1.5"),
        ({"learning_rate": 1e38, "epochs": 20}, "training diverged"),
    ],
)
def test_impossible_training_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        train(build_model("linear", (8, 8), 2), *records(8), **changes)
