"""dpsgd: the mechanism that is run is the one that is accounted for, one by one and together."""

import copy
import math

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector

from private_ensembles.training.teachers import dpsgd
from private_ensembles.training.teachers.accounting import epsilon_pld
from private_ensembles.training.teachers.device import scale_pixels
from private_ensembles.training.teachers.dpsgd import (
    draw_poisson_batch,
    train_private_ensemble,
    train_private_teacher,
)
from private_ensembles.training.teachers.models import MODELS, build_model
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.sources import SeededTensors
from private_ensembles.training.teachers.stacked import StackedGradients
from private_ensembles.training.teachers.training import PrivateTraining, poisson_schedule

SETTINGS = {
    "noise_multiplier": 12.0,
    "max_grad_norm": 1.0,
    "batch_size": 4,
    "epochs": 2,
    "learning_rate": 0.03,
}


def records(n, side=8):
    source = torch.Generator().manual_seed(0)
    images = torch.rand(n, 1, side, side, generator=source)
    return images, torch.randint(0, 2, (n,), generator=source)


def vector(state):
    return torch.cat([tensor.flatten() for tensor in state.values()])


def train(model, images, labels, noise_seed=2, **changes):
    training = PrivateTraining(**(SETTINGS | changes))
    sources = {"sampling": SeededTensors(1), "noise": SeededTensors(noise_seed)}
    return vector(train_private_teacher(model, images, labels, training, **sources))


@pytest.mark.parametrize(("name", "clip"), [("darrm_cnn", 0.05), ("linear", 0.5), ("linear", 1e6)])
def test_one_step_is_the_sum_of_clipped_gradients_over_the_expected_batch(name, clip):
    images, labels = records(6)
    model = build_model(name, (8, 8), 2, seed=3)
    start = parameters_to_vector(model.parameters()).detach().clone()
    total = torch.zeros_like(start)
    for image, label in zip(images, labels, strict=True):  # one record at a time, by autograd
        loss = cross_entropy(model(image[None]), label[None])
        gradient = parameters_to_vector(torch.autograd.grad(loss, list(model.parameters())))
        total += gradient * min(1.0, clip / gradient.norm().item())
    # batch_size >= N: every record is in the one batch, and N is the expected batch size
    end = train(
        model, images, labels, noise_multiplier=0, max_grad_norm=clip, batch_size=6, epochs=1
    )
    assert torch.allclose(end, start - 0.03 * total / 6, atol=2e-6)


def test_layout_of_images_in_memory_makes_no_difference():
    # Opacus 1.6 by itself computes other gradients for channels-last images.
    images = torch.rand(6, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(6) % 2
    ends = [
        train(build_model("svhn_cnn", (8, 8, 3), 2), layout, labels, noise_multiplier=0)
        for layout in (images, images.contiguous(memory_format=torch.channels_last))
    ]
    assert torch.equal(*ends)


def test_divisor_is_the_expected_batch_size_and_not_the_drawn_one():
    images, labels = records(10)
    model = build_model("linear", (8, 8), 2)
    start = parameters_to_vector(model.parameters()).detach().clone()
    same = copy.deepcopy(model)
    ends = [
        train(
            m, images, labels, noise_multiplier=0, max_grad_norm=1e6, batch_size=99, epochs=1, **k
        )
        for m, k in ((model, {}), (same, {"shard_size": 40}))
    ]
    # the same ten records in the batch; the public shard size says to divide by 40
    assert torch.allclose(ends[1] - start, (ends[0] - start) / 4, atol=1e-7)


def test_empty_batches_get_the_same_noise_as_others():
    # So many parameters that noise 5 % smaller is seen.
    model = build_model("linear", (96, 96), 2)
    start = parameters_to_vector(model.parameters()).detach().clone()
    none = torch.zeros(0, 1, 96, 96), torch.zeros(0, dtype=torch.int64)
    end = train(model, *none, max_grad_norm=0.5, batch_size=32, epochs=5, shard_size=1024)
    # a sum of 160 noises of deviation 12 * 0.5, times the learning rate, over the expected batch
    expected = 0.03 * 12 * 0.5 / 32 * 160**0.5
    moved = (end - start) / expected
    n = len(moved)
    assert abs(moved.mean()) < 5 / n**0.5
    assert abs(moved.square().mean() - 1) < 5 * (2 / n) ** 0.5


def test_noise_is_the_only_difference_that_its_seed_makes():
    images, labels = records(12)
    runs = {
        seed: train(build_model("linear", (8, 8), 2), images, labels, noise_seed=seed)
        for seed in (2, 3)
    }
    noiseless = [
        train(build_model("linear", (8, 8), 2), images, labels, noise_multiplier=0, noise_seed=seed)
        for seed in (2, 3)
    ]
    assert not torch.equal(runs[2], runs[3])
    assert torch.equal(*noiseless)


def test_training_repeats_exactly_and_leaves_the_global_generator_alone():
    images, labels = records(12)
    before = torch.get_rng_state()
    first, again = (train(build_model("darrm_cnn", (8, 8), 2), images, labels) for _ in range(2))
    assert torch.equal(first, again)
    assert torch.equal(before, torch.get_rng_state())


def test_batches_draw_every_record_independently_at_the_sample_rate():
    source = SeededTensors(0)
    draws, n, rate = 4000, 50, 1 / 16
    drawn = torch.zeros(draws, n)
    for row in drawn:
        row[draw_poisson_batch(n, rate, source)] = 1
    deviation = (rate * (1 - rate) / draws) ** 0.5
    assert (drawn.mean(0) - rate).abs().max() < 5 * deviation
    # Of all records together: a rate 5 % off is seen.
    assert abs(drawn.mean() - rate) < 5 * deviation / n**0.5 < 0.05 * rate
    sizes = drawn.sum(1)
    variance = n * rate * (1 - rate)  # a binomial size: no fixed batch, no dependence
    assert abs(sizes.var() / variance - 1) < 5 * (2 / draws) ** 0.5
    assert (sizes == 0).any()


def test_what_is_a_multiple_of_16_is_drawn_with_what_comes_before():
    assert dpsgd.merge_draw_sizes([400, 16, 12800, 32, 5120, 10]) == [18368, 10]
    assert dpsgd.merge_draw_sizes([10, 16, 16, 2, 32]) == [10, 32, 2, 32]


@pytest.mark.parametrize("name", MODELS)
def test_noise_is_one_draw_for_each_parameter_bit_for_bit(name):
    """However many are drawn at once; on one thread as on several."""
    model = build_model(name, (32, 32, 3), 10)
    rows = torch.empty(5, sum(p.numel() for p in model.parameters()))
    before = torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            draw = dpsgd._Noise(model, rows)
            sources, alone = ([SeededTensors(seed) for seed in range(5)] for _ in range(2))
            for active in ([0, 1, 2, 3, 4], [1, 4]):
                drawn = draw(sources, active)
                for i, row in zip(active, drawn, strict=True):
                    own = [alone[i].normal(p.shape, p.dtype).flatten() for p in model.parameters()]
                    assert torch.equal(row, torch.cat(own))
    finally:
        torch.set_num_threads(before)


def problem(name="linear", lengths=(13, 9, 20), shape=(8, 8)):
    """Models, uint8 images, labels, and shards, of different sizes."""
    source = torch.Generator().manual_seed(0)
    total = sum(lengths)
    images = torch.randint(0, 256, (total, *shape), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, 3, (total,), generator=source)
    shards = list(torch.randperm(total, generator=source).split(list(lengths)))
    models = [build_model(name, shape, 3, seed) for seed in range(len(lengths))]
    return models, images, labels, shards


def train_together(models, images, labels, shards, **changes):
    sources = {
        "sampling": [SeededTensors(10 + i) for i in range(len(models))],
        "noise": [SeededTensors(20 + i) for i in range(len(models))],
    }
    records = ShardedRecords(images, labels, shards, pixel_max=255, n_classes=3)
    return train_private_ensemble(models, records, PrivateTraining(**SETTINGS | changes), **sources)


@pytest.fixture(params=["layer by layer", "all together"])
def way(request, monkeypatch):
    """Gradients as on a CPU, and as on a GPU."""
    if request.param == "all together":
        monkeypatch.setattr(dpsgd, "LayerwiseGradients", StackedGradients)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("name", "shape", "shard_size", "lengths"),
    [
        ("darrm_cnn", (8, 8), None, (13, 9, 20)),
        ("linear", (8, 8), 16, (13, 0, 20)),
        *(
            pytest.param(name, shape, *sizes, marks=pytest.mark.slow)
            for name, shape in (("svhn_cnn", (8, 8, 3)), ("mlp", (8, 8)), ("darrm_cnn", (8, 8)))
            for sizes in ((None, (13, 9, 20)), (16, (13, 0, 20)))
        ),
    ],
)
def test_teachers_are_those_that_opacus_trains_one_by_one(name, shape, shard_size, lengths):
    # Without a public size, the shards' lengths make different numbers of steps.
    models, images, labels, shards = problem(name, lengths, shape)
    how = {"noise_multiplier": 1.0, "max_grad_norm": 0.5, "shard_size": shard_size}
    together = train_together(models, images, labels, shards, **how)
    for i, shard in enumerate(shards):
        alone = train_private_teacher(
            build_model(name, shape, 3, i),
            scale_pixels(images[shard], 255),
            labels[shard],
            PrivateTraining(**SETTINGS | how),
            sampling=SeededTensors(10 + i),
            noise=SeededTensors(20 + i),
        )
        assert list(alone) == list(together[i])
        assert (vector(alone) - vector(together[i])).abs().max() < 1e-5
        assert (vector(alone) - vector(models[i].state_dict())).abs().max() > 1e-3


def test_the_accountant_sees_the_sampling_that_was_done(monkeypatch):
    calls = []

    def recorded(n_records, sample_rate, source):
        calls.append((n_records, sample_rate))
        return draw(n_records, sample_rate, source)

    draw = dpsgd.draw_poisson_batch
    monkeypatch.setattr(dpsgd, "draw_poisson_batch", recorded)
    models, images, labels, shards = problem(lengths=(10, 10, 10))
    train_together(models, images, labels, shards)
    plan = poisson_schedule(10, SETTINGS["batch_size"], SETTINGS["epochs"])
    assert calls == [(10, plan.sample_rate)] * (plan.steps * 3)
    assert 0 < epsilon_pld(1.0, plan.sample_rate, plan.steps, 1e-5) < math.inf


def test_no_bit_depends_on_the_threads_that_draw_noise():
    before = torch.get_num_threads()
    ends = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            ends.append(train_together(*problem("mlp")))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(vector(a), vector(b)) for a, b in zip(*ends, strict=True))


def test_diverging_training_is_refused():
    how = {"learning_rate": 1e38, "epochs": 20}
    with pytest.raises(ValueError, match="training diverged"):
        train(build_model("linear", (8, 8), 2), *records(8), **how)
    with pytest.raises(ValueError, match="training diverged"):
        train_together(*problem(), **how)


def test_all_work_happens_on_the_device_of_the_images(monkeypatch):
    # No GPU here; on a device without data, a tensor left on the CPU fails as it would on a GPU.
    monkeypatch.setattr(dpsgd, "require_finite_states", lambda rows, model: rows)
    models, images, labels, shards = problem("darrm_cnn")
    rows = train_together(models, images.to("meta"), labels.to("meta"), shards)
    assert rows.device.type == "meta"
    assert rows.shape == (3, sum(p.numel() for p in models[0].parameters()))


def test_a_record_is_drawn_where_its_uniform_number_is_below_the_rate():
    class Given:
        def uniform(self, number):
            below = math.nextafter(0.3, 0)
            return torch.tensor([0.0, below, 0.3, 0.301, 0.299, 1.0], dtype=torch.float64)

    assert draw_poisson_batch(6, 0.3, Given()).tolist() == [0, 1, 4]
