"""ensemble: independent teachers, one file, read without trusting it."""

import pickle

import numpy as np
import pytest
import torch

from private_ensembles.teachers.ensemble import (
    TRAINERS,
    choose_device,
    load_ensemble,
    save_ensemble,
    scaled,
    train_ensemble,
)
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


@pytest.mark.parametrize("kind", ["plain", "private"])
def test_teacher_depends_on_its_own_shard_only(kind):
    three, two = train(kind), train(kind, SHARDS[:2])
    assert torch.equal(weights(three[0]), weights(two[0]))
    assert torch.equal(weights(three[1]), weights(two[1]))
    swapped = train(kind, SHARDS[[0, 2, 1]])
    assert torch.equal(weights(three[0]), weights(swapped[0]))
    assert not torch.equal(weights(three[1]), weights(swapped[1]))


@pytest.mark.parametrize("kind", ["plain", "private"])
def test_teachers_on_equal_shards_differ_by_their_own_randomness(kind):
    first, second = train(kind, SHARDS[[0, 0]])
    assert not torch.equal(weights(first), weights(second))


@pytest.mark.parametrize("change", [{"seed": 1}, {"path": ("other",)}])
def test_seed_and_path_change_every_teacher(change):
    pairs = zip(train("private"), train("private", **change), strict=True)
    assert not any(torch.equal(weights(a), weights(b)) for a, b in pairs)


def test_progress_is_told_after_every_teacher():
    lines = []
    train("plain", progress=lines.append)
    assert [line.split(",")[0] for line in lines] == [
        f"plain teacher {i} of 3 trained" for i in (1, 2, 3)
    ]
    assert "elapsed" in lines[0]
    assert "remaining" in lines[0]


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


def test_pixels_are_scaled_to_the_unit_interval():
    tensor = scaled(np.array([[[0, 16]]], np.uint8), 16)
    assert tensor.shape == (1, 1, 1, 2)
    assert tensor.flatten().tolist() == [0.0, 1.0]


def test_ensemble_file_is_read_back_and_its_bytes_depend_on_contents_only(tmp_path):
    teachers = train("private")
    for name in ("a.pt", "another_name.pt"):
        save_ensemble(tmp_path / name, teachers, {"K": 3, "b": [1]})
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "another_name.pt").read_bytes()
    read, metadata = load_ensemble(tmp_path / "a.pt")
    assert metadata == {"K": 3, "b": [1]}
    assert all(torch.equal(weights(a), weights(b)) for a, b in zip(read, teachers, strict=True))


def test_damaged_ensemble_files_are_refused_by_name(tmp_path):
    save_ensemble(tmp_path / "whole.pt", train("plain"), {})
    data = (tmp_path / "whole.pt").read_bytes()
    for length in (0, 10, len(data) // 2, len(data) - 1):
        (tmp_path / "short.pt").write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"short\.pt: not a readable ensemble"):
            load_ensemble(tmp_path / "short.pt")
    torch.save({"teachers": []}, tmp_path / "other.pt")
    with pytest.raises(ValueError, match=r"other\.pt"):
        load_ensemble(tmp_path / "other.pt")


def test_code_in_an_ensemble_file_is_not_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "executed"), "w"))

    torch.save({"teachers": Bomb(), "metadata": "{}"}, tmp_path / "bomb.pt")
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Bomb()))
    for name in ("bomb.pt", "plain.pt"):
        with pytest.raises(ValueError, match=name):
            load_ensemble(tmp_path / name)
    assert not (tmp_path / "executed").exists()


def test_device_is_chosen_and_checked(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto").type == choose_device("cpu").type == "cpu"
    with pytest.raises(ValueError, match="device = 'cuda': PyTorch finds no GPU"):
        choose_device("cuda")
    with pytest.raises(ValueError, match="device = 'tpu': must be auto, cpu or cuda"):
        choose_device("tpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("model", ["linear", "darrm_cnn"])
def test_gpu_trains_the_same_teachers_within_rounding(model):
    parameters = PRIVATE | {"model": model}
    pairs = zip(
        train("private", parameters=parameters),
        train("private", parameters=parameters, device="cuda"),
        strict=True,
    )
    for on_cpu, on_gpu in pairs:
        for name in on_cpu:
            assert torch.allclose(on_cpu[name], on_gpu[name], atol=1e-4)


def test_votes_are_the_largest_logits_one_column_per_teacher():
    teachers = train("plain")
    votes = cast_votes(teachers, IMAGES, model="linear", pixel_max=16, n_classes=2, batch_size=7)
    inputs = scaled(IMAGES, 16).flatten(1)
    assert votes.dtype == np.uint8
    for i, teacher in enumerate(teachers):
        logits = inputs @ teacher["1.weight"].T + teacher["1.bias"]
        assert np.array_equal(votes[:, i], logits.argmax(1).numpy())


def test_teacher_that_cannot_vote_is_named():
    teachers = train("plain")
    with pytest.raises(ValueError, match="teacher 0 does not fit model darrm_cnn"):
        cast_votes(teachers, IMAGES, model="darrm_cnn", pixel_max=16, n_classes=2)
    teachers[1]["1.bias"][0] = float("nan")
    with pytest.raises(ValueError, match="teacher 1: logits are not finite"):
        cast_votes(teachers, IMAGES, model="linear", pixel_max=16, n_classes=2)
