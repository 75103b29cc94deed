"""Immutable noisy ArgMax: what it releases, with huge and with moderate constants; ensembles."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import laplace, norm

from private_ensembles.papers.nzc.law import LAW, ImmutableNoise
from private_ensembles.papers.nzc.mathematics.ensembles import (
    distance_shares,
    label_accuracies,
    leads,
    plurality_accuracy,
    teacher_curve,
)
from private_ensembles.papers.nzc.mathematics.mechanism import (
    NOISES,
    TIES,
    immutable_noisy_argmax,
    label_distribution,
)


def literal(counts, constant, noise):
    """Section 3.2 in doubles, word for word."""
    raised = counts.astype(float)
    raised[np.arange(len(counts)), np.argmax(counts, axis=1)] += constant
    return np.argmax(raised + noise, axis=1)


@pytest.mark.parametrize("noise", NOISES)
def test_with_the_papers_constants_the_label_is_the_plurality(noise):
    rng = np.random.default_rng(0)
    counts = rng.multinomial(250, np.full(10, 0.1), 2000)
    labels = immutable_noisy_argmax(counts, rng, noise=noise)
    assert np.array_equal(labels, np.argmax(counts, axis=1))
    # And so it is in the paper's own arithmetic, where c absorbs votes and noise alike.
    assert 1e100 + 250 == 1e100 + 1e10 == 1e100
    assert np.array_equal(labels, literal(counts, 1e100, rng.laplace(scale=1e10, size=(2000, 10))))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("counts", [[5, 4], [4, 5], [3, 3], [9, 0]])
def test_two_class_distribution_is_what_is_sampled(noise, ties, counts):
    parameters = {"constant": 3.0, "noise_scale": 4.0, "noise": noise, "ties": ties}
    runs = 40_000
    labels = immutable_noisy_argmax(
        np.tile(counts, (runs, 1)), np.random.default_rng(1), **parameters
    )
    exact, _ = label_distribution(np.array([counts]), **parameters)
    # Hoeffding: all 24 cases within this but once in 1e9.
    assert abs(labels.mean() - exact[0, 1]) < math.sqrt(math.log(48e9) / (2 * runs))
    np.testing.assert_allclose(exact.sum(axis=1), 1, rtol=1e-14)


def test_two_class_distribution_in_forty_digits():
    for noise in NOISES:
        for constant, scale, n in ((0.0, 1.0, 3), (30.0, 2.0, 5), (600.0, 1.0, 0)):
            exact, error = label_distribution(
                np.array([[n, 9 - n]]), constant=constant, noise_scale=scale, noise=noise
            )
            with mpmath.workdps(40):
                y = (mpmath.mpf(constant) + abs(9 - 2 * n)) / scale
                lost = {
                    "laplace": mpmath.exp(-y) * (2 + y) / 4,
                    "gaussian": mpmath.ncdf(-y / mpmath.sqrt(2)),
                }[noise]
            assert abs(exact[0].min() - lost) <= 1e-12 * lost + error


def test_more_classes_have_a_bound_on_what_noise_can_change():
    counts = np.array([[6, 5, 0], [5, 5, 1]])
    exact, error = label_distribution(counts, constant=40.0, noise_scale=2.0)
    assert exact.tolist() == [[1, 0, 0], [1, 0, 0]]
    labels = immutable_noisy_argmax(
        np.tile(counts[0], (100_000, 1)), np.random.default_rng(0), constant=4.0, noise_scale=2.0
    )
    _, error = label_distribution(counts, constant=4.0, noise_scale=2.0)
    assert 0 < (labels != 0).mean() < error < 1
    random, _ = label_distribution(np.array([[4, 4, 4]]), ties="random")
    np.testing.assert_allclose(random, 1 / 3)


@given(st.integers(0, 10**6), st.sampled_from(TIES))
def test_a_label_does_not_depend_on_the_queries_after_it(seed, ties):
    counts = np.random.default_rng(seed).integers(0, 4, (20, 3))
    parameters = {"constant": 1.0, "noise_scale": 2.0, "ties": ties}
    long = immutable_noisy_argmax(counts, np.random.default_rng(seed), **parameters)
    short = immutable_noisy_argmax(counts[:7], np.random.default_rng(seed), **parameters)
    assert np.array_equal(long[:7], short)


def test_tie_rules_choose_among_the_largest():
    counts = np.tile([1, 4, 4, 0], (400, 1))
    drawn = {t: immutable_noisy_argmax(counts, np.random.default_rng(0), ties=t) for t in TIES}
    assert set(drawn["first"]) == {1}
    assert set(drawn["last"]) == {2}
    assert set(drawn["random"]) == {1, 2}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"counts": [[1]]}, "counts"),
        ({"counts": [[1.0, 2.0]]}, "counts"),
        ({"constant": -1.0}, "constant"),
        ({"noise_scale": 0.0}, "noise_scale"),
        ({"noise": "cauchy"}, "noise"),
        ({"ties": "both"}, "ties"),
    ],
)
def test_bad_input_is_named(change, name):
    arguments = {"counts": [[1, 2]]} | change
    with pytest.raises(ValueError, match=name):
        immutable_noisy_argmax(arguments.pop("counts"), np.random.default_rng(0), **arguments)


def test_immutable_noise_is_the_papers_by_itself():
    assert ImmutableNoise() == ImmutableNoise(constant=1e100, gamma=1e10, labels=1)


def test_nzc_s_label_of_many_classes_is_the_first_of_the_largest_counts():
    histograms = np.array([[3, 1, 1], [2, 2, 1], [1, 2, 2], [0, 5, 0]])
    chances = LAW.distribution(histograms, ImmutableNoise())
    assert chances.tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]]


# Tables 1 and 2 and Figures 2a-c as functions of counts -------------------------------------------


COUNTS = np.array([[5, 0, 0], [3, 2, 0], [2, 2, 1], [0, 1, 4]])
LABELS = np.array([0, 1, 1, 2])


def test_distance_is_strictly_larger_than_n():
    assert leads(COUNTS).tolist() == [5, 1, 0, 3]
    assert distance_shares(COUNTS, range(6)).tolist() == [0.75, 0.5, 0.5, 0.25, 0.25, 0]


def test_accuracies_count_known_labels_only():
    assert plurality_accuracy(COUNTS, LABELS) == 0.5
    assert plurality_accuracy(COUNTS, [0, -1, -1, 2]) == 1
    nzc, _ = label_distribution(COUNTS, ties="random")
    found = label_accuracies(COUNTS, LABELS, {"nzc": nzc, "uniform": np.full((4, 3), 1 / 3)})
    assert found == pytest.approx({"nzc": 2.5 / 4, "uniform": 1 / 3, "clean": 0.5})


def test_teacher_curve_has_a_row_per_ensemble():
    rows = teacher_curve({5: (COUNTS, LABELS), 1: (np.eye(3, dtype=int), [0, 1, 0])})
    assert [row["teachers"] for row in rows] == [1, 5]
    assert rows[0] == {"teachers": 1, "accuracy": 2 / 3, "qualified": 0, "qualified_wrong": 0}
    assert rows[1] == {"teachers": 5, "accuracy": 0.5, "qualified": 0.5, "qualified_wrong": 0}


@pytest.mark.parametrize(("distance", "qualified", "wrong"), [(2, 3, 1), (3, 2, 1), (5, 0, 0)])
def test_of_an_ensemble_the_known_labels_are_judged_class_0_among_them(distance, qualified, wrong):
    """Leads of 5, 1, 5 and 3: the second label is not known, and the third is 0 and not 1."""
    counts = np.array([[5, 0, 0], [3, 2, 0], [0, 5, 0], [0, 1, 4]])
    (row,) = teacher_curve({5: (counts, [0, -1, 0, 2])}, distance)
    assert row == {
        "teachers": 5,
        "accuracy": 2 / 3,
        "qualified": qualified / 4,
        "qualified_wrong": wrong / 3,
    }
    assert plurality_accuracy(counts, [0, -1, 0, 2]) == 2 / 3
    assert plurality_accuracy(counts, [-1, -1, 0, -1]) == 0  # one that is known is enough
    every = {"even": np.full((4, 3), 1 / 3), "zero": np.eye(3)[[0, 0, 0, 0]]}
    found = label_accuracies(counts, [0, -1, 0, 2], every)
    assert found == pytest.approx({"even": 1 / 3, "zero": 2 / 3, "clean": 2 / 3})


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: leads([[1.0, 2.0]]), "counts"),
        (lambda: plurality_accuracy(COUNTS, [0]), "labels"),
        (lambda: plurality_accuracy(COUNTS, [-1] * 4), "labels"),
        (lambda: label_accuracies(COUNTS, LABELS, {"x": [[1.0]]}), "x: shape"),
        (lambda: teacher_curve({4: (COUNTS, LABELS)}), "4 teachers"),
        (lambda: teacher_curve({6: (COUNTS, LABELS)}), "6 teachers"),
    ],
)
def test_bad_ensembles_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


@pytest.mark.parametrize(("noise", "standard"), [("laplace", laplace), ("gaussian", norm)])
def test_noise_has_the_scale_that_is_stated(noise, standard):
    """By inversion of the first half of each row of uniform numbers, word for word."""
    counts, rng = np.tile([6, 5, 4], (4000, 1)), np.random.default_rng(3)
    uniform = rng.random((4000, 6))[:, :3]
    expected = literal(counts, 1.0, 2.5 * standard.ppf(uniform))
    found = immutable_noisy_argmax(
        counts, np.random.default_rng(3), constant=1.0, noise_scale=2.5, noise=noise
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("constant", "scale"), [(0.0, 1.0), (4.0, 2.0), (30.0, 3.0)])
@pytest.mark.parametrize(("classes", "times"), [(3, 2), (4, 3), (10, 9)])
def test_of_many_classes_the_error_counts_every_other_one(constant, scale, classes, times):
    """C - 1 times the chance that the noise of one makes up for c, as Lemma 4 of PATE 2017 has it.

    Where all are tied that chance is attained by each alone, in twenty digits.
    """
    counts = np.full((1, classes), 5)
    x = mpmath.mpf(constant) / scale
    tails = {"laplace": (2 + x) / (4 * mpmath.exp(x)), "gaussian": mpmath.ncdf(-x / mpmath.sqrt(2))}
    for noise, tail in tails.items():
        given = {"constant": constant, "noise_scale": scale, "noise": noise}
        chances, error = label_distribution(counts, **given)
        assert chances.tolist() == [[1.0, *[0.0] * (classes - 1)]]
        assert error == pytest.approx(float(min(1, times * tail)), rel=1e-9)
        assert error >= min(1, times * tail) * (1 - mpmath.mpf(10) ** -15)


@pytest.mark.parametrize(("ties", "chances"), [("first", [0, 1, 0]), ("last", [0, 0, 1])])
def test_who_is_raised_of_two_that_lead_is_as_the_rule_says(ties, chances):
    counts = np.array([[1, 4, 4], [2, 2, 2], [5, 1, 0], [0, 1, 5]])
    found, _ = label_distribution(counts, ties=ties)
    all_tied = np.eye(3)[0 if ties == "first" else 2].tolist()
    assert found.tolist() == [chances, all_tied, [1, 0, 0], [0, 0, 1]]
    halves, _ = label_distribution(counts, ties="random")
    np.testing.assert_allclose(halves[:2], [[0, 0.5, 0.5], [1 / 3] * 3])
