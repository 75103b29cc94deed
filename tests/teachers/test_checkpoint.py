"""checkpoint: whole or not at all, and for its own training only."""

import json
import time
from types import SimpleNamespace

import pytest
import torch

from private_ensembles.teachers.checkpoint import Checkpoint, checkpoint_beside
from private_ensembles.teachers.progress import Progress


def test_content_comes_back_to_the_same_training_only(tmp_path):
    path, lines = tmp_path / "c", []
    Checkpoint(path, "mine").save(step=3, rows=torch.arange(4), states=[{"a": torch.ones(2)}])
    content = Checkpoint(path, "mine").load()
    assert content["step"] == 3
    assert torch.equal(content["rows"], torch.arange(4))
    assert torch.equal(content["states"][0]["a"], torch.ones(2))
    assert Checkpoint(path, "yours", report=lines.append).load() is None
    assert lines == [f"{path}: belongs to another training: training starts anew"]
    assert [file.name for file in tmp_path.iterdir()] == ["c"]
    Checkpoint(path).remove()
    assert list(tmp_path.iterdir()) == []
    Checkpoint(path).remove()


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
    assert lines == [f"{path}: not a readable checkpoint: training starts anew"]


def test_code_in_a_checkpoint_is_not_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "executed"), "w"))

    torch.save({"identity": "mine", "content": Bomb()}, tmp_path / "c")
    assert Checkpoint(tmp_path / "c", "mine").load() is None
    assert not (tmp_path / "executed").exists()


def test_without_a_path_nothing_is_written_or_read():
    nowhere = Checkpoint()
    assert not nowhere.due()
    assert nowhere.load() is None
    nowhere.remove()


def test_file_is_written_now_and_then(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    checkpoint = Checkpoint(tmp_path / "c", every=60)
    assert not checkpoint.due()
    now[0] += 60
    assert checkpoint.due()
    checkpoint.save(step=1)
    assert not checkpoint.due()


def job(**config):
    return SimpleNamespace(
        params=SimpleNamespace(code="abc"),
        config={"teachers": {"checkpoint_seconds": 7, **config}},
        progress=lambda message: None,
    )


def test_checkpoint_of_a_job_lies_hidden_beside_its_output_and_knows_what_it_is_of(tmp_path):
    output = tmp_path / "kind=plain,K=3,seed=0.pt"
    one = checkpoint_beside(output, job(), "cpu", {"seed": 0})
    assert one.path == tmp_path / ".kind=plain,K=3,seed=0.checkpoint"
    assert one.every == 7
    assert json.loads(one.identity)["code"] == "abc"
    others = [checkpoint_beside(output, job(), *a) for a in (("cpu", {"seed": 1}), ("cuda", {}))]
    assert len({one.identity, *(other.identity for other in others)}) == 3


def test_progress_is_told_now_and_then_with_speed_and_rest(monkeypatch):
    now, lines = [100.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = Progress(lines.append, "teachers", every=5)
    for step in range(11, 21):  # resumed after ten steps
        now[0] += 2
        progress.tell(step, 20, 300, "step")
    assert [line.split(",")[0] for line in lines] == [
        f"teachers: step {step} of 20" for step in (13, 16, 19, 20)
    ]
    assert lines[1].endswith("150 images/s, 12 s elapsed, 8 s remaining")
