"""plain: ordinary SGD, learning and repeatable."""

import pytest
import torch

from private_ensembles.teachers.models import build_model
from private_ensembles.teachers.plain import train_plain_teacher
from private_ensembles.teachers.sources import SeededTensors
from private_ensembles.teachers.training import PlainTraining

SETTINGS = {"batch_size": 8, "epochs": 5, "learning_rate": 0.3}


def records(n=100):
    """Images whose left half is brighter where the label is 1."""
    source = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 2, (n,), generator=source)
    images = torch.rand(n, 1, 8, 8, generator=source)
    images[labels == 1, :, :, :4] *= 3
    return images, labels


def train(model, images, labels, sampling_seed=1, **changes):
    training = PlainTraining(**(SETTINGS | changes))
    sampling = SeededTensors(sampling_seed)
    return train_plain_teacher(model, images, labels, training, sampling=sampling)


def train_by_pytorch(model, images, labels, epochs, optimizer, schedule=None):
    """The same steps with contiguous images and PyTorch's own optimizer and schedule."""
    sampler = torch.Generator().manual_seed(1)
    for _ in range(epochs):
        for batch in torch.randperm(len(labels), generator=sampler).split(8):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
            if schedule is not None:
                schedule.step()


@pytest.mark.parametrize("name", ["darrm_cnn", "linear"])
def test_plain_teacher_learns_what_is_easy(name):
    images, labels = records()
    model = build_model(name, (8, 8), 2)
    train(model, images, labels)
    assert (model(images).argmax(1) == labels).float().mean() > 0.95


def test_full_batches_without_momentum_are_gradient_descent():
    images, labels = records(10)
    model, reference = (build_model("linear", (8, 8), 2) for _ in range(2))
    state = train(model, images, labels, batch_size=10)
    for _ in range(5):
        loss = torch.nn.functional.cross_entropy(reference(images), labels)
        gradients = torch.autograd.grad(loss, list(reference.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(reference.parameters(), gradients, strict=True):
                parameter -= 0.3 * gradient
    for name, value in reference.state_dict().items():
        assert torch.allclose(state[name], value, atol=1e-6)


def test_channels_last_in_memory_changes_rounding_only():
    """Colours included."""
    source = torch.Generator().manual_seed(0)
    images = torch.rand(30, 3, 8, 8, generator=source)
    labels = torch.randint(0, 2, (30,), generator=source)
    model, reference = (build_model("darrm_cnn", (8, 8, 3), 2).double() for _ in range(2))
    state = train(model, images.double(), labels, momentum=0.9, learning_rate=0.05)
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.05, momentum=0.9)
    train_by_pytorch(reference, images.double(), labels, 5, optimizer)
    for name, value in reference.state_dict().items():
        assert torch.allclose(state[name], value, rtol=0, atol=1e-12)


def test_a_linear_learning_rate_is_that_of_pytorchs_schedule():
    """Both seen after 3 epochs of 13 steps, the last of each with a smaller batch."""
    images, labels = records()
    model, reference = (build_model("linear", (8, 8), 2).double() for _ in range(2))
    how = {"momentum": 0.9, "epochs": 3, "learning_rate_schedule": "linear"}
    state = train(model, images.double(), labels, **how)
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.3, momentum=0.9)
    schedule = torch.optim.lr_scheduler.LinearLR(
        optimizer, start_factor=1.0, end_factor=1e-300, total_iters=3 * 13
    )
    train_by_pytorch(reference, images.double(), labels, 3, optimizer, schedule)
    for name, value in reference.state_dict().items():
        assert torch.allclose(state[name], value, rtol=0, atol=1e-12)


def test_an_unknown_schedule_is_refused():
    with pytest.raises(ValueError, match="learning_rate_schedule = 'cosine': must be one of const"):
        PlainTraining(**SETTINGS, learning_rate_schedule="cosine")


def test_training_repeats_exactly_and_follows_its_seed():
    images, labels = records(20)
    first, again, other = (
        train(build_model("linear", (8, 8), 2), images, labels, sampling_seed=seed)["1.weight"]
        for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_diverging_training_is_reported():
    with pytest.raises(ValueError, match=r"training diverged: .* lower learning_rate"):
        train(build_model("darrm_cnn", (8, 8), 2), *records(), learning_rate=1e30)
