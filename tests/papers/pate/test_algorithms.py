"""PATE's Algorithms 1 and 2 as samplers, against their exact distributions and by hand."""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from private_ensembles.mechanisms.checks.checked import CheckedNoise
from private_ensembles.noise.sources import Secure, Seeded
from private_ensembles.papers.pate.algorithms import confident_gnmax, interactive_gnmax
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution

from ...mechanisms.frequencies import CHANCE, follows

DRAWS = 40_000
ROW = np.array([9, 6, 4, 1])
SCORES = np.array([0.2, 0.55, 0.15, 0.1])


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("source", [Seeded(rng(1)), Secure()])
def test_confident_follows_its_distribution(source):
    exact = ndtr((9 - 8.5) / 5.0) * gnmax_distribution(ROW[None], 8.0)[0]
    counts = np.tile(ROW, (DRAWS, 1))
    assert follows(confident_gnmax(counts, CheckedNoise(8.5, 5.0, 8.0), source), exact)


@pytest.mark.parametrize("confidence", [0.5, 0.6])
def test_interactive_follows_its_distributions(confidence):
    counts, scores = np.tile(ROW, (DRAWS, 1)), np.tile(SCORES, (DRAWS, 1))
    noise = CheckedNoise(5.5, 3.0, 6.0)
    labels, reinforced = interactive_gnmax(counts, scores, confidence, noise, Seeded(rng(3)))
    passes = ndtr((5 - 5.5) / 3.0)  # max (n - 20 p) = max(5, -5, 1, -1) = 5
    student = (1 - passes) * (confidence < 0.55) * (np.arange(4) == 1)
    assert follows(np.where(reinforced, -1, labels), passes * gnmax_distribution(ROW[None], 6.0)[0])
    assert follows(np.where(reinforced, labels, -1), student)


def test_interactive_with_secure_noise_reinforces_and_answers():
    counts, scores = np.tile(ROW, (2000, 1)), np.tile(SCORES, (2000, 1))
    labels, reinforced = interactive_gnmax(
        counts, scores, 0.5, CheckedNoise(5.5, 30.0, 3.0), Secure()
    )
    assert (labels[reinforced] == 1).all()
    assert binom.sf(reinforced.sum() - 1, 2000, 0.5) > CHANCE
    assert binom.sf((~reinforced).sum() - 1, 2000, 0.5) > CHANCE
    assert (labels >= 0).all()


def test_noise_that_is_negligible_leaves_the_plurality():
    counts = np.array([[5, 3, 2], [1, 8, 1], [3, 3, 4]])
    labels = confident_gnmax(counts, CheckedNoise(1, 1e-9, 1e-9), Seeded(rng()))
    assert labels.tolist() == [0, 1, 2]
    assert labels.dtype == np.int64
    some = confident_gnmax(counts, CheckedNoise(4.5, 1e-9, 1e-9), Seeded(rng()))
    assert some.tolist() == [0, 1, -1]
    scores = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.3, 0.3]])
    # n - 10 p: (0, 0, 0), (0, 6, -6), (-1, 0, 1)
    noise = CheckedNoise(3, 1e-9, 1e-9)
    labels, reinforced = interactive_gnmax(counts, scores, 0.45, noise, Seeded(rng()))
    assert labels.tolist() == [0, 1, -1]
    assert reinforced.tolist() == [True, False, False]


def run(name, counts, seed=5, **caps):
    if name == "confident":
        return confident_gnmax(counts, CheckedNoise(8, 4.0, 3.0), Seeded(rng(seed)), **caps)
    scores = np.full(counts.shape, 1 / counts.shape[1])
    noise = CheckedNoise(3, 4.0, 3.0)
    return interactive_gnmax(counts, scores, 0.2, noise, Seeded(rng(seed)), **caps)[0]


@pytest.mark.parametrize("name", ["confident", "interactive"])
def test_answers_do_not_depend_on_the_queries_that_follow(name):
    counts = rng(9).multinomial(20, [0.4, 0.3, 0.2, 0.1], size=200)
    whole = run(name, counts)
    for part in (1, 17, 199):
        assert run(name, counts[:part]).tolist() == whole[:part].tolist()
    assert run(name, counts, query_cap=17).tolist() == [*whole[:17], *[-1] * 183]
    assert not np.array_equal(whole, run(name, counts, seed=6))


@pytest.mark.parametrize("name", ["confident", "interactive"])
@pytest.mark.parametrize("cap", [0, 1, 30, 10_000])
def test_the_mechanism_stops_after_its_answers(name, cap):
    counts = rng(9).multinomial(20, [0.4, 0.3, 0.2, 0.1], size=200)
    whole, capped = run(name, counts), run(name, counts, answer_cap=cap)
    if name == "interactive":
        scores = np.full(counts.shape, 0.25)
        whole, mine = interactive_gnmax(
            counts, scores, 0.2, CheckedNoise(3, 4.0, 3.0), Seeded(rng(5))
        )
        answered = ~mine
    else:
        answered = whole >= 0
    stop = np.flatnonzero(np.cumsum(answered) == cap)
    end = (stop[0] + 1 if cap else 0) if stop.size or cap == 0 else len(whole)
    assert capped[:end].tolist() == whole[:end].tolist()
    assert (capped[end:] == -1).all()
    assert (answered[:end]).sum() == min(cap, answered.sum())


GOOD = {"counts": ROW[None], "threshold": 5, "sigma1": 1.0, "sigma2": 1.0}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"counts": ROW}, "counts"),
        ({"counts": np.array([[1, 2], [1, 1]])}, "counts"),
        ({"threshold": math.nan}, "threshold"),
        ({"sigma1": 0.0}, "sigma"),
        ({"sigma2": -1.0}, "sigma"),
        ({"query_cap": -1}, "query_cap"),
        ({"answer_cap": 1.5}, "answer_cap"),
    ],
)
def test_bad_arguments_are_named(change, name):
    arguments = GOOD | change
    counts, caps = arguments["counts"], {key: change[key] for key in change if "cap" in key}
    noise = CheckedNoise(*(arguments[key] for key in ("threshold", "sigma1", "sigma2")))
    scores = np.full(np.shape(counts), 1 / np.shape(counts)[-1])
    with pytest.raises(ValueError, match=name):
        confident_gnmax(counts, noise, Seeded(rng()), **caps)
    with pytest.raises(ValueError, match=name):
        interactive_gnmax(counts, scores, 0.5, noise, Seeded(rng()), **caps)


def test_bad_scores_and_confidence_are_named():
    noise = CheckedNoise(5, 1.0, 1.0)
    for scores in (SCORES[None, :3], SCORES[None] * 1.1, np.array([[1.2, -0.2, 0, 0]])):
        with pytest.raises(ValueError, match="scores"):
            interactive_gnmax(ROW[None], scores, 0.5, noise, Seeded(rng()))
    with pytest.raises(ValueError, match="confidence"):
        interactive_gnmax(ROW[None], SCORES[None], 1.5, noise, Seeded(rng()))
