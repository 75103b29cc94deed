"""The benchmark of tokens: its rows with InvisibleInk's accountant and without."""

import sys
from types import SimpleNamespace

import pytest

from benchmarks import tokens


def test_rows_say_what_is_measured_and_what_was_left_out(toy, monkeypatch):
    monkeypatch.setitem(sys.modules, "invink.utils", None)
    with toy(tokens, QUICK=((20,), (50,), 3)):
        data = tokens.measure(quick=True)
    accounts, draws = data[data["draws"].notna()], data[data["classes"].notna()]
    assert (accounts["lower"] <= accounts["upper"]).all()
    assert (accounts["upper"] < tokens.EPSILON).all()
    assert (accounts["allowed"] > accounts["range"]).all()
    assert (accounts["more"] > 0).all()
    assert draws["times"].tolist() == [3]
    text = tokens.section(data)
    assert "invink: left out (" in text
    assert "| 20 | " in text


def test_the_accountant_is_asked_for_a_batch_that_counts_the_public_prompt(monkeypatch):
    def get_clip(epsilon, num_toks, temp, batch_size, delta):
        assert (epsilon, num_toks, temp, batch_size, delta) == (3.0, 7, 1.0, 2, 1e-6)
        return 0.25

    def get_epsilon(num_toks, clip_norm, batch_size, temp, delta):
        assert (num_toks, clip_norm, batch_size, temp, delta) == (7, 0.25, 2, 1.0, 1e-6)
        return 2.5

    theirs = SimpleNamespace(get_clip=get_clip, get_epsilon=get_epsilon)
    monkeypatch.setitem(sys.modules, "invink", SimpleNamespace(utils=theirs))
    monkeypatch.setitem(sys.modules, "invink.utils", theirs)
    clip, epsilon_of, reason = tokens.accountant()
    assert (clip(7), epsilon_of(0.5, 7), reason) == (0.5, 2.5, None)


@pytest.mark.skipif(tokens.accountant()[0] is None, reason="invink is not installed")
def test_theirs_is_zcdp():
    clip, epsilon_of, _ = tokens.accountant()
    assert epsilon_of(clip(500), 500) == pytest.approx(3, rel=1e-6)
