"""Other libraries' selections: the numbers that are said of them, worked out independently."""

import mpmath
import numpy as np
import pytest

from benchmarks import environments, selections
from benchmarks.selections import EPSILON, SHIFTS
from private_ensembles.audit import exact_epsilon

SCORES = [[2, 0, 0], [0, 1, 3]]


def said(law="exponential", *, drawn_by="exponential", claimed=EPSILON, ends=(0, 0, 50)):
    """What a reproducer would print of a library that draws by a law."""
    generator = np.random.default_rng(0)
    chances = selections.LAWS[drawn_by](2.0)(np.array(SCORES))
    counts = [generator.multinomial(20_000, row).tolist() for row in chances]
    selection = {
        "mechanism": "by hand",
        "law": law,
        "monotonic": False,
        "claimed": claimed,
        "scores": SCORES,
        "counts": counts,
    }
    return {"selections": [selection], "ends": [{"mechanism": "by hand", "counts": list(ends)}]}


def test_permute_and_flip_breaks_the_exponential_mechanism_s_rho_by_a_pair_that_anyone_can_check():
    """Scores 6, 6, 6 or 5, 6, 5 at scale 2: D of order 2, halved, is above epsilon^2 / 8."""
    q = mpmath.exp(mpmath.mpf(-1) / 2)
    # Equal scores: a third each. One ahead of two: each of those wins q times the integral of
    # (1 - t)(1 - q t), the sum over both orders of visits.
    behind = q * (mpmath.mpf(1) / 2 - q / 6)
    near = [behind, 1 - 2 * behind, behind]
    divergence = mpmath.log(sum(mpmath.mpf(1) / 9 / p for p in near))
    law = selections.exponential_noise(2.0)
    np.testing.assert_allclose(law(np.array([[5, 6, 5]]))[0], [float(p) for p in near], rtol=1e-12)
    (row,) = selections.list_other_law()
    assert row["exact"] >= divergence / 2
    pairs = selections.neighbours(SHIFTS["each score by at most 1"])
    assert row["exact"] > 2 * EPSILON**2 / 8
    # Of the law itself, by the largest loss: what the claim can be short of at most.
    assert row["exact"] <= exact_epsilon(law(pairs[0]), pairs[1], 0.0) ** 2 / 2 * (1 + 1e-6)


def test_draws_decide_whether_a_claim_is_of_the_law_that_is_stated():
    assert selections.judge(said())[0]["verdict"] == "holds"
    other = selections.judge(said(drawn_by="permute_and_flip"))
    assert other[0]["verdict"] == "another law is drawn"


def test_a_claim_of_half_of_what_is_spent_fails():
    assert selections.judge(said(claimed=EPSILON / 2))[0]["verdict"] == "fails"


def test_the_wrong_end_is_seen():
    assert selections.judge(said())[1]["verdict"] == "as expected"
    row = selections.judge(said(ends=(50, 0, 0)))[1]
    assert (row["verdict"], row["seen"]) == ("differs", "largest 0 times, smallest 50 times")


def test_opendp_of_this_environment_claims_no_less_than_it_spends(monkeypatch, tmp_path):
    source = (environments.FOLDER / "opendp.py").read_text(encoding="utf-8")
    assert "DRAWS, SCORES = 4_000," in source
    (tmp_path / "opendp.py").write_text(source.replace("4_000,", "1_500,"), encoding="utf-8")
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    rows = selections.judge(environments.run_script("opendp"))
    claims = [row for row in rows if row["part"] == "claim"]
    assert [row["verdict"] for row in claims] == ["holds"] * 4
    assert all(0.95 * row["claimed"] < row["exact"] for row in claims)
    (end,) = (row for row in rows if row["mechanism"] == "make_noisy_max")
    assert end["verdict"] == "as expected"
    assert claims[0]["exact"] == pytest.approx(1.0)
