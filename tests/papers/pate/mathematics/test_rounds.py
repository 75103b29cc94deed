"""Rounds of queries: what thresholds look at, what is released, and what two of them cost."""

import math

import numpy as np
import pytest

from private_ensembles.accounting.composition import exact_conversion_cost
from private_ensembles.labels.noisy_counts import exact_data_independent_epsilon
from private_ensembles.papers.pate.mathematics.confident import compose_rounds
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp
from private_ensembles.papers.pate.mathematics.rounds import (
    confident_round,
    gnmax_round,
    interactive_round,
    worst_case_epsilon,
)
from tests.accounting.bound_samplers import gaussian_delta

COUNTS = np.array([[8, 1, 1], [4, 3, 3], [0, 10, 0]])


def test_rounds_differ_in_what_the_threshold_looks_at():
    scores = np.array([[0.8, 0.1, 0.1], [0.2, 0.4, 0.4], [0.0, 1.0, 0.0]])
    plain, confident = gnmax_round(COUNTS, 2.0), confident_round(COUNTS, 5.0, 3.0, 2.0)
    interactive = interactive_round(COUNTS, scores, 5.0, 3.0, 2.0)
    assert plain.leads is None
    assert plain.answer_probability.tolist() == [1, 1, 1]
    assert confident.leads.tolist() == [8, 4, 10]
    np.testing.assert_allclose(interactive.leads, [0, 2, 0], atol=1e-12)  # n - 10 p
    lead = confident.leads[0] - 5.0
    expected = 0.5 * math.erfc(-lead / 3.0 / math.sqrt(2))
    assert confident.answer_probability[0] == pytest.approx(expected, rel=1e-12)
    assert confident.teachers == 10


def test_thresholds_cost_their_gaussian_mechanism_and_labels_their_share():
    one = confident_round(COUNTS, 5.0, 3.0, 2.0)
    assert one.threshold_rdp([2.0, 4.0]).tolist() == [3 * 2 / 18, 3 * 4 / 18]
    assert gnmax_round(COUNTS, 2.0).threshold_rdp([2.0]).tolist() == [0]
    expected = one.answer_probability @ gnmax_rdp(COUNTS, 2.0, [2.0, 4.0])
    np.testing.assert_allclose(one.label_rdp([2.0, 4.0]), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("caps", "tried", "answered"),
    [((None, None), 3, 3), ((2, None), 2, 2), ((2, 1), 2, 1), ((9, 9), 3, 3)],
)
def test_releases_are_those_at_the_caps(caps, tried, answered):
    releases = confident_round(COUNTS, 5.0, 3.0, 2.0).releases(*caps)
    assert (releases.thresholds, releases.labels) == (tried, answered)
    assert gnmax_round(COUNTS, 2.0).releases(*caps).thresholds == 0


def test_secure_rounds_are_of_whole_votes_and_of_the_lattice():
    scores = np.array([[0.8, 0.13, 0.07], [0.2, 0.4, 0.4], [0.0, 1.0, 0.0]])
    one = interactive_round(COUNTS, scores, 0.4, 3.0, 0.6, noise="secure")
    assert one.leads.tolist() == [0, 2, 0]  # n - round(10 p), as the sampler has it
    assert one.threshold == 1
    passes, mass = [], np.exp(-(np.arange(-80, 81) ** 2) / 18)
    for lead in one.leads:
        passes.append(mass[lead + np.arange(-80, 81) >= 0.4].sum() / mass.sum())
    assert one.answer_probability == pytest.approx(passes, rel=1e-9)
    expected = one.answer_probability @ gnmax_rdp(COUNTS, 0.6, [2.0], noise="secure")
    assert one.label_rdp([2.0]) == pytest.approx(expected)
    assert expected > one.answer_probability @ gnmax_rdp(COUNTS, 0.6, [2.0])
    assert one.curve(1.5).noise == "secure"


def lattice_delta(thresholds, sigma1, labels, sigma2, epsilon):
    """delta at epsilon, from the law of the sum of all noise, added up term by term."""
    laws = []
    for terms, sigma in ((thresholds, sigma1), (2 * labels, sigma2)):
        x = np.arange(-int(14 * sigma) - 2, int(14 * sigma) + 3)
        mass = np.exp(-(x**2) / (2 * sigma**2))
        law = np.ones(1)
        for _ in range(terms):
            law = np.convolve(law, mass / mass.sum())
        support = np.arange(len(law)) - len(law) // 2
        laws.append(((2 * support + terms) / (2 * sigma**2), law))
    (first, p), (second, q) = laws
    excess = -np.expm1(np.minimum(epsilon - np.add.outer(first, second), 0.0))
    return float((np.multiply.outer(p, q) * excess).sum())


@pytest.mark.parametrize(("sigma1", "sigma2"), [(2.0, 0.7), (0.8, 1.0), (5.0, 4.0)])
def test_what_is_certain_of_secure_rounds_is_the_lattices_own(sigma1, sigma2):
    delta = 1e-5
    one = confident_round(COUNTS, 5.0, sigma1, sigma2, noise="secure")
    epsilon = worst_case_epsilon([one], delta, query_cap=3, answer_cap=2)
    assert lattice_delta(3, sigma1, 2, sigma2, epsilon) <= delta
    assert lattice_delta(3, sigma1, 2, sigma2, epsilon * 0.999) > delta
    continuous = confident_round(COUNTS, 5.0, sigma1, sigma2)
    rho = continuous.releases(3, 2).rho
    as_gaussian = worst_case_epsilon([continuous], delta, query_cap=3, answer_cap=2)
    assert as_gaussian == exact_data_independent_epsilon(rho, delta)
    assert epsilon != as_gaussian


def test_continuous_noise_understates_one_secure_label():
    one = gnmax_round([[3, 1]], 1.0)
    assert lattice_delta(0, 1.0, 1, 1.0, worst_case_epsilon([one], 1e-5)) > 1.2e-5
    secure = gnmax_round([[3, 1]], 1.0, noise="secure")
    assert lattice_delta(0, 1.0, 1, 1.0, worst_case_epsilon([secure], 1e-5)) <= 1e-5
    with pytest.raises(ValueError, match="same in all rounds"):
        worst_case_epsilon([one, secure], 1e-5)


def test_the_largest_count_decides():
    found = confident_round([[9, 6, 5], [5, 9, 6], [7, 7, 6]], 8.0, 2.0, 1.0).answer_probability
    expected = [0.5 * math.erfc(-(n - 8) / 2 / math.sqrt(2)) for n in (9, 9, 7)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_what_two_secure_rounds_cost_is_the_lattices_own_of_all_counts():
    """One label moves two counts of each round; half as many would be half the delta or less."""
    rounds = [gnmax_round([[3, 1]], sigma, noise="secure") for sigma in (0.7, 1.1)]
    delta = 1e-5
    for ordered in (rounds, rounds[::-1]):
        epsilon = worst_case_epsilon(ordered, delta)
        assert lattice_delta(2, 0.7, 1, 1.1, epsilon) <= delta
        assert lattice_delta(2, 0.7, 1, 1.1, epsilon * 0.999) > delta


def test_labels_of_very_many_queries_cost_as_many_times_as_much():
    """2,100 queries are worked on in two full parts and a shorter one."""
    few, many = (gnmax_round(np.tile(COUNTS, (times, 1)), 2.0) for times in (1, 700))
    expected = 700 * few.label_rdp([2.0, 8.0])
    np.testing.assert_allclose(many.label_rdp([2.0, 8.0]), expected, rtol=1e-12)


DELTA, ORDERS = 1e-5, (2.0, 4.0, 8.0)


def test_what_two_rounds_cost_whatever_the_votes_is_their_sum():
    """A threshold moves one count by one; a label moves two, so that mu^2 is 2 / sigma^2."""
    counts = np.array([[200, 30, 20], [100, 90, 60], [120, 70, 60]])
    large = gnmax_round(counts, 20.0)
    small = confident_round(counts[:2], 100.0, 60.0, 35.0)
    squared = 3 * 2 / 20**2 + 2 * (1 / 60**2 + 2 / 35**2)
    both = compose_rounds([large, small], DELTA, orders=ORDERS)
    delta = gaussian_delta(math.sqrt(squared), both.exact_data_independent_epsilon)
    assert float(delta) == pytest.approx(DELTA, rel=1e-6)
    assert both.data_independent_epsilon >= both.exact_data_independent_epsilon
    # In either order, and more than what the dearer round costs alone.
    turned = compose_rounds([small, large], DELTA, orders=ORDERS)
    assert turned.data_independent_epsilon == pytest.approx(both.data_independent_epsilon)
    alone = compose_rounds([large], DELTA, orders=ORDERS)
    assert both.data_independent_epsilon > alone.data_independent_epsilon * 1.05


def test_what_two_rounds_are_expected_to_cost_is_the_sum_at_one_order():
    """Thresholds and labels of both, and the noise of a published cost for each."""
    counts, order = np.array([[58, 1, 1], [50, 6, 4], [20, 20, 20], [60, 0, 0]]), 4.0
    rounds = [confident_round(counts, 40.0, 9.0, 6.0), confident_round(counts[:3], 45.0, 20.0, 4.0)]
    both = compose_rounds(rounds, DELTA, order=order)
    parts = [each.threshold_rdp(order)[0] + each.label_rdp(order)[0] for each in rounds]
    conversion = float(exact_conversion_cost(order, DELTA, "improved"))
    assert both.epsilon == pytest.approx(sum(parts) + conversion, rel=1e-12)
    noises = [part.gnss_rdp for part in both.rounds]
    assert min(noises) > 1e-3
    assert both.sanitized_epsilon == pytest.approx(both.epsilon + sum(noises), rel=1e-12)
