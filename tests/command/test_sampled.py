"""sampled on the command line is the library's."""

import json

import pytest

from private_ensembles import sampled_epsilon, sampled_scale
from private_ensembles.command.main import main

WORDS = ["sampled", "--teachers", "30", "--rate", "0.2", "--queries", "20", "--delta", "1e-5"]
CASE = {"teachers": 30, "rate": 0.2, "queries": 20, "delta": 1e-5, "adjacency": "add_remove"}


def test_noise_and_cost_are_the_library_s(capsys):
    assert main([*WORDS, "--epsilon", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    scale = sampled_scale("gnmax", epsilon=1, **CASE)
    bounds = sampled_epsilon("gnmax", scale, **CASE)
    assert shown["scale"] == scale
    assert (shown["epsilon_at_least"], shown["epsilon"]) == (bounds.lower, bounds.upper)
    assert main([*WORDS, "--scale", str(scale), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == shown


def test_text_has_the_claim_rounded_up(capsys):
    words = ["--mechanism", "exponential", "--scale", "3", "--nearest", "5"]
    assert main([*WORDS, *words]) == 0
    text = capsys.readouterr().out
    assert "exponential, scale 3 votes, the 5 nearest of a sample of rate 0.2" in text
    assert "20 labels together: (" in text
    assert "epsilon is at least 0" in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--epsilon", "1", "--rate", "2"], "rate = 2.0: must be in (0, 1]"),
        (["--epsilon", "1", "--scale", "2"], "not allowed with"),
        ([], "one of the arguments --epsilon --scale is required"),
        (["--epsilon", "0"], "epsilon = 0.0: must be a finite number > 0"),
        (["--scale", "2", "--nearest", "31"], "nearest = 31: must be an integer >= 1 and <= 30"),
    ],
)
def test_what_is_out_of_range_is_named(words, says, capsys):
    try:
        assert main([*WORDS, *words]) == 2
    except SystemExit as stopped:
        assert stopped.code == 2
    assert says in capsys.readouterr().err
