"""What papers read: votes and tables by name, and numbers of findings as they are rounded."""

import re

import numpy as np
import pytest

from private_ensembles.labels.votes import Votes, write_votes
from private_ensembles.papers.common.findings import (
    MissingResultError,
    RunTables,
    read_first,
    write_lower_bound,
    write_nearest,
    write_upper_bound,
)
from private_ensembles.papers.common.inputs import read_inputs

TABLE = "dataset,a,b\ndigits,1,4\nadult,,5\ndigits,2,8\n"


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    return RunTables(tmp_path)


def test_the_first_value_that_occurs_counts(tables):
    assert list(tables.select_rows("table", dataset=("mnist", "digits"))["b"]) == [4, 8]
    assert list(tables.select_rows("table", dataset="digits", b=8.0)["a"]) == [2]
    assert read_first(tables.select_rows("table", b=(6, 8)), "a", over="b") == 0.25


@pytest.mark.parametrize(
    ("name", "wanted", "column", "over"),
    [
        ("other", {}, "a", None),
        ("table", {"dataset": "mnist"}, "a", None),
        ("table", {"dataset": "mnist", "b": 4}, "a", None),
        ("table", {"c": 4}, "a", None),
        ("table", {}, "c", None),
        ("table", {}, "a", "c"),
        ("table", {"dataset": "adult"}, "a", None),
    ],
)
def test_what_the_run_did_not_make_is_no_number(tables, name, wanted, column, over):
    with pytest.raises(MissingResultError):
        read_first(tables.select_rows(name, **wanted), column, over)


@pytest.mark.parametrize("value", [0.12341, 18.9771, 1e-8 / 3])
def test_bounds_in_words_still_hold(value):
    low, near, high = (
        float(re.sub(r"·10⁻⁹", "e-9", write(value, 4)))
        for write in (write_lower_bound, write_nearest, write_upper_bound)
    )
    assert low < value < high
    assert abs(near - value) <= (high - low) / 2 * (1 + 1e-9)


def test_files_are_read_as_their_suffix_says(tmp_path):
    votes = Votes(2, np.array([0, 1], np.int64), np.array([[0, 1, 1], [1, 1, 0]], np.uint8))
    write_votes(tmp_path / "votes.npz", votes)
    (tmp_path / "gamma.json").write_text('{"gamma": [0, 1]}')
    (tmp_path / "sigma.csv").write_text("quantity,value\nsigma_rdp,0.1\n")
    found = read_inputs(
        {
            "private_0": str(tmp_path / "votes.npz"),
            "gamma": str(tmp_path / "gamma.json"),
            "sigma": str(tmp_path / "sigma.csv"),
        }
    )
    assert found["private_0"].n_teachers == 3
    assert found["gamma"] == {"gamma": [0, 1]}
    assert found["sigma"] == [{"quantity": "sigma_rdp", "value": "0.1"}]


def test_another_suffix_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"x\.txt: must end in"):
        read_inputs({"x": tmp_path / "x.txt"})
