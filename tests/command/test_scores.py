"""scores says what draws cost, and what range a budget allows, in words and in JSON."""

import json

import pytest

from private_ensembles.api.scores import score_epsilon, score_scale
from private_ensembles.command.main import main

SIZE = ["--draws", "50", "--delta", "1e-5"]


def test_a_budget_gives_a_range_that_keeps_it(capsys):
    assert main(["scores", "--epsilon", "1", *SIZE]) == 0
    words = capsys.readouterr().out
    shown = float(words.split()[1])
    assert words.endswith("at most: 50 draws then cost (1, 1e-05)\n")
    assert shown <= score_scale(1, 50, 1e-5) <= shown * 1.0001
    assert main(["scores", "--epsilon", "1", *SIZE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"range": score_scale(1, 50, 1e-5), "draws": 50, "delta": 1e-5}


def test_a_range_gives_what_draws_cost_between_two_bounds(capsys):
    bounds = score_epsilon(0.05, 50, 1e-5)
    assert main(["scores", "--range", "0.05", *SIZE]) == 0
    words = capsys.readouterr().out.split("(")[1]
    assert bounds.upper <= float(words.split(",")[0]) <= bounds.upper * 1.0001
    assert bounds.lower >= float(words.split()[-1]) >= bounds.lower * 0.9999
    assert main(["scores", "--range", "0.05", *SIZE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["epsilon"], found["not_below"]) == (bounds.upper, bounds.lower)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epsilon", "0", *SIZE], "error: --epsilon = 0.0: must be in [1e-06, 100]"),
        (["--range", "-1", *SIZE], "error: --range = -1.0: must be in (0, 600]"),
        (["--range", "1", "--draws", "0", "--delta", "0.1"], "error: --draws = 0: must be an"),
        (["--range", "1", "--draws", "2", "--delta", "1"], "error: --delta = 1.0: must be in"),
    ],
)
def test_bad_numbers_are_one_line_that_names_the_option(words, message, capsys):
    assert main(["scores", *words]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(message)
    assert printed.err.count("\n") == 1
    assert not printed.out
