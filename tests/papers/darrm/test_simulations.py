"""Parameters, bounds and amplification of the paper's simulations, and the sweeps beyond them."""

import math
from dataclasses import replace
from itertools import product

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.papers.darrm import simulations
from private_ensembles.papers.darrm.mathematics.certificate import certify
from private_ensembles.papers.darrm.mathematics.error import error_at, expected_error
from private_ensembles.papers.darrm.mathematics.gamma import (
    gamma_constant,
    gamma_double_subsampling,
    gamma_subsampling,
    subsampling_probability,
)
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.simulations import (
    amplification,
    certify_scaled,
    composition_parameters,
    double_subsampling_allowances,
    double_subsampling_case,
    largest_iid_subsampling_loss,
    largest_neighbour_probability,
    noiseless_allowance,
    relative_cost_and_rounding,
    sweep_gamma_families,
    unavoidable_error,
)
from tests.papers.darrm.mathematics import oracle
from tests.papers.lanes import slow_but


def test_table_3_is_general_composition_by_the_formulas_of_appendix_d_1_1():
    epsilon, slack = 0.1, 0.1

    def folds(k):
        drift = (math.exp(epsilon) - 1) * k / (math.exp(epsilon) + 1)
        logs = math.log(math.e + math.sqrt(k * epsilon**2) / slack), math.log(1 / slack)
        return min(k, *(drift + math.sqrt(2 * k * log) for log in logs))

    for M in (10, 13, 15, 20):
        row = composition_parameters(35, M, epsilon, 1e-5, slack)
        assert row["m"] == pytest.approx(folds(M), rel=1e-12)
        assert row["tau"] == pytest.approx(folds(35), rel=1e-12)
        assert row["epsilon"] == pytest.approx(row["m"] * epsilon, rel=1e-12)
        assert row["delta"] == pytest.approx(1 - (1 - 1e-5) ** M * 0.9, rel=1e-12)
        assert row["lambda"] == pytest.approx(1 - (1 - 1e-5) ** 35 * 0.9, rel=1e-12)


# Lemma 3.2 ---------------------------------------------------------------------------------------


def test_subsampling_one_teacher_has_the_error_of_lemma_3_2_at_every_p():
    p = np.linspace(0, 1, 41)
    error = error_at(gamma_subsampling(11, 1), p)
    np.testing.assert_allclose(error, unavoidable_error(11, p), atol=1e-14)


def test_lemma_3_2_is_false_for_one_data_set_and_docs_say_by_how_much(root):
    bound = float(unavoidable_error(11, 0.75))
    majority = bound + 0.75
    assert 1 - majority < bound  # what always saying 1 costs at p = 0.75
    text = (root / "docs" / "method.md").read_text(encoding="utf-8")
    for value in (1 - majority, bound, majority):
        assert f"{value:.3f}" in text


def test_the_chain_in_the_proof_of_lemma_3_2_is_not_private_and_the_largest_step_is(root):
    epsilon = 0.1
    printed, allowed = math.exp(epsilon) / 2, float(largest_neighbour_probability(0.5, epsilon))
    assert printed > allowed
    assert math.exp(epsilon) * (1 - printed) < 0.5  # label 0: 1 - p_0 > e^epsilon (1 - p_1)
    assert math.isclose(0.5, math.exp(epsilon) * (1 - allowed))
    text = (root / "docs" / "method.md").read_text(encoding="utf-8")
    chain = [0.5]
    for _ in range(3):
        chain.append(float(largest_neighbour_probability(chain[-1], epsilon)))
    assert all(f"{value:.3f}" in text for value in (printed, *chain[1:]))
    np.testing.assert_allclose(chain, 1 - np.exp(-epsilon * np.arange(4)) / 2, atol=1e-15)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (0.4, 0.01), (0.01, 1e-5)])
def test_largest_step_is_the_edge_of_both_privacy_constraints(epsilon, delta):
    p = np.linspace(0, 1, 101)
    q = largest_neighbour_probability(p, epsilon, delta)

    def private(q):
        one = q <= np.exp(epsilon) * p + delta
        return one & (1 - p <= np.exp(epsilon) * (1 - q) + delta)

    inside = q < 1
    assert private(q - 1e-12).all()
    assert not private(q + 1e-12)[inside].any()
    assert np.all(np.diff(q) >= 0)


# Theorem 4.1 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("K", "epsilon"),
    slow_but(product((3, 11, 35), (0.01, 0.1, 1.0)), (3, 1.0), (11, 0.01), (11, 1.0)),
)
def test_double_subsampling_of_iid_teachers_costs_m_epsilon_and_no_less(K, epsilon):
    for m in range(1, (K + 1) // 2 + 1):
        loss, p = largest_iid_subsampling_loss(K, m, epsilon)
        assert loss <= m * epsilon * (1 + 1e-11)
        assert loss >= m * epsilon * (1 - 1e-6)
        assert p < 1e-6 or m == 1  # where Theorem 4.1's proof has the worst case


def test_without_noise_iid_teachers_cost_half_of_what_composition_says():
    rows = list(amplification(11, (7, 9, 11), 0.1))
    assert all(row["largest_loss"] == pytest.approx(0.6, rel=1e-6) for row in rows)
    assert all(row["composed_loss"] == pytest.approx(1.1) for row in rows)


def test_iid_loss_is_the_largest_log_ratio_of_the_outputs():
    rng = np.random.default_rng(0)
    loss, _ = largest_iid_subsampling_loss(7, 2, 0.5)
    gamma = gamma_double_subsampling(7, 2)
    p = rng.random(500)
    q = 1 - largest_neighbour_probability(1 - p, 0.5)
    half = np.concatenate([-gamma[:4], gamma[4:]])
    one = [(1 + pmf(np.repeat(x[:, None], 7, axis=1)) @ half) / 2 for x in (p, q)]
    assert np.max(np.log(one[0] / one[1])) <= loss + 1e-9


# Double subsampling beyond the theorem -----------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "Delta"),
    slow_but(
        product(((3, 1), (5, 2), (5, 2.5), (7, 3)), (0.0, 1e-3, 0.05)),
        *(((3, 1), 0.05), ((5, 2), 0.0), ((5, 2.5), 1e-3)),
    ),
)
def test_relative_cost_is_the_largest_ratio_over_all_eight_corners(size, Delta):
    (K, m), epsilon = size, 0.3
    delta = -math.expm1(m * math.log1p(-Delta))
    says_one = subsampling_probability(K, 3)
    c = mpmath.exp(mpmath.mpf(m) * mpmath.mpf(epsilon))
    worst = mpmath.mpf(0)
    for counts in oracle.multisets(K):
        sides = [
            mpmath.fdot(alpha, map(float, says_one))
            for alpha in oracle.laws(epsilon, Delta, counts)
        ]
        if sides[0] > 0:
            worst = max(worst, sides[0] / (delta + c * sides[1]))
    cost, rounding = relative_cost_and_rounding(says_one, m, epsilon, Delta)
    assert cost == pytest.approx(float(worst), rel=rounding)


def test_relative_cost_sees_what_an_absolute_certificate_cannot():
    # K = 101: at m = 45 < 51 the plain majority breaks the condition where both sides are tiny.
    cost, rounding = relative_cost_and_rounding(subsampling_probability(101, 101), 45, 0.1)
    assert cost > 1 + 0.5
    assert rounding < 1e-11
    assert certify_scaled(np.ones(102), 45, 0.1)[0] < 1e-9


@pytest.mark.parametrize("K", slow_but((3, 11, 35), 3, 11))
def test_double_subsampling_is_private_for_all_teachers_wherever_tried(K):
    cases = [
        double_subsampling_case(K, m, epsilon, Delta)
        for m in double_subsampling_allowances(K, 4)
        for epsilon, Delta in product((0.01, 0.1, 1, 3), (0, 1e-6, 1e-4, 0.01, 0.05))
    ]
    assert {case["verdict"] for case in cases} == {"holds"}
    assert max(case["scaling"] for case in cases) < 1e-9


def test_a_case_that_is_not_private_fails():
    cost, rounding = relative_cost_and_rounding(
        subsampling_probability(11, 5), 2, 0.1
    )  # 2m - 1 = 3 would do
    assert cost > 1 + 1e-3
    assert rounding < 1e-12
    assert certify_scaled(gamma_subsampling(11, 5), 2, 0.1)[0] > 1e-3


def test_proof_of_a_private_gamma_takes_nothing_off():
    gamma = np.full(12, 0.05)
    scaling, certificate = certify_scaled(gamma, 3, 0.1, 1e-5)
    assert scaling == 0
    assert certificate.worst_cost == certify(gamma, 3, 0.1, 1e-5).worst_cost


def test_says_one_that_falls_is_refused():
    with pytest.raises(ValueError, match="says_one"):
        relative_cost_and_rounding([0.0, 0.6, 0.4, 1.0], 1, 0.1)


@pytest.mark.parametrize(("K", "Delta"), [(3, 0), (11, 1e-5), (35, 0)])
def test_no_noise_at_all_is_private_from_half_of_the_teachers_on(K, Delta):
    assert noiseless_allowance(K, 0.1, Delta) == (K + 1) // 2


def test_allowances_beyond_what_a_float_can_hold_are_not_searched():
    assert noiseless_allowance(101, 10.0, 0) == 51
    assert noiseless_allowance(101, 20.0, 0) is None


def test_a_coin_in_a_thousand_releases_buys_a_smaller_allowance():
    nearly = noiseless_allowance(101, 0.1, 0, 1e-3)
    assert nearly < 51
    certificate = certify(np.full(102, 1 - 1e-3), nearly, 0.1)
    assert certificate.holds
    assert not certify(np.full(102, 1 - 1e-3), nearly - 1, 0.1).holds


# Sweeps ------------------------------------------------------------------------------------------


def test_sweep_holds_every_family_as_computed_alone():
    rows = list(sweep_gamma_families(11, 0.1, 1e-5, [3, 5], prior="common:0.5,1", solver="highs"))
    assert [(row["m"], row["family"]) for row in rows] == list(
        product((3, 5), ("gamma_opt", "gamma_sub", "gamma_dsub", "gamma_const"))
    )
    for row in rows:
        m, half = row["m"], np.array(row["gamma"])
        alone = {
            "gamma_opt": lambda m: (
                optimize_gamma(11, m, 0.1, 1e-5, prior="common:0.5,1", solver="highs").gamma
            ),
            "gamma_sub": lambda m: gamma_subsampling(11, m),
            "gamma_dsub": lambda m: gamma_double_subsampling(11, m),
            "gamma_const": lambda m: gamma_constant(11, m, 0.1, 1e-5),
        }[row["family"]](m)
        np.testing.assert_allclose(half, alone[6:], atol=1e-9)
        assert row["expected_error"] == pytest.approx(
            expected_error(alone, "common:0.5,1"), abs=1e-9
        )
        assert row["scaling"] < 1e-9
    best = {row["m"]: row for row in rows if row["family"] == "gamma_opt"}
    for row in rows:
        assert best[row["m"]]["error_bound"] <= row["expected_error"] + 1e-12


def test_no_private_gamma_errs_less_than_half_the_gap_in_utility_below_the_best(monkeypatch):
    found = optimize_gamma(11, 3, 0.1, 1e-5, prior="common:0.5,1", solver="highs")
    wider = replace(found, utility_upper_bound=found.utility + 0.02)
    monkeypatch.setattr(simulations, "optimize_gamma", lambda *_, **__: wider)
    best = next(
        iter(sweep_gamma_families(11, 0.1, 1e-5, [3], prior="common:0.5,1", solver="highs"))
    )
    assert best["error_bound"] == pytest.approx(best["expected_error"] - 0.01)
    assert best["error_bound"] > 0
