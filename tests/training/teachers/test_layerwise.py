"""layerwise: no bit depends on threads; every model is of the layers that it knows.

That the sums are Opacus', for every model: test_stacked.
"""

import pytest
import torch
from torch import nn

from private_ensembles.training.teachers.layerwise import LayerwiseGradients
from private_ensembles.training.teachers.models import MODELS, build_model
from private_ensembles.training.teachers.stacked import stack_parameters


@pytest.mark.parametrize("name", ["darrm_cnn", "mnist_cnn", "svhn_cnn"])
def test_no_bit_depends_on_the_number_of_threads(name):
    source = torch.Generator().manual_seed(0)
    shape = (32, 32, 3) if name == "svhn_cnn" else (28, 28)
    images = torch.randint(0, 256, (200, *shape), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 10, (200,), generator=source)
    models = [build_model(name, shape, 10, seed) for seed in range(3)]
    batches = [torch.arange(n) for n in (32, 45, 150)]
    found, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            way = LayerwiseGradients(models[0], images, labels, pixel_max=255, max_grad_norm=0.7)
            found.append(way(stack_parameters(models), batches))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


@pytest.mark.parametrize("name", MODELS)
def test_all_layers_with_parameters_are_known_and_their_norms_are_trusted(name):
    """`training.CLIPPED_NORM` supposes at most 2^13 numbers in a row of a kernel."""
    for layer in MODELS[name]((32, 32, 3), 10):
        if type(layer) is nn.Conv2d:
            kind = (layer.stride, layer.dilation, layer.groups, layer.padding_mode)
            assert kind == ((1, 1), (1, 1), 1, "zeros")
            assert not isinstance(layer.padding, str)
            assert layer.out_channels * layer.in_channels * layer.kernel_size[1] <= 2**13
        else:
            assert type(layer) is nn.Linear or not list(layer.parameters())
        assert getattr(layer, "bias", 0) is not None
