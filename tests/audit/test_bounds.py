"""Bounds from both sides where histograms are too many, and the exact value where they are not."""

import math

import pytest

from private_ensembles.audit import (
    count_sorted_histograms,
    enumerate_histograms,
    epsilon_bounds,
    leading_pairs,
)
from private_ensembles.labels.gnmax import analytic_epsilon
from private_ensembles.labels.gnmax_quadrature import gnmax_distribution
from private_ensembles.labels.laws import gumbel

ERRORS = {"relative_error": 1e-10, "absolute_error": 1e-300}


@pytest.mark.parametrize(("n_teachers", "n_classes"), [(1, 2), (7, 2), (9, 3), (6, 5), (4, 9)])
def test_sorted_histograms_are_counted(n_teachers, n_classes):
    everything = enumerate_histograms(n_teachers, n_classes)
    distinct = {tuple(sorted(row)) for row in everything.tolist()}
    assert count_sorted_histograms(n_teachers, n_classes) == len(distinct)


def test_leading_pairs_prove_less_than_all_pairs_and_the_noisy_counts_more():
    def distribution(counts):
        return gnmax_distribution(counts, 4.0)

    proven = analytic_epsilon(4.0, 1e-3)
    exact = epsilon_bounds(distribution, 20, 4, 1e-3, **ERRORS)
    assert exact.exact
    assert exact.lower == pytest.approx(exact.upper, abs=1e-8)
    few = epsilon_bounds(distribution, 20, 4, 1e-3, upper=proven, most_histograms=10, **ERRORS)
    assert not few.exact
    assert 0.9 * exact.lower < few.lower <= exact.upper <= few.upper == proven


@pytest.mark.parametrize(
    ("sigma", "low", "high"), [(40, "0.1094", "0.1096"), (100, "0.0310", "0.0400")]
)
def test_documented_bounds_of_250_teachers_and_ten_classes(sigma, low, high, root):
    found = epsilon_bounds(
        lambda counts: gnmax_distribution(counts, sigma),
        250,
        10,
        1e-5,
        upper=analytic_epsilon(sigma, 1e-5),
        **ERRORS,
    )
    assert not found.exact
    assert f"[{low}, {high}]" in (root / "docs" / "audit.md").read_text(encoding="utf-8")
    assert (f"{found.lower:.4f}", f"{found.upper:.4f}") == (low, high)


def test_probabilities_that_are_hardly_known_give_bounds_and_no_exact_value():
    given = {"relative_error": 0.01, "absolute_error": 1e-6}
    found = epsilon_bounds(lambda counts: gnmax_distribution(counts, 4.0), 9, 3, 1e-3, **given)
    assert found.upper > 1.05 * found.lower
    assert not found.exact


def test_underflow_is_not_taken_for_an_infinite_loss():
    """Noise of a hundredth of a vote: what is certain in floats is not certain."""
    found = epsilon_bounds(
        lambda counts: gnmax_distribution(counts, 0.01), 9, 3, 1e-3, upper=3e4, **ERRORS
    )
    assert not found.exact
    assert 300 < found.lower < found.upper == 3e4
    certain = epsilon_bounds(
        lambda counts: 1.0 * (counts == 9) + (counts.max(1) < 9)[:, None] / 3,
        9,
        3,
        1e-3,
        relative_error=1e-15,
    )
    assert (certain.lower, certain.exact) == (math.inf, True)


def test_pairs_are_no_more_than_asked_for():
    rows, pairs = leading_pairs(5000, 30, most=50)
    assert len(rows) < 2000
    assert (rows.sum(axis=1) == 5000).all()
    assert (abs(rows[pairs[:, 0]] - rows[pairs[:, 1]]).sum(axis=1) == 2).all()


def test_a_proof_below_what_the_audit_finds_is_refused():
    def distribution(counts):
        return gumbel.label_probabilities(counts, 1.0)

    assert epsilon_bounds(distribution, 3, 3, 0.0, **ERRORS).upper <= 2 + 1e-8
    with pytest.raises(ValueError, match=r"upper = 0\.1: must not be below"):
        epsilon_bounds(distribution, 3, 3, 0.0, upper=0.1, **ERRORS)


def test_bounds_of_a_large_epsilon_meet_too():
    found = epsilon_bounds(
        lambda counts: gumbel.label_probabilities(counts, 4.0), 3, 3, 0.0, **ERRORS
    )
    assert found.lower > 4
    assert found.exact


@pytest.mark.parametrize(("n_teachers", "n_classes"), [(9, 3), (6, 5)])
def test_as_many_histograms_as_are_allowed_are_all_listed_and_of_one_more_a_few(
    n_teachers, n_classes
):
    def distribution(counts):
        return gumbel.label_probabilities(counts, 1.0)

    number = count_sorted_histograms(n_teachers, n_classes)
    sizes = (distribution, n_teachers, n_classes, 0.0)
    assert epsilon_bounds(*sizes, most_histograms=number, **ERRORS).exact
    few = epsilon_bounds(*sizes, most_histograms=number - 1, **ERRORS)
    assert (few.upper, few.exact) == (math.inf, False)
