"""score_epsilon, score_scale and draw_scores: bounds, inverses and refusals."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles import (
    draw_scores,
    label_epsilon,
    score_epsilon,
    score_scale,
)
from private_ensembles.accounting.adaptive_composition import bounded_range
from private_ensembles.base import softmax
from private_ensembles.labels import scores
from private_ensembles.labels.noisy_counts import rho_to_epsilon

CLOSE = Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("draws", "epsilon", "delta"),
    [
        *((2, 3.0, 1e-2), (30, 0.1, 1e-6)),
        *(
            pytest.param(*size, marks=pytest.mark.slow)
            for size in ((1, 0.1, 1e-2), (1, 3.0, 1e-6), (700, 3.0, 1e-6), (12_000, 1.0, 1e-6))
        ),
    ],
)
def test_a_range_keeps_the_budget_that_it_was_found_for(draws, epsilon, delta):
    found = score_scale(epsilon, draws, delta)
    bounds = score_epsilon(found, draws, delta)
    assert bounds.upper <= epsilon * (1 + 1e-3)
    assert bounds.upper >= epsilon * 0.99
    assert bounds.lower <= epsilon
    assert score_epsilon(1.05 * found, draws, delta).upper > epsilon


def test_the_cost_is_never_above_what_is_known_of_one_draw():
    for range_, draws, delta in ((0.05, 50, 1e-6), (2.0, 3, 1e-9), (1e-3, 10, 1e-5)):
        upper = score_epsilon(range_, draws, delta).upper
        assert upper <= math.nextafter(draws * range_, math.inf)
        assert upper <= rho_to_epsilon(draws * range_**2 / 8 * (1 + 1e-12), delta, "improved")


def test_a_delta_that_rounding_uses_up_leaves_the_bound_of_one_draw():
    upper = score_epsilon(0.01, 100, 1e-40).upper
    assert upper == pytest.approx(rho_to_epsilon(100 * 0.01**2 / 8, 1e-40, "improved"), rel=1e-9)
    found = score_scale(1.0, 100, 1e-40)
    assert score_epsilon(found, 100, 1e-40).upper <= 1


def test_votes_in_many_classes_cost_what_scores_of_their_range_do():
    """A moved vote in the exponential mechanism has twice its rate."""
    votes = label_epsilon(
        "exponential", 20.0, delta=1e-5, labels=100, teachers=250, classes=10
    ).upper
    assert score_epsilon(2 / 20, 100, 1e-5).upper == pytest.approx(votes, rel=0.01)


@pytest.mark.slow
def test_a_million_draws_are_charged_within_one_per_cent():
    bounds = score_epsilon(0.00121, 10**6, 1e-6)
    assert bounds.lower <= bounds.upper <= bounds.lower * 1.01


@pytest.mark.parametrize("draws", [2**31, pytest.param(10**8, marks=pytest.mark.slow)])
def test_very_many_draws_are_within_limits_or_one_line(draws):
    if draws > bounded_range.MOST_DRAWS:
        with pytest.raises(ValueError, match="draws = 2147483648: must be an integer >= 1 and"):
            score_epsilon(1e-5, draws, 1e-6)
    else:
        bounds = score_epsilon(1e-4, draws, 1e-6)
        assert bounds.lower <= bounds.upper <= 2.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: score_epsilon(0, 5, 1e-5), "range = 0: must be in (0, 600]"),
        (lambda: score_epsilon(math.inf, 5, 1e-5), "range = inf: must be in (0, 600]"),
        (lambda: score_epsilon(1, 0, 1e-5), "draws = 0: must be an integer >= 1"),
        (lambda: score_epsilon(1, 5, 0), "delta = 0: must be in [1e-100, 1)"),
        (lambda: score_scale(0, 5, 1e-5), "epsilon = 0: must be in [1e-06, 100]"),
        (lambda: score_scale(1, 2.5, 1e-5), "draws = 2.5: must be an integer >= 1"),
        (lambda: draw_scores([0.0], noise="quick"), "noise = 'quick': must be one of repr"),
        (lambda: draw_scores([0.0], seed=1), "seed = 1: must be None for noise = secure"),
        (lambda: draw_scores(["a"]), "scores: <U1 (1,): must be floats (classes,) or (draws, "),
        (lambda: draw_scores([[[0.0]]]), "scores: float64 (1, 1, 1): must be floats (classes,)"),
        (lambda: draw_scores([np.nan]), "scores: must be finite, or -inf for a class that is"),
    ],
)
def test_bad_arguments_are_one_line(call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}.*$"):
        call()


def test_rehearsals_repeat_and_rows_are_draws():
    scores = np.random.default_rng(1).normal(0, 3, (20, 300))
    first, again = (draw_scores(scores, noise="reproducible", seed=5) for _ in range(2))
    other = draw_scores(scores, noise="reproducible", seed=6)
    assert first.dtype == np.int64
    assert first.tolist() == again.tolist() != other.tolist()
    assert 0 <= draw_scores(scores[0].astype(np.float32)) < 300


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_scores_are_taken_as_they_are(dtype):
    scores = np.array([-1000, 0, -1000], dtype=dtype)
    assert draw_scores(scores) == 1


def test_the_vocabulary_of_a_language_model_takes_a_few_passes():
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 3, 200_000)
    scores[77] = 80.0
    assert [draw_scores(scores) for _ in range(5)] == [77] * 5


def test_the_sampler_gets_the_very_scores_row_by_row(monkeypatch):
    """What is charged is their range, which no factor may change."""
    seen = []
    monkeypatch.setattr(softmax, "draw", lambda row, bits: seen.append(row.tolist()) or 1)
    rows = [[0.1, -2.7, 33.3], [1e-9, 5.0, -np.inf]]
    assert draw_scores(rows[0]) == 1
    assert draw_scores(rows).tolist() == [1, 1]
    assert seen == [rows[0], *rows]


def test_what_draws_cost_is_rounded_up_and_what_they_may_cost_down(monkeypatch):
    """By rho and by the sum alone, in fractions, as if the account of all draws found nothing."""

    def nothing(*_):
        raise ValueError("no range")

    monkeypatch.setattr(scores, "largest_range", nothing)
    for rho, score_range in np.random.default_rng(3).uniform(0.01, 2, (100, 2)).tolist():
        monkeypatch.setattr(scores, "largest_rho", lambda *_, rho=rho: rho)
        for draws in (1, 3, 700):
            exact = draws * Fraction(score_range) ** 2 / 8
            assert exact <= Fraction(scores._draws_rho(score_range, draws)) <= exact * (1 + CLOSE)
            found = Fraction(score_scale(1e-3, draws, 1e-5))
            largest = 8 * Fraction(rho) / draws
            assert largest * (1 - CLOSE) <= found**2 <= largest
