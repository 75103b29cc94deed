"""Priors, what a gamma is worth under them, and errors: against integrals and definitions."""

import importlib.util

import mpmath
import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from scipy import stats
from scipy.integrate import quad
from scipy.stats import binom

from private_ensembles.accounting.poisson_binomial import binomial_pmf, pmf
from private_ensembles.papers.darrm import section
from private_ensembles.papers.darrm.mathematics import error
from private_ensembles.papers.darrm.mathematics import objective as objectives
from private_ensembles.papers.darrm.mathematics.certificate import certify
from private_ensembles.papers.darrm.mathematics.certificate_file import certificates_of_gamma
from private_ensembles.papers.darrm.mathematics.error import (
    error_at,
    error_of_pmf,
    expected_error,
    expected_error_estimate,
)
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling, label_probability
from private_ensembles.papers.darrm.mathematics.objective import (
    AbsoluteObjective,
    LinearObjective,
    PriorKind,
    coefficients,
    empirical_prior,
    expected_pmf,
    make_objective,
    parse_prior,
    sampled_leads,
    uniform_points,
)
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from tests.papers.darrm.mathematics import oracle

SHA = "0" * 64
LEADS = np.array([[0.1, 0.2, 0.3], [0.3, -0.2, 0.1], [-0.05, -0.1, 0.02]])


def test_the_linear_utility_is_a_sum_and_its_own_tangent():
    cost = np.array([0.1, 0.3, 0.2])
    linear = LinearObjective(cost)
    assert linear.total == linear.value(np.ones(3)) == pytest.approx(0.6, rel=1e-15)
    assert linear.value(np.array([1.0, 0.0, 0.5])) == pytest.approx(0.2, rel=1e-15)
    assert linear.gradient(np.zeros(3)).tolist() == cost.tolist()


def test_the_absolute_utility_is_that_of_the_error_that_gamma_avoids():
    """E|sum lead| - E|sum lead (1 - gamma)|, sample by sample: all of it where gamma is 1."""
    absolute = AbsoluteObjective(LEADS)
    assert absolute.total == absolute.value(np.ones(3)) == pytest.approx(0.93 / 3, rel=1e-14)
    assert absolute.value(np.zeros(3)) == 0
    left = [0.05 + 0.1, 0.15 - 0.1, -0.025 - 0.05]
    x = np.array([0.5, 0.5, 1.0])
    assert absolute.value(x) == pytest.approx((0.93 - sum(map(abs, left))) / 3, rel=1e-14)


def test_tangents_of_the_absolute_utility_lie_above_it():
    absolute = AbsoluteObjective(LEADS)
    generator = np.random.default_rng(0)
    for x, y in generator.random((200, 2, 3)):
        tangent = absolute.value(x) + absolute.gradient(x) @ (y - x)
        assert absolute.value(y) <= tangent + absolute.rounding


def test_leads_of_one_sign_make_the_two_the_same():
    leads = np.abs(LEADS)
    absolute, linear = AbsoluteObjective(leads), LinearObjective(leads.mean(axis=0))
    for x in np.random.default_rng(1).random((20, 3)):
        assert absolute.value(x) == pytest.approx(linear.value(x), abs=linear.rounding)


@pytest.mark.parametrize(
    ("prior", "kind"),
    [("uniform:0.5,1", LinearObjective), ("absolute-uniform:0,1", AbsoluteObjective)],
)
def test_a_prior_has_its_objective(prior, kind):
    utility = make_objective(11, parse_prior(prior))
    assert isinstance(utility, kind)
    assert utility.size == 6


@pytest.mark.parametrize(("low", "high"), [(0.5, 1), (0.3, 0.9)])
def test_common_prior_is_the_integral_of_binomials(low, high):
    expected = [
        quad(lambda p, l=l: binom.pmf(l, 7, p), low, high, epsabs=1e-13)[0] / (high - low)
        for l in range(8)
    ]
    np.testing.assert_allclose(expected_pmf(7, parse_prior(f"common:{low},{high}")), expected)


def test_leads_are_never_negative_where_every_teacher_leans_to_one():
    p = np.random.default_rng(0).uniform(0.5, 1, (2000, 9))
    alpha = pmf(p)
    assert ((alpha - alpha[:, ::-1])[:, 5:] >= -1e-15).all()


@pytest.mark.parametrize("K", [3, 11])
def test_exact_error_equals_the_sampled_one_where_the_absolute_value_changes_nothing(K):
    gamma = gamma_subsampling(K, 3) * 0.9
    exact = expected_error_estimate(gamma, "uniform:0.6,1")
    sampled = expected_error_estimate(gamma, "absolute-uniform:0.6,1")
    assert exact.method == "exact"
    assert exact.half_width == 0
    assert abs(sampled.error - exact.error) <= sampled.half_width
    assert sampled.half_width < 1e-4


@pytest.mark.parametrize(
    ("prior", "method"),
    [
        ("uniform:0.5,1", "exact"),
        ("uniform:0.6,0.9", "exact"),
        ("common:0.5,1", "exact"),
        ("uniform:0.4999,1", "surrogate"),
        ("uniform:0,1", "surrogate"),
        ("common:0.3,0.9", "surrogate"),
        ("absolute-uniform:0.3,0.9", "quasi_monte_carlo"),
    ],
)
def test_only_where_every_teacher_leans_to_one_is_the_formula_called_exact(prior, method):
    assert expected_error_estimate(gamma_subsampling(5, 3), prior).method == method


@pytest.mark.parametrize(
    ("low", "high", "exact"),
    [(0.5, 1.0, True), (0.7, 0.8, True), (0.3, 0.9, False), (0.0, 1.0, False)],
)
def test_what_is_exact_is_the_error_and_a_surrogate_is_below_it(low, high, exact):
    """Of one p for all, by quadrature of the error itself, which has a kink at 1/2."""
    gamma = 0.9 * gamma_subsampling(7, 3)
    total = quad(lambda p: float(error_at(gamma, p)), low, high, points=[0.5], epsabs=1e-13)[0]
    found = expected_error_estimate(gamma, f"common:{low},{high}").error
    if exact:
        assert found == pytest.approx(total / (high - low), rel=1e-9)
    else:
        assert found < 0.99 * total / (high - low)


def test_interval_covers_plain_monte_carlo_and_is_far_narrower():
    gamma = gamma_subsampling(11, 3)
    estimate = expected_error_estimate(gamma, "absolute-uniform:0,1")
    errors = error_of_pmf(gamma, pmf(np.random.default_rng(1).random((200_000, 11))))
    # Errors lie in [0, 1/2]: Hoeffding at 1e-9.
    bound = 0.5 * np.sqrt(np.log(2e9) / (2 * len(errors)))
    assert abs(errors.mean() - estimate.error) < bound + estimate.half_width
    plain = 2.58 * errors[: 16 << 11].std() / np.sqrt(16 << 11)
    assert estimate.half_width < plain / 5


def test_an_error_is_not_measured_at_the_points_that_its_gamma_was_optimised_for():
    seen = []

    def points(K, prior, samples, seed):
        seen.append(tuple(uniform_points(K, prior, 1, seed)[0]))
        return uniform_points(K, prior, samples, seed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objectives, "uniform_points", points)
        patch.setattr(error, "uniform_points", points)
        sampled_leads.__wrapped__(7, 0.0, 1.0, 8)
        error._sample_pmfs.__wrapped__(7, parse_prior("absolute-uniform:0,1"), 0)
    assert len(seen) == len(set(seen)) == 1 + error.REPLICATES + 1


def test_without_the_absolute_value_the_objective_over_all_p_vanishes():
    leads = sampled_leads(7, 0.0, 1.0)
    assert np.abs(leads.mean(axis=0)).max() < 1e-3
    np.testing.assert_allclose(coefficients(7, parse_prior("uniform:0,1")), 0, atol=1e-16)


@pytest.mark.parametrize("Delta", [0.0, 1e-5])
def test_true_error_is_smallest_for_the_gamma_optimised_for_it(Delta):
    own = optimize_gamma(11, 3, 0.1, Delta, prior="absolute-uniform:0,1", solver="highs")
    assert certify(own.gamma, 3, 0.1, Delta).holds
    assert own.utility <= own.utility_upper_bound
    assert own.utility_upper_bound - own.utility < 1e-7
    rivals = [
        optimize_gamma(11, 3, 0.1, Delta, prior=f"uniform:{a},1", solver="highs").gamma
        for a in (0.5, 0.7)
    ]
    leads = sampled_leads(11, 0.0, 1.0)
    for gamma in (*rivals, gamma_subsampling(11, 3)):
        rival = np.abs(leads @ (1 - gamma[6:])).mean()
        assert np.abs(leads @ (1 - own.gamma[6:])).mean() <= rival + 1e-8


def test_sampled_objective_agrees_with_the_linear_one_where_the_lead_has_one_sign():
    linear = optimize_gamma(9, 3, 0.2, prior="uniform:0.5,1", solver="highs")
    sampled = optimize_gamma(9, 3, 0.2, prior="absolute-uniform:0.5,1", solver="highs")
    c = coefficients(9, parse_prior("uniform:0.5,1"))
    assert c @ sampled.gamma[5:] == pytest.approx(linear.utility, abs=1e-4)


def test_empirical_prior_weighs_the_majorities_that_were_seen():
    counts = np.array([11, 0, 9, 2, 6])
    with pytest.warns(UserWarning, match="depends on the votes"):
        prior = empirical_prior(counts, 11, SHA)
    assert prior.name == f"empirical:{SHA}"
    np.testing.assert_allclose(coefficients(11, prior), [0.2, 0, 0, 0.4, 0, 0.4])
    solution = optimize_gamma(11, 3, 0.1, prior=prior, solver="highs")
    assert solution.prior == prior.name
    gamma = gamma_subsampling(11, 3)
    expected = np.mean(0.5 * (1 - gamma[counts]))
    assert expected_error_estimate(gamma, prior).error == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("counts", [[3], [2, 3, 2], [1, 4], [0, 5, 5], [5]])
def test_an_empirical_prior_has_a_share_for_every_majority_that_there_may_be(counts):
    """Also for those that no query had, such as all five teachers."""
    with pytest.warns(UserWarning, match="depends on the votes"):
        prior = empirical_prior(counts, 5, SHA)
    majorities = [max(ones, 5 - ones) for ones in counts]
    shares = [majorities.count(l) / len(counts) for l in range(6)]
    assert list(prior.weights) == shares
    assert expected_pmf(5, prior).tolist() == shares
    assert coefficients(5, prior).tolist() == shares[3:]


def test_empirical_prior_of_other_teachers_is_refused():
    with pytest.warns(UserWarning, match="votes"):
        prior = empirical_prior([3], 5, SHA)
    with pytest.raises(ValueError, match="of 5 teachers"):
        coefficients(11, prior)
    with pytest.raises(ValueError, match="empirical_prior"):
        parse_prior(f"empirical:{SHA}")
    for digits in ("abc", "0" * 63, "0" * 65, "A" * 64, ""):
        with pytest.raises(ValueError, match="sha256"):
            empirical_prior([1], 11, digits)


@pytest.mark.parametrize("counts", [[-1], [6], [2, 6], [3, -1], [], [[1, 2]]])
def test_numbers_of_ones_that_no_teachers_give_make_no_prior(counts):
    with pytest.raises(ValueError, match=r"counts: must be a non-empty list of integers in 0\.\.K"):
        empirical_prior(counts, 5, SHA)


KINDS = [name for name, kind in objectives.PRIOR_KINDS.items() if not kind.is_absolute]


@pytest.mark.parametrize("kind", objectives.PRIOR_KINDS)
def test_a_prior_is_over_probabilities_and_no_linear_one_leans_the_other_way(kind):
    """At the ends of what is taken, and just beyond."""
    absolute = kind not in KINDS
    for ends in ("0,1", "0.5,0.75", "0.25,0.75", "0,1.0"):
        assert parse_prior(f"{kind}:{ends}").kind == kind
    for ends in ("0.2499,0.75", "0,0.4", "0,0.9999"):
        if absolute:
            assert parse_prior(f"{kind}:{ends}").is_absolute
            continue
        with pytest.raises(ValueError, match="must be uniform:a,b or common:a,b with"):
            parse_prior(f"{kind}:{ends}")
    for ends in (
        "0.7,0.7",
        "0.8,0.7",
        "-0.0001,1",
        "0.5,1.0001",
        "nan,1",
        "0.5,nan",
        "0.5",
        "",
        "0,1,1",
    ):
        with pytest.raises(ValueError, match="0 <= a < b <= 1"):
            parse_prior(f"{kind}:{ends}")


@pytest.mark.parametrize("kind", objectives.PRIOR_KINDS)
def test_a_prior_of_which_only_the_kind_is_said_is_over_all_probabilities(kind):
    """And has nothing of votes."""
    prior = objectives.Prior(kind)
    assert (prior.low, prior.high) == (0.0, 1.0)
    assert prior.name == f"{kind}:0,1"
    assert prior == parse_prior(f"{kind}:0,1")
    # Of one p for all, uniform in [0, 1], each number of ones is as likely; of a mean of 1/2 it is
    # that of fair coins.
    shares = np.full(6, 1 / 6) if kind == "common" else binom.pmf(np.arange(6), 5, 0.5)
    np.testing.assert_allclose(expected_pmf(5, prior), shares, rtol=1e-12)


def test_a_name_has_all_digits_of_its_prior():
    """Two priors that differ in the last place have two names; 1.0 is still written as 1."""
    assert parse_prior("uniform:0.5,1").name == "uniform:0.5,1"
    assert parse_prior("common:0.123456789012345,1").name == "common:0.123456789012345,1"


def test_an_entry_of_kinds_is_all_that_a_new_prior_needs(monkeypatch):
    """Configuration and its schema, optimiser, certificates and errors take it from there."""
    kind = PriorKind("ones of a high mean", lambda K, prior: binomial_pmf(K, prior.high - 0.05))
    monkeypatch.setitem(objectives.PRIOR_KINDS, "high", kind)
    cost = binomial_pmf(11, 0.9)
    cost = (cost - cost[::-1])[6:]
    solution = optimize_gamma(11, 3, 0.1, 1e-5, prior="high:0.6,0.95", solver="highs")
    assert solution.prior == "high:0.6,0.95"
    assert solution.utility == pytest.approx(cost @ solution.gamma[6:], rel=1e-9)
    error = expected_error_estimate(solution.gamma, "high:0.6,0.95")
    assert error.error == pytest.approx((cost.sum() - solution.utility) / 2, abs=1e-12)
    # The verifier has no formula for it, so nothing is claimed that nobody could check.
    assert [body["kind"] for body in certificates_of_gamma(solution)] == ["gamma_privacy"]
    read = TypeAdapter(_read_section().Prior)
    assert "high:a,b for ones of a high mean" in read.json_schema()["description"]
    assert read.validate_python("high:0.6,0.95") == "high:0.6,0.95"
    with pytest.raises(ValidationError):
        read.validate_python("high:0.1,0.7")


def _read_section():
    """Return the section `darrm` as a new process would read it."""
    spec = importlib.util.spec_from_file_location("section_again", section.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Errors -------------------------------------------------------------------------------------------


def test_error_is_the_total_variation_distance_to_the_majority():
    rng = np.random.default_rng(0)
    gamma = oracle.random_gamma(rng, 7)
    p = rng.random(7)
    alpha = np.array([float(value) for value in oracle.pmf(list(p))])
    expected = abs(alpha @ label_probability(gamma) - alpha[4:].sum())
    assert error_of_pmf(gamma, alpha) == pytest.approx(expected, abs=1e-14)


def test_expected_pmf_of_independent_teachers_is_binomial_in_their_mean():
    rng = np.random.default_rng(1)
    draws = pmf(rng.uniform(0.5, 1, (200_000, 5))).mean(axis=0)
    # Hoeffding over six coordinates: off by more than 0.008 with probability below 1e-9.
    np.testing.assert_allclose(
        draws, expected_pmf(5, parse_prior("uniform:0.5,1")), atol=np.sqrt(np.log(12e9) / 4e5)
    )


@pytest.mark.parametrize("low", [0.5, 0.7])
def test_expected_error_under_a_common_p_is_the_integral_of_the_error(low):
    gamma = gamma_subsampling(11, 3)
    integral = quad(lambda p: float(error_at(gamma, p)), low, 1, epsabs=1e-12)[0] / (1 - low)
    assert expected_error(gamma, f"common:{low},1") == pytest.approx(integral, abs=1e-10)


def test_objective_is_the_lead_that_gamma_can_keep():
    c = coefficients(11, parse_prior("uniform:0.5,1"))
    assert (c >= 0).all()
    assert expected_error(np.ones(12)) == 0
    assert expected_error(np.zeros(12)) == pytest.approx(c.sum() / 2, abs=1e-15)


def test_error_is_symmetric_in_the_two_labels():
    gamma = gamma_subsampling(11, 5)
    p = np.linspace(0, 1, 11)
    np.testing.assert_allclose(error_at(gamma, p), error_at(gamma, 1 - p), atol=1e-15)


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (0.25, 1.0), (0.4, 0.9), (0.5, 1.0), (0.6, 0.7), (0.1, 0.3)]
)
@pytest.mark.parametrize("gamma", [[0.0, 0.0], [1.0, 0.25, 0.25, 1.0], [1, 0.5, 0, 0, 0.5, 1]])
def test_the_control_of_an_estimate_has_the_mean_that_is_said(gamma, low, high):
    """The mean of K uniforms has Irwin and Hall's density; the error bends where it is 1/2."""
    K = len(gamma) - 1
    with mpmath.workdps(30):

        def density(x):
            terms = (
                (-1) ** j * mpmath.binomial(K, j) * (x - j) ** (K - 1)
                for j in range(int(mpmath.floor(x)) + 1)
            )
            return mpmath.fsum(terms) / mpmath.factorial(K - 1)

        def wrong(x):
            p = low + (high - low) * x / K
            terms = (
                mpmath.binomial(K, l)
                * p**l
                * (1 - p) ** (K - l)
                * (1 - gamma[l])
                * (1 if 2 * l > K else -1)
                for l in range(K + 1)
            )
            return abs(mpmath.fsum(terms)) / 2

        bend = min(max(mpmath.mpf(K) * (0.5 - low) / (high - low), 0), K)
        pieces = sorted({*map(mpmath.mpf, range(K + 1)), bend})
        exact = mpmath.quad(lambda x: density(x) * wrong(x), pieces)
    found = error._expect_control(
        np.array(gamma, dtype=float), objectives.Prior("uniform", low, high)
    )
    assert found == pytest.approx(float(exact), rel=1e-10, abs=0)


def test_pmf_of_another_length_is_refused():
    with pytest.raises(ValueError, match="alpha"):
        error_of_pmf(np.ones(12), np.ones(11))


def test_the_interval_of_an_estimate_is_student_s(monkeypatch):
    means = np.random.default_rng(0).uniform(size=error.REPLICATES + 1)
    # The last one is for the control's factor alone. Controls tell nothing.
    drawn = iter([*means.tolist(), *[0.0] * len(means)])
    monkeypatch.setattr(error, "error_of_pmf", lambda gamma, pmf: np.full(len(pmf), next(drawn)))
    monkeypatch.setattr(error, "error_at", lambda gamma, p: np.zeros(len(p)))
    found = error.expected_error_estimate(np.ones(4), "absolute-uniform:0,1")
    interval = stats.t.interval(
        0.99, error.REPLICATES - 1, means[:-1].mean(), stats.sem(means[:-1])
    )
    assert found.error - found.half_width == pytest.approx(interval[0], rel=1e-12)
    assert found.error + found.half_width == pytest.approx(interval[1], rel=1e-12)
