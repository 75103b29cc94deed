"""What PATE and DaRRM say in passing: which of it holds, and what was tried where it does not."""

import math

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.composition import general_composition
from private_ensembles.labels.noisy_counts import GaussianReleases, exact_data_independent_epsilon
from private_ensembles.papers.compare.printed import equals_printed
from private_ensembles.papers.pate.mathematics import small_print
from private_ensembles.papers.pate.mathematics.small_print import (
    ROUND_ONE,
    corollary11,
    count_unanswered,
    data_independent_candidates,
    exchanged_numbers,
    round_one_threshold_epsilon,
    unanimous_condition,
)


def exact_divergence(gap, moved, sigma, order):
    with mpmath.workdps(50):
        P = [mpmath.ncdf(s * mpmath.mpf(gap) / (mpmath.sqrt(2) * sigma)) for s in (1, -1)]
        Q = [mpmath.ncdf(s * mpmath.mpf(moved) / (mpmath.sqrt(2) * sigma)) for s in (1, -1)]
        l = mpmath.mpf(order)
        total = sum(p**l * q ** (1 - l) for p, q in zip(P, Q, strict=True))
        return float(mpmath.log(total) / (l - 1))


@pytest.mark.parametrize(("gap", "sigma"), [(200, 40.0), (30, 3.0), (1000, 100.0), (10, 1.0)])
def test_corollary_11_holds_for_two_classes_and_is_loose(gap, sigma):
    find_epsilon = corollary11(gap, sigma)
    exact = max(exact_divergence(gap, gap + move, sigma, find_epsilon.order) for move in (-2, 2))
    assert find_epsilon.exact == pytest.approx(exact, rel=1e-6)
    assert find_epsilon.exact <= find_epsilon.theorem6 <= find_epsilon.claimed
    assert find_epsilon.claimed / find_epsilon.exact > 5


def test_corollary_11_holds_wherever_the_gap_is_some_sigma():
    for sigma in (1.0, 3.0, 10.0, 40.0, 100.0, 400.0):
        for ratio in np.geomspace(0.5, 40, 25):
            if ratio * sigma > 4.1:
                find_epsilon = corollary11(ratio * sigma, sigma)
                assert find_epsilon.exact <= find_epsilon.claimed


def test_corollary_11_fails_without_its_condition_on_the_third_class():
    """Many classes level with the second: the simplified bound is then below Theorem 6's own."""
    crowded = corollary11(160, 40.0, rivals=149)
    assert crowded.theorem6 > crowded.claimed
    assert corollary11(160, 40.0).theorem6 < crowded.claimed


def test_corollary_11_is_worse_than_no_look_at_the_votes_below_a_gap_of_four_sigma():
    assert corollary11(3 * 40.0, 40.0).claimed > corollary11(3 * 40.0, 40.0).independent
    assert corollary11(5 * 40.0, 40.0).claimed < corollary11(5 * 40.0, 40.0).independent


@pytest.mark.parametrize(("sigma", "order"), [(21.46, 34.31), (22.46, 35.74)])
def test_darrms_remark_holds_at_its_own_parameters(sigma, order):
    find_epsilon = unanimous_condition(11, sigma, order)
    assert not find_epsilon.applies
    assert not find_epsilon.improves


def test_what_fails_for_mnist_is_the_order_and_not_the_bound_on_q():
    mnist, fashion = unanimous_condition(11, 21.46, 34.31), unanimous_condition(11, 22.46, 35.74)
    assert mnist.q_small
    assert not mnist.order_covered
    assert not fashion.q_small
    with mpmath.workdps(50):  # Theorem 6's condition, at the printed sigma
        q = mpmath.erfc(mpmath.mpf(11) / (2 * mpmath.mpf("21.46"))) / 2
        mu2 = mpmath.mpf("21.46") * mpmath.sqrt(-mpmath.log(q))
        limit = (
            mpmath.exp((mu2 - 1) * mu2 / mpmath.mpf("21.46") ** 2)
            / ((mu2 + 1) / mu2 * mu2 / (mu2 - 1)) ** mu2
        )
        assert q < limit


def largest_useful_sigma(teachers, orders, what="improves"):
    """The largest sigma, on a grid of relative step 1 %, at which `what` holds at some order."""
    for sigma in np.geomspace(100 * teachers, 0.01 * teachers, 926):
        for order in orders:
            if getattr(unanimous_condition(teachers, sigma, order), what):
                return float(sigma)
    return 0.0


def test_darrms_remark_does_not_hold_for_less_noise():
    """K = 11, C = 2: the condition is met up to sigma = 21.5, and the bound helps up to 5."""
    orders = [1.5, 3.0, 5.0]
    assert largest_useful_sigma(11, orders, what="q_small") == pytest.approx(21.55, rel=0.011)
    assert largest_useful_sigma(11, orders) == pytest.approx(5.02, rel=0.011)
    assert largest_useful_sigma(11, [8.0, 34.31]) == 0
    assert unanimous_condition(11, 4.0, 3.0).improves


def test_no_composition_tried_gives_8_42_and_10_14():
    candidates = data_independent_candidates()
    assert len(candidates) == 25
    for pair in candidates.values():
        for value, printed in zip(pair, (8.42, 10.14), strict=True):
            assert abs(value - printed) > 0.2
        for value, printed in zip(pair, (10.14, 8.42), strict=True):  # nor the other way round
            assert abs(value - printed) > 0.01
    # The nearest: Rényi composition, classic conversion, of what Table 1 says was released.
    assert candidates["Rényi, classic: with thresholds"][0] == pytest.approx(10.10, abs=5e-3)


def test_half_of_round_ones_budget_is_its_thresholds():
    least = round_one_threshold_epsilon()
    assert least == pytest.approx(0.315, abs=1e-3)
    rho = ROUND_ONE.thresholds / (2 * 1500**2)
    assert least == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1e8)))
    assert 1 / 3 < least / 0.59 < 0.54
    assert round_one_threshold_epsilon(50) == pytest.approx(50 * rho + math.log(1e8) / 49)


def test_roughly_1300_unanswered_is_1238_by_table_1():
    assert count_unanswered() == 1238


@pytest.mark.parametrize("kind", ["classical", "analytic"])
def test_strong_composition_adds_what_labels_and_thresholds_cost(kind):
    both = GaussianReleases(90, 50.0, 70, 40.0)
    share = small_print.DELTA_GLYPH / 4

    def composed(times, mu):
        each = share / times
        one = mu * math.sqrt(2 * math.log(1.25 / each))
        if kind == "analytic":
            one = exact_data_independent_epsilon(mu**2 / 2, each)
        return general_composition(one, 0.0, times, share).epsilon

    expected = composed(70, math.sqrt(2) / 40) + composed(90, 1 / 50)
    assert small_print._strong([both], kind) == pytest.approx(expected)


def test_what_one_gaussian_mechanism_would_cost_is_that_of_the_sizes_in_the_text():
    candidates = data_independent_candidates()

    def find_epsilon(*parts):  # queries, sigma1, answers, sigma2
        rho = sum(n / (2 * s1**2) + a / s2**2 for n, s1, a, s2 in parts)
        return pytest.approx(exact_data_independent_epsilon(rho, 1e-8), rel=1e-12)

    assert candidates["one Gaussian mechanism: every query answered"] == (
        find_epsilon((12_000, 500, 12_000, 100)),
        find_epsilon((6_000, 1500, 6_000, 100), (10_000, 2000, 10_000, 200)),
    )
    assert candidates["one Gaussian mechanism: with thresholds, 10,422 answers"] == (
        find_epsilon((12_000, 500, 10_762, 100)),
        find_epsilon((6_000, 1500, 3_400, 100), (10_000, 2000, 7_022, 200)),
    )
    assert candidates["one Gaussian mechanism: with thresholds"][1] == find_epsilon(
        (6_000, 1500, 3_400, 100), (10_000, 2000, 941, 200)
    )
    labels = "one Gaussian mechanism: labels only"
    for name, answers in ((labels, 941), (f"{labels}, 10,422 answers", 7_022)):
        expected = find_epsilon((0, 1, 3_400, 100), (0, 1, answers, 200))
        assert candidates[name] == (find_epsilon((0, 1, 10_762, 100)), expected)


def test_the_two_numbers_of_section_4_1_are_exchanged():
    """8.42 and 10.14 are said of Confident-GNMax and of two rounds: each comes out for the other.

    By hand: Renyi costs add up to order * x, whose best conversion is x + 2 sqrt(x ln(1/delta)). A
    threshold costs 1 / (2 sigma1^2), a label 1 / sigma2^2.
    """

    def converted(x):
        return x + 2 * math.sqrt(x * math.log(1e8))

    confident = 12_000 / (2 * 500**2) + 10_842 / 100**2
    thresholds = 6_000 / (2 * 1500**2) + 10_000 / (2 * 2000**2)
    rounds = thresholds + 3_400 / 200**2 + 7_022 / 100**2
    find_epsilon = exchanged_numbers()
    assert find_epsilon["interactive"] == pytest.approx(converted(confident), abs=1e-6)
    assert find_epsilon["confident"] == pytest.approx(converted(rounds), abs=1e-6)
    assert equals_printed(find_epsilon["interactive"], "10.14")
    assert equals_printed(find_epsilon["confident"], "8.42")
    # What is said to be composed gives neither.
    as_printed = thresholds + 3_400 / 100**2 + 7_022 / 200**2
    assert converted(as_printed) == pytest.approx(6.70, abs=5e-3)
