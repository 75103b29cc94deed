"""The students' network takes many sizes, and its seed decides its weights."""

import pytest
import torch
from torch.nn.functional import conv2d, leaky_relu, max_pool2d

from private_ensembles.student.networks import student_cnn


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
