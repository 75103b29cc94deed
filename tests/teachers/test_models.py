"""models: the paper's network, and the same weights from the same seed."""

import pytest
import torch

from private_ensembles.teachers.models import MODELS, build_model, darrm_cnn, mnist_cnn


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
