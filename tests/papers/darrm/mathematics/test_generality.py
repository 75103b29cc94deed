"""Lemma 3.3: any reasonable algorithm is a DaRRM; Lemma B.11: a larger gamma errs less."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.labels import gnmax
from private_ensembles.papers.darrm.mathematics.certificate import certify
from private_ensembles.papers.darrm.mathematics.error import error_at, error_of_pmf
from private_ensembles.papers.darrm.mathematics.gamma import (
    gamma_subsampling,
    label_probability,
    mirror_gamma,
    subsampling_probability,
)
from private_ensembles.papers.darrm.mathematics.generality import gamma_from_probabilities


def halves(low=0.0, high=1.0):
    """Values at l > K/2 for some odd K up to 31."""
    return st.integers(1, 16).flatmap(
        lambda n: st.lists(st.floats(low, high), min_size=n, max_size=n).map(np.array)
    )


@given(halves(0.5))
def test_darrm_has_the_distribution_of_any_symmetric_algorithm_better_than_a_coin(upper):
    probability = np.concatenate([1 - upper[::-1], upper])
    gamma = gamma_from_probabilities(probability)
    assert np.array_equal(gamma, gamma[::-1])
    np.testing.assert_allclose(label_probability(gamma), probability, rtol=0, atol=1e-12)


@given(halves())
def test_lemma_3_3_undoes_label_probability(half):
    gamma = mirror_gamma(half)
    np.testing.assert_allclose(
        gamma_from_probabilities(label_probability(gamma)), gamma, rtol=0, atol=1e-15
    )


@pytest.mark.parametrize("sigma", [0.5, 7.68, 21.46])
def test_gnmax_is_a_darrm(sigma):
    probability = gnmax.label_probability(11, sigma)
    gamma = gamma_from_probabilities(probability)
    np.testing.assert_allclose(label_probability(gamma), probability, rtol=0, atol=1e-12)
    assert (np.diff(gamma[6:]) > 0).all() or sigma == 0.5  # 0.5: 1 to the last digit at the end
    certify(gamma, 3, 0.1, 1e-5)  # it is covered by the certificate like any other


@pytest.mark.parametrize("size", [1, 2, 5, 10, 11])
def test_subsampling_is_a_darrm_with_its_known_gamma(size):
    gamma = gamma_from_probabilities(subsampling_probability(11, size))
    np.testing.assert_allclose(gamma, gamma_subsampling(11, size), rtol=0, atol=1e-15)


@settings(max_examples=40)
@given(halves(0.5), st.data())
def test_symmetrising_by_the_mean_is_the_coin_between_an_algorithm_and_its_mirror(upper, data):
    n = len(upper)
    lower = np.array(data.draw(st.lists(st.floats(0, 0.5), min_size=n, max_size=n)))
    probability = np.concatenate([lower, upper])
    mirror = 1 - probability[::-1]
    mixed = label_probability(gamma_from_probabilities(probability, symmetrize="mean"))
    np.testing.assert_allclose(mixed, (probability + mirror) / 2, rtol=0, atol=1e-12)
    # Remark (b): the algorithm and its mirror image together err at least as much, whatever p.
    p = np.array(data.draw(st.lists(st.floats(0, 1), min_size=2 * n - 1, max_size=2 * n - 1)))
    alpha = pmf(p)
    majority = alpha[n:].sum()
    errors = [abs(alpha @ answer - majority) for answer in (probability, mirror)]
    assert abs(alpha @ mixed - majority) <= sum(errors) / 2 + 1e-12


def test_reflecting_keeps_the_half_that_was_chosen():
    probability = np.array([0.1, 0.3, 0.6, 0.8])
    for side, half in (("upper", [0.2, 0.6]), ("lower", [0.4, 0.8]), ("mean", [0.3, 0.7])):
        gamma = gamma_from_probabilities(probability, symmetrize=side)
        np.testing.assert_allclose(gamma[2:], half, atol=1e-15)


@pytest.mark.parametrize(
    ("probability", "options", "message"),
    [
        ([0.6, 1.0], {}, "at l = 0 of K = 1 .* 0.4: must be at least 1/2"),
        ([0.0, 0.1, 0.49, 1.0], {}, "at l = 2 of K = 3"),
        ([0.1, 1.0], {}, r"Pr\[1 \| 0\] = 0.1 and Pr\[1 \| 1\] = 1 must add up to 1"),
        ([0.0, 0.4, 0.55, 1.0], {}, r"Pr\[1 \| 1\] = 0.4 and Pr\[1 \| 2\] = 0.55 must add up"),
        ([0.0, 0.5, 1.0], {}, "shape"),
        ([0.0, 1.1], {}, r"\[0, 1\]"),
        ([0.0, np.nan], {}, r"\[0, 1\]"),
        ([0.0, 1.0], {"symmetrize": "both"}, "symmetrize = 'both'"),
        ([0.6, 1.0], {"symmetrize": "mean"}, "at least 1/2"),
    ],
)
def test_what_the_lemma_does_not_cover_is_refused(probability, options, message):
    with pytest.raises(ValueError, match=message):
        gamma_from_probabilities(probability, **options)


@settings(max_examples=40)
@given(halves(), st.data())
def test_larger_gamma_means_smaller_error_for_every_common_p(small, data):
    # DaRRM, Lemma B.11.
    n = len(small)
    share = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    large = np.minimum(small + (1 - small) * share, 1.0)
    p = data.draw(st.floats(0, 1))
    assert error_at(mirror_gamma(large), p) <= error_at(mirror_gamma(small), p) + 1e-15


@settings(max_examples=40)
@given(halves(), st.data())
def test_lemma_b_11_holds_beyond_iid_where_every_teacher_leans_to_the_same_label(small, data):
    n = len(small)
    share = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    large = np.minimum(small + (1 - small) * share, 1.0)
    p = data.draw(st.lists(st.floats(0.5, 1), min_size=2 * n - 1, max_size=2 * n - 1))
    alpha = pmf(p)
    assert (
        error_of_pmf(mirror_gamma(large), alpha) <= error_of_pmf(mirror_gamma(small), alpha) + 1e-15
    )


def test_lemma_b_11_fails_where_teachers_lean_to_different_labels():
    # The lead alpha_l - alpha_{K-l} is negative at l = 2 and positive at l = 3, so that noise at
    # one cancels noise at the other: the lemma's "i.i.d." cannot be dropped.
    alpha = pmf([0.9, 0.3, 0.35])
    lead = alpha[2:] - alpha[1::-1]
    assert lead[0] < 0 < lead[1]
    noise = np.array([lead[1], -lead[0]])
    cancels = mirror_gamma(1 - noise / noise.max())
    larger = np.maximum(cancels, mirror_gamma([0.0, 1.0]))
    assert (larger >= cancels).all()
    assert error_of_pmf(cancels, alpha) < 1e-15
    assert error_of_pmf(larger, alpha) > 0.01
