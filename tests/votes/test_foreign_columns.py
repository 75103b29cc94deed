"""What columns hold by their names; whole files are read in test_foreign and test_foreign_csv."""

import numpy as np
import pytest

from private_ensembles.votes.foreign_columns import (
    Columns,
    Stated,
    Table,
    columns_of,
    identified,
    numbered,
)


@pytest.mark.parametrize(
    ("header", "kind", "matrix"),
    [
        ("teacher0,teacher1", "votes", [0, 1]),
        ("Teacher A,teacher_b", "votes", [0, 1]),
        ("class1,class0", "counts", [1, 0]),
        ("class cat,class dog", "counts", [0, 1]),
        ("classifier0,classifier1", "auto", [0, 1]),
        ("anna,ben", "auto", [0, 1]),
        ("no,yes", "counts", [1, 0]),
    ],
)
def test_the_kind_is_told_by_names(header, kind, matrix):
    stated = Stated(2, class_names=("yes", "no") if "yes" in header else None)
    assert columns_of(header.split(","), stated) == Columns(kind, matrix, None, None)


def test_a_kind_that_is_told_otherwise_is_refused():
    with pytest.raises(ValueError, match="has a header of votes, and votes_kind = counts is asked"):
        columns_of(["teacher0", "teacher1"], Stated(2, kind="counts"))
    assert columns_of(["anna", "ben"], Stated(2, kind="counts")).kind == "counts"


def test_numbers_of_classes_are_those_of_a_plain_search():
    names = ("dog", "cat", "bird", "ape")
    cells = np.random.default_rng(0).choice([*names, "cow", "Cat", ""], (20, 5))
    expected = [[names.index(cell) if cell in names else -1 for cell in row] for row in cells]
    assert numbered(cells, names).tolist() == expected


def test_identifiers_are_bare_of_blanks_and_all_different():
    assert identified([" a", "b "], "line", 2) == ("a", "b")
    with pytest.raises(ValueError, match="rows 0 and 2 have the identifier 'a'"):
        identified(["a", "b", "a "], "row", 0)


def test_a_message_says_the_line_and_column_of_a_table_with_names():
    cells = np.zeros((2, 2), int)
    assert Table(cells, None, "votes").place(1, 0) == "[1, 0]"
    table = Table(cells, None, "votes", columns=("anna", "ben"), first_line=2)
    assert table.place(1, 0) == "in line 3, column 'anna',"
