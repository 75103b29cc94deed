"""layerwise: the same sums as in blocks; which models it takes, and that nothing else is.

That the sums are Opacus': test_stacked.
"""

import pytest
import torch
from torch import nn

from private_ensembles.teachers import layerwise
from private_ensembles.teachers.layerwise import LayerwiseGradients, applies
from private_ensembles.teachers.models import MODELS, build_model
from private_ensembles.teachers.stacked import Gradients, stack

SHAPE = (12, 11, 3)


def problem(build, lengths, dtype=torch.float64):
    source = torch.Generator().manual_seed(1)
    images = torch.randint(0, 256, (150, *SHAPE), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 4, (150,), generator=source)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        models = [build().to(dtype) for _ in lengths]
    batches = [torch.randperm(150, generator=source)[:length] for length in lengths]
    return models[0], images, labels, stack(models), batches


def sums(way, model, images, labels, parameters, batches, clip=0.7):
    found = way(model, images, labels, pixel_max=255, max_grad_norm=clip)
    return found(parameters, batches)


def oblong():
    """Kernels and margins that differ by direction, hidden layers, and pooling that leaves rest."""
    return nn.Sequential(
        nn.Conv2d(3, 5, (3, 2), padding=(0, 1)),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(5, 4, (1, 3), padding=(2, 0)),
        nn.Tanh(),
        nn.Flatten(1),
        nn.Linear(144, 6),
        nn.ReLU(),
        nn.Linear(6, 4),
    )


@pytest.mark.parametrize("piece", [1, 7, 64])
def test_sums_are_those_of_blocks_for_all_kinds_of_layers(piece, monkeypatch):
    monkeypatch.setattr(layerwise, "PIECE", piece)
    given = problem(oblong, (20, 0, 1, 130))
    assert applies(given[0], "cpu")
    ours, wanted = sums(LayerwiseGradients, *given), sums(Gradients, *given)
    assert (ours - wanted).abs().max() <= 1e-13 * wanted.abs().max()
    assert (ours[1] == 0).all()
    # some record was clipped, or the comparison would say nothing about clipping
    assert not torch.allclose(ours, sums(LayerwiseGradients, *given, clip=1e9), rtol=0.1)


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
            found.append(
                sums(LayerwiseGradients, models[0], images, labels, stack(models), batches)
            )
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def test_it_takes_every_model_on_a_cpu():
    assert all(applies(build_model(name, (32, 32), 3), "cpu") for name in MODELS)
    assert not applies(build_model("darrm_cnn", (28, 28), 2), "cuda")


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(3, 4, 3, stride=2),
        nn.Conv2d(3, 4, 3, dilation=2),
        nn.Conv2d(3, 3, 3, groups=3),
        nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"),
        nn.Conv2d(3, 4, 3, padding="same"),
        nn.Conv2d(3, 4, 3, bias=False),
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4)),
    ],
    ids=lambda layer: repr(layer).splitlines()[0],
)
def test_what_it_cannot_do_is_left_to_blocks(layer):
    parts = layer if isinstance(layer, nn.Sequential) else [layer]
    assert not applies(nn.Sequential(*parts, nn.Flatten(1), nn.Linear(8, 2)), "cpu")


def test_no_row_of_a_kernel_has_more_numbers_than_its_norm_is_trusted_with():
    """`schedule.CLIPPED_NORM` supposes at most 2^13."""
    for build in MODELS.values():
        for layer in build((32, 32, 3), 10):
            if type(layer) is nn.Conv2d:
                assert layer.out_channels * layer.in_channels * layer.kernel_size[1] <= 2**13
