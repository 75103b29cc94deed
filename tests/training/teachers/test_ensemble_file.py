"""Ensembles in files: one or several, read without trusting them; every teacher in one job."""

import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.training.teachers.ensemble_file import (
    load_ensemble,
    load_slices,
    save_ensemble,
)
from private_ensembles.training.teachers.models import build_model
from private_ensembles.training.teachers.slices import slice_members, slice_names

FACTS = {"kind": "plain", "K": 7, "seed": 0, "training_seed": 0}


def train(kind, K=3):
    """Teachers that nobody trained; what they are does not matter here."""
    return [build_model("linear", (8, 8), 2, seed).state_dict() for seed in range(K)]


def weights(teacher):
    return teacher["1.weight"]


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


def save_slices(folder, per_job, **changes):
    """Files of the slices of seven teachers."""
    teachers, paths = train("plain", 7), []
    for name in slice_names(7, per_job):
        paths.append(folder / f"{name}.pt")
        some = [teachers[i] for i in slice_members(7, name)]
        save_ensemble(paths[-1], some, FACTS | {"slice": name} | changes)
    return teachers, paths


@pytest.mark.parametrize("per_job", [1, 3])
def test_slices_are_joined_in_order(tmp_path, per_job):
    teachers, paths = save_slices(tmp_path, per_job)
    joined, facts = load_slices(paths)
    assert facts == FACTS
    assert len(joined) == 7
    assert all(torch.equal(weights(a), weights(b)) for a, b in zip(joined, teachers, strict=True))


def test_a_whole_ensemble_is_one_file(tmp_path):
    save_ensemble(tmp_path / "all.pt", train("plain", 7), FACTS)
    joined, facts = load_slices([tmp_path / "all.pt"])
    assert (len(joined), facts) == (7, FACTS)


def test_slices_that_do_not_make_one_ensemble_are_refused_by_name(tmp_path):
    _, paths = save_slices(tmp_path, 3)
    with pytest.raises(ValueError, match=r"2of3\.pt: holds 2 teachers from 2 on: must begin with"):
        load_slices(paths[1:])
    with pytest.raises(ValueError, match=r"3of3\.pt: holds 3 teachers from 4 on"):
        load_slices([paths[0], paths[2]])
    with pytest.raises(ValueError, match=r"2of3\.pt: is the last of 4 of 7"):
        load_slices(paths[:2])
    (tmp_path / "other").mkdir()
    _, others = save_slices(tmp_path / "other", 3, training_seed=1)
    with pytest.raises(ValueError, match=r"training_seed is another than in .*1of3\.pt"):
        load_slices([*paths[:2], others[2]])


@given(K=st.integers(1, 999), per_job=st.integers(1, 200))
def test_slices_share_out_all_teachers_once_and_evenly(K, per_job):
    names = slice_names(K, per_job)
    members = [slice_members(K, name) for name in names or [None]]
    assert [i for some in members for i in some] == list(range(K))
    sizes = {len(some) for some in members}
    assert max(sizes) <= per_job
    assert max(sizes) - min(sizes) <= 1


def test_few_teachers_are_one_job_and_250_are_two():
    assert slice_names(11, 125) == slice_names(125, 125) == []
    assert slice_names(250, 125) == ["1of2", "2of2"]
    assert slice_members(250, "2of2") == range(125, 250)


@pytest.mark.parametrize("name", ["0of2", "3of2", "1of9", "1of", "of2", "", "1of2x", "1of0"])
def test_what_is_no_slice_is_refused(name):
    with pytest.raises(ValueError, match=r"slice = .*: must be 1of2, 2of2 or the like"):
        slice_members(8, name)


@pytest.mark.parametrize(("K", "per_job"), [(0, 5), (5, 0), (1.5, 5)])
def test_numbers_out_of_range_are_refused(K, per_job):
    with pytest.raises(ValueError, match="must be an integer >= 1"):
        slice_names(K, per_job)
