"""Checkpoints and tensors in files: whole or not at all, for their own training, no code run."""

import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from private_ensembles.training import checkpoint
from private_ensembles.training.checkpoint import Checkpoint, checkpoint_for_output, hash_identity
from private_ensembles.training.tensors import pack, read_tensors, unpack


def test_content_comes_back_to_the_same_training_only(tmp_path):
    path, lines = tmp_path / "c", []
    Checkpoint(path, "mine").save(step=3, rows=torch.arange(4), states=[{"a": torch.ones(2)}])
    content = Checkpoint(path, "mine").load()
    assert content["step"] == 3
    assert torch.equal(content["rows"], torch.arange(4))
    assert torch.equal(content["states"][0]["a"], torch.ones(2))
    assert Checkpoint(path, "yours", report=lines.append).load() is None
    assert lines == [f"{path}: belongs to another training: training starts again"]
    assert [file.name for file in tmp_path.iterdir()] == ["c"]
    Checkpoint(path).remove()
    assert list(tmp_path.iterdir()) == []
    Checkpoint(path).remove()
    assert Checkpoint(path, "mine").load() is None


@pytest.mark.parametrize("damage", ["short", "empty", "other"])
def test_damaged_file_is_reported_and_starts_anew(tmp_path, damage):
    path, lines = tmp_path / "c", []
    Checkpoint(path, "mine").save(step=3)
    data = path.read_bytes()
    if damage == "other":
        torch.save([1, 2], path)
    else:
        path.write_bytes(data[: len(data) // 2] if damage == "short" else b"")
    assert Checkpoint(path, "mine", report=lines.append).load() is None
    assert lines == [f"{path}: not a readable checkpoint: training starts again"]


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(tmp_path, stand_in):
    file = tmp_path / "folder" / "checkpoint.pt"
    Checkpoint(file, "me").save(epoch=1)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    stand_in(checkpoint, "os", fsync=full)
    with pytest.raises(OSError, match="No space"):
        Checkpoint(file, "me").save(epoch=2)
    assert [path.name for path in file.parent.iterdir()] == ["checkpoint.pt"]
    assert Checkpoint(file, "me").load() == {"epoch": 1}


def test_an_identity_is_of_facts_and_of_every_bit_of_the_arrays():
    facts, array = {"seed": 1, "device": "cpu"}, np.arange(6).reshape(2, 3)
    same = hash_identity({"device": "cpu", "seed": 1}, np.asfortranarray(array))
    others = [
        hash_identity(facts | {"seed": 2}, array),
        hash_identity(facts, array.reshape(3, 2)),
        hash_identity(facts, array.astype(np.int32)),
        hash_identity(facts, array, array),
    ]
    assert hash_identity(facts, array) == same
    assert len({same, *others}) == 5


def test_without_a_path_nothing_is_written_or_read():
    nowhere = Checkpoint()
    assert not nowhere.is_due()
    assert nowhere.load() is None
    nowhere.remove()


def test_file_is_written_now_and_then(tmp_path, stand_in):
    now = [100.0]
    stand_in(checkpoint, "time", monotonic=lambda: now[0])
    kept = Checkpoint(tmp_path / "c", min_interval=60)
    assert not kept.is_due()
    now[0] += 60
    assert kept.is_due()
    kept.save(step=1)
    assert not kept.is_due()


def job(**config):
    return SimpleNamespace(
        params=SimpleNamespace(code="abc"),
        config={"teachers": {"checkpoint_seconds": 7, **config}},
        report_progress=lambda message: None,
    )


def test_checkpoint_of_a_job_lies_hidden_beside_its_output_and_knows_what_it_is_of(tmp_path):
    output = tmp_path / "kind=plain,K=3,seed=0.pt"
    one = checkpoint_for_output(output, job(), "cpu", {"seed": 0})
    assert one.path == tmp_path / ".kind=plain,K=3,seed=0.checkpoint"
    assert one.min_interval == 7
    assert json.loads(one.identity)["code"] == "abc"
    others = [
        checkpoint_for_output(output, job(), *a) for a in (("cpu", {"seed": 1}), ("cuda", {}))
    ]
    assert len({one.identity, *(other.identity for other in others)}) == 3


def test_what_is_packed_comes_back_and_equal_contents_are_equal_bytes():
    content = {"a": torch.arange(3), "b": [1, "two"]}
    again = unpack(pack(content))
    assert torch.equal(again["a"], content["a"])
    assert again["b"] == [1, "two"]
    assert pack(content) == pack({"a": torch.arange(3), "b": [1, "two"]})


@pytest.mark.parametrize("damage", ["empty", "short", "text", "other"])
def test_a_damaged_file_is_refused_in_one_line_that_names_it(tmp_path, damage):
    path, data = tmp_path / "x.pt", pack({"a": 1})
    path.write_bytes(
        {"empty": b"", "short": data[:-5], "text": b"hello", "other": pack([1])}[damage]
    )
    with pytest.raises(ValueError, match=r"x\.pt: not a readable thing: ") as caught:
        read_tensors(path, "thing", lambda content: content["a"])
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_not_called_damaged(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_tensors(tmp_path / "none", "thing", dict)


def test_code_in_a_file_is_not_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "executed"), "w"))

    torch.save({"a": Bomb()}, tmp_path / "bomb.pt")
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Bomb()))
    for name in ("bomb.pt", "plain.pt"):
        with pytest.raises(ValueError, match=name):
            read_tensors(tmp_path / name, "thing", dict)
    assert not (tmp_path / "executed").exists()
