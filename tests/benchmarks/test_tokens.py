"""The benchmark of tokens: its rows with InvisibleInk's accountant and without."""

import pytest

from benchmarks import tokens


def test_rows_say_what_is_measured_and_what_was_left_out(toy):
    with toy(tokens, PACKAGE="no_such_package", QUICK=((20,), (50,), 3)):
        data = tokens.measure(quick=True)
    accounts, draws = data[data["draws"].notna()], data[data["classes"].notna()]
    assert (accounts["lower"] <= accounts["upper"]).all()
    assert (accounts["upper"] < tokens.EPSILON).all()
    assert (accounts["allowed"] > accounts["range"]).all()
    assert (accounts["more"] > 0).all()
    assert draws["times"].tolist() == [3]
    text = tokens.section(data)
    assert "invink: left out: not installed" in text
    assert "| 20 | " in text


def test_the_accountant_is_asked_for_a_batch_that_counts_the_public_prompt(monkeypatch, tmp_path):
    """The package itself is not loaded: it needs transformers."""
    package = tmp_path / "invink"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('transformers')\n")
    (package / "utils.py").write_text(
        "needs = transformers\n"
        "def cdp_delta(rho, eps):\n"
        "    return math.exp(-eps)\n"
        "def get_clip(epsilon, num_toks, temp, batch_size, delta):\n"
        "    assert (epsilon, num_toks, temp, batch_size, delta) == (3.0, 7, 1.0, 2, 1e-6)\n"
        "    return 0.25\n"
        "def get_epsilon(num_toks, clip_norm, batch_size, temp, delta):\n"
        "    assert (num_toks, clip_norm, batch_size, temp, delta) == (7, 0.25, 2, 1.0, 1e-6)\n"
        "    return 2.5\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    clip, epsilon_of, reason = tokens.load_accountant()
    assert (clip(7), epsilon_of(0.5, 7), reason) == (0.5, 2.5, None)


@pytest.mark.skipif(tokens.load_accountant()[0] is None, reason="invink is not installed")
def test_theirs_is_zcdp():
    clip, epsilon_of, _ = tokens.load_accountant()
    assert epsilon_of(clip(500), 500) == pytest.approx(3, rel=1e-6)
