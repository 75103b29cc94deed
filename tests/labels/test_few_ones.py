"""A teacher's votes keep few ones by a public rule, and then change few counts by one."""

import itertools

import numpy as np
import pytest

from private_ensembles.labels import ballots
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.labels.votes import Votes, read_votes, write_votes


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_the_first_ones_are_kept_and_nothing_else_changes(most):
    votes = np.array(list(itertools.product((0, 1), repeat=4))).T
    kept = ballots.limit_ones(votes, most)
    for before, after in zip(votes.T, kept.T, strict=True):
        ones = np.flatnonzero(before)
        assert np.flatnonzero(after).tolist() == ones[:most].tolist()
    assert (ballots.limit_ones(votes, 4) == votes).all()
    assert (ballots.limit_ones(kept, most) == kept).all()


def test_a_piece_at_a_time_is_the_same(monkeypatch):
    votes = np.random.default_rng(0).integers(2, size=(35, 11)).astype(np.uint8)
    whole = ballots.limit_ones(votes, 6)
    assert whole.dtype == votes.dtype
    monkeypatch.setattr(ballots, "_PIECE", 1)
    assert (ballots.limit_ones(votes, 6) == whole).all()


@pytest.mark.parametrize("most", [1, 2])
def test_a_teacher_whose_votes_become_others_changes_few_counts_by_one(most):
    """For every pair of its votes: what a task charges for is all that changes."""
    every = np.array(list(itertools.product((0, 1), repeat=4)))
    rest = np.random.default_rng(1).integers(2, size=(4, 6))
    task = Task(Ensemble(7, 2), Budget(1.0, 1e-5), Wanted(4, most_ones=most))
    changes = []
    for one, other in itertools.product(every, repeat=2):
        rows = [
            Votes(
                2, np.full(4, -1), np.concatenate([rest, own[:, None]], axis=1), most_ones=most
            ).histogram()[:, 1]
            for own in (one, other)
        ]
        moved = np.abs(rows[0] - rows[1])
        assert moved.max() <= 1
        changes.append(int(moved.sum()))
    assert max(changes) == task.changed_queries == 2 * most


def test_votes_of_few_ones_are_kept_and_cut_in_the_order_in_which_queries_are_answered(tmp_path):
    cast = np.array([[1, 0], [1, 1], [1, 0], [0, 1]])
    votes = Votes(2, np.full(4, -1), cast, most_ones=2)
    assert votes.histogram()[:, 1].tolist() == [1, 2, 0, 1]
    assert votes.select_queries([2, 3, 0, 1]).histogram()[:, 1].tolist() == [1, 1, 1, 1]
    write_votes(tmp_path / "votes.npz", votes)
    again = read_votes(tmp_path / "votes.npz")
    assert again.most_ones == 2
    assert (again.histogram() == votes.histogram()).all()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"most_ones": 0}, "most_ones = 0: must be an integer >= 1"),
        ({"most_ones": 1, "absent": True}, "without absent ballots"),
        ({"most_ones": 1, "n_classes": 3}, "must be of two classes"),
    ],
)
def test_few_ones_are_of_two_classes_and_whole_ensembles(more, words):
    with pytest.raises(ValueError, match=words):
        Votes(**{"n_classes": 2, "labels": [-1], "votes": [[0, 1]]} | more)
