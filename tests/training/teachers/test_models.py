"""Networks: the papers' layers, weights from a seed alone, one vote per teacher and query."""

import numpy as np
import pytest
import torch
from torch.nn.functional import max_pool2d

from private_ensembles.base.progress import Meter
from private_ensembles.training.initialisation import seeded_weights
from private_ensembles.training.teachers.device import scale_pixels
from private_ensembles.training.teachers.models import (
    MODELS,
    MaxPool2x2,
    build_model,
    darrm_cnn,
    mnist_cnn,
)
from private_ensembles.training.teachers.voting import cast_votes


def test_darrm_cnn_has_the_papers_layers():
    shapes = [tuple(p.shape) for p in darrm_cnn((28, 28), 2).parameters()]
    assert shapes == [(16, 1, 5, 5), (16,), (32, 16, 5, 5), (32,), (2, 1568), (2,)]


def test_mnist_cnn_sees_every_pixel_through_two_convolutions():
    shapes = [tuple(p.shape) for p in mnist_cnn((28, 28), 10).parameters()]
    assert shapes == [(16, 1, 5, 5), (16,), (32, 16, 5, 5), (32,), (10, 512), (10,)]


@pytest.mark.parametrize("name", MODELS)
def test_models_give_one_row_of_logits_per_image(name):
    for n, shape in ((0, (16, 17)), (3, (20, 18, 3))):
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


def weights(seed):
    with seeded_weights(seed):
        return torch.nn.Linear(3, 2).weight.detach()


def test_weights_are_those_of_the_seed_whatever_was_drawn_before():
    first = weights(7)
    torch.rand(5)
    assert torch.equal(first, weights(7))
    assert not torch.equal(first, weights(8))


def test_weights_are_those_that_pytorch_draws_after_its_own_seed():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        wanted = torch.nn.Linear(3, 2).weight
    assert torch.equal(weights(7), wanted)


def test_the_generator_of_the_process_goes_on_where_it_was():
    before = torch.random.get_rng_state()
    weights(7)
    assert torch.equal(before, torch.random.get_rng_state())
