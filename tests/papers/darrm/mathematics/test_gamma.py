"""The closed forms of gamma against the algorithms that they describe."""

from itertools import combinations

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog

from private_ensembles.accounting.composition import general_composition
from private_ensembles.papers.darrm.mathematics.certificate import certify
from private_ensembles.papers.darrm.mathematics.gamma import (
    gamma_constant,
    gamma_double_subsampling,
    gamma_subsampling,
    label_probability,
    subsampling_probability,
)
from private_ensembles.papers.darrm.mathematics.privacy_cost import resolve_delta


def enumerate_subsampling(K, m, l):
    """Pr[the majority of m of K drawn teachers is 1], over all subsets; a tie counts one half."""
    votes = [1] * l + [0] * (K - l)
    outcomes = [2 * sum(votes[i] for i in subset) - m for subset in combinations(range(K), m)]
    return np.mean([1.0 if lead > 0 else 0.5 if lead == 0 else 0.0 for lead in outcomes])


@pytest.mark.parametrize(("K", "m"), [(1, 1), (5, 1), (5, 2), (7, 3), (7, 4), (9, 6), (7, 7)])
def test_darrm_with_gamma_sub_has_the_distribution_of_subsampling(K, m):
    expected = [enumerate_subsampling(K, m, l) for l in range(K + 1)]
    np.testing.assert_allclose(subsampling_probability(K, m), expected, atol=1e-15)
    np.testing.assert_allclose(label_probability(gamma_subsampling(K, m)), expected, atol=1e-15)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_double_subsampling_draws_2m_minus_1_teachers(m):
    K = 11
    expected = [enumerate_subsampling(K, 2 * m - 1, l) for l in range(K + 1)]
    np.testing.assert_allclose(
        label_probability(gamma_double_subsampling(K, m)), expected, atol=1e-14
    )


@pytest.mark.parametrize("m", [6, 7, 11])
def test_double_subsampling_needs_no_noise_from_half_the_teachers_on(m):
    assert (gamma_double_subsampling(11, m) == 1).all()


@pytest.mark.parametrize("m", [1, 2, 4, 6])
def test_double_subsampling_spends_the_whole_allowance_in_the_pure_case(m):
    # Its cost equals the allowance exactly, so what rounding might add must be scaled away first.
    gamma = gamma_double_subsampling(11, m)
    certificate = certify(gamma, m, 0.1)
    assert certificate.attained_cost == pytest.approx(certificate.allowance, abs=1e-12)
    assert certify(gamma * (1 - 1e-11), m, 0.1).holds


def test_constant_gamma_is_the_largest_that_its_linear_program_allows():
    K, m, epsilon, Delta = 11, 3, 0.1, 1e-3
    delta = 1 - (1 - Delta) ** m
    tau, lam = K, 1 - (1 - Delta) ** K
    grow, c = np.exp(tau * epsilon), np.exp(m * epsilon)
    # max q - c q' over the (tau epsilon, lambda)-DP region (appendix A.1, Eq. 9-12).
    region = [[1, -grow], [grow, -1], [-grow, 1], [-1, grow]]
    right = [lam, grow - 1 + lam, lam, grow - 1 + lam]
    worst = -linprog([-1, c], A_ub=region, b_ub=right, bounds=[(0, 1)] * 2).fun
    expected = ((c - 1) / 2 + delta) / (worst + (c - 1) / 2)
    np.testing.assert_allclose(gamma_constant(K, m, epsilon, Delta), expected, rtol=1e-9)


@pytest.mark.parametrize("delta_prime", [None, 0.1])
def test_constant_gamma_is_private(delta_prime):
    gamma = gamma_constant(35, 6.5, 0.1, 1e-5, 0.1, delta_prime=delta_prime)
    assert certify(gamma, 6.5, 0.1, 1e-5, 0.1).holds


@pytest.mark.parametrize("slack", [1e-6, 0.05])
@pytest.mark.parametrize("point", [(35, 5, 0.1, 1e-5), (101, 3.5, 0.02, 0.0), (11, 2, 1.0, 1e-3)])
def test_a_constant_gamma_spends_what_general_composition_leaves(point, slack):
    """Randomised response on the majority of all, at the corner where that tells most."""
    K, m, epsilon, Delta = point
    found = gamma_constant(*point, delta_prime=slack)
    delta, everyone = resolve_delta(m, Delta, None), general_composition(epsilon, Delta, K, slack)
    with mpmath.workdps(40):
        allowed = mpmath.exp(mpmath.mpf(m) * mpmath.mpf(epsilon))
        grown, leak = mpmath.exp(mpmath.mpf(everyone.epsilon)), mpmath.mpf(everyone.delta)
        p, other = (grown + leak) / (grown + 1), (1 - leak) / (grown + 1)
        gained = (allowed - 1 + 2 * delta) / (2 * (p - allowed * other) + allowed - 1)
        assert found == pytest.approx([float(min(gained, 1))] * (K + 1), rel=1e-12)
    assert found[0] < 1
