"""Models for which Opacus' gradients of single records are wrong without an error are refused."""

import copy

import pytest
import torch
from opacus.grad_sample import GradSampleModule
from torch import nn

from private_ensembles.training.teachers import record_gradients
from private_ensembles.training.teachers.dpsgd import train_private_teacher
from private_ensembles.training.teachers.models import MODELS, build_model
from private_ensembles.training.teachers.record_gradients import (
    require_opacus_gradients,
    require_plain_layers,
)
from private_ensembles.training.teachers.sources import SeededTensors
from private_ensembles.training.teachers.training import PrivateTraining

SHAPE = (1, 8, 8)


class Ids(nn.Module):
    """Numbers of words out of pixels."""

    def forward(self, images):
        return (images.flatten(1) * 5).long()


class Function(nn.Module):
    """A function without weights, as a layer."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, values):
        return self.function(values)


class UsedTwice(nn.Module):
    """A layer whose weights are also used by a function, which Opacus' hooks do not see."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 64)

    def forward(self, images):
        values = images.flatten(1)
        return self.linear(values) + values @ self.linear.weight


class Bags(nn.Module):
    """Sums of words, of which some stand in a record more than once."""

    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(5, 3, mode="sum")

    def forward(self, words):
        starts = torch.arange(0, words.numel(), words.shape[1])
        return self.bag(words.flatten(), starts)


def convolution(**settings):
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1, **settings), nn.Flatten(), nn.Linear(256, 3))


def embedding(**settings):
    return nn.Sequential(Ids(), nn.Embedding(5, 3, **settings), nn.Flatten(), nn.Linear(192, 3))


def lengthened(function, *layers):
    return nn.Sequential(Function(function), *layers)


# What Opacus 1.6 gets wrong, and what the message says.
WRONG = {
    **{
        mode: (convolution(padding_mode=mode), rf"layer 0 \(Conv2d\): .* padding_mode = '{mode}'")
        for mode in ("reflect", "replicate", "circular")
    },
    "one dimension": (
        lengthened(
            lambda x: x.flatten(2),
            nn.Conv1d(1, 2, 3, padding=1, padding_mode="circular"),
            nn.Flatten(),
            nn.Linear(128, 3),
        ),
        r"layer 1 \(Conv1d\)",
    ),
    "by frequency": (
        embedding(scale_grad_by_freq=True),
        r"layer 1 \(Embedding\): .* scale_grad_by_freq = True",
    ),
    "padding index": (embedding(padding_idx=1), r"layer 1 \(Embedding\): .* padding_idx = 1"),
    "channels last": (
        lengthened(
            lambda x: x.reshape(-1, 4, 4, 4).permute(0, 3, 1, 2),
            nn.Conv2d(4, 2, 3),
            nn.Flatten(),
            nn.Linear(8, 3),
        ),
        r"layer 1 \(Conv2d\): Opacus' gradients of weight are not those of single records",
    ),
    "rows taken for records": (
        lengthened(
            lambda x: x.reshape(-1, 8),
            nn.Linear(8, 3),
            Function(lambda x: x.reshape(-1, 8, 3).sum(1)),
        ),
        r"layer 1 \(Linear\): Opacus' gradients of",
    ),
    "records in the second dimension": (
        lengthened(
            lambda x: x.flatten(1, 2).transpose(0, 1),
            nn.Linear(8, 3),
            Function(lambda x: x.transpose(0, 1).sum(1)),
        ),
        r"layer 1 \(Linear\): Opacus' gradients of",
    ),
    "records that are mixed": (
        lengthened(lambda x: x.flatten(1) - x.flatten(1).mean(0), nn.Linear(64, 3)),
        r"layer 1 \(Linear\): Opacus' gradients of weight",
    ),
    "a norm over the batch": (
        nn.Sequential(nn.BatchNorm2d(1, affine=False), convolution()),
        r"layer 1.0 \(Conv2d\): Opacus' gradients of",
    ),
    "a word that stands twice": (
        lengthened(lambda x: (x.flatten(1) * 5).long(), Bags()),
        r"layer 1.bag \(EmbeddingBag\): Opacus' gradients of",
    ),
    "weights used elsewhere": (UsedTwice(), r"layer linear \(Linear\): .* nothing else may use"),
}
RIGHT = {
    "linear": build_model("linear", SHAPE[1:], 3),
    "stride, dilation, groups": nn.Sequential(
        nn.Conv2d(1, 4, 3, stride=2, padding=2),
        nn.Conv2d(4, 4, 2, dilation=2, groups=2, bias=False),
        nn.Flatten(),
        nn.LazyLinear(3),
    ),
    "norms": nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.Flatten(), nn.LayerNorm(144), nn.Linear(144, 3)
    ),
    "words": embedding(max_norm=1.0),
    "one layer twice": (lambda layer: nn.Sequential(nn.Flatten(), layer, nn.Tanh(), layer))(
        nn.Linear(64, 64)
    ),
    "dropout": nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 3)),
}
RIGHT["stride, dilation, groups"](torch.zeros(2, *SHAPE))  # now it has all weights


@pytest.mark.parametrize("name", WRONG)
def test_layers_that_opacus_gets_wrong_are_refused_by_name(name):
    model, message = WRONG[name]
    images = torch.rand(4, *SHAPE, generator=torch.Generator().manual_seed(0))
    training = PrivateTraining(1.0, 1.0, batch_size=2, epochs=1, learning_rate=0.1)
    sources = {"sampling": SeededTensors(0), "noise": SeededTensors(1)}
    with pytest.raises(ValueError, match=message):
        train_private_teacher(
            copy.deepcopy(model), images, torch.zeros(4, dtype=torch.int64), training, **sources
        )


@pytest.mark.parametrize("name", [name for name in WRONG if name not in ("padding index",)])
def test_opacus_itself_says_nothing(name):
    """And is wrong: the day that it is right or refuses, the row above can go."""
    model = copy.deepcopy(WRONG[name][0])
    images = torch.rand(3, *SHAPE, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2])
    found = record_gradients._opacus_gradients(copy.deepcopy(model), images, labels)
    single = [record_gradients._gradients(model, images[[i]], labels[[i]]) for i in range(3)]
    wrong = [
        parts.shape[0] != 3
        or bool((parts - torch.stack([part[key] for part in single])).abs().max() > 1e-2)
        for key, parts in found.items()
    ]
    assert any(wrong)


def test_opacus_gives_the_padding_index_a_gradient():
    """PyTorch leaves that row of weights as it is."""
    model = embedding(padding_idx=1)
    other = copy.deepcopy(model)
    wrapped = GradSampleModule(other, loss_reduction="sum")
    images = torch.full((2, *SHAPE), 0.3)  # all words are number 1
    wrapped(images).sum().backward()
    model(images).sum().backward()
    assert model[1].weight.grad[1].abs().max() == 0
    assert other[1].weight.grad_sample[:, 1].abs().max() > 1e-3


@pytest.mark.parametrize("name", RIGHT)
def test_layers_that_opacus_gets_right_are_taken(name):
    model = RIGHT[name]
    before = copy.deepcopy(model.state_dict())
    state = torch.get_rng_state()
    require_opacus_gradients(model, SHAPE)
    assert torch.equal(state, torch.get_rng_state())
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
    assert not any(hasattr(parameter, "grad_sample") for parameter in model.parameters())


def test_frozen_layers_stay_as_they_are_and_one_must_be_trained():
    """As in a network whose first layers were trained on public data."""
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.Tanh(), nn.Linear(8, 3))
    for parameter in model[1].parameters():
        parameter.requires_grad_(False)
    before = copy.deepcopy(model.state_dict())
    images = torch.rand(4, *SHAPE, generator=torch.Generator().manual_seed(0))
    labels = torch.zeros(4, dtype=torch.int64)
    training = PrivateTraining(1.0, 1.0, batch_size=2, epochs=1, learning_rate=0.1)
    sources = {"sampling": SeededTensors(0), "noise": SeededTensors(1)}
    after = train_private_teacher(model, images, labels, training, **sources)
    stayed = {name for name, value in after.items() if torch.equal(value, before[name])}
    assert stayed == {"1.weight", "1.bias"}
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    with pytest.raises(ValueError, match="must have parameters that are trained; all are frozen"):
        train_private_teacher(model, images, labels, training, **sources)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (nn.Conv2d(1, 4, 3, stride=2), r"layer 0 \(Conv2d\): stride = \(2, 2\): must be \(1, 1\)"),
        (nn.Conv2d(1, 4, 3, dilation=2), r"dilation = \(2, 2\)"),
        (nn.Conv2d(2, 4, 3, groups=2), "groups = 2: must be 1"),
        (nn.Conv2d(1, 4, 3, padding=1, padding_mode="reflect"), "padding_mode = 'reflect'"),
        (nn.Conv2d(1, 4, 3, padding="same"), "padding must be two numbers"),
        (nn.Conv2d(1, 4, 3, bias=False), "must have a bias"),
        (nn.Linear(3, 3, bias=False), r"layer 0 \(Linear\): must have a bias"),
        (nn.Conv1d(1, 4, 3), r"layer 0 \(Conv1d\): .* use backend: opacus"),
        (nn.LayerNorm(5), "LayerNorm"),
    ],
)
def test_together_teachers_have_layers_whose_gradients_are_known(layer, message):
    with pytest.raises(ValueError, match=message):
        require_plain_layers(nn.Sequential(layer))


@pytest.mark.parametrize("name", MODELS)
def test_our_models_can_be_trained_either_way(name):
    model = build_model(name, (32, 32, 3), 10)
    require_plain_layers(model)
    require_opacus_gradients(model, (3, 32, 32))
