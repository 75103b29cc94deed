"""What the checks let pass and what they refuse, and that the line says it."""

import math
import os
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles import (
    Session,
    draw_scores,
    release_darrm,
    release_labels,
)
from private_ensembles.base import checks
from private_ensembles.labels.task import Budget, Ensemble, Rehearsal
from private_ensembles.labels.votes import Votes

NO_NUMBERS = [None, "1", [1], 1j, np.array([1.0])]


@pytest.mark.parametrize("value", [1, 7, np.int64(7), np.uint8(1), 3.0, np.float32(3), 10**400])
def test_integers_of_every_type_pass(value):
    checks.check_integer(labels=value, at_least=1)


@pytest.mark.parametrize("value", [0, 2.5, math.nan, math.inf, True, np.True_, *NO_NUMBERS])
def test_what_is_no_integer_of_that_size_is_refused(value):
    with pytest.raises(ValueError, match=r"^labels = .*: must be an integer >= 1$"):
        checks.check_integer(labels=value, at_least=1)


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        ({}, "an integer"),
        ({"at_least": 0}, "an integer >= 0"),
        ({"at_most": 9}, "an integer <= 9"),
        ({"at_least": 2, "at_most": 9}, "an integer >= 2 and <= 9"),
        ({"at_least": 1, "odd": True}, "an odd integer >= 1"),
    ],
)
def test_the_line_says_which_integers_are_allowed(limits, allowed):
    with pytest.raises(ValueError, match=rf"^K = 10\.5: must be {allowed}$"):
        checks.check_integer(K=10.5, **limits)


def test_limits_of_integers_are_allowed_and_what_is_beyond_is_not():
    checks.check_integer(low=2, high=9, at_least=2, at_most=9)
    checks.check_integer(K=11, odd=True)
    for wrong in ({"n": 1}, {"n": 10}):
        with pytest.raises(ValueError, match="n = "):
            checks.check_integer(at_least=2, at_most=9, **wrong)
    with pytest.raises(ValueError, match="K = 10: must be an odd integer"):
        checks.check_integer(K=10, odd=True)


@pytest.mark.parametrize("value", [1, 0.5, np.float64(1e-300), Fraction(1, 3)])
def test_finite_numbers_pass(value):
    checks.check_finite(sigma=value, above=0)
    checks.check_finite(sigma=-value)


@pytest.mark.parametrize("value", [0, -1, math.inf, math.nan, True, *NO_NUMBERS])
def test_what_is_no_finite_number_above_the_limit_is_refused(value):
    with pytest.raises(ValueError, match=r"^sigma = .*: must be a finite number > 0$"):
        checks.check_finite(sigma=value, above=0)


def test_the_limit_itself_is_allowed_only_if_it_is_a_least_value():
    checks.check_finite(epsilon=0, at_least=0)
    checks.check_number(epsilon=0, at_least=0)
    for check in (checks.check_finite, checks.check_number):
        with pytest.raises(ValueError, match=r"epsilon = 0: must be a .*number > 0$"):
            check(epsilon=0, above=0)


def test_infinity_is_a_number_and_nan_is_none():
    checks.check_number(epsilon=math.inf, at_least=0)
    for value in (math.nan, -math.inf, *NO_NUMBERS):
        with pytest.raises(ValueError, match=r"^epsilon = .*: must be a number >= 0$"):
            checks.check_number(epsilon=value, at_least=0)


@pytest.mark.parametrize(
    ("ends", "interval"),
    [
        ({}, "[0, 1]"),
        ({"zero": False}, "(0, 1]"),
        ({"one": False}, "[0, 1)"),
        ({"zero": False, "one": False}, "(0, 1)"),
    ],
)
def test_probabilities_pass_with_the_ends_that_are_allowed(ends, interval):
    checks.check_probability(delta=0.5, **ends)
    for end, name in ((0, "zero"), (1, "one")):
        if ends.get(name, True):
            checks.check_probability(delta=end, **ends)
    refused = [-0.1, 1.1, math.nan, True, *NO_NUMBERS]
    refused += [end for end, name in ((0, "zero"), (1, "one")) if not ends.get(name, True)]
    for value in refused:
        with pytest.raises(ValueError, match=rf"^delta = .*: must be in {re.escape(interval)}$"):
            checks.check_probability(delta=value, **ends)


def test_a_word_is_shown_in_quotes_beside_all_that_are_allowed():
    checks.check_choice({"rdp": 1, "exact": 2}, method="exact")
    with pytest.raises(ValueError, match=r"^method = 'Exact': must be one of rdp, exact$"):
        checks.check_choice({"rdp": 1, "exact": 2}, method="Exact")


def test_the_first_value_that_is_wrong_is_named():
    with pytest.raises(ValueError, match=r"^queries = 0: "):
        checks.check_integer(labels=1, queries=0, classes=-1, at_least=1)


@pytest.mark.parametrize("wrong", [-1e-9, 1 + 1e-9, math.nan, math.inf])
def test_one_wrong_entry_of_an_array_is_enough(wrong):
    array = np.full((2, 3), 0.5)
    checks.check_probabilities(gamma=array, empty=np.array([]))
    array[1, 2] = wrong
    with pytest.raises(ValueError, match=r"^gamma: every value must be in \[0, 1\]$"):
        checks.check_probabilities(gamma=array)


@pytest.mark.parametrize("wrong", [1.0, math.nan, math.inf])
def test_orders_must_be_finite_and_above_their_limit(wrong):
    checks.check_finite_values(orders=np.array([1.001, 500]), above=1)
    with pytest.raises(ValueError, match=r"^orders: every value must be a finite number > 1$"):
        checks.check_finite_values(orders=np.array([2, wrong]), above=1)


def test_the_ground_floor_loads_nothing_of_others(root):
    code = "import sys, private_ensembles.base.checks; print('numpy' in sys.modules)"
    printed = subprocess.check_output(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(root / "workflow")}, text=True
    )
    assert printed.strip() == "False"


MASKED = np.ma.array([[5, 0], [3, 2]], mask=[[False, False], [True, False]])


@pytest.mark.parametrize("counts", [MASKED, list(MASKED)])
def test_no_mask_is_lost(tmp_path, counts):
    """NumPy takes what is behind a mask for votes."""
    asked = {"budget": Budget(3, 1e-3), "rehearsal": Rehearsal()}
    takers = [
        lambda: release_labels(counts, **asked),
        lambda: release_labels(counts, **asked, ensemble=Ensemble(5, 2, absent=True)),
        lambda: Votes(2, [-1, -1], counts=counts),
        lambda: Votes(6, [-1, -1], votes=counts, absent=True),
        lambda: release_darrm(counts, np.ones(6), np.random.default_rng(0)),
        lambda: draw_scores(counts),
    ]
    for take in takers:
        with pytest.raises(ValueError, match="must be an array without a mask"):
            take()
    for absent in (False, True):
        path = tmp_path / f"{absent}.session"
        ensemble = Ensemble(5, 2, absent)
        with Session.create(path, ensemble, labels=4, **asked) as session:
            with pytest.raises(ValueError, match="must be an array without a mask"):
                session.release(counts)
            assert session.state.batches == 0


@pytest.fixture
def linked(tmp_path, monkeypatch):
    """A file of votes by several names, in a folder with one for outputs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "votes.csv").write_text("0,1\n")
    os.symlink("votes.csv", "soft.csv")
    os.link("votes.csv", "hard.csv")
    os.symlink("out", "outwards")
    os.link("votes.csv", "out/inner.csv")


@pytest.mark.parametrize(
    "output",
    [
        "votes.csv",
        "./votes.csv",
        "out/../votes.csv",
        "soft.csv",
        "hard.csv",
        "out",
        "outwards",
        ".",
    ],
)
def test_an_output_that_is_an_input_by_any_name_is_refused(linked, output):
    with pytest.raises(ValueError, match=r"^votes = 'votes\.csv': must be another file than .*"):
        checks.check_separate_files(["other.csv", output], votes="votes.csv")


def test_files_that_are_not_there_yet_are_compared_by_where_they_will_be(linked):
    for path in ("outwards/new.csv", "out/./new.csv", "out/new.csv/x"):
        with pytest.raises(ValueError, match=r"must be another file than out/new\.csv"):
            checks.check_separate_files(["out/new.csv"], session=path)


def test_what_is_apart_or_is_no_file_passes(linked):
    checks.check_separate_files(
        ["out/new.csv", "votes.cs"], votes="votes.csv", class_names="a,b", answer=None
    )
    checks.check_separate_files(["x.csv"], votes="", labels=3)
