"""models: the paper's network, and the same weights from the same seed."""

import pytest
import torch
from torch.nn.functional import max_pool2d

from private_ensembles.training.teachers.models import (
    MODELS,
    MaxPool2x2,
    build_model,
    darrm_cnn,
    mnist_cnn,
)


def test_darrm_cnn_has_the_papers_layers():
    shapes = [tuple(p.shape) for p in darrm_cnn((28, 28), 2).parameters()]
    assert shapes == [(16, 1, 5, 5), (16,), (32, 16, 5, 5), (32,), (2, 1568), (2,)]


def test_mnist_cnn_sees_every_pixel_through_two_convolutions():
    shapes = [tuple(p.shape) for p in mnist_cnn((28, 28), 10).parameters()]
    assert shapes == [(16, 1, 5, 5), (16,), (32, 16, 5, 5), (32,), (10, 512), (10,)]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("shape", [(16, 17), (20, 18, 3)])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_models_give_one_row_of_logits_per_image(name, shape, n):
    channels = shape[2] if len(shape) == 3 else 1
    images = torch.zeros(n, channels, *shape[:2])
    assert build_model(name, shape, 3)(images).shape == (n, 3)


@pytest.mark.parametrize("name", MODELS)
def test_models_have_no_state_but_their_parameters(name):
    # The gradient of one record must not depend on the others.
    model = build_model(name, (16, 16), 3)
    assert list(model.state_dict()) == [key for key, _ in model.named_parameters()]
    images = torch.rand(5, 1, 16, 16, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(model.train()(images)[2:3], model(images[2:3]), atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_weights_follow_the_seed_and_leave_the_global_generator_alone(name):
    before = torch.get_rng_state()
    first, again, other = (
        torch.nn.utils.parameters_to_vector(build_model(name, (16, 16), 2, s).parameters())
        for s in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.get_rng_state())


def test_unknown_model_and_too_small_images_are_refused():
    with pytest.raises(ValueError, match="model = 'resnet': must be one of darrm_cnn, mnist_cnn"):
        build_model("resnet", (8, 8), 2)
    for name, shape, least in (
        ("darrm_cnn", (3, 8), "4x4"),
        ("mnist_cnn", (28, 15), "16x16"),
        ("svhn_cnn", (2, 32, 3), "4x4"),
    ):
        with pytest.raises(ValueError, match=f"{name} needs at least {least} pixels"):
            build_model(name, shape, 2)


@pytest.mark.parametrize("shape", [(2, 3, 8, 8), (1, 2, 9, 7), (0, 2, 4, 4), (2, 1, 2, 300)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("order", [torch.contiguous_format, torch.channels_last])
def test_pooling_and_its_gradient_are_pytorchs_bit_for_bit_ties_included(shape, dtype, order):
    source = torch.Generator().manual_seed(0)
    # four different values: most squares have ties
    images = torch.randint(-1, 3, shape, generator=source).to(dtype, memory_format=order)
    images.requires_grad_()
    ours, theirs = MaxPool2x2()(images), max_pool2d(images.contiguous(), 2)
    assert torch.equal(ours, theirs)
    gradient = torch.randn(ours.shape, generator=source, dtype=dtype)
    assert torch.equal(*(torch.autograd.grad(y, images, gradient)[0] for y in (ours, theirs)))
    with torch.no_grad():
        assert torch.equal(MaxPool2x2()(images), theirs)
