"""Tensors in files: equal contents, equal bytes; damage is one line; code is not run."""

import pickle

import pytest
import torch

from private_ensembles.training.tensors import pack, read_tensors, unpack


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
