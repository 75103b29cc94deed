"""dpsgd_ensemble: the mechanism of `dpsgd`, for all teachers at once."""

import math

import pytest
import torch

from private_ensembles.teachers import dpsgd_ensemble
from private_ensembles.teachers.accounting import epsilon_pld
from private_ensembles.teachers.device import scaled
from private_ensembles.teachers.dpsgd import train_private_teacher
from private_ensembles.teachers.dpsgd_ensemble import train_private_ensemble
from private_ensembles.teachers.models import build_model
from private_ensembles.teachers.schedule import poisson_schedule
from private_ensembles.teachers.sharded_records import ShardedRecords
from private_ensembles.teachers.sources import SecureTensors, SeededTensors
from private_ensembles.teachers.training import PrivateTraining

SETTINGS = {
    "noise_multiplier": 1.0,
    "max_grad_norm": 1.0,
    "batch_size": 4,
    "epochs": 2,
    "learning_rate": 0.03,
}


@pytest.fixture(autouse=True, params=["layer by layer", "in blocks"])
def way(request, monkeypatch):
    """Gradients as on a CPU, and as on a GPU."""
    if request.param == "in blocks":
        monkeypatch.setattr(dpsgd_ensemble, "applies", lambda model, device: False)


def problem(name="linear", lengths=(13, 9, 20), shape=(8, 8)):
    """Models, uint8 images, labels, and shards, of different sizes."""
    source = torch.Generator().manual_seed(0)
    total = sum(lengths)
    images = torch.randint(0, 256, (total, *shape), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 3, (total,), generator=source)
    shards = list(torch.randperm(total, generator=source).split(list(lengths)))
    models = [build_model(name, shape, 3, seed) for seed in range(len(lengths))]
    return models, images, labels, shards


def train(models, images, labels, shards, **changes):
    sources = {
        "sampling": [SeededTensors(10 + i) for i in range(len(models))],
        "noise": [SeededTensors(20 + i) for i in range(len(models))],
    }
    records = ShardedRecords(images, labels, shards, pixel_max=255, n_classes=3)
    own = {name: changes.pop(name) for name in (*sources, "blocks") if name in changes}
    training = PrivateTraining(**(SETTINGS | changes))
    return train_private_ensemble(models, records, training, **(sources | own))


def vector(state):
    return torch.cat([tensor.flatten() for tensor in state.values()])


@pytest.mark.parametrize(
    ("name", "shape"),
    [("darrm_cnn", (8, 8)), ("svhn_cnn", (8, 8, 3)), ("mlp", (8, 8)), ("linear", (8, 8))],
)
@pytest.mark.parametrize("shard_size", [None, 16])
def test_teachers_are_those_that_opacus_trains_one_by_one(name, shape, shard_size):
    # Without a public size, the shards' lengths make different numbers of steps.
    models, images, labels, shards = problem(name, shape=shape)
    together = train(models, images, labels, shards, shard_size=shard_size)
    for i, shard in enumerate(shards):
        alone = train_private_teacher(
            build_model(name, shape, 3, i),
            scaled(images[shard], 255),
            labels[shard],
            PrivateTraining(**SETTINGS, shard_size=shard_size),
            sampling=SeededTensors(10 + i),
            noise=SeededTensors(20 + i),
        )
        assert list(alone) == list(together[i])
        assert (vector(alone) - vector(together[i])).abs().max() < 1e-5
        assert (vector(alone) - vector(models[i].state_dict())).abs().max() > 1e-3


def test_a_teacher_depends_on_no_other_on_no_order_and_on_no_pass():
    models, images, labels, shards = problem("mlp")
    whole = train(models, images, labels, shards, blocks=1000)
    for order in ([0, 1, 2], [2, 0], [1]):
        some = train(
            [models[i] for i in order],
            images,
            labels,
            [shards[i] for i in order],
            sampling=[SeededTensors(10 + i) for i in order],
            noise=[SeededTensors(20 + i) for i in order],
            blocks=4,
        )
        for i, state in zip(order, some, strict=True):
            assert torch.equal(vector(state), vector(whole[i]))


def test_empty_shards_and_empty_batches_get_noise_of_the_right_variance_each_teacher_its_own():
    # 5 steps of deviation 12, times the learning rate, over the expected batch size of 32.
    teachers = 6
    models = [build_model("linear", (28, 28), 10, seed) for seed in range(teachers)]
    starts = [vector(model.state_dict()) for model in models]
    images = torch.zeros((1, 28, 28), dtype=torch.uint8)
    nothing = [torch.zeros(0, dtype=torch.int64)] * teachers
    ends = train(
        models,
        images,
        torch.zeros(1, dtype=torch.int64),
        nothing,
        noise_multiplier=12.0,
        batch_size=32,
        epochs=5,
        shard_size=32,
    )
    deviation = 0.03 * 12 / 32 * 5**0.5
    moved = torch.stack(
        [(vector(end) - start) / deviation for end, start in zip(ends, starts, strict=True)]
    )
    n = moved.shape[1]
    # Five standard errors: each of these fails for one seed in 1.7 million if all is right.
    assert (moved.mean(1).abs() < 5 / n**0.5).all()
    assert ((moved.square().mean(1) - 1).abs() < 5 * (2 / n) ** 0.5).all()
    between = moved @ moved.T / n
    assert (between - between.diag().diag()).abs().max() < 5 / n**0.5


def test_noise_is_scaled_by_the_clipping_norm_and_divided_by_the_expected_batch():
    models, images, labels, _ = problem("linear", (4, 4, 4))
    nothing = [torch.zeros(0, dtype=torch.int64)] * 3
    rows = {}
    for clip, size in ((1.0, 8), (3.0, 8), (1.0, 16)):
        ends = train(models, images, labels, nothing, max_grad_norm=clip, shard_size=size, epochs=1)
        rows[clip, size] = vector(ends[0]) - vector(models[0].state_dict())
    # one epoch of 2 and 4 steps at the same expected batch: the first two noises are the same
    assert torch.allclose(rows[3.0, 8], 3 * rows[1.0, 8], atol=1e-6)
    assert rows[1.0, 16].std() / rows[1.0, 8].std() == pytest.approx(2**0.5, rel=0.3)


def test_the_accountant_sees_the_sampling_that_was_done(monkeypatch):
    calls = []

    def recorded(n_records, sample_rate, source):
        calls.append((n_records, sample_rate))
        return draw(n_records, sample_rate, source)

    draw = dpsgd_ensemble.poisson_batch
    monkeypatch.setattr(dpsgd_ensemble, "poisson_batch", recorded)
    models, images, labels, shards = problem(lengths=(10, 10, 10))
    train(models, images, labels, shards)
    plan = poisson_schedule(10, SETTINGS["batch_size"], SETTINGS["epochs"])
    assert calls == [(10, plan.sample_rate)] * (plan.steps * 3)
    assert 0 < epsilon_pld(1.0, plan.sample_rate, plan.steps, 1e-5) < math.inf


def test_no_bit_depends_on_the_threads_that_draw_noise():
    before = torch.get_num_threads()
    ends = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            ends.append(train(*problem("mlp"), noise_multiplier=12.0))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(vector(a), vector(b)) for a, b in zip(*ends, strict=True))


def test_secure_noise_repeats_nothing():
    models, images, labels, shards = problem()
    secure = {"sampling": [SecureTensors()] * 3, "noise": [SecureTensors()] * 3}
    one, two = (train(models, images, labels, shards, **secure) for _ in range(2))
    assert not any(torch.equal(vector(a), vector(b)) for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise_multiplier": -1}, "noise_multiplier = -1: must be a finite number >= 0"),
        ({"max_grad_norm": 0}, "max_grad_norm = 0"),
        ({"epochs": 1.5}, r"epochs = 1\.5"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"learning_rate": 1e38, "epochs": 20}, "training diverged"),
    ],
)
def test_impossible_training_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        train(*problem(), **changes)


def test_global_generator_is_left_alone():
    before = torch.get_rng_state()
    train(*problem())
    assert torch.equal(before, torch.get_rng_state())


def test_all_work_happens_on_the_device_of_the_images(monkeypatch):
    # No GPU here; on a device without data, a tensor left on the CPU fails as it would on a GPU.
    monkeypatch.setattr(dpsgd_ensemble, "finite_states", lambda rows, model: rows)
    models, images, labels, shards = problem("darrm_cnn")
    rows = train(models, images.to("meta"), labels.to("meta"), shards)
    assert rows.device.type == "meta"
    assert rows.shape == (3, sum(p.numel() for p in models[0].parameters()))
