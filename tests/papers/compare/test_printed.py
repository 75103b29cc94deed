"""Printed numbers: their transcription, and what counts as equal to one."""

import math

import pytest

from private_ensembles.papers.compare.printed import (
    FOLDER,
    KEY,
    equals_printed,
    read_published,
)

PRINTED = read_published(FOLDER.glob("*.csv"))
HEADER = ",".join([*KEY, "published", "published_sd"])


@pytest.mark.parametrize(
    ("key", "digits", "sd"),
    [
        # Read from the papers by eye, not by the script that cut the tables out.
        ("darrm table1 mnist Q=20 gnmax", "0.63", "0.09"),
        ("darrm table6 mnist Q=50 darrm_opt", "0.66", "0.05"),
        ("darrm table8 fashion-mnist Q=50 gnmax", "0.72", "0.08"),
        ("darrm table10 mnist Q=20 darrm_sub", "0.80", "0.09"),
        ("darrm table2 mnist Q=100 epsilon_total", "15.044", ""),
        ("darrm table5 fashion-mnist Q=50 epsilon_total", "2.695", ""),
        ("darrm table9 fashion-mnist Q=100 delta_total", "0.068", ""),
        ("darrm table4 fashion-mnist m=3 lambda", "35.74", ""),
        ("darrm table3 simulation M=15 m", "8.2708", ""),
        ("darrm section6.2 fashion-mnist data n_train", "10000", ""),
        ("pate table1 mnist lnmax-1000 epsilon", "8.03", ""),
        ("pate table1 svhn confident answered", "3098", ""),
        ("pate table1 adult baseline baseline_accuracy", "85.0", ""),
        ("pate table2 adult confident epsilon", "1.68", ""),
        ("pate table2 glyph interactive smooth_sensitivity_2", ".00088", ""),
        ("pate section4.1 glyph interactive epsilon_strong_composition", "10.14", ""),
        ("pate section5.3 glyph confident epsilon", "1.02", ""),
        ("pate appendixB.6 mnist gnss rdp", "0.52", ""),
    ],
)
def test_digits_are_kept_as_printed(key, digits, sd):
    found = PRINTED[(PRINTED[KEY] == key.split()).all(axis=1)]
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
