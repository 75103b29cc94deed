"""Other packages' claims: the exact values by hand, and verdicts that can go either way."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from benchmarks import selections, vote_steps
from benchmarks.selections import EPSILON, SHIFTS
from private_ensembles.audit import exact_epsilon

PACK = {
    "sigma": 0.51,
    "tokens": 100,
    "sampled": 20,
    "label_records": 30_000,
    "delta": 1 / 120_000,
    "claimed": 0.34,
    "hits": 400,
    "draws": 2000,
    "rate_charged": 0.05,
    "rate_of_label": 0.2,
    "right_end": True,
}
GAN = {
    "teachers": 4,
    "scale": 0.1,
    "labels": 10,
    "delta": 1e-5,
    "claimed": 2.0,
    "accountant": 1.0,
    "gradients": 1,
    "batches": 3,
    "batches_charged": 3,
    "rows": 5,
    "rows_shown": 0,
    "delta_asked": 1e-6,
    "delta_kept": 1e-6,
    "draws": 20_000,
    "shown_scale": 0.5,
    "shown_teachers": 10,
    "right_end": True,
}
GAN["ones"] = (
    np.rint(20_000 * vote_steps.one_noise_probabilities(10, 0.5)[:, 1]).astype(int).tolist()
)


def verdicts(rows):
    return [row["verdict"] for row in rows]


def test_a_verdict_needs_a_bound_on_the_right_side():
    found = [
        vote_steps.judge_claim(1.0, *bounds) for bounds in ((0.5, 0.9), (1.1, 1.2), (0.9, 1.1))
    ]
    assert found == ["holds", "fails", "open"]


def test_one_laplace_noise_costs_its_rate_at_most_and_just_that():
    chances = vote_steps.one_noise_probabilities(5, 0.3)
    assert chances.sum(axis=1) == pytest.approx(np.ones(6))
    losses = np.abs(np.diff(np.log(chances), axis=0))
    assert losses.max() == pytest.approx(0.3, rel=1e-12)
    assert chances[5, 1] == pytest.approx(1 - math.exp(-0.3 * 2.5) / 2)


def test_the_pack_s_tokens_cost_more_than_is_charged_by_a_sum_that_anyone_can_check():
    delta, sigma, rate = 1 / 120_000, 0.51, 20 / 30_000
    lower = vote_steps.bound_tokens_epsilon(rate, sigma, 100, delta)
    upper = vote_steps.bound_vectors_epsilon(rate, sigma, 100, delta)
    assert 1.4 < lower <= upper < 1.5
    # One place at which the others may stand, by sums of binomials: delta is not kept at 0.34.
    off, on = (0.5 * math.erfc(-x / math.sqrt(2)) for x in (-4.5, -4.5 + 1 / sigma))
    seen = np.arange(101)
    first, second = binom.pmf(seen, 100, off), binom.pmf(seen, 100, off + rate * (on - off))
    assert np.maximum(second - math.exp(0.34) * first, 0).sum() > delta
    assert verdicts(vote_steps.judge_llama_index_pack(PACK)) == ["fails", "differs", "as expected"]
    right = PACK | {"claimed": 1.5, "rate_charged": 0.2}
    assert verdicts(vote_steps.judge_llama_index_pack(right)) == [
        "holds",
        "as expected",
        "as expected",
    ]


def test_a_gan_in_order_is_called_so():
    assert verdicts(vote_steps.judge_smartnoise(GAN)) == ["holds"] + ["as expected"] * 4
    assert verdicts(vote_steps.judge_synthcity(GAN)) == ["holds"] + ["as expected"] * 5


@pytest.mark.parametrize(
    ("change", "judge", "place", "verdict"),
    [
        ({"claimed": 0.01}, vote_steps.judge_smartnoise, 0, "fails"),
        ({"ones": GAN["ones"][::-1]}, vote_steps.judge_smartnoise, 1, "differs"),
        ({"right_end": False}, vote_steps.judge_smartnoise, 2, "differs"),
        ({"accountant": 2.1}, vote_steps.judge_smartnoise, 3, "differs"),
        ({"gradients": 11}, vote_steps.judge_smartnoise, 4, "differs"),
        ({"accountant": 0.01}, vote_steps.judge_synthcity, 0, "fails"),
        ({"batches_charged": 2}, vote_steps.judge_synthcity, 3, "differs"),
        ({"rows_shown": 1}, vote_steps.judge_synthcity, 4, "differs"),
        ({"delta_kept": None}, vote_steps.judge_synthcity, 5, "differs"),
    ],
)
def test_each_finding_needs_what_it_says(change, judge, place, verdict):
    assert judge(GAN | change)[place]["verdict"] == verdict


def test_tokens_of_invink_and_labels_of_autodp():
    tokens = {"range": 0.05, "tokens": 5, "delta": 1e-6, "claimed": 3.0}
    assert verdicts(vote_steps.judge_invink(tokens)) == ["holds"]
    assert verdicts(vote_steps.judge_invink(tokens | {"claimed": 0.01})) == ["fails"]
    labels = {"labels": 2, "sigma": 40.0, "delta": 1e-5, "claimed": 1.0, "log_q": -21.2}
    labels |= {"orders": [2.0, 10.0], "bounds": [1e-8, 0.01]}
    found = verdicts(vote_steps.judge_autodp(labels))
    assert found == ["holds", "holds", "not covered", "fails", "not covered"]


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
    # Half of what is spent.
    assert selections.judge(said(claimed=EPSILON / 2))[0]["verdict"] == "fails"


def test_the_wrong_end_is_seen():
    assert selections.judge(said())[1]["verdict"] == "as expected"
    row = selections.judge(said(ends=(50, 0, 0)))[1]
    assert (row["verdict"], row["seen"]) == ("differs", "largest 0 times, smallest 50 times")
