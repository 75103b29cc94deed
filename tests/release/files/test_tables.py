"""The shape of CSV and Parquet files; what their cells mean is in test_cells."""

import sys

import numpy as np
import pandas as pd
import pytest

from private_ensembles.base.files import describe
from private_ensembles.release.files import tables
from private_ensembles.release.files.columns import FileDescription
from private_ensembles.release.files.tables import read_csv
from private_ensembles.release.files.votes_reader import read_own_votes

VOTES = np.array([[0, 2, 2, 1], [1, 1, 1, 1], [2, 0, 0, 0]])
COUNTS = np.array([[1, 1, 2], [0, 4, 0], [3, 0, 1]])
NAMES = ("cat", "dog", "bird")


def read(tmp_path, text, teachers=2, n_classes=3, **options):
    path = tmp_path / "v.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return read_own_votes(path, n_classes=n_classes, teachers=teachers, **options)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_any_usual_separator_line_end_and_quote(tmp_path, separator, end, quote):
    rows = [["class1", "label", "class0"], [3, 1, 0], [1, 0, 2]]
    lines = [separator.join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
    found = read(tmp_path, end.join(lines), teachers=3, n_classes=2)
    assert found.histogram().tolist() == [[0, 3], [2, 1]]
    assert (found.labels.tolist(), found.ids) == ([1, 0], None)


def test_many_rows_are_read_in_pieces_of_the_smallest_type(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 7)
    monkeypatch.setattr(tables, "_CELLS", 21)
    votes = np.random.default_rng(0).integers(0, 200, (1000, 3))
    np.savetxt(tmp_path / "v.csv", votes, fmt="%d", delimiter=",")
    found = read_own_votes(tmp_path / "v.csv", n_classes=200, teachers=3)
    assert found.votes.dtype == np.uint8
    assert np.array_equal(found.votes, votes)
    table = read_csv(tmp_path / "v.csv", FileDescription(200, teachers=3), lambda *_: None)
    assert table.matrix.codes.dtype == np.uint8


@pytest.mark.parametrize(
    ("header", "options", "ids"),
    [
        ("id,anna,ben,label", {}, ("a", "b")),
        ("image,anna,ben,Label", {"id_column": "image"}, ("a", "b")),
        ("Image,anna,ben,labels", {"id_column": "image"}, ("a", "b")),
        (",anna,ben,label", {}, ("a", "b")),
        ("id,anna,ben,y", {"truth_column": "y"}, ("a", "b")),
        ("id,anna,ben,label", {"ignore_columns": "id,fold"}, None),
    ],
)
def test_any_header_names_teachers_and_perhaps_identifiers_and_labels(
    tmp_path, header, options, ids
):
    found = read(tmp_path, f"{header}\na,0,1,2\nb,1,1,1\n", **options)
    assert found.votes.tolist() == [[0, 1], [1, 1]]
    assert (found.labels.tolist(), found.ids) == ([2, 1], ids)


def test_a_table_as_pandas_writes_it_without_names_has_its_index_as_identifiers(tmp_path):
    found = read(tmp_path, ",0,1,2,3\n7,0,1,1,1\n9,2,2,2,0\n", teachers=4)
    assert found.ids == ("7", "9")
    assert found.votes.tolist() == [[0, 1, 1, 1], [2, 2, 2, 0]]
    found = read(tmp_path, "0,1,2,3\n0,1,1,1\n", teachers=4)  # index=False: no class is called 3
    assert found.votes.tolist() == [[0, 1, 1, 1]]


def test_names_of_classes_are_read_as_votes_and_labels(tmp_path):
    text = "id,anna,ben,label\nx,cat,dog,\ny,bird,bird,bird\n"
    found = read(tmp_path, text, class_names=NAMES)
    assert (found.votes.tolist(), found.labels.tolist()) == ([[0, 1], [2, 2]], [-1, 2])
    found = read(tmp_path, "cat,dog\nbird,bird\ncat,cat\n", class_names=NAMES)  # without a header
    assert found.votes.tolist() == [[0, 1], [2, 2], [0, 0]]
    found = read(tmp_path, "anna,ben,label\n0,1,dog\n2,2,\n", class_names=NAMES)
    assert (found.votes.tolist(), found.labels.tolist()) == ([[0, 1], [2, 2]], [1, -1])


def test_counts_belong_to_the_classes_that_columns_name(tmp_path):
    text = "id,bird,cat,dog,label\nx,1,2,0,cat\ny,0,0,3,dog\n"
    found = read(tmp_path, text, teachers=3, class_names=NAMES)
    assert found.histogram().tolist() == [[2, 0, 1], [0, 3, 0]]
    assert found.labels.tolist() == [0, 1]
    text = "class dog,class cat,class bird\n1,2,0\n"
    assert read(tmp_path, text, 3, class_names=NAMES).histogram().tolist() == [[2, 1, 0]]
    text = "class2,class1,class3\n1,2,0\n"
    assert read(tmp_path, text, 3, first_class=1).histogram().tolist() == [[2, 1, 0]]
    with pytest.raises(ValueError, match="classes 1 to 3: must be 0 to 2, each once, or say first"):
        read(tmp_path, text, 3)
    text = "1,-1\n7,3\n"  # numbers that are names
    assert read(tmp_path, text, 10, 2, class_names="-1,1").histogram().tolist() == [[3, 7]]


@pytest.mark.parametrize("kind", ["votes", "counts"])
def test_a_first_line_of_as_many_names_as_classes_is_read_as_it_is_told(tmp_path, kind):
    """Line 1 may be votes or name the classes; by the shape alone, whatever is voted."""
    for line in ("cat,dog,bird", "cat,cat,cat"):
        with pytest.raises(ValueError, match="3 columns, as many as classes, so that line 1 may"):
            read(tmp_path, f"{line}\ncat,dog,dog\n", 3, class_names=NAMES)
    if kind == "votes":
        found = read(tmp_path, "cat,dog,bird\ncat,dog,dog\n", 3, class_names=NAMES, kind=kind)
        assert found.votes.tolist() == [[0, 1, 2], [0, 1, 1]]
    else:
        found = read(tmp_path, "dog,cat,bird\n1,2,3\n", 6, class_names=NAMES, kind=kind)
        assert found.histogram().tolist() == [[2, 1, 3]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "id,anna,ben\nx,cat,dgo\n",
            {"class_names": NAMES},
            "line 2, column 'ben': 'dgo' is none of the classes: must be one of cat, dog, bird",
        ),
        # As CatBoost 1.2 predicts 20260101 and 0.8 (findings/catboost_merged_labels.sh).
        (
            "anna,ben\n20260100,20260102\n",
            {"class_names": ("20260101", "20260102", "20260103")},
            "line 2, column 'anna': '20260100' is none of the classes: must be one of 20260101, ",
        ),
        (
            "anna,ben\n0.2,0.800000011920929\n",
            {"class_names": ("0.2", "0.5", "0.8")},
            "column 'ben': '0.800000011920929' is none of the classes: must be one of 0.2, 0.5",
        ),
        ("cat,dog\ncat,Dog\ncat,cat\n", {"class_names": NAMES}, "line 2, column 2: 'Dog' is none"),
        ("cat,dgo\ncat,dog\n", {"class_names": NAMES}, "line 1: 'dgo' is none of the classes, and"),
        ("0,x\n0,1\n1,1\n", {}, "line 1: 'x' is none of the classes, and other cells are: must be"),
        ("cat,dog,bird,dgo\ncat,dog,cat,dog\n", {"class_names": NAMES}, "if 'dgo' is none say"),
        ("cat,dog\ncat,dog\n", {}, "line 2, column 'cat': 'cat' is not a whole number: if these"),
        ("cat,cat\ncat,dog\n", {}, "two columns called 'cat': every name must be another one (or"),
        ("id,anna,ben\nx,0,0\nx,1,1\n", {}, "lines 2 and 3 have the identifier 'x': must be diff"),
        ("id,anna,ben\nx,0,0\n,1,1\n", {}, "line 3 has no identifier: every query needs one"),
        ("id,query,a,b\nx,y,0,0\n", {}, "has columns called id, query: say id_column=NAME"),
        ("0,1\n1,1\n1,1\n", {"id_column": "image"}, "has no names of columns, so none called 'im"),
        ("id,label\nx,0\n", {}, "has no column of votes or counts"),
        ("anna,ben,label\ncat,dog,cow\n", {"class_names": NAMES}, "label of row 0 is 'cow': must"),
        ('a,b\n0,"1\n1",0\n', {}, "line 2: unexpected end of data"),
        ('a,b\n0,"1"1\n', {}, "line 2: ',' expected after"),
        ("sep=;\n", {}, "is empty"),
        ("sep=;\na;b\n0\n", {}, "line 3 has 1 values and the first one 2"),
        ("a b\n0 1 2\n", {}, "line 2 has 3 values and the first one 2"),
        ("teacher0,,teacher1\n0,1,2\n", {}, "has no name for column 2: only a first column of"),
    ],
)
def test_what_a_line_or_a_name_leaves_open_is_refused(tmp_path, text, options, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read(tmp_path, text, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# One vote a line ---------------------------------------------------------------------------------

LONG = {"long_columns": "task,worker,label"}


def test_votes_one_a_line_are_in_the_order_of_names_whatever_that_of_the_lines(tmp_path):
    lines = ["t2,w1,1", "t1,w2,2", "t2,w2,0", "t1,w1,1"]
    for order in (lines, lines[::-1], sorted(lines)):
        text = "\n".join(["task,worker,label", *order]) + "\n"
        found = read(tmp_path, text, **LONG)
        assert (found.ids, found.votes.tolist()) == (("t1", "t2"), [[1, 2], [1, 0]])
        assert found.labels.tolist() == [-1, -1]


def test_votes_that_are_missing_among_one_a_line_are_absent_and_the_order_does_not_tell(tmp_path):
    """Whose line is missing is private: neither the order of queries nor their number may say."""
    text = "task,worker,label\nt2,w1,1\nt1,w2,2\nt2,w2,0\nt3,w9,\n"
    found = read(tmp_path, text, teachers=4, absent=True, **LONG)
    assert found.ids == ("t1", "t2", "t3")
    assert (found.votes >= 0).sum(axis=1).tolist() == [1, 2, 0]
    assert found.histogram().tolist() == [[1, 1, 2], [2, 2, 0], [2, 1, 1]]
    assert found.n_teachers == 4


def test_a_query_without_votes_may_have_a_line_without_a_teacher(tmp_path):
    """As Label Studio writes for a task without answers. Whether there is one is private."""
    lines = ["t1,w1,1", "t1,w2,2", "t3,w1,0"]
    for more in (["t2,w1,"], ["t2,,"], ["t2,,", "t2,,"], ["t2,w2,", "t2,,"], ["t1,,", "t2,,"]):
        text = "\n".join(["task,worker,label", *more, *lines]) + "\n"
        found = read(tmp_path, text, absent=True, **LONG)
        assert (found.ids, found.n_teachers) == (("t1", "t2", "t3"), 2)
        assert found.votes.tolist() == [[1, 2], [-1, -1], [0, -1]]


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (
            "t1,w1,0 t1,w2,1 t2,w1,1",
            {},
            "has no vote of 'w2' on 't2': if ballots may be absent say",
        ),
        ("t1,w1,0 t1,w2,1 t1,w1,0", {}, "lines 2 and 4 hold two votes of 'w1' on 't1'"),
        ("t1,w1,0 t1,w1,0", {"absent": True}, "lines 2 and 3 hold two votes of 'w1' on 't1'"),
        ("t1,w1,0 t1,w2,1 t1,w3,1", {}, "has votes of 3 teachers, and n_teachers = 2"),
        ("t1,w1,0 t1,w2,1", {"teachers": 3}, "has votes of 2 teachers, and n_teachers = 3"),
        ("t1,w1,0 t1,w2,x", {}, "line 3, column 'label': 'x' is not a whole number"),
        ("t1,w1,0 t1,w2,1", {"long_columns": "task,worker,vote"}, "has no column called 'vote'"),
        ("t1,w1,0 ,w2,1", {"absent": True}, "has a vote without a query or a teacher"),
        ("t1,w1,0 t1,w2,1 t1,,1", {"absent": True}, "has a vote without a query or a teacher"),
        ("t1,,0 t1,,", {"absent": True}, "has a vote without a query or a teacher"),
        ("t2,, t1,w1,0 t2,, t1,w1,0", {"absent": True}, "lines 3 and 5 hold two votes of 'w1'"),
    ],
)
def test_what_is_not_one_vote_of_each_teacher_is_refused(tmp_path, lines, options, message):
    text = "task,worker,label\n" + lines.replace(" ", "\n") + "\n"
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read(tmp_path, text, **LONG | options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# Parquet -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [None, ["x", "y", "z"]])
@pytest.mark.parametrize("name", [None, "id"])
def test_what_pandas_writes_is_read_with_its_index_as_identifiers(tmp_path, index, name):
    frame = pd.DataFrame(VOTES, columns=list("abcd"), index=index)
    if index is not None:
        frame.index.name = name
    frame.to_parquet(tmp_path / "v.parquet")
    found = read_own_votes(tmp_path / "v.parquet", n_classes=3, teachers=4)
    assert found.votes.tolist() == VOTES.tolist()
    assert found.ids == (None if index is None else ("x", "y", "z"))


def test_counts_and_categories_are_read(tmp_path):
    counts = pd.DataFrame(COUNTS[:, [2, 0, 1]], columns=["class2", "class0", "class1"])
    counts.to_parquet(tmp_path / "c.parquet")
    found = read_own_votes(tmp_path / "c.parquet", n_classes=3, teachers=4)
    assert found.histogram().tolist() == COUNTS.tolist()
    words = pd.DataFrame(np.array(NAMES)[VOTES], columns=list("abcd")).astype("category")
    words.to_parquet(tmp_path / "w.parquet")
    found = read_own_votes(tmp_path / "w.parquet", class_names=NAMES, teachers=4)
    assert found.votes.tolist() == VOTES.tolist()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [0, None], "b": [1, 1]}, "row 1, column 'a': is empty: if ballots may be absent"),
        ({"a": [0.5, 1.0], "b": [1, 1]}, "row 0, column 'a': '0.5' is not a whole number"),
        ({"a": [0, 1], "b": ["cat", "dog"]}, "column 'b': 'cat' is not a whole number: if they"),
        ({"a": ["cat", "dog"], "b": ["cat", "dog"]}, "say class_names=NAME,NAME,..."),
        ({"id": [1, 1], "a": [0, 1], "b": [0, 1]}, "rows 0 and 1 have the identifier '1'"),
        ({"id": [1, None], "a": [0, 1], "b": [0, 1]}, "row 1 has no identifier"),
        ({"a": [[0], [1]], "b": [[0], [1]]}, "must be whole numbers or texts"),
        ({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, "has 3 columns of votes (a, b, c), and n_teach"),
    ],
)
def test_other_columns_are_refused_in_one_line(tmp_path, columns, message):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    parquet.write_table(pyarrow.table(columns), tmp_path / "v.parquet")
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_own_votes(tmp_path / "v.parquet", n_classes=4, teachers=2)
    assert str(caught.value).startswith(str(tmp_path / "v.parquet"))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_parquet_and_what_memory_does_not_hold_is_refused(tmp_path):
    (tmp_path / "v.parquet").write_bytes(b"PAR1 and nothing else")
    size = {"n_classes": 3, "teachers": 4}
    with pytest.raises(ValueError, match="not a readable Parquet file: ") as caught:
        read_own_votes(tmp_path / "v.parquet", **size)
    assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError):
        read_own_votes(tmp_path / "gone.parquet", **size)
    pd.DataFrame(VOTES, columns=list("abcd")).to_parquet(tmp_path / "v.parquet")
    asked = []
    stated = FileDescription(3, teachers=4)
    tables.read_parquet(tmp_path / "v.parquet", stated, lambda *sizes: asked.append(sizes))
    assert asked == [(3, 96)]


def test_without_the_extra_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "v.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportError) as caught:
        read_own_votes(tmp_path / "v.parquet", n_classes=3, teachers=4)
    assert "pip install '.[workflow]'" in describe(caught.value)


@pytest.mark.parametrize("words", [False, True])
def test_nulls_are_absent_ballots(tmp_path, words):
    """As pandas writes them: of whole numbers, floats, texts, and a teacher who never voted."""
    votes = np.where(np.arange(12).reshape(3, 4) % 4 == 3, -1, VOTES)
    votes[1, 0] = -1
    cells = [[None if v < 0 else NAMES[v] if words else int(v) for v in row] for row in votes]
    for kind in ["object"] if words else ["float64", "Int16", "object"]:
        frame = pd.DataFrame(cells, columns=list("abcd")).astype(kind)
        frame.to_parquet(tmp_path / "v.parquet")
        options = {"class_names": NAMES if words else None, "n_classes": 3, "teachers": 4}
        found = read_own_votes(tmp_path / "v.parquet", absent=True, **options)
        assert found.votes.tolist() == votes.tolist()
        with pytest.raises(ValueError, match="row 0, column 'd': is empty: if ballots may be abs"):
            read_own_votes(tmp_path / "v.parquet", **options)


def test_absent_counts_have_no_nulls(tmp_path):
    frame = pd.DataFrame(COUNTS, columns=["class0", "class1", "class2"])
    frame.to_parquet(tmp_path / "c.parquet")
    options = {"n_classes": 3, "absent": True, "teachers": 6}
    found = read_own_votes(tmp_path / "c.parquet", **options)
    assert found.histogram().tolist() == np.add(COUNTS, [1, 1, 0]).tolist()
    frame.astype("Int64").where(frame != 4).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(ValueError, match=r"column 'class1': '' is no number of votes$"):
        read_own_votes(tmp_path / "c.parquet", **options)
