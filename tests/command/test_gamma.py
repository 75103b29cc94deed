"""gamma on the command line is the library's, with its certificate."""

import json

import numpy as np
import pytest

from private_ensembles.command.main import main
from private_ensembles.papers.darrm import mathematics as darrm

WORDS = ["gamma", "-K", "5", "-m", "2", "--epsilon", "0.2", "--Delta", "1e-5"]


def test_gamma_is_the_library_s_and_is_written_where_it_is_asked_for(tmp_path, capsys):
    out = tmp_path / "gamma.json"
    assert main([*WORDS, "--out", str(out), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    exact = darrm.optimize_gamma(K=5, m=2, epsilon=0.2, Delta=1e-5)
    assert shown["gamma"] == exact.gamma.tolist()
    assert shown["certificate"]["holds"] is True
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written == shown
    again = darrm.certify(np.array(written["gamma"]), 2, 0.2, 1e-5)
    assert again.holds


def test_text_says_what_a_label_costs_rounded_up(capsys):
    """delta is 1.99999e-05, which five digits cannot say."""
    assert main(WORDS) == 0
    text = capsys.readouterr().out
    assert "certificate holds: a label is (0.4, 2e-05)-DP" in text


@pytest.mark.parametrize(
    ("change", "says"), [(["-K", "4"], "K"), (["-m", "9"], "m"), (["--epsilon", "-1"], "epsilon")]
)
def test_what_is_out_of_range_is_named(change, says, capsys):
    assert main([*WORDS, *change]) == 2
    assert says in capsys.readouterr().err
