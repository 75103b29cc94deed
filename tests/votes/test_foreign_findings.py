"""Files of ballots on findings: what is read, and one line for what is not."""

import numpy as np
import pytest

from private_ensembles.votes.foreign import read_own_votes
from private_ensembles.votes.foreign_findings import of_arrays

BALLOTS = np.random.default_rng(0).integers(2, size=(4, 5, 3)).astype(np.uint8)
NAMES = ("a", "b", "c")


def table(order, header=None):
    """A CSV of the ballots whose columns are in this order, each a teacher and a finding."""
    header = header or [f"t{teacher}.{NAMES[finding]}" for teacher, finding in order]
    rows = [[f"q{query}", *(ballots[at] for at in order)] for query, ballots in enumerate(BALLOTS)]
    lines = [["id", *header], *rows]
    return "".join(",".join(map(str, line)) + "\n" for line in lines)


IN_ORDER = [(teacher, finding) for teacher in range(5) for finding in range(3)]


def test_arrays_and_tables_are_the_same_votes(tmp_path):
    truth = np.arange(12).reshape(4, 3) % 3 - 1
    np.savez(tmp_path / "v.npz", votes=BALLOTS, labels=truth)
    np.save(tmp_path / "v.npy", BALLOTS)
    (tmp_path / "v.csv").write_text(table(IN_ORDER))
    mixed = [IN_ORDER[at] for at in np.random.default_rng(1).permutation(15)]
    (tmp_path / "mixed.csv").write_text(table(mixed))
    for name in ("v.npz", "v.npy", "v.csv", "mixed.csv"):
        votes = read_own_votes(tmp_path / name, findings=NAMES, most_ones=2)
        assert (votes.n_classes, votes.findings, votes.most_ones, votes.n_teachers) == (2, 3, 2, 5)
        kept = np.where(np.cumsum(BALLOTS, axis=2) > 2, 0, BALLOTS)
        assert (votes.answers() == kept.sum(axis=1)).all()
        assert votes.ids == (None if name[0] == "v" and name != "v.csv" else votes.ids)
    assert read_own_votes(tmp_path / "v.npz", findings=3).labels.tolist() == truth.ravel().tolist()
    assert read_own_votes(tmp_path / "v.csv", findings="3").ids == ("q0", "q1", "q2", "q3")


def test_counts_of_yes_need_the_teachers(tmp_path):
    np.savez(tmp_path / "v.npz", counts=BALLOTS.sum(axis=1))
    votes = read_own_votes(tmp_path / "v.npz", findings=3, teachers=5)
    assert (votes.answers() == BALLOTS.sum(axis=1)).all()
    with pytest.raises(ValueError, match="teachers = None: must be stated beside counts of yes"):
        read_own_votes(tmp_path / "v.npz", findings=3)
    with pytest.raises(ValueError, match="must be 0 to 2"):
        read_own_votes(tmp_path / "v.npz", findings=3, teachers=2)


def test_absent_votes_are_dealt_out_on_each_finding(tmp_path):
    ballots = BALLOTS.astype(np.int8)
    ballots[0, :2, 1] = -1
    np.savez(tmp_path / "v.npz", votes=ballots)
    votes = read_own_votes(tmp_path / "v.npz", findings=3, absent=True)
    here = ballots[0, :, 1]
    assert votes.histogram()[1].tolist() == [(here == 0).sum() + 1, (here == 1).sum() + 1]
    with pytest.raises(ValueError, match=r"vote \[0, 0, 1\] is -1: must be 0 or 1; if ballots may"):
        read_own_votes(tmp_path / "v.npz", findings=3)


def test_no_ballot_is_refused_for_its_ones(tmp_path):
    """Whatever ballots say, a file of their shape is read: a refusal would tell something."""
    for fill in (0, 1):
        np.savez(tmp_path / "v.npz", votes=np.full((4, 5, 3), fill))
        assert read_own_votes(tmp_path / "v.npz", findings=3, most_ones=1).n_vectors == 4


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"findings": 4}, r"has shape \(4, 5, 3\): must be queries x teachers x findings"),
        ({"findings": 3, "n_classes": 3}, "n_classes = 3: must be 2, as findings are yes or no"),
        ({"findings": 3, "class_names": "no,yes"}, "class_names: must be left out beside findings"),
        ({"findings": 3, "first_class": 1}, "first_class: must be left out beside findings"),
        ({"findings": 3, "most_ones": 4}, "most_ones = 4: must be an integer >= 1 and <= 3"),
        ({"n_classes": 2, "most_ones": 2}, "most_ones = 2: must be left out"),
    ],
)
def test_what_is_stated_must_fit(tmp_path, others, words):
    np.savez(tmp_path / "v.npz", votes=BALLOTS)
    with pytest.raises(ValueError, match=words) as caught:
        read_own_votes(tmp_path / "v.npz", **others)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "names", "words"),
    [
        ([f"t{at}" for at in range(15)], "3", "has a column called 't0': a header must name every"),
        (None, "a,b,d", "has columns for the findings a, b, c: must be for a, b, d"),
        (None, "4", "has columns for the findings a, b, c: must be for finding0"),
        (["t0.a", "t0.b", "t1.c", *(f"t{at}.a" for at in range(2, 14))], "3", "has no column call"),
    ],
)
def test_headers_of_other_findings_are_refused(tmp_path, header, names, words):
    (tmp_path / "v.csv").write_text(table(IN_ORDER, header))
    with pytest.raises(ValueError, match=words):
        read_own_votes(tmp_path / "v.csv", findings=names)


@pytest.mark.parametrize(
    ("counts", "others", "words"),
    [
        (BALLOTS[0, 0], {}, "must be integers"),
        (BALLOTS + 0.5, {}, "must be integers"),
        (BALLOTS, {"findings": 2}, "counts: 3 findings: must be 2"),
        (BALLOTS.sum(axis=1), {}, "teachers = None"),
        (BALLOTS, {"teachers": 6}, "teachers = 5 in the ballots: must be 6"),
        (2 * BALLOTS, {}, "counts: must be numbers from 0 to 1"),
        (BALLOTS.sum(axis=1) + 9, {"teachers": 5}, "counts: must be numbers from 0 to 5"),
    ],
)
def test_arrays_that_are_no_ballots_are_refused(counts, others, words):
    stated = {"findings": 3, "most_ones": None, "teachers": None} | others
    with pytest.raises(ValueError, match=words):
        of_arrays(counts, **stated)
