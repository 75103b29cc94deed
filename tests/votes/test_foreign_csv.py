"""A CSV file's own shape; whole files are read in test_foreign."""

import numpy as np
import pytest

from private_ensembles.votes.foreign_columns import Stated
from private_ensembles.votes.foreign_csv import read_csv


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_any_usual_separator_line_end_and_quote(tmp_path, separator, end, quote):
    rows = [["class1", "label", "class0"], [3, 1, 0], [1, 0, 2]]
    lines = [separator.join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
    (tmp_path / "c.csv").write_text(end.join(lines), encoding="utf-8", newline="")
    table = read_csv(tmp_path / "c.csv", Stated(3))
    assert table.matrix.tolist() == [[0, 3], [2, 1]]
    assert table.labels.tolist() == [1, 0]
    assert (table.kind, table.n_classes, table.ids) == ("counts", None, None)


def test_many_rows_are_read_in_pieces_of_the_smallest_type(tmp_path):
    votes = np.random.default_rng(0).integers(0, 200, (1000, 3))
    np.savetxt(tmp_path / "v.csv", votes, fmt="%d", delimiter=",")
    table = read_csv(tmp_path / "v.csv", Stated(3))
    assert table.matrix.dtype == np.uint8
    assert np.array_equal(table.matrix, votes)
    assert (table.labels, table.kind, table.headed) == (None, "auto", False)


NAMES = ("cat", "dog", "bird")


def read(tmp_path, text, n_classes=3, **options):
    path = tmp_path / "v.csv"
    path.write_text(text, encoding="utf-8")
    return read_csv(path, Stated(n_classes, **options))


@pytest.mark.parametrize(
    ("header", "options", "ids", "teachers"),
    [
        ("id,anna,ben,label", {}, ("a", "b"), 2),
        ("anna,Query_ID,ben,label", {"id_column": None}, None, None),
        ("image,anna,ben,Label", {"id_column": "image"}, ("a", "b"), 2),
        ("Image,anna,ben,labels", {"id_column": "image"}, ("a", "b"), 2),
        (",anna,ben,label", {}, ("a", "b"), 2),
        ("classifier1,classifier2,classifier3,label", {}, None, 3),
    ],
)
def test_any_header_names_teachers_and_perhaps_a_column_of_identifiers(
    tmp_path, header, options, ids, teachers
):
    if teachers == 3:
        table = read(tmp_path, f"{header}\n0,1,2,2\n1,1,0,1\n", 4, **options)
        assert table.columns == ("classifier1", "classifier2", "classifier3")
    elif ids is None:  # in the middle
        table = read(tmp_path, f"{header}\n0,a,1,2\n1,b,1,1\n", **options)
        assert (table.ids, table.columns) == (("a", "b"), ("anna", "ben"))
    else:
        table = read(tmp_path, f"{header}\na,0,1,2\nb,1,1,1\n", **options)
        assert (table.ids, table.columns) == (ids, ("anna", "ben"))
        assert table.matrix.tolist() == [[0, 1], [1, 1]]
    assert table.labels.tolist() == [2, 1]


def test_a_table_as_pandas_writes_it_without_names_has_its_index_as_identifiers(tmp_path):
    table = read(tmp_path, ",0,1,2,3\n7,0,1,1,1\n9,2,2,2,0\n")
    assert table.ids == ("7", "9")
    assert table.matrix.tolist() == [[0, 1, 1, 1], [2, 2, 2, 0]]


def test_names_of_classes_are_read_as_votes_and_labels(tmp_path):
    text = "id,anna,ben,label\nx,cat,dog,\ny,bird,bird,bird\n"
    table = read(tmp_path, text, class_names=NAMES)
    assert table.matrix.tolist() == [[0, 1], [2, 2]]
    assert table.labels.tolist() == [-1, 2]
    assert (table.kind, table.named) == ("votes", True)


def test_names_of_classes_need_no_header_and_numbers_may_have_names(tmp_path):
    table = read(tmp_path, "cat,dog\nbird,bird\n", class_names=NAMES)
    assert (table.matrix.tolist(), table.headed) == ([[0, 1], [2, 2]], False)
    table = read(tmp_path, "anna,ben,label\n0,1,dog\n2,2,\n", class_names=NAMES)
    assert (table.matrix.tolist(), table.named) == ([[0, 1], [2, 2]], False)
    assert table.labels.tolist() == [1, -1]


def test_counts_belong_to_the_classes_that_columns_name(tmp_path):
    text = "id,bird,cat,dog,label\nx,1,2,0,cat\ny,0,0,3,dog\n"
    table = read(tmp_path, text, class_names=NAMES)
    assert (table.kind, table.matrix.tolist()) == ("counts", [[2, 0, 1], [0, 3, 0]])
    assert table.labels.tolist() == [0, 1]
    with_word = read(tmp_path, "class dog,class cat,class bird\n1,2,0\n", class_names=NAMES)
    assert with_word.matrix.tolist() == [[2, 1, 0]]


def test_columns_of_classes_that_count_from_one(tmp_path):
    text = "class2,class1,class3\n1,2,0\n"
    assert read(tmp_path, text, first_class=1).matrix.tolist() == [[2, 1, 0]]
    with pytest.raises(ValueError, match="classes 1 to 3: must be 0 to 2, each once, or say first"):
        read(tmp_path, text)


@pytest.mark.parametrize("kind", ["votes", "counts"])
def test_a_first_line_of_as_many_names_as_classes_is_read_as_it_is_told(tmp_path, kind):
    """Line 1 may be votes or name the classes; by the shape alone, whatever is voted."""
    for line in ("cat,dog,bird", "cat,cat,cat"):
        with pytest.raises(ValueError, match="3 columns, as many as classes, so that line 1 may"):
            read(tmp_path, f"{line}\ncat,dog,dog\n", class_names=NAMES)
    if kind == "votes":
        table = read(tmp_path, "cat,dog,bird\ncat,dog,dog\n", class_names=NAMES, kind=kind)
        assert table.matrix.tolist() == [[0, 1, 2], [0, 1, 1]]
    else:
        table = read(tmp_path, "dog,cat,bird\n1,2,3\n", class_names=NAMES, kind=kind)
        assert table.matrix.tolist() == [[2, 1, 3]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "id,anna,ben\nx,cat,dgo\n",
            {"class_names": NAMES},
            "line 2, column 'ben': 'dgo' is none of the classes: must be one of cat, dog, bird",
        ),
        ("cat,dog\ncat,Dog\n", {"class_names": NAMES}, "line 2: 'Dog' is none of the classes"),
        ("cat,dgo\ncat,dog\n", {"class_names": NAMES}, "line 1: 'dgo' is none of the classes, and"),
        ("Cat,dog\ncat,dog\n", {"class_names": NAMES}, "line 1: 'Cat' is none of the classes"),
        ("cat,dog,bird,dgo\ncat,dog,cat,dog\n", {"class_names": NAMES}, "line 1: 'dgo' is none"),
        ("cat,dog\ncat,dog\n", {}, "line 2, column 'cat': 'cat' is not a whole number: if these"),
        ("cat,cat\ncat,dog\n", {}, "two columns called 'cat': every name must be another one (or"),
        ("id,anna\nx,0\nx,1\n", {}, "lines 2 and 3 have the identifier 'x': must be different"),
        ("id,anna\nx,0\n,1\n", {}, "line 3 has no identifier: every query needs one"),
        ("id,query,anna\nx,y,0\n", {}, "has columns called id, query: say id_column=NAME"),
        ("id,anna\nx,0\n", {"id_column": "image"}, "has no column called 'image': id_column must"),
        ("0,1\n1,1\n", {"id_column": "image"}, "has no header, so no column called 'image'"),
        ("id,label\nx,0\n", {}, "has no column of votes or counts"),
        ("anna,ben,label\ncat,dog,cow\n", {"class_names": NAMES}, "column 'label': 'cow' is none"),
    ],
)
def test_what_a_header_or_a_name_leaves_open_is_refused(tmp_path, text, options, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read(tmp_path, text, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
