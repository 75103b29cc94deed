"""Printed numbers: their transcription, and what counts as equal to one."""

import math

import pytest

from private_ensembles.published.printed import FOLDER, KEY, equals_printed, read_published

ITEMS = {
    "table1": 18,
    "table2": 16,
    "table3": 20,
    "table4": 8,
    "table5": 16,
    "table6": 18,
    "table7": 16,
    "table8": 18,
    "table9": 16,
    "table10": 18,
    "section6.2": 8,
    "appendixD.1.3": 1,
    # Statements.
    **dict.fromkeys(("lemma3.1", "lemma3.2", "lemma3.3", "lemma3.4", "lemma5.1", "lemmaA.1"), 1),
    **dict.fromkeys(("lemmaB.1", "lemmaB.9", "lemmaB.11", "theorem4.1"), 1),
    **dict.fromkeys(("section5", "appendixD.2.1", "figure10"), 2),
    "figure2": 10,
    "figure7": 8,
    "figure9": 8,
}
HEADER = ",".join([*KEY, "published", "published_sd"])


@pytest.fixture(scope="module")
def printed():
    return read_published(FOLDER.glob("darrm_*.csv"))


def test_every_printed_number_of_darrm_is_there(printed):
    assert printed.groupby("item").size().to_dict() == ITEMS


@pytest.mark.parametrize(
    ("item", "dataset", "row", "column", "digits", "sd"),
    [
        # Read from the papers by eye, not by the script that cut the tables out.
        ("table1", "mnist", "Q=20", "gnmax", "0.63", "0.09"),
        ("table1", "fashion-mnist", "Q=100", "darrm_opt", "0.96", "0.02"),
        ("table6", "mnist", "Q=50", "darrm_opt", "0.66", "0.05"),
        ("table8", "fashion-mnist", "Q=50", "gnmax", "0.72", "0.08"),
        ("table10", "mnist", "Q=20", "darrm_sub", "0.80", "0.09"),
        ("table2", "mnist", "Q=100", "epsilon_total", "15.044", ""),
        ("table5", "fashion-mnist", "Q=50", "epsilon_total", "2.695", ""),
        ("table7", "mnist", "per query", "epsilon_query", "0.4460", ""),
        ("table9", "fashion-mnist", "Q=100", "delta_total", "0.068", ""),
        ("table4", "fashion-mnist", "m=3", "lambda", "35.74", ""),
        ("table3", "simulation", "M=15", "m", "8.2708", ""),
        ("table3", "simulation", "M=20", "delta", "0.1002", ""),
        ("section6.2", "fashion-mnist", "data", "n_train", "10000", ""),
    ],
)
def test_digits_are_kept_as_printed(printed, item, dataset, row, column, digits, sd):
    key = ["darrm", item, dataset, row, column]
    found = printed[(printed[KEY] == key).all(axis=1)]
    assert found[["published", "published_sd"]].to_numpy().tolist() == [[digits, sd]]


@pytest.mark.parametrize(
    ("value", "digits", "equal"),
    [
        (15.044483586, "15.044", True),
        (15.0446, "15.044", False),
        (0.0148, "0.015", True),
        (0.0145, "0.015", True),  # a tie goes either way
        (0.0145, "0.014", True),
        (0.01449, "0.015", False),
        (0.446, "0.4460", True),
        (12000, "10000", False),
        (1866.4, "1866", True),
        (1e-4, "1e-4", True),
        (math.nan, "0.1", False),
        (math.inf, "0.1", False),
    ],
)
def test_equal_means_equal_in_every_printed_digit(value, digits, equal):
    assert equals_printed(value, digits) is equal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("paper,item\n", "columns"),
        (HEADER + "\ndarrm,t,d,r,c,abc,\n", "'abc' is not a number"),
        (HEADER + "\ndarrm,t,d,r,c,nan,\n", "'nan' is not a number"),
        (HEADER + "\na,t,d,r,c,1,\na,t,d,r,c,2,\n", "occurs twice"),
    ],
)
def test_a_damaged_transcription_is_refused(tmp_path, text, message):
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_published([path])
