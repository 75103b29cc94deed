"""What a cell means, by its text alone."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.release.files.cells import (
    INVALID,
    TextIndex,
    explain_invalid_vote,
    parse_classes,
    parse_vote_counts,
    parse_whole_number,
)
from private_ensembles.release.files.columns import FileDescription


@pytest.mark.parametrize(
    "text",
    [
        "2",
        "+2",
        "02",
        "2.",
        "2.0",
        "2.000000000000000000e+00",
        "2E0",
        "0.2e1",
        "20e-1",
        "2,0",
        "2,00",
    ],
)
def test_a_whole_number_is_read_however_it_is_written(text):
    assert parse_whole_number(text) == 2


@pytest.mark.parametrize(
    "text",
    [
        *[
            "",
            "two",
            "2.5",
            "2,000",
            "2,5",
            "0_2",
            "٢",
            "２",
            "--2",
            "2 2",
            "nan",
            "inf",
            "0x2",
            "2e9999",
        ],
        "9" * 61,
    ],
)
def test_nothing_else_is_a_number(text):
    assert parse_whole_number(text) is None


def test_every_type_of_pandas_and_numpy_has_the_same_texts():
    for cells in (
        np.array([2, 0], np.uint8),
        np.array([2, 0], ">i4"),
        np.array([2, 0], np.float16),
        pd.Series([2, 0], dtype="Int8"),
        pd.Series(["2", "0"], dtype="category"),
        np.array([b"2", b"0"]),
    ):
        texts = TextIndex()
        places = texts.encode(cells)
        assert parse_classes(texts.all_texts, FileDescription(3))[places].tolist() == [2, 0]
    texts = TextIndex()
    assert texts.encode(pd.Series([None, np.nan, pd.NA, "a"], dtype=object)).tolist() == [
        1,
        1,
        1,
        0,
    ]
    assert texts.all_texts == ["a", ""]
    large = TextIndex()
    large.encode(np.array([60_011], np.float16))
    assert large.all_texts == [str(float(np.float16(60_011)))]  # not its shortest digits, 6e+04


@pytest.mark.parametrize("text", ["", "NA", "NaN", "nan", "N/A", "<NA>", "None", "NULL", "-1"])
def test_nothing_is_an_absent_ballot_if_ballots_may_be_absent(text):
    assert parse_classes([text], FileDescription(2, absent=True)).tolist() == [-1]
    assert parse_classes([text], FileDescription(2)).tolist() == [INVALID]
    why = explain_invalid_vote(text, [text, "0", "1"], FileDescription(2), None)
    assert why.endswith("if ballots may be absent say absent=yes")


def test_the_names_of_classes_come_first():
    named = FileDescription(class_names=("NA", "none", "EU"), absent=True)
    assert parse_classes(["NA", "none", "EU", "na", ""], named).tolist() == [0, 1, 2, -1, -1]
    signs = FileDescription(class_names="-1,1", absent=True)
    assert parse_classes(["-1", "1.0", "-1.0", "0", ""], signs).tolist() == [0, 1, 0, INVALID, -1]
    backwards = FileDescription(class_names=("True", "False"))
    assert parse_classes(["True", "False", "true"], backwards).tolist() == [0, 1, 1]


def test_what_stands_for_an_absent_ballot_is_stated():
    zero = FileDescription(3, first_class=1, absent=True, absent_as="0")
    assert parse_classes(["0", "0.0", "1", "3", "", "-1"], zero).tolist() == [
        -1,
        -1,
        0,
        2,
        -1,
        INVALID,
    ]
    word = FileDescription(2, absent=True, absent_as="?")
    assert parse_classes(["?", "0", "1"], word).tolist() == [-1, 0, 1]
    with pytest.raises(ValueError, match="absent_as = '0': must be stated with absent=yes"):
        FileDescription(2, absent_as="0")


def test_numbers_of_votes_are_whole_and_not_negative():
    assert parse_vote_counts(["3", "3.0", "-1", "x", "", "1e99"]).tolist() == [3, 3, *[INVALID] * 4]


@pytest.mark.parametrize(
    ("seen", "n_classes", "says", "never"),
    [
        ("-1 1", 2, "class_names=-1,1", "absent"),
        ("-1 0 1", 2, "absent=yes", "class_names"),  # as Snorkel abstains
        ("-1 0 1", 3, "class_names=-1,0,1", "first_class"),
        ("-1 0 2", 3, "absent=yes", "class_names"),
        ("1 2 3", 3, "say first_class=1", "absent"),
        ("0 1 2 3", 3, "absent_as=0 and first_class=1", "absent=yes"),
        ("0 1 7", 3, "none of the classes 0 to 2", "say"),
    ],
)
def test_a_hint_names_the_option_that_helps_and_no_other(seen, n_classes, says, never):
    texts, stated = seen.split(), FileDescription(n_classes)
    first = texts[parse_classes(texts, stated).tolist().index(INVALID)]
    why = explain_invalid_vote(first, texts, stated, "anna")
    assert says in why
    assert never not in why
