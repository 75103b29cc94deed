"""Two rounds with a student in between: who sees what, what it costs, and that this is a bound."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels.gnmax_quadrature import gnmax_distribution
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.noisy_counts import exact_data_independent_epsilon
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.papers.pate.mathematics.rounds import confident_round, worst_case_epsilon
from studies.interactive_students.rounds import (
    Repetition,
    first_round_size,
    interactive_gnmax,
    release_second_round,
    summarise_students,
    train_interactive_students,
)
from tests.labels.frequencies import CHANCE, follows

POOL, TEACHERS = 40, 20
CHECK = {"threshold": 12, "sigma1": 2.0, "sigma2": 1.0}
SETTINGS = {
    "delta": 1e-4,
    "confident": {"queries": 30, **CHECK},
    "answer_cap": None,
    "orders": {"order_max": 20, "order_step": 1},
    "first_share": 0.4,
    "threshold": 8,
    "confidence": 0.6,
    "student": {
        "method": "vat",
        "pool": POOL,
        "parameters": {"epochs": 12, "learning_rate": 0.01, "widths": (4, 4, 4)},
    },
}


@pytest.fixture(scope="module")
def inputs():
    """70 test images of two classes, bright on the left or on the right."""
    source = np.random.default_rng(0)
    labels = source.integers(2, size=70).astype(np.uint8)
    images = source.integers(0, 4, (70, 8, 8)).astype(np.uint8)
    images[labels == 0, :, :4] += 10
    images[labels == 1, :, 4:] += 10
    arrays = {"train": images[:0], "train_labels": labels[:0]}
    return arrays | {"test": images, "test_labels": labels}


@pytest.fixture(scope="module")
def counts(inputs):
    """Votes of teachers who are right with probability 0.8."""
    right = np.random.default_rng(1).binomial(TEACHERS, 0.8, POOL)
    truth = inputs["test_labels"][:POOL]
    return np.where(truth[:, None] == np.arange(2), right[:, None], TEACHERS - right[:, None])


@pytest.fixture(scope="module")
def bought(counts):
    queries = np.random.default_rng(2).permutation(POOL)[:30]
    source = SeededNoise(np.random.default_rng(3))
    return queries, load_mechanism("confident_gnmax").law.draw(
        counts[queries], CheckedNoise(**CHECK), source
    )


def run(inputs, counts, bought, **changes):
    settings = SETTINGS | changes
    facts = {"n_classes": 2, "pixel_max": 16}
    repetition = Repetition("small", student_seed=0, seed=0)
    return train_interactive_students(inputs, facts, counts, bought, settings, repetition)


@pytest.fixture(scope="module")
def rows(inputs, counts, bought):
    return run(inputs, counts, bought).set_index("aggregator")


def test_both_ways_ask_the_same_queries_at_the_same_cost(rows, bought):
    assert list(rows.index) == ["first", "interactive", "confident"]
    assert rows["asked"].tolist() == [12, 30, 30]
    labels = bought[1]
    assert rows["answered"]["first"] == (labels[:12] >= 0).sum()
    assert rows["answered"]["confident"] == (labels >= 0).sum()
    certain = rows["certain_epsilon"]
    rho = [n / (2 * 2.0**2) + n / 1.0**2 for n in (12, 30)]
    for name, total in zip(("first", "confident"), rho, strict=True):
        assert certain[name] == pytest.approx(exact_data_independent_epsilon(total, 1e-4))
    assert certain["interactive"] == certain["confident"] > certain["first"]
    assert set(rows["release"]) == {NOT_FOR_RELEASE}
    assert (rows["student_evaluated"] == 30).all()


def test_right_labels_and_students_are_counted(rows, inputs, bought):
    truth = inputs["test_labels"][bought[0]]
    assert rows["right"]["confident"] == (bought[1] == truth).sum()
    assert rows["right"]["first"] == (bought[1] == truth)[:12].sum()
    released = rows["answered"] + rows["reinforced"]
    assert (rows["right"] <= released).all()
    accuracy = (rows["student_correct"] / 30).tolist()
    assert rows["student_accuracy"].tolist() == pytest.approx(accuracy)
    # They learnt something: 63 % are of one class.
    assert rows["student_accuracy"]["first"] > 0.9
    assert rows["reinforced"].drop("interactive").tolist() == [0, 0]


def test_students_do_not_see_votes_that_were_not_released(rows, inputs, counts, bought):
    """Other votes, the same labels bought: the same students of round one and of one round."""
    other = run(inputs, counts[:, ::-1], bought).set_index("aggregator")
    for name in ("first", "confident"):
        assert other["student_correct"][name] == rows["student_correct"][name]
        assert other["answered"][name] == rows["answered"][name]
    assert other["right"]["interactive"] < rows["right"]["interactive"]


def test_a_cap_on_answers_is_shared_by_both_rounds(inputs, counts, bought, rows):
    queries, labels = bought
    cap = int((labels >= 0).sum()) // 2 + 1
    kept = np.where(np.cumsum(labels >= 0) <= cap, labels, -1)
    capped = run(inputs, counts, (queries, kept), answer_cap=cap).set_index("aggregator")
    assert capped["answered"].max() <= cap
    assert capped["answered"]["interactive"] >= capped["answered"]["first"]
    certain = capped["certain_epsilon"]
    assert certain["interactive"] == certain["confident"] < rows["certain_epsilon"]["confident"]
    rho = 30 / (2 * 2.0**2) + cap / 1.0**2
    assert certain["confident"] == pytest.approx(exact_data_independent_epsilon(rho, 1e-4))
    spent = int((kept[:12] >= 0).sum())
    scores = np.tile([1.0, 0.0], (len(counts), 1))
    source = SeededNoise(np.random.default_rng(0))
    options = SETTINGS | {"answer_cap": cap, "threshold": -100}
    answers, own = release_second_round(counts, scores, options, answered=spent, source=source)
    assert ((answers >= 0) & ~own).sum() == cap - spent


def test_a_student_that_knows_reinforces_and_one_that_does_not_asks(counts):
    truth = counts.argmax(axis=1)
    certain = np.eye(2)[truth]
    source = SeededNoise(np.random.default_rng(0))
    calm = SETTINGS | {"confident": SETTINGS["confident"] | {"sigma1": 0.1, "sigma2": 0.1}}
    labels, own = release_second_round(counts, certain, calm, answered=0, source=source)
    assert own[counts.max(axis=1) > 13].all()
    assert np.array_equal(labels[own], truth[own])
    labels, own = release_second_round(counts, certain[:, ::-1], calm, answered=0, source=source)
    assert not own[counts.max(axis=1) > 9].any()
    assert np.array_equal(labels, truth)


def test_secure_noise_is_taken_for_both_rounds(inputs, counts, bought):
    facts = {"n_classes": 2, "pixel_max": 16}
    repetition = Repetition("small", student_seed=0, seed=0, noise="secure")
    found = train_interactive_students(inputs, facts, counts, bought, SETTINGS, repetition)
    one = confident_round(counts[bought[0]], **CHECK, noise="secure")
    assert found["certain_epsilon"][1] == worst_case_epsilon([one], 1e-4)


def test_first_round_has_its_share_and_each_round_a_query():
    assert first_round_size(300, 0.5) == 150
    assert first_round_size(10, 0.01) == 1
    assert first_round_size(10, 0.99) == 9


def test_summary_is_over_seeds(rows):
    one = rows.reset_index()
    two = one.assign(student_seed=1, student_accuracy=one["student_accuracy"] + 0.1)
    table = summarise_students(pd.concat([one, two]), {"small": {"stand_in": True, "K": 20}})
    assert table["aggregator"].tolist() == ["first", "interactive", "confident"]
    assert table["student_seeds"].tolist() == [2, 2, 2]
    expected = (one["student_accuracy"] + 0.05).tolist()
    assert table["student_accuracy"].tolist() == pytest.approx(expected)
    assert table["student_accuracy_sd"].tolist() == pytest.approx([0.1 / math.sqrt(2)] * 3)
    assert set(table["release"]) == {NOT_FOR_RELEASE}
    assert table["teachers"].tolist() == [20, 20, 20]


# The claim itself: two queries, of which the second's scores depend on the first's answer. ------
K, SIGMA1, SIGMA2, DELTA = 3, 3.0, 2.0, 1e-2
# The student's score for class 1 after no answer, answer 0 and answer 1.
SCORES = {-1: 0.5, 0: 0.1, 1: 0.9}


def outcomes(lead, votes):
    """Probabilities of no answer, 0 and 1, where `votes` of K are for class 1."""
    passes = ndtr((lead - 1.5) / SIGMA1)
    one = ndtr((2 * votes - K) / (SIGMA2 * math.sqrt(2)))
    return {-1: 1 - passes, 0: passes * (1 - one), 1: passes * one}


def joint(first, second):
    """Probability of each pair of outcomes, for votes on both queries."""
    found = {}
    for a, p in outcomes(max(first, K - first), first).items():
        excess = max(second - K * SCORES[a], K - second - K * (1 - SCORES[a]))
        for b, q in outcomes(excess, second).items():
            found[a, b] = p * q
    return np.array([found[key] for key in itertools.product(SCORES, SCORES)])


def exact_delta(epsilon):
    """The largest hockey-stick divergence over all votes and all neighbours of both queries."""
    worst = 0.0
    for votes in itertools.product(range(K + 1), repeat=2):
        for moves in itertools.product((-1, 0, 1), repeat=2):
            moved = tuple(v + m for v, m in zip(votes, moves, strict=True))
            if min(moved) >= 0 and max(moved) <= K:
                gap = joint(*votes) - math.exp(epsilon) * joint(*moved)
                worst = max(worst, gap.clip(0).sum())
    return worst


def test_what_is_certain_bounds_two_rounds_whose_scores_depend_on_the_first():
    counts = np.array([[1, 2], [2, 1]])
    one = confident_round(counts, 1.5, SIGMA1, SIGMA2)
    epsilon = worst_case_epsilon([one], DELTA)
    assert exact_delta(epsilon) <= DELTA
    # A label tells less than what is accounted for, but a quarter of it is no bound.
    assert exact_delta(epsilon / 4) > DELTA


# Algorithms 1 and 2 as samplers, against their exact distributions and by hand. ------------------
DRAWS = 40_000
CONFIDENT = load_mechanism("confident_gnmax").law
ROW = np.array([9, 6, 4, 1])
STUDENT = np.array([0.2, 0.55, 0.15, 0.1])


def rng(seed=0):
    return np.random.default_rng(seed)


def test_confident_follows_its_distribution():
    exact = ndtr((9 - 8.5) / 5.0) * gnmax_distribution(ROW[None], 8.0)[0]
    counts = np.tile(ROW, (DRAWS, 1))
    assert follows(CONFIDENT.draw(counts, CheckedNoise(8.5, 5.0, 8.0), SeededNoise(rng(1))), exact)


@pytest.mark.parametrize("confidence", [0.5, 0.6])
def test_interactive_follows_its_distributions(confidence):
    counts, scores = np.tile(ROW, (DRAWS, 1)), np.tile(STUDENT, (DRAWS, 1))
    noise = CheckedNoise(5.5, 3.0, 6.0)
    labels, reinforced = interactive_gnmax(counts, scores, confidence, noise, SeededNoise(rng(3)))
    passes = ndtr((5 - 5.5) / 3.0)  # max (n - 20 p) = max(5, -5, 1, -1) = 5
    student = (1 - passes) * (confidence < 0.55) * (np.arange(4) == 1)
    assert follows(np.where(reinforced, -1, labels), passes * gnmax_distribution(ROW[None], 6.0)[0])
    assert follows(np.where(reinforced, labels, -1), student)


def test_interactive_with_secure_noise_reinforces_and_answers():
    counts, scores = np.tile(ROW, (2000, 1)), np.tile(STUDENT, (2000, 1))
    labels, reinforced = interactive_gnmax(
        counts, scores, 0.5, CheckedNoise(5.5, 30.0, 3.0), SecureNoise()
    )
    assert (labels[reinforced] == 1).all()
    assert binom.sf(reinforced.sum() - 1, 2000, 0.5) > CHANCE
    assert binom.sf((~reinforced).sum() - 1, 2000, 0.5) > CHANCE
    assert (labels >= 0).all()


def test_noise_that_is_negligible_leaves_the_plurality():
    counts = np.array([[5, 3, 2], [1, 8, 1], [3, 3, 4]])
    labels = CONFIDENT.draw(counts, CheckedNoise(1, 1e-9, 1e-9), SeededNoise(rng()))
    assert labels.tolist() == [0, 1, 2]
    assert labels.dtype == np.int64
    some = CONFIDENT.draw(counts, CheckedNoise(4.5, 1e-9, 1e-9), SeededNoise(rng()))
    assert some.tolist() == [0, 1, -1]
    scores = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.3, 0.3]])
    # n - 10 p: (0, 0, 0), (0, 6, -6), (-1, 0, 1)
    noise = CheckedNoise(3, 1e-9, 1e-9)
    labels, reinforced = interactive_gnmax(counts, scores, 0.45, noise, SeededNoise(rng()))
    assert labels.tolist() == [0, 1, -1]
    assert reinforced.tolist() == [True, False, False]


def asked(name, counts, seed=5, cap=10_000):
    """Labels, and whether the teachers gave them."""
    source = SeededNoise(rng(seed))
    if name == "confident":
        labels = CONFIDENT.draw_capped(counts, CheckedNoise(8, 4.0, 3.0, 10_000, cap), source)
        return labels, labels >= 0
    scores, noise = np.full(counts.shape, 0.25), CheckedNoise(3, 4.0, 3.0)
    labels, reinforced = interactive_gnmax(counts, scores, 0.2, noise, source, answer_cap=cap)
    return labels, ~reinforced


@pytest.mark.parametrize("name", ["confident", "interactive"])
def test_answers_do_not_depend_on_the_queries_that_follow(name):
    counts = rng(9).multinomial(20, [0.4, 0.3, 0.2, 0.1], size=200)
    whole, _ = asked(name, counts)
    for part in (1, 17, 199):
        assert asked(name, counts[:part])[0].tolist() == whole[:part].tolist()
    assert not np.array_equal(whole, asked(name, counts, seed=6)[0])


@pytest.mark.parametrize("name", ["confident", "interactive"])
@pytest.mark.parametrize("cap", [0, 1, 30, 10_000])
def test_the_mechanism_stops_after_its_answers(name, cap):
    counts = rng(9).multinomial(20, [0.4, 0.3, 0.2, 0.1], size=200)
    whole, answered = asked(name, counts)
    capped, _ = asked(name, counts, cap=cap)
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
        ({"answer_cap": 1.5}, "answer_cap"),
    ],
)
def test_bad_arguments_are_named(change, name):
    arguments = GOOD | change
    counts, cap = arguments["counts"], change.get("answer_cap")
    noise = CheckedNoise(*(arguments[key] for key in ("threshold", "sigma1", "sigma2")))
    scores = np.full(np.shape(counts), 1 / np.shape(counts)[-1])
    with pytest.raises(ValueError, match=name):
        CONFIDENT.draw_capped(
            counts, replace(noise, labels=1 if cap is None else cap), SeededNoise(rng())
        )
    with pytest.raises(ValueError, match=name):
        interactive_gnmax(counts, scores, 0.5, noise, SeededNoise(rng()), answer_cap=cap)


def test_bad_scores_and_confidence_are_named():
    noise = CheckedNoise(5, 1.0, 1.0)
    for scores in (STUDENT[None, :3], STUDENT[None] * 1.1, np.array([[1.2, -0.2, 0, 0]])):
        with pytest.raises(ValueError, match="scores"):
            interactive_gnmax(ROW[None], scores, 0.5, noise, SeededNoise(rng()))
    with pytest.raises(ValueError, match="confidence"):
        interactive_gnmax(ROW[None], STUDENT[None], 1.5, noise, SeededNoise(rng()))
