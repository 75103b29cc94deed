"""Ballots on several findings become votes of two classes, and keep few ones by a public rule."""

import itertools

import numpy as np
import pytest

from private_ensembles.mechanisms.task import Task
from private_ensembles.votes import findings
from private_ensembles.votes.cache import Votes, read_votes, write_votes


@pytest.mark.parametrize(("stated", "number"), [(3, 3), (" 14 ", 14), ("a,b", 2), (["x", "y"], 2)])
def test_findings_are_a_number_or_names(stated, number):
    names = findings.names_of_findings(stated)
    assert len(names) == len(set(names)) == number


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        (1, "findings = 1: must be 2 to 1,000"),
        ("1001", "findings = 1001: must be 2 to 1,000"),
        ("a,a", "findings: 'a' comes twice: every finding needs a name of its own"),
        ("a,query", "findings: 'query' is a column of labels.csv"),
        ("nowhere", "findings = 'nowhere': must be names with commas"),
    ],
)
def test_other_findings_are_refused_in_one_line(stated, words):
    with pytest.raises(ValueError, match=words) as caught:
        findings.names_of_findings(stated)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_the_first_ones_are_kept_and_nothing_else_changes(most):
    ballots = np.array(list(itertools.product((0, 1), repeat=4)))[None]
    votes = findings.one_by_one(ballots)
    kept = findings.few_ones(votes, 4, most).reshape(4, -1).T
    for before, after in zip(ballots[0], kept, strict=True):
        ones = np.flatnonzero(before)
        assert np.flatnonzero(after).tolist() == ones[:most].tolist()
    assert (findings.few_ones(votes, 4, 4) == votes).all()
    again = findings.few_ones(findings.few_ones(votes, 4, most), 4, most)
    assert (again == findings.few_ones(votes, 4, most)).all()


def test_a_piece_at_a_time_is_the_same(monkeypatch):
    votes = np.random.default_rng(0).integers(2, size=(5 * 7, 11))
    whole = findings.few_ones(votes, 5, 2)
    monkeypatch.setattr(findings, "_PIECE", 1)
    assert (findings.few_ones(votes, 5, 2) == whole).all()


@pytest.mark.parametrize("most", [1, 2])
def test_one_ballot_that_becomes_another_changes_few_counts_by_one(most):
    """For every pair of ballots, whatever they say: what a task charges for is all that changes."""
    every = np.array(list(itertools.product((0, 1), repeat=4)))
    rest = np.random.default_rng(1).integers(2, size=(1, 6, 4))
    task = Task(1.0, 1e-5, 4, 4, 7, 2, findings=4, most_ones=most)
    changes = []
    for one, other in itertools.product(every, repeat=2):
        rows = [
            Votes(
                2,
                np.full(4, -1),
                findings.one_by_one(np.concatenate([rest, ballot[None, None]], axis=1)),
                findings=4,
                most_ones=most,
            ).histogram()[:, 1]
            for ballot in (one, other)
        ]
        moved = np.abs(rows[0] - rows[1])
        assert moved.max() <= 1
        changes.append(int(moved.sum()))
    assert max(changes) == task.changed(4) == 2 * most


def test_votes_on_findings_are_kept_and_chosen_by_query(tmp_path):
    ballots = np.random.default_rng(0).integers(2, size=(5, 9, 3))
    labels = np.arange(15) % 3 - 1
    votes = Votes(
        2, labels, findings.one_by_one(ballots), ids=("a", "b", "c", "d", "e"), findings=3
    )
    assert (votes.n_queries, votes.n_vectors, votes.n_teachers) == (15, 5, 9)
    assert (votes.answers() == ballots.sum(axis=1)).all()
    some = votes.of([3, 1])
    assert (some.answers() == ballots.sum(axis=1)[[3, 1]]).all()
    assert some.ids == ("d", "b")
    assert some.labels.tolist() == [*labels[9:12], *labels[3:6]]
    stated = Votes(2, labels, votes.votes, findings=3, most_ones=2)
    write_votes(tmp_path / "votes.npz", stated)
    again = read_votes(tmp_path / "votes.npz")
    assert (again.findings, again.most_ones) == (3, 2)
    assert (again.histogram() == stated.histogram()).all()
    counts = findings.yes_and_no(ballots.sum(axis=1), 9)
    assert (counts == votes.histogram()).all()
    with pytest.raises(ValueError, match="ids: must be 5 different ones"):
        Votes(2, labels, votes.votes, ids=tuple(map(str, range(15))), findings=3)
    with pytest.raises(ValueError, match="most_ones = 4"):
        Votes(2, labels, votes.votes, findings=3, most_ones=4)
