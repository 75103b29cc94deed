"""plain_ensemble: the teachers of `plain`, in one computation."""

import pytest
import torch

from private_ensembles.teachers import plain_ensemble
from private_ensembles.teachers.device import scaled
from private_ensembles.teachers.models import build_model
from private_ensembles.teachers.plain import train_plain_teacher
from private_ensembles.teachers.plain_ensemble import train_plain_ensemble
from private_ensembles.teachers.sharded_records import ShardedRecords
from private_ensembles.teachers.sources import SeededTensors
from private_ensembles.teachers.training import PlainTraining

SETTINGS = {"batch_size": 4, "epochs": 3, "learning_rate": 0.05}


def problem(name, lengths=(13, 8, 20)):
    """Models, uint8 images, labels, and shards, of different sizes."""
    source = torch.Generator().manual_seed(0)
    total = sum(lengths)
    images = torch.randint(0, 256, (total, 8, 8), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 3, (total,), generator=source)
    shards = list(torch.randperm(total, generator=source).split(list(lengths)))
    return [build_model(name, (8, 8), 3, s) for s in range(len(lengths))], images, labels, shards


def train(models, images, labels, shards, **changes):
    sources = changes.pop("sampling", [SeededTensors(7 + i) for i in range(len(models))])
    blocks = changes.pop("blocks", None)
    records = ShardedRecords(images, labels, shards, pixel_max=255, n_classes=3)
    training = PlainTraining(**(SETTINGS | changes))
    return train_plain_ensemble(models, records, training, sampling=sources, blocks=blocks)


@pytest.mark.parametrize("name", ["darrm_cnn", "mlp"])
@pytest.mark.parametrize(("momentum", "schedule"), [(0.0, "constant"), (0.9, "linear")])
def test_teachers_are_those_that_are_trained_one_by_one(name, momentum, schedule):
    """The shards differ in size, and so do the steps in which a rate falls to 0."""
    models, images, labels, shards = problem(name)
    how = {"momentum": momentum, "learning_rate_schedule": schedule}
    together = train(models, images, labels, shards, **how)
    for i, shard in enumerate(shards):
        alone = train_plain_teacher(
            build_model(name, (8, 8), 3, i),
            scaled(images[shard], 255),
            labels[shard],
            PlainTraining(**SETTINGS, **how),
            sampling=SeededTensors(7 + i),
        )
        assert list(alone) == list(together[i])
        for key, value in alone.items():
            assert (value - together[i][key]).abs().max() < 1e-5


def test_a_teacher_depends_on_no_other_on_no_order_and_on_no_pass():
    models, images, labels, shards = problem("mlp")
    whole = train(models, images, labels, shards, momentum=0.9)
    for order in ([2, 1], [0]):
        some = train(
            [models[i] for i in order],
            images,
            labels,
            [shards[i] for i in order],
            sampling=[SeededTensors(7 + i) for i in order],
            blocks=4,
            momentum=0.9,
        )
        for i, state in zip(order, some, strict=True):
            assert all(torch.equal(state[key], whole[i][key]) for key in state)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"momentum": -0.1}, r"momentum = -0\.1: must be a finite number >= 0"),
        ({"learning_rate": 0}, "learning_rate = 0"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"learning_rate": 1e38}, "training diverged"),
    ],
)
def test_impossible_training_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        train(*problem("mlp"), **changes)


def test_all_work_happens_on_the_device_of_the_images(monkeypatch):
    # No GPU here; on a device without data, a tensor left on the CPU fails as it would on a GPU.
    monkeypatch.setattr(plain_ensemble, "finite_states", lambda rows, model: rows)
    models, images, labels, shards = problem("darrm_cnn")
    rows = train(models, images.to("meta"), labels.to("meta"), shards, momentum=0.9)
    assert rows.device.type == "meta"
