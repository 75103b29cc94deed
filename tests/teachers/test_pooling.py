"""pooling: another way to the same numbers."""

import pytest
import torch
from torch.nn.functional import max_pool2d

from private_ensembles.teachers.pooling import MaxPool2x2


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


def test_pooling_works_under_the_transforms_that_ensembles_need():
    images = torch.randn(3, 2, 4, 6, 6, generator=torch.Generator().manual_seed(0))

    def gradient(pool):
        def loss(one):
            return pool(one[None]).square().sum()

        return torch.func.vmap(torch.func.vmap(torch.func.grad(loss)))(images)

    assert torch.equal(gradient(MaxPool2x2()), gradient(lambda one: max_pool2d(one, 2)))
