"""plain: ordinary SGD, learning and repeatable, one by one and together."""

import pytest
import torch

from private_ensembles.training.teachers import plain
from private_ensembles.training.teachers.device import scale_pixels
from private_ensembles.training.teachers.models import build_model
from private_ensembles.training.teachers.plain import train_plain_ensemble, train_plain_teacher
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.sources import SeededTensors
from private_ensembles.training.teachers.training import PlainTraining

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


@pytest.mark.parametrize(
    ("name", "shape"), [("darrm_cnn", (8, 8)), ("mnist_cnn", (28, 28)), ("svhn_cnn", (32, 32, 3))]
)
def test_the_order_of_weights_in_memory_changes_no_bit(name, shape):
    """And a teacher's tensors are contiguous, so that its file is that of contiguous weights."""
    source = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (20, *shape), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 2, (20,), generator=source)

    class AsItIs(torch.nn.Sequential):
        def to(self, *_, **__):
            return self

    def state(model):
        return train(model, scale_pixels(pixels, 255), labels, learning_rate=0.05, momentum=0.9)

    taught = state(build_model(name, shape, 2))
    contiguous = state(AsItIs(build_model(name, shape, 2)))
    for tensor, value in zip(contiguous.values(), taught.values(), strict=True):
        assert torch.equal(tensor, value)
        assert value.stride() == torch.empty(value.shape).stride()


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
    with pytest.raises(ValueError, match="training diverged"):
        train_together(*problem("mlp"), learning_rate=1e38)


def problem(name, lengths=(13, 8, 20)):
    """Models, uint8 images, labels, and shards, of different sizes."""
    source = torch.Generator().manual_seed(0)
    total = sum(lengths)
    images = torch.randint(0, 256, (total, 8, 8), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 3, (total,), generator=source)
    shards = list(torch.randperm(total, generator=source).split(list(lengths)))
    return [build_model(name, (8, 8), 3, s) for s in range(len(lengths))], images, labels, shards


def train_together(models, images, labels, shards, **changes):
    sources = [SeededTensors(7 + i) for i in range(len(models))]
    records = ShardedRecords(images, labels, shards, pixel_max=255, n_classes=3)
    settings = {"batch_size": 4, "epochs": 3, "learning_rate": 0.05} | changes
    return train_plain_ensemble(models, records, PlainTraining(**settings), sampling=sources)


@pytest.mark.parametrize("name", ["darrm_cnn", "mlp"])
@pytest.mark.parametrize(("momentum", "schedule"), [(0.0, "constant"), (0.9, "linear")])
def test_teachers_are_those_that_are_trained_one_by_one(name, momentum, schedule):
    """The shards differ in size, and so do the steps in which a rate falls to 0."""
    models, images, labels, shards = problem(name)
    how = {"momentum": momentum, "learning_rate_schedule": schedule}
    together = train_together(models, images, labels, shards, **how)
    for i, shard in enumerate(shards):
        alone = train_plain_teacher(
            build_model(name, (8, 8), 3, i),
            scale_pixels(images[shard], 255),
            labels[shard],
            PlainTraining(batch_size=4, epochs=3, learning_rate=0.05, **how),
            sampling=SeededTensors(7 + i),
        )
        assert list(alone) == list(together[i])
        for key, value in alone.items():
            assert (value - together[i][key]).abs().max() < 1e-5


def test_all_work_happens_on_the_device_of_the_images(monkeypatch):
    # No GPU here; on a device without data, a tensor left on the CPU fails as it would on a GPU.
    monkeypatch.setattr(plain, "require_finite_states", lambda rows, model: rows)
    models, images, labels, shards = problem("darrm_cnn")
    rows = train_together(models, images.to("meta"), labels.to("meta"), shards, momentum=0.9)
    assert rows.device.type == "meta"
