"""Networks of students: layers, layout, scores, and the perturbation that smooths them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import conv2d, kl_div, leaky_relu, log_softmax, max_pool2d

from private_ensembles.training.student import network as student_images
from private_ensembles.training.student.network import (
    distort,
    network_scores,
    student_cnn,
    to_channels_first,
    train_network,
)
from private_ensembles.training.student.training import Conditions, Training
from private_ensembles.training.student.virtual_adversarial import (
    adversarial_perturbation,
    entropy,
    kl_divergence,
    normalise_rows,
    virtual_adversarial_loss,
)

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
    assert to_channels_first(grey).shape == (24, 1, 8, 8)
    assert np.array_equal(to_channels_first(colour)[:, 2], POOL)
    for wrong in (POOL.astype(float), POOL[0], POOL[:0]):
        with pytest.raises(ValueError, match="images: "):
            to_channels_first(wrong)


def test_scores_are_probabilities_whatever_the_batch(monkeypatch):
    model = student_cnn((1, 8, 8), 3, widths=(4, 4, 4)).eval()
    whole = network_scores(model, POOL, 16)
    np.testing.assert_allclose(whole.sum(axis=1), 1, atol=1e-12)
    monkeypatch.setattr("private_ensembles.training.student.network._EVALUATION_BATCH", 5)
    np.testing.assert_allclose(network_scores(model, POOL, 16), whole, atol=1e-6)


def test_watching_the_network_does_not_change_it():
    watched, observed = train(observe=lambda scores: scores(POOL)[:, 0].mean())
    alone, nothing = train()
    assert torch.equal(watched, alone)
    assert (len(observed), nothing) == (3, [])


@pytest.mark.parametrize("unlabelled", [True, False])
def test_the_order_of_weights_in_memory_changes_no_bit(monkeypatch, unlabelled):
    """And a student's tensors are contiguous, so that its file is that of contiguous weights."""

    def network():
        training, conditions = Training(epochs=2, unlabelled_batch_size=16), Conditions(seed=0)
        more = {"unlabelled": unlabelled, "pixel_max": 16}
        return train_network(POOL, np.arange(8), LABELS, 3, training, conditions, **more)[0]

    class AsItIs(torch.nn.Sequential):
        def to(self, *_, **__):
            return self

    taught = network().state_dict()
    monkeypatch.setattr(
        student_images, "student_cnn", lambda *shape, **more: AsItIs(student_cnn(*shape, **more))
    )
    for tensor, value in zip(network().state_dict().values(), taught.values(), strict=True):
        assert torch.equal(tensor, value)
        assert value.stride() == torch.empty(value.shape).stride()


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32), (1, 8, 8), (1, 5, 17), (1, 4, 4)])
def test_network_takes_images_of_many_sizes(shape):
    model = student_cnn(shape, 7, widths=(2, 3, 4), seed=5)
    assert model(torch.rand((2, *shape))).shape == (2, 7)
    before = torch.random.get_rng_state()
    again = student_cnn(shape, 7, widths=(2, 3, 4), seed=5)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(model[0].weight, again[0].weight)


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 17, 18), (1, 8, 8)])
def test_network_is_that_of_its_layers_with_contiguous_images(shape):
    """Pooling after the leaky ReLU, contiguous images: the same up to rounding, gradients too."""
    model = student_cnn(shape, 7, widths=(2, 3, 4), seed=5).double()
    source = torch.Generator().manual_seed(0)
    images = torch.rand((3, *shape), generator=source, dtype=torch.float64).requires_grad_()
    values, weights = images, list(model.parameters())
    strides = (2 if min(shape[1:]) >= 16 else 1, 1, 1)
    for layer, (stride, padding) in enumerate(zip(strides, (2, 1, 1), strict=True)):
        kernel, bias = weights[2 * layer : 2 * layer + 2]
        values = leaky_relu(conv2d(values, kernel, bias, stride, padding), 0.1).contiguous()
        if layer:
            values = max_pool2d(values, 2, ceil_mode=True)
    wanted = values.flatten(1) @ weights[6].T + weights[7]
    found = model(images)
    assert torch.allclose(found, wanted, rtol=0, atol=1e-13)
    direction = torch.randn(found.shape, generator=source, dtype=torch.float64)
    for ours, theirs in zip(
        *(torch.autograd.grad(y, [images, *weights], direction) for y in (found, wanted)),
        strict=True,
    ):
        assert torch.allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "n_classes", "widths", "name"),
    [
        ((1, 3, 8), 10, (1, 1, 1), "image_shape"),
        ((1, 8, 8), 1, (1, 1, 1), "n_classes"),
        ((1, 8, 8), 10, (1, 1), "widths"),
        ((1, 8, 8), 10, (1, 1, 0), "widths"),
    ],
)
def test_networks_out_of_range_are_refused(shape, n_classes, widths, name):
    with pytest.raises(ValueError, match=name):
        student_cnn(shape, n_classes, widths=widths)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_distortion_of_nothing_changes_nothing_and_shifts_move_the_image():
    images = torch.rand((3, 1, 8, 8), generator=generator())
    same = distort(images, generator(), shift=0.0, rotation=0.0, scale=0.0)
    torch.testing.assert_close(same, images)
    moved = distort(images, generator(), shift=0.3, rotation=0.2, scale=0.1)
    assert moved.shape == images.shape
    assert moved.min() >= 0
    assert moved.max() <= 1
    assert not torch.allclose(moved, images)
    assert torch.equal(moved, distort(images, generator(), shift=0.3, rotation=0.2, scale=0.1))


def setting(seed=0, n=32):
    model = student_cnn((1, 8, 8), 10, widths=(8, 8, 8), seed=seed)
    images = torch.rand((n, 1, 8, 8), generator=generator(seed))
    for parameter in model.parameters():  # predictions that are not all the same
        parameter.data.mul_(3)
    return model, images, log_softmax(model(images), dim=1).detach()


@settings(max_examples=5)
@given(st.integers(0, 2**32), st.floats(0.01, 10))
def test_perturbation_has_the_stated_norm(seed, radius):
    model, images, log_p = setting(seed)
    r = adversarial_perturbation(model, images, log_p, generator(seed), radius=radius, probe=0.01)
    assert r.shape == images.shape
    torch.testing.assert_close(
        r.flatten(1).norm(dim=1), torch.full((32,), radius), rtol=1e-5, atol=0
    )
    assert not r.requires_grad


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))]
)
def test_perturbation_moves_predictions_more_than_chance_does(seed):
    model, images, log_p = setting(seed, n=200)
    radius = 0.5
    r = adversarial_perturbation(model, images, log_p, generator(seed), radius=radius, probe=0.01)

    def moved(step):
        return kl_divergence(log_p, log_softmax(model(images + step), dim=1)).detach()

    chance = torch.stack(
        [
            moved(radius * normalise_rows(torch.randn(images.shape, generator=generator(100 + i))))
            for i in range(20)
        ]
    )
    assert (moved(r) > 0).all()
    assert moved(r).mean() > 2 * chance.mean()
    assert (moved(r) > chance.median(dim=0).values).float().mean() > 0.95


def test_a_model_that_never_moves_leaves_the_random_direction():
    images = torch.rand((4, 1, 8, 8), generator=generator())
    model = nn.Sequential(nn.Flatten(1), nn.Linear(64, 3))
    model[1].weight.data.zero_()
    log_p = log_softmax(model(images), dim=1)
    r = adversarial_perturbation(model, images, log_p.detach(), generator(), radius=2.0, probe=0.01)
    torch.testing.assert_close(r.flatten(1).norm(dim=1), torch.full((4,), 2.0))


def test_gradients_flow_through_the_perturbed_prediction_only():
    model, images, _ = setting()
    log_p = log_softmax(model(images), dim=1)
    loss = virtual_adversarial_loss(model, images, log_p, generator(), radius=1.0, probe=0.01)
    assert all(parameter.grad is None for parameter in model.parameters())
    loss.backward()
    seen = [parameter.grad.clone() for parameter in model.parameters()]
    r = adversarial_perturbation(model, images, log_p.detach(), generator(), radius=1.0, probe=0.01)
    model.zero_grad()
    kl_divergence(log_p.detach(), log_softmax(model(images + r), dim=1)).mean().backward()
    for mine, parameter in zip(seen, model.parameters(), strict=True):
        torch.testing.assert_close(mine, parameter.grad)


def test_divergence_and_entropy_are_pytorchs():
    logits = torch.randn((2, 50, 7), generator=generator(), dtype=torch.float64)
    log_p, log_q = log_softmax(logits, dim=2)
    expected = kl_div(log_q, log_p, log_target=True, reduction="none").sum(dim=1)
    torch.testing.assert_close(kl_divergence(log_p, log_q), expected)
    expected = torch.distributions.Categorical(logits=log_p).entropy()
    torch.testing.assert_close(entropy(log_p), expected)


def test_parameters_of_the_configuration_replace_defaults():
    training = Training.from_parameters({"epochs": 3, "widths": [2, 3, 4]})
    assert (training.epochs, training.widths) == (3, (2, 3, 4))
    assert training.batch_size == Training().batch_size


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epoch": 3}, "unknown parameter epoch: must be one of epochs, "),
        ({"batch_size": 1.5}, "batch_size = 1.5: must be an integer >= 1"),
        ({"checkpoint_every": 0}, "checkpoint_every = 0"),
        ({"probe": 0}, "probe = 0: must be a finite number > 0"),
        ({"adversarial_radius": float("nan")}, "adversarial_radius = nan"),
        ({"scale": -0.1}, "scale = -0.1: must be a finite number >= 0"),
    ],
)
def test_what_is_out_of_range_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        Training.from_parameters(parameters)
