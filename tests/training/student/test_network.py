"""Networks on images: layers, layout, distortions and scores; the seed decides the weights."""

import numpy as np
import pytest
import torch
from torch.nn.functional import conv2d, leaky_relu, max_pool2d

from private_ensembles.training.student import network as student_images
from private_ensembles.training.student.network import (
    distort,
    network_scores,
    student_cnn,
    to_channels_first,
    train_network,
)
from private_ensembles.training.student.training import Conditions, Training

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
