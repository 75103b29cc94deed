"""What is printed: numbers on their safe side, JSON without what JSON does not know."""

import json
import math
import time

import numpy as np
import pytest

from private_ensembles.command import output
from private_ensembles.command.main import main
from private_ensembles.command.output import (
    announce_slow_work,
    emit,
    format_lower_bound,
    format_upper_bound,
    to_plain_types,
    warn_of_duration,
)


@pytest.mark.parametrize("value", [1.23456789, 0.1, 1e-9 / 3, 2.0, 123456.7, 0.0])
def test_five_digits_stay_on_their_side(value):
    assert float(format_lower_bound(value)) <= value <= float(format_upper_bound(value))
    assert float(format_upper_bound(value)) <= value * 1.0002
    assert (format_upper_bound(math.inf), format_lower_bound(math.inf)) == ("inf", "inf")


def test_json_is_plain(capsys):
    value = {"a": np.arange(2), "b": [math.inf, math.nan, np.float64(0.5)], "c": (True, None)}
    assert to_plain_types(value) == {"a": [0, 1], "b": ["inf", None, 0.5], "c": [True, None]}
    emit(value, ["text"], as_json=True)
    assert json.loads(capsys.readouterr().out) == to_plain_types(value)
    emit(value, ["two", "lines"], as_json=False)
    assert capsys.readouterr().out == "two\nlines\n"


def test_only_what_takes_long_is_announced(capsys):
    warn_of_duration(14.9)
    assert capsys.readouterr().err == ""
    warn_of_duration(15.0)
    assert capsys.readouterr() == ("", "this takes about 15 s of one core\n")


@pytest.mark.parametrize(("seconds", "says"), [(0.3, "ranks ...\n"), (0, "")])
def test_what_takes_a_while_says_in_a_terminal_what_it_does(seconds, says, monkeypatch, capsys):
    monkeypatch.setattr(output, "_SHORT", 0.05)
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    with announce_slow_work("ranks ..."):
        time.sleep(seconds)
    time.sleep(0.1)
    assert capsys.readouterr() == ("", says)


def test_a_plan_says_what_it_does_and_a_file_is_not_told(monkeypatch, capsys):
    monkeypatch.setattr(output, "_SHORT", 0.0)
    words = ["plan", "--teachers", "9", "--classes", "2", "--queries", "2"]
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    assert main(words) == 0
    assert capsys.readouterr().err.startswith("Rank the mechanisms by expected right labels")
