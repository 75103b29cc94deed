"""Ensembles: independent teachers, trained either way, in one job or several, killed or not."""

import numpy as np
import pytest
import torch

from private_ensembles.training.checkpoint import Checkpoint
from private_ensembles.training.teachers import ensemble
from private_ensembles.training.teachers.device import choose_device
from private_ensembles.training.teachers.ensemble import TRAINERS, train_ensemble, trains_together
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.slices import slice_members, slice_names
from private_ensembles.training.teachers.sources import Randomness
from private_ensembles.training.teachers.voting import cast_votes

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


def train(kind, shards=SHARDS, together=None, **changes):
    """together: whether all at once, plain ones on a CPU, too; None as by default."""
    parameters = changes.pop("parameters", PARAMETERS.get(kind))
    randomness = Randomness(changes.pop("seed", 0), changes.pop("path", ()))
    records = ShardedRecords(IMAGES, LABELS, shards, pixel_max=16, n_classes=2)
    with pytest.MonkeyPatch.context() as patch:
        if together is not None:
            patch.setattr(ensemble, "trains_together", lambda *choice: together)
        return train_ensemble(kind, records, parameters, randomness, **changes)


def weights(teacher):
    return teacher["1.weight"]


def same(first, second):
    return all(
        list(a) == list(b) and all(torch.equal(a[name], b[name]) for name in a)
        for a, b in zip(first, second, strict=True)
    )


# Plain teachers train together on a GPU only; here on the CPU, to test that without one.
WAYS = pytest.mark.parametrize(
    ("kind", "together"), [(k, t) for k in ("plain", "private") for t in (True, False)]
)


@WAYS
def test_teachers_on_equal_shards_differ_by_their_own_randomness(kind, together):
    first, second = train(kind, SHARDS[[0, 0]], together=together)
    assert not torch.equal(weights(first), weights(second))


@pytest.mark.parametrize("kind", ["plain", "private"])
def test_both_ways_give_the_same_teachers_and_votes_up_to_rounding(kind):
    parameters = PARAMETERS[kind] | {"model": "darrm_cnn"}
    one, two = (train(kind, parameters=parameters, together=t) for t in (False, True))
    for a, b in zip(one, two, strict=True):
        assert all((a[name] - b[name]).abs().max() < 1e-5 for name in a)
    how = {"model": "darrm_cnn", "pixel_max": 16, "n_classes": 2}
    assert np.array_equal(cast_votes(one, IMAGES, **how), cast_votes(two, IMAGES, **how))


@WAYS
def test_slices_trained_by_other_jobs_in_any_order_are_the_ensemble(kind, together):
    """A teacher depends on its own shard and its own randomness alone."""
    whole = train(kind, together=together)
    names = slice_names(len(SHARDS), 2)
    parts = {
        name: train(kind, members=slice_members(len(SHARDS), name), together=together)
        for name in reversed(names)
    }
    assert same(whole, [teacher for name in names for teacher in parts[name]])


class Killed(BaseException):
    pass


class Fragile(Checkpoint):
    """A checkpoint written at every chance, after some of which the process is killed."""

    def __init__(self, path, saves, identity="this", **more):
        super().__init__(path, identity, min_interval=0, **more)
        self.left = saves

    def save(self, **content):
        super().save(**content)
        self.left -= 1
        if self.left == 0:
            raise Killed


@WAYS
def test_killed_training_resumes_to_the_same_bits(kind, together, tmp_path):
    parameters = PARAMETERS[kind] | {"epochs": 3}
    if kind == "plain":
        parameters["momentum"] = 0.9
    # 20 images in batches of 8: three steps in an epoch
    whole = train(kind, parameters=parameters, together=together)
    path, lines = tmp_path / "checkpoint", []
    for number in (2, 1):  # the second time at the end of an epoch
        with pytest.raises(Killed):
            train(kind, parameters=parameters, together=together, checkpoint=Fragile(path, number))
    resumed = Fragile(path, 1000, report=lines.append)
    assert same(whole, train(kind, parameters=parameters, together=together, checkpoint=resumed))
    assert lines == [f"{path}: training goes on from there"]
    # what was done before was not done again
    assert 1000 - resumed.left == (9 if together else 3) - 3
    assert list(tmp_path.iterdir()) == []


@WAYS
def test_checkpoint_of_another_training_is_refused(kind, together, tmp_path):
    path, lines = tmp_path / "checkpoint", []
    with pytest.raises(Killed):
        train(kind, together=together, seed=1, checkpoint=Fragile(path, 2, "seed 1"))
    mine = Fragile(path, 1000, "seed 0", report=lines.append)
    assert same(train(kind, together=together), train(kind, together=together, checkpoint=mine))
    assert lines == [f"{path}: belongs to another training: training starts again"]


def test_all_but_plain_teachers_on_a_cpu_train_together_unless_told_otherwise():
    assert trains_together("auto", "private", "cpu")
    assert not trains_together("auto", "plain", "cpu")
    assert trains_together("auto", "plain", "cuda")
    assert not trains_together("opacus", "private", "cuda")
    with pytest.raises(ValueError, match="backend = 'jax': must be one of auto, opacus"):
        trains_together("jax", "plain", "cpu")


def test_colour_images_train_and_vote():
    images = SOURCE.integers(0, 17, (60, 8, 8, 3)).astype(np.uint8)
    for kind in ("plain", "private"):
        teachers = train_ensemble(
            kind,
            ShardedRecords(images, LABELS, SHARDS, pixel_max=16, n_classes=2),
            PARAMETERS[kind] | {"model": "svhn_cnn", "epochs": 1},
            Randomness(seed=0),
        )
        votes = cast_votes(teachers, images, model="svhn_cnn", pixel_max=16, n_classes=2)
        assert votes.shape == (60, 3)


@pytest.mark.parametrize("change", [{"seed": 1}, {"path": ("other",)}])
def test_seed_and_path_change_every_teacher(change):
    pairs = zip(train("private"), train("private", **change), strict=True)
    assert not any(torch.equal(weights(a), weights(b)) for a, b in pairs)


@WAYS
def test_progress_is_told_in_the_end_at_least(kind, together):
    lines = []
    train(kind, together=together, progress=lines.append)
    done = "6 steps" if together else "3 teachers"
    assert lines[-1].startswith(f"3 {kind} teachers: {done} in ")
    assert lines[-1].endswith(" images/s")


def test_unknown_kind_and_parameter_are_refused():
    with pytest.raises(ValueError, match="kind = 'secret'"):
        train("secret", parameters={})
    with pytest.raises(ValueError, match="plain teachers: unknown parameter max_grad_norm"):
        train("plain", parameters=PRIVATE)


def test_out_of_memory_is_one_line_that_says_what_to_do(monkeypatch):
    def full(*arguments, **parameters):
        raise RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED\nat line 1")

    monkeypatch.setitem(TRAINERS, "plain", full)
    with pytest.raises(ValueError, match="teacher 1 of 3: out of memory on cpu") as caught:
        train("plain")
    assert "\n" not in str(caught.value)


GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")


@GPU
@pytest.mark.parametrize("kind", ["plain", "private"])
def test_50_teachers_of_a_gpu_vote_as_those_of_a_cpu(kind):
    """On noise of which one quarter is brighter, in most of which teachers see which one."""
    source = np.random.default_rng(0)
    labels = source.integers(0, 4, 50 * 64 + 500).astype(np.uint8)
    images = source.integers(0, 200, (len(labels), 2, 14, 2, 14)).astype(np.uint8)
    images[np.arange(len(labels)), labels // 2, :, labels % 2] += 55
    images = images.reshape(-1, 28, 28)
    shards = np.arange(50 * 64).reshape(50, 64)
    records = ShardedRecords(images, labels, shards, pixel_max=255, n_classes=4)
    parameters = {"model": "mnist_cnn", "batch_size": 16, "epochs": 10} | {
        "plain": {"learning_rate": 0.02, "momentum": 0.9},
        "private": {"learning_rate": 0.3, "noise_multiplier": 0.3, "max_grad_norm": 1},
    }[kind]
    how = {"model": "mnist_cnn", "pixel_max": 255, "n_classes": 4}
    votes = {}
    for device in ("cpu", choose_device("cuda").type):
        teachers = train_ensemble(kind, records, parameters, Randomness(0), device=device)
        votes[device] = cast_votes(teachers, images[50 * 64 :], **how, device=device)
    right = (votes["cpu"] == labels[50 * 64 :, None]).mean()
    differ = int((votes["cpu"] != votes["cuda"]).sum())
    print(f"{kind}: {differ} of {votes['cpu'].size} votes differ; {right:.3f} are right")
    assert 0.5 < right < 0.999  # neither untrained nor beyond doubt
    assert differ < 25  # of 25,000


@GPU
@pytest.mark.parametrize("model", ["linear", "darrm_cnn"])
@pytest.mark.parametrize("kind", ["plain", "private"])
def test_gpu_trains_the_same_teachers_within_rounding(kind, model):
    parameters = PARAMETERS[kind] | {"model": model}
    on_cpu, *on_gpu = (
        train(kind, parameters=parameters, device=device, together=together)
        for device, together in (("cpu", False), (choose_device("cuda"), False), ("cuda", True))
    )
    how = {"model": model, "pixel_max": 16, "n_classes": 2}
    votes = cast_votes(on_cpu, IMAGES, **how)
    for other in on_gpu:
        # where two logits are as good as equal, rounding decides
        assert (votes == cast_votes(other, IMAGES, **how, device="cuda")).mean() > 0.99
        for a, b in zip(on_cpu, other, strict=True):
            assert all(torch.allclose(a[name], b[name], atol=1e-4) for name in a)


def test_members_have_their_own_shards_as_integers():
    records = ShardedRecords(
        torch.zeros((4, 2, 2), dtype=torch.uint8), [0, 1, 0, 1], [[0], [1, 2], [3]], 16, 2
    )
    tensors = records.select_members(torch.device("cpu"), [2, 1])
    assert [shard.tolist() for shard in tensors.shards] == [[3], [1, 2]]
    assert tensors.labels.dtype == torch.int64
