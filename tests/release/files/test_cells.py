"""What a cell means, by its text alone."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.release.files.cells import (
    WRONG,
    Texts,
    classes_of,
    number,
    numbers_of_votes,
    why_wrong,
)
from private_ensembles.release.files.columns import Stated


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
    assert number(text) == 2


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
    assert number(text) is None


def test_every_type_of_pandas_and_numpy_has_the_same_texts():
    for cells in (
        np.array([2, 0], np.uint8),
        np.array([2, 0], ">i4"),
        np.array([2, 0], np.float16),
        pd.Series([2, 0], dtype="Int8"),
        pd.Series(["2", "0"], dtype="category"),
        np.array([b"2", b"0"]),
    ):
        texts = Texts()
        places = texts.places(cells)
        assert classes_of(texts.seen, Stated(3))[places].tolist() == [2, 0]
    texts = Texts()
    assert texts.places(pd.Series([None, np.nan, pd.NA, "a"], dtype=object)).tolist() == [
        1,
        1,
        1,
        0,
    ]
    assert texts.seen == ["a", ""]
    large = Texts()
    large.places(np.array([60_011], np.float16))
    assert large.seen == [str(float(np.float16(60_011)))]  # not its shortest digits, 6e+04


@pytest.mark.parametrize("text", ["", "NA", "NaN", "nan", "N/A", "<NA>", "None", "NULL", "-1"])
def test_nothing_is_an_absent_ballot_if_ballots_may_be_absent(text):
    assert classes_of([text], Stated(2, absent=True)).tolist() == [-1]
    assert classes_of([text], Stated(2)).tolist() == [WRONG]
    why = why_wrong(text, [text, "0", "1"], Stated(2), None)
    assert why.endswith("if ballots may be absent say absent=yes")


def test_the_names_of_classes_come_first():
    named = Stated(class_names=("NA", "none", "EU"), absent=True)
    assert classes_of(["NA", "none", "EU", "na", ""], named).tolist() == [0, 1, 2, -1, -1]
    signs = Stated(class_names="-1,1", absent=True)
    assert classes_of(["-1", "1.0", "-1.0", "0", ""], signs).tolist() == [0, 1, 0, WRONG, -1]
    backwards = Stated(class_names=("True", "False"))
    assert classes_of(["True", "False", "true"], backwards).tolist() == [0, 1, 1]


def test_what_stands_for_an_absent_ballot_is_stated():
    zero = Stated(3, first_class=1, absent=True, absent_as="0")
    assert classes_of(["0", "0.0", "1", "3", "", "-1"], zero).tolist() == [-1, -1, 0, 2, -1, WRONG]
    word = Stated(2, absent=True, absent_as="?")
    assert classes_of(["?", "0", "1"], word).tolist() == [-1, 0, 1]
    with pytest.raises(ValueError, match="absent_as = '0': must be stated with absent=yes"):
        Stated(2, absent_as="0")


def test_numbers_of_votes_are_whole_and_not_negative():
    assert numbers_of_votes(["3", "3.0", "-1", "x", "", "1e99"]).tolist() == [3, 3, *[WRONG] * 4]


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
    texts, stated = seen.split(), Stated(n_classes)
    first = texts[classes_of(texts, stated).tolist().index(WRONG)]
    why = why_wrong(first, texts, stated, "anna")
    assert says in why
    assert never not in why
