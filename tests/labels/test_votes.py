"""Votes: what the cache promises is checked on reading; broken files are refused by name."""

import io as standard_io
import json
import zipfile

import numpy as np
import pytest

from private_ensembles.labels.array_votes import votes_from_arrays
from private_ensembles.labels.votes import (
    Votes,
    read_votes,
    vote_histograms,
    write_votes,
)

GOOD = {
    "votes": np.array([[0, 1, 1], [1, 1, 1], [0, 0, 1]], np.uint8),
    "labels": np.array([1, 1, -1]),
    "n_classes": np.array(2),
    "provenance": np.array(json.dumps({"seed": 0})),
}


def file_with(path, **changes):
    """An npz file like GOOD but for the changes; None leaves a key out."""
    arrays = {key: value for key, value in (GOOD | changes).items() if value is not None}
    np.savez(path, **arrays)
    return path


def test_votes_are_read_back_in_the_smallest_type_and_in_the_format_of_other_tools(tmp_path):
    votes = Votes(2, GOOD["labels"], GOOD["votes"].astype(np.int64), provenance={"seed": 0})
    write_votes(tmp_path / "v.npz", votes)
    read = read_votes(tmp_path / "v.npz")
    assert read.votes.dtype == np.uint8
    assert np.array_equal(read.votes, GOOD["votes"])
    assert read.labels.tolist() == [1, 1, -1]
    assert (read.n_queries, read.n_teachers, read.n_classes) == (3, 3, 2)
    assert read.provenance == {"seed": 0}
    with np.load(tmp_path / "v.npz", allow_pickle=False) as archive:
        assert set(archive.files) == {"votes", "labels", "n_classes", "provenance"}
        assert archive["votes"].shape == (3, 3)
        assert int(archive["n_classes"]) == 2
        assert json.loads(str(archive["provenance"])) == {"seed": 0}


def test_equal_contents_give_equal_bytes(tmp_path):
    for name, provenance in (("a", {"x": 1, "y": 2}), ("b", {"y": 2, "x": 1})):
        write_votes(tmp_path / name, Votes(2, GOOD["labels"], GOOD["votes"], None, provenance))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_histogram_agrees_with_counting_one_by_one():
    votes = np.random.default_rng(0).integers(0, 7, (50, 31))
    expected = [[(row == c).sum() for c in range(7)] for row in votes]
    assert np.array_equal(vote_histograms(votes, 7), expected)
    assert np.array_equal(Votes(7, np.full(50, -1), votes).histogram(), expected)


def test_counts_take_the_place_of_votes(tmp_path):
    table = np.array([[3, 0, 2], [0, 5, 0]])
    write_votes(tmp_path / "c.npz", Votes(3, np.array([0, -1]), counts=table))
    read = read_votes(tmp_path / "c.npz")
    assert read.counts.dtype == np.uint8
    assert read.votes is None
    assert read.n_teachers == 5
    assert np.array_equal(read.histogram(), table)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"votes": None}, "exactly one"),
        ({"counts": np.array([[1, 2]] * 3)}, "exactly one"),
        ({"labels": None}, "lacks labels"),
        ({"n_classes": None}, "lacks n_classes"),
        ({"provenance": None}, "lacks provenance"),
        ({"votes": np.array([0, 1, 1])}, r"votes has shape \(3,\): must have 2"),
        ({"votes": np.zeros((0, 3), np.uint8)}, "must have a query"),
        ({"votes": np.zeros((3, 0), np.uint8)}, "must have a query and a teacher"),
        ({"votes": GOOD["votes"] * 1.0}, "votes has type float64"),
        ({"votes": np.full((3, 3), np.nan)}, "votes has type float64"),
        ({"votes": GOOD["votes"].astype(bool)}, "votes has type bool"),
        ({"votes": GOOD["votes"].astype(np.int8) - 1}, r"votes\[0, 0\] = -1: must be 0 to 1"),
        ({"votes": GOOD["votes"] * 2}, r"votes\[0, 1\] = 2: must be 0 to 1"),
        ({"labels": np.array([0, 1])}, r"labels has shape \(2,\): must be \(3,\)"),
        ({"labels": np.array([0, 1, 2])}, r"labels\[2\] = 2: must be -1 to 1"),
        ({"labels": np.array([0, 1, -2])}, r"labels\[2\] = -2"),
        ({"labels": np.array([[0], [1], [1]])}, "labels has shape"),
        ({"n_classes": np.array(1)}, "n_classes = 1"),
        ({"n_classes": np.array(2.0)}, "n_classes has type float64"),
        ({"n_classes": np.array([2])}, "n_classes has shape"),
        ({"provenance": np.array("{")}, "provenance is not JSON"),
        ({"provenance": np.array("[]")}, "provenance: must be a JSON object"),
        ({"provenance": np.array(3)}, "provenance is int64"),
        ({"votes": None, "counts": np.array([[1, 2, 0]] * 3)}, "n_classes = 2"),
        ({"votes": None, "counts": np.array([[1, 2], [2, 2], [3, 0]])}, "query 1 add up to 4"),
        ({"votes": None, "counts": np.zeros((3, 2), int)}, "same positive number"),
        ({"votes": None, "counts": np.array([[-1, 4]] * 3)}, r"counts\[0, 0\] = -1"),
        ({"votes": GOOD["votes"].astype(object)}, "not a readable npz"),
    ],
)
def test_broken_promises_are_refused_in_one_line_by_name(tmp_path, changes, message):
    path = file_with(tmp_path / "votes.npz", **changes)
    with pytest.raises(ValueError, match=message) as caught:
        read_votes(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


ONE_VOTE = {"n_classes": 2, "labels": np.array([0]), "counts": np.array([[1, 0]])}


@pytest.mark.parametrize(
    ("field", "taken", "others"),
    [
        ("teachers", [1, None], [0, 2, 1.5]),
        ("most_ones", [1, 7, None], [0, -1, 1.5]),
        ("absent", [False], [0, None]),
        ("n_classes", [2], [1, 3, 2**32 + 1]),
        ("counts", [np.array([[0, 1]])], [np.array([[0, 0]]), np.array([[1]]), np.array([1, 0])]),
        ("ids", [("a",), None], [(), ("a", "b")]),
        ("labels", [np.array([-1]), np.array([1])], [np.array([-2]), np.array([2])]),
    ],
)
def test_a_vote_of_a_single_teacher_is_taken_and_what_contradicts_it_refused(field, taken, others):
    for value in taken:
        assert Votes(**ONE_VOTE | {field: value}).n_teachers == 1
    for value in others:
        with pytest.raises(ValueError, match=r"teachers|ones|absent|classes|counts|ids|labels"):
            Votes(**ONE_VOTE | {field: value})


@pytest.mark.parametrize("changes", [{"absent": True}, {"n_classes": 3}])
def test_ones_are_capped_of_two_classes_without_absent_ballots_alone(changes):
    votes = {"n_classes": 2, "labels": np.array([0]), "votes": np.array([[0, 1]]), "most_ones": 1}
    Votes(**votes)
    with pytest.raises(ValueError, match="must be of two classes, without absent ballots"):
        Votes(**votes | changes)


def test_every_truncation_is_refused(tmp_path):
    data = file_with(tmp_path / "whole.npz").read_bytes()
    path = tmp_path / "short.npz"
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"short\.npz"):
            read_votes(path)


def test_pickled_member_is_never_executed(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "executed"), "w"))

    buffer = standard_io.BytesIO()
    np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("votes.npy", buffer.getvalue())
    with pytest.raises(ValueError, match="bomb"):
        read_votes(tmp_path / "bomb.npz")
    assert not (tmp_path / "executed").exists()


def test_no_flipped_byte_changes_what_is_read(tmp_path):
    good = Votes(2, GOOD["labels"], GOOD["votes"], provenance={"seed": 0})
    write_votes(tmp_path / "v.npz", good)
    data = (tmp_path / "v.npz").read_bytes()
    refused = 0
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 0xFF
        (tmp_path / "f.npz").write_bytes(flipped)
        try:
            votes = read_votes(tmp_path / "f.npz")
        except ValueError as error:
            assert "f.npz" in str(error)
            refused += 1
            continue
        # What the archive says about itself (dates, permissions) may change, the contents not.
        assert np.array_equal(votes.votes, good.votes)
        assert np.array_equal(votes.labels, good.labels)
        assert (votes.n_classes, votes.provenance) == (good.n_classes, good.provenance)
    assert refused > len(data) / 2


ABSENT = np.array([[0, -1, 1], [-1, -1, -1], [1, 1, 1]])


def test_absent_ballots_are_read_back_and_dealt_out(tmp_path):
    votes = Votes(2, GOOD["labels"], ABSENT, absent=True)
    write_votes(tmp_path / "v.npz", votes)
    read = read_votes(tmp_path / "v.npz")
    assert read.absent is True
    assert read.votes.dtype == np.int8
    assert read.n_teachers == 3
    assert read.histogram().tolist() == [[2, 1], [2, 1], [0, 3]]
    assert read.select_queries(np.array([2, 0])).histogram().tolist() == [[0, 3], [2, 1]]


def test_absent_ballots_of_votes_and_of_counts_are_one(tmp_path):
    drawn = np.random.default_rng(3).integers(-1, 200, (40, 30))
    votes = Votes(200, np.full(40, -1), drawn, absent=True)
    assert votes.votes.dtype == np.int16
    table = np.array([[(row == c).sum() for c in range(200)] for row in drawn])
    counted = Votes(200, np.full(40, -1), counts=table, absent=True, teachers=30)
    assert np.array_equal(votes.histogram(), counted.histogram())
    assert (counted.histogram().sum(axis=1) == 30).all()
    write_votes(tmp_path / "c.npz", counted)
    read = read_votes(tmp_path / "c.npz")
    assert (read.teachers, read.n_teachers, read.absent) == (30, 30, True)
    assert np.array_equal(read.counts, table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"votes": ABSENT}, r"votes\[0, 1\] = -1: must be 0 to 1"),
        ({"votes": ABSENT - 1, "absent": True}, r"votes\[0, 1\] = -2: must be -1 to 1"),
        ({"counts": [[1, 1], [0, 1], [2, 0]], "absent": True}, "teachers = None: must be stated"),
        (
            {"counts": [[1, 1], [0, 1], [2, 2]], "absent": True, "teachers": 3},
            "counts of query 2 add up to 4: must be at most 3, those of 3 teachers",
        ),
        ({"counts": [[3, 0]] * 3, "teachers": 4}, "query 0 add up to 3: must be 4, those of 4"),
        ({"votes": ABSENT, "absent": 1}, "absent = 1: must be True or False"),
        ({"votes": GOOD["votes"], "teachers": 4}, "teachers: 4 of them: must be 3, as in votes"),
        ({"votes": GOOD["votes"], "teachers": 0}, "teachers = 0: must be an integer >= 1"),
    ],
)
def test_ballots_that_are_not_as_stated_are_refused(options, message):
    with pytest.raises(ValueError, match=message) as error:
        Votes(2, GOOD["labels"], **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("name", "array"), [("absent", [0, 1]), ("teachers", "x")])
def test_stated_facts_in_a_file_are_checked(tmp_path, name, array):
    with pytest.raises(ValueError, match=f"v.npz: {name}"):
        read_votes(file_with(tmp_path / "v.npz", **{name: np.array(array)}))


COUNTS = np.array([[4, 1], [2, 3]])
WHOLE = {"n_teachers": 5, "absent": False}


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"counts": COUNTS}, WHOLE),
        (
            {"counts": COUNTS, "teachers": 6, "absent": True},
            WHOLE | {"n_teachers": 6, "absent": True},
        ),
        ({"counts": COUNTS, "most_ones": 2}, WHOLE | {"most_ones": 2}),
    ],
)
def test_what_a_ballot_is_follows_from_what_is_given(given, facts):
    votes = votes_from_arrays(**given)
    assert {name: getattr(votes, name) for name in facts} == facts


def test_votes_count_as_they_are_given():
    assert votes_from_arrays(COUNTS).histogram().tolist() == COUNTS.tolist()
    absent = votes_from_arrays(COUNTS, teachers=7, absent=True)
    assert absent.histogram().tolist() == [[5, 2], [3, 4]]  # the missing two are dealt out


@pytest.mark.parametrize("type_", [np.uint8, np.int8, np.uint16, np.int32, np.uint64])
def test_counts_of_small_types_do_not_overflow(type_):
    rows = np.array([[100, 90, 60], [0, 125, 125]]).astype(type_)
    found = votes_from_arrays(rows)
    assert (found.n_teachers, found.histogram().tolist()) == (250, [[100, 90, 60], [0, 125, 125]])
    assert votes_from_arrays(rows, teachers=300, absent=True).histogram().sum(axis=1).tolist() == [
        300,
        300,
    ]


@pytest.mark.parametrize(
    ("counts", "given", "says"),
    [
        (COUNTS, {"teachers": 1_000_001, "absent": True}, "teachers = 1000001: must be"),
        (
            COUNTS,
            {"teachers": 7, "absent": True, "most_ones": 2},
            "most_ones = 2: must be of two classes, without",
        ),
        (np.full((2, 2), 2**62), {}, "rows add up to 2000002 to 2000002"),
        (np.full((2, 2), 2**64 - 1, np.uint64), {}, "rows add up to 2000002 to 2000002"),
        (np.array([[0, 2, 1], [1, 1, 0]]), {}, "if these are votes, count them for each class"),
        ([[2, 1], [1, 1]], {}, "rows add up to 2 to 3: if these"),
        ([[1, 1], [2, 1]], {}, "rows add up to 2 to 3: if these"),
        ([[1, 0], [0, 1]], {}, "rows add up to 1 to 1: if these"),
        ([[2, 1], [3, 1]], {"teachers": 3, "absent": True}, "must add up to at most 3 teachers"),
        ([[5]], {}, "two classes at least"),
        (COUNTS, {"teachers": 6}, "every row must add up to 6 teachers"),
    ],
)
def test_what_does_not_go_together_is_one_line(counts, given, says):
    with pytest.raises(ValueError, match=says) as caught:
        votes_from_arrays(counts, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("classes", [2, 127, 128, 129, 255, 256, 257, 65_536, 65_537])
def test_the_smallest_type_of_votes_holds_the_last_class_and_absent_ballots(classes, tmp_path):
    """Where types end, too: 128 classes have votes up to 127, and one more 128."""
    for absent in (False, True):
        cast = np.array([[0, classes - 1], [-1 if absent else 1, classes - 1]])
        votes = Votes(classes, np.array([-1, classes - 1]), cast, absent=absent)
        assert votes.votes.tolist() == cast.tolist()
        write_votes(tmp_path / "v.npz", votes)
        assert read_votes(tmp_path / "v.npz").votes.tolist() == cast.tolist()
        assert votes.histogram()[0, [0, -1]].tolist() == [1, 1]


@pytest.mark.parametrize("teachers", [255, 256, 65_535, 65_536, 2**32 - 1])
def test_the_smallest_type_of_counts_holds_a_vote_of_all_teachers(teachers):
    for row in ([[teachers, 0]], [[1, teachers - 1]]):
        for more in ({}, {"teachers": teachers}, {"teachers": teachers, "absent": True}):
            votes = Votes(2, np.array([-1]), counts=np.array(row), **more)
            assert votes.counts.tolist() == row
            assert votes.histogram().tolist() == row
            assert votes.n_teachers == teachers


STATED = {
    "votes": {"votes": np.random.default_rng(4).integers(0, 2, (30, 5))},
    "absent": {"votes": np.random.default_rng(4).integers(-1, 2, (30, 5)), "absent": True},
    "counts": {"counts": np.tile([[2, 3], [4, 1], [0, 5]], (10, 1))},
    "few ones": {"votes": np.random.default_rng(4).integers(0, 2, (30, 5)), "most_ones": 4},
}


@pytest.mark.parametrize("stated", STATED.values(), ids=STATED)
def test_the_histogram_of_some_queries_is_that_of_all_in_part(stated):
    votes = Votes(2, np.full(30, -1), **stated)
    for queries in (slice(7, 20), np.array([3, 29]), np.arange(30) % 3 == 0):
        expected = votes.histogram()[queries]
        assert np.array_equal(votes.histogram(queries), expected)
        assert np.array_equal(votes.limit_ones().histogram(queries), expected)
