"""Which queries are answered, how their labels are written, and names of classes."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from private_ensembles.labels.votes import Votes
from private_ensembles.release import pool
from private_ensembles.release.class_names import read_class_names
from private_ensembles.release.pool import Names, labels_text, pool_of

VOTES = Votes(
    3, [0, 1, 2, -1], np.array([[0, 0], [1, 2], [2, 2], [1, 0]]), ids=("a", "b", "c", "d")
)


def test_labels_are_written_by_number_with_identifiers_and_names():
    assert labels_text(np.array([2, -1, 0, 1])) == "query,label\n0,2\n2,0\n3,1\n"
    text = labels_text([2, -1, 0], ids=('say "x"', "b", "c,d"), names=Names(("cat", "dog", "ape")))
    assert text.splitlines() == [
        "query,id,label,class_name",
        '0,"say ""x""",2,ape',
        '2,"c,d",0,cat',
    ]


def test_labels_are_those_of_the_file_s_queries_whatever_the_order():
    """A mechanism that answers with the plurality: each label stands beside its own query."""
    for order in itertools.permutations(range(4)):
        asked = pool_of(VOTES, list(order))
        released = asked.votes.votes[:, 0]
        assert asked.to_csv(released) == "query,id,label\n0,a,0\n1,b,1\n2,c,2\n3,d,1\n"
        assert [asked.votes.ids[at] for at in range(4)] == [VOTES.ids[query] for query in order]
    some = pool_of(VOTES, [3, 1])
    assert (some.votes.n_queries, some.votes.labels.tolist()) == (2, [-1, 1])
    assert some.to_csv([1, -1]) == "query,id,label\n3,d,1\n"


def test_the_first_ones_are_asked_unless_something_else_is_said():
    assert pool_of(VOTES).votes is VOTES
    assert pool_of(VOTES).to_csv([0, 1, -1, -1]) == "query,id,label\n0,a,0\n1,b,1\n"


def test_every_order_is_as_likely_and_a_rehearsal_repeats_its_own():
    def drawn(seed=None):
        return tuple(pool_of(VOTES, "random", seed=seed).queries.tolist())

    assert len({drawn(seed=1) for _ in range(5)}) == 1
    times = dict.fromkeys(itertools.permutations(range(4)), 0)
    for _ in range(2400):
        times[drawn()] += 1
    # Chi-squared of 23 degrees of freedom: beyond 70 once in a million times.
    assert sum((number - 100) ** 2 / 100 for number in times.values()) < 70


def test_the_order_is_drawn_whatever_the_votes():
    other = Votes(3, [-1] * 4, np.full((4, 2), 2))
    orders = [pool_of(votes, "random", seed=7).queries.tolist() for votes in (VOTES, other)]
    assert orders[0] == orders[1]


@pytest.fixture
def listed(tmp_path):
    def write(text):
        (tmp_path / "list.txt").write_text(text, encoding="utf-8")
        return str(tmp_path / "list.txt")

    return write


def test_a_list_names_queries_by_identifier_or_by_number(listed):
    assert pool_of(VOTES, listed("d\nb\n\n")).queries.tolist() == [3, 1]
    without = Votes(3, VOTES.labels, VOTES.votes)
    assert pool_of(without, listed("\ufeff3\n 1 ")).queries.tolist() == [3, 1]


@pytest.mark.parametrize(
    ("text", "ids", "message"),
    [
        ("a\nx\n", True, "line 2: 'x' is the identifier of no query"),
        ("a\na\n", True, "line 2: names query 0 a second time"),
        ("1\nx\n", False, "line 2: 'x': must be the number of a query, from 0"),
        ("4\n", False, "line 1 = 4: must be a query from 0 to 3"),
        ("\u0661\n", False, "must be the number of a query"),
        ("", True, "is empty: must name a query on each line"),
    ],
)
def test_what_names_no_query_is_refused_in_one_line(listed, text, ids, message):
    votes = VOTES if ids else Votes(3, VOTES.labels, VOTES.votes)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        pool_of(votes, listed(text))
    assert message in str(caught.value)
    assert "list.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("answer", [[], [0.5], [0, 0], [-1], [4], [[0]]])
def test_numbers_that_are_no_queries_are_refused(answer):
    with pytest.raises(ValueError, match="answer"):
        pool_of(VOTES, answer)


def test_names_must_be_as_many_as_classes():
    with pytest.raises(ValueError, match="class_names: 2 of them: must be 3"):
        pool_of(VOTES, class_names="cat,dog")


def test_a_request_states_what_is_not_usual_and_files_by_their_content(listed, tmp_path):
    usual = {"class_names": None, "first_class": 0, "id_column": None, "answer": "first"}
    assert pool.collect_file_facts(usual) == pool.collect_file_facts({}) == {}
    names = tmp_path / "names.txt"
    names.write_text("cat\ndog\n", encoding="utf-8")
    in_file = pool.collect_file_facts(usual | {"class_names": str(names), "answer": listed("a\n")})
    assert (
        in_file["class_names"]
        == pool.collect_file_facts({"class_names": "cat, dog"})["class_names"]
    )
    again = Path(tmp_path / "again.txt")
    again.write_text("a\n", encoding="utf-8")
    assert pool.collect_file_facts({"answer": str(again)})["answer"] == in_file["answer"]
    assert pool.collect_file_facts({"answer": listed("b\n")})["answer"] != in_file["answer"]
    assert pool.collect_file_facts({"answer": "random", "first_class": 1, "id_column": "x"}) == {
        "answer": "random",
        "first_class": 1,
        "id_column": "x",
    }


def test_names_in_a_row_and_in_a_file_are_the_same(tmp_path):
    file = tmp_path / "names.txt"
    file.write_text("\ufeffcat\ngreat dane \nbird\n\n", encoding="utf-8")
    expected = ("cat", "great dane", "bird")
    assert read_class_names("cat, great dane,bird") == expected
    assert read_class_names(str(file)) == expected
    assert read_class_names(expected) == expected
    assert read_class_names("-1,1") == ("-1", "1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat", "class_names = 'cat': must be names with commas between them, or an existing file"),
        ("cat,", "class_names: name 2 is '': must be a word"),
        ("cat,dog,cat", "class_names: 'cat' comes twice"),
        ("-1,1,-1.0", "class_names: '-1.0' comes twice"),
        (
            "cat,2",
            "class_names: name 2 is '2': must not be a number beside words; for classes",
        ),
        (["cat"], "class_names: 1 names of classes: must be 2 to 100,000"),
        ([f"c{at}" for at in range(100_001)], "class_names: 100001 names of classes"),
        ("cat,d\tog", "class_names: name 2 is 'd\\tog': must be a word"),
    ],
)
def test_names_that_are_none_are_refused(text, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_class_names(text)
    assert str(caught.value).startswith(message)


def test_a_file_that_is_no_text_is_named(tmp_path):
    file = tmp_path / "names.txt"
    file.write_bytes(b"cat\n\xff\n")
    with pytest.raises(ValueError, match=r"names\.txt: is not text in UTF-8"):
        read_class_names(str(file))
