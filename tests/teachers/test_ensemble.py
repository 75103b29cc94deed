"""ensemble: independent teachers, by either backend, in one job or several, killed or not."""

import numpy as np
import pytest
import torch

from private_ensembles.jobs.checkpoint import Checkpoint
from private_ensembles.teachers.ensemble import TRAINERS, choose_backend, train_ensemble
from private_ensembles.teachers.slices import slice_members, slice_names
from private_ensembles.teachers.voting import cast_votes

PLAIN = {"model": "linear", "batch_size": 8, "epochs": 2, "learning_rate": 0.1, "momentum": 0}
PRIVATE = {
    "model": "linear",
    "noise_multiplier": 12,
    "max_grad_norm": 1,
    "batch_size": 8,
    "epochs": 2,
    "learning_rate": 0.1,
}
PARAMETERS = {"plain": PLAIN, "private": PRIVATE}
SOURCE = np.random.default_rng(0)
IMAGES = SOURCE.integers(0, 17, (60, 8, 8)).astype(np.uint8)
LABELS = SOURCE.integers(0, 2, 60).astype(np.uint8)
SHARDS = np.arange(60).reshape(3, 20)


def train(kind, shards=SHARDS, **changes):
    arguments = {"pixel_max": 16, "n_classes": 2, "seed": 0, "parameters": PARAMETERS[kind]}
    return train_ensemble(kind, IMAGES, LABELS, shards, **(arguments | changes))


def weights(teacher):
    return teacher["1.weight"]


def same(first, second):
    return all(
        list(a) == list(b) and all(torch.equal(a[name], b[name]) for name in a)
        for a, b in zip(first, second, strict=True)
    )


WAYS = pytest.mark.parametrize(
    ("kind", "backend"), [(k, b) for k in ("plain", "private") for b in ("ensemble", "opacus")]
)


@WAYS
def test_teacher_depends_on_its_own_shard_only(kind, backend):
    three, two = train(kind, backend=backend), train(kind, SHARDS[:2], backend=backend)
    assert same(three[:2], two)
    swapped = train(kind, SHARDS[[0, 2, 1]], backend=backend)
    assert same(three[:1], swapped[:1])
    assert not torch.equal(weights(three[1]), weights(swapped[1]))


@WAYS
def test_teachers_on_equal_shards_differ_by_their_own_randomness(kind, backend):
    first, second = train(kind, SHARDS[[0, 0]], backend=backend)
    assert not torch.equal(weights(first), weights(second))


@pytest.mark.parametrize("kind", ["plain", "private"])
@pytest.mark.parametrize("model", ["linear", "darrm_cnn"])
def test_backends_give_the_same_teachers_and_votes_up_to_rounding(kind, model):
    parameters = PARAMETERS[kind] | {"model": model}
    one, two = (train(kind, parameters=parameters, backend=b) for b in ("opacus", "ensemble"))
    for a, b in zip(one, two, strict=True):
        assert all((a[name] - b[name]).abs().max() < 1e-5 for name in a)
    how = {"model": model, "pixel_max": 16, "n_classes": 2}
    assert np.array_equal(cast_votes(one, IMAGES, **how), cast_votes(two, IMAGES, **how))


@WAYS
@pytest.mark.parametrize("per_job", [1, 2])
def test_slices_trained_by_other_jobs_in_any_order_are_the_ensemble(kind, backend, per_job):
    whole = train(kind, backend=backend)
    names = slice_names(len(SHARDS), per_job)
    parts = {
        name: train(kind, members=slice_members(len(SHARDS), name), backend=backend)
        for name in reversed(names)
    }
    assert same(whole, [teacher for name in names for teacher in parts[name]])


class Killed(BaseException):
    pass


class Fragile(Checkpoint):
    """A checkpoint written at every chance, after some of which the process is killed."""

    def __init__(self, path, saves, identity="this", **more):
        super().__init__(path, identity, every=0, **more)
        self.left = saves

    def save(self, **content):
        super().save(**content)
        self.left -= 1
        if self.left == 0:
            raise Killed


@WAYS
@pytest.mark.parametrize("saves", [1, 2, (2, 1)])
def test_killed_training_resumes_to_the_same_bits(kind, backend, saves, tmp_path):
    parameters = PARAMETERS[kind] | {"epochs": 3}
    if kind == "plain":
        parameters["momentum"] = 0.9
    # 20 images in batches of 8: three steps in an epoch
    whole = train(kind, parameters=parameters, backend=backend)
    path, lines = tmp_path / "checkpoint", []
    for number in saves if isinstance(saves, tuple) else (saves,):
        with pytest.raises(Killed):
            train(kind, parameters=parameters, backend=backend, checkpoint=Fragile(path, number))
    resumed = Fragile(path, 1000, report=lines.append)
    assert same(whole, train(kind, parameters=parameters, backend=backend, checkpoint=resumed))
    assert lines == [f"{path}: training goes on from there"]
    # what was done before was not done again
    steps = 3 if backend == "opacus" else 9
    before = sum(saves) if isinstance(saves, tuple) else saves
    assert 1000 - resumed.left == steps - before
    assert list(tmp_path.iterdir()) == []


@WAYS
def test_checkpoint_of_another_training_is_refused(kind, backend, tmp_path):
    path, lines = tmp_path / "checkpoint", []
    with pytest.raises(Killed):
        train(kind, backend=backend, seed=1, checkpoint=Fragile(path, 2, "seed 1"))
    mine = Fragile(path, 1000, "seed 0", report=lines.append)
    assert same(train(kind, backend=backend), train(kind, backend=backend, checkpoint=mine))
    assert lines == [f"{path}: belongs to another training: training starts anew"]


def test_backend_is_chosen_by_kind_and_device():
    assert choose_backend("auto", "private", "cpu") == "ensemble"
    assert choose_backend("auto", "plain", "cpu") == "opacus"
    assert choose_backend("auto", "plain", "cuda") == "ensemble"
    assert choose_backend("opacus", "private", "cuda") == "opacus"
    with pytest.raises(ValueError, match="backend = 'jax': must be one of auto, ensemble, opacus"):
        choose_backend("jax", "plain", "cpu")


def test_colour_images_train_and_vote():
    images = SOURCE.integers(0, 17, (60, 8, 8, 3)).astype(np.uint8)
    for kind in ("plain", "private"):
        teachers = train_ensemble(
            *(kind, images, LABELS, SHARDS),
            pixel_max=16,
            n_classes=2,
            seed=0,
            parameters=PARAMETERS[kind] | {"model": "svhn_cnn", "epochs": 1},
        )
        votes = cast_votes(teachers, images, model="svhn_cnn", pixel_max=16, n_classes=2)
        assert votes.shape == (60, 3)


@pytest.mark.parametrize("change", [{"seed": 1}, {"path": ("other",)}])
def test_seed_and_path_change_every_teacher(change):
    pairs = zip(train("private"), train("private", **change), strict=True)
    assert not any(torch.equal(weights(a), weights(b)) for a, b in pairs)


@WAYS
def test_progress_is_told_in_the_end_at_least(kind, backend):
    lines = []
    train(kind, backend=backend, progress=lines.append)
    done = "3 teachers" if backend == "opacus" else "6 steps"
    assert lines[-1].startswith(f"3 {kind} teachers: {done} in ")
    assert lines[-1].endswith(" images/s")


def test_unknown_kind_and_parameter_are_refused():
    with pytest.raises(ValueError, match="kind = 'secret'"):
        train_ensemble(
            "secret", IMAGES, LABELS, SHARDS, pixel_max=16, n_classes=2, parameters={}, seed=0
        )
    with pytest.raises(ValueError, match="plain teachers: unknown parameter max_grad_norm"):
        train("plain", parameters=PRIVATE)


def test_gpu_out_of_memory_is_one_line_that_says_what_to_do(monkeypatch):
    def full(*arguments, **parameters):
        raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 2 GiB")

    monkeypatch.setitem(TRAINERS, "plain", full)
    with pytest.raises(ValueError, match="teacher 1 of 3: out of memory on cpu") as caught:
        train("plain", parameters={"model": "linear"})
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("model", ["linear", "darrm_cnn"])
@pytest.mark.parametrize("kind", ["plain", "private"])
def test_gpu_trains_the_same_teachers_within_rounding(kind, model):
    parameters = PARAMETERS[kind] | {"model": model}
    on_cpu, *on_gpu = (
        train(kind, parameters=parameters, device=device, backend=backend)
        for device, backend in (("cpu", "opacus"), ("cuda", "opacus"), ("cuda", "ensemble"))
    )
    for other in on_gpu:
        for a, b in zip(on_cpu, other, strict=True):
            assert all(torch.allclose(a[name], b[name], atol=1e-4) for name in a)
