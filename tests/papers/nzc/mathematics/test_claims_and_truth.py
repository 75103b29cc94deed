"""NZC's claim, and the audit that refutes it."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.audit import delta_lower_bound, exact_epsilon, two_class_pairs
from private_ensembles.papers.nzc.mathematics.claims_and_truth import (
    claimed_epsilon,
    claimed_gaussian_epsilon,
    claimed_readings,
    delta_by_lead,
    immutability_constant,
    lead_one_epsilon,
    proven_epsilon,
)
from private_ensembles.papers.nzc.mathematics.mechanism import (
    NOISES,
    TIES,
    immutable_noisy_argmax,
    label_distribution,
)


def test_theorem_4_claims_nothing_or_everything():
    readings = claimed_readings(1e10, 9000, 1e-5)
    assert readings["scale"] == pytest.approx(9.1e-8, rel=0.01)
    assert readings["inverse_scale"] == pytest.approx(3.6e24, rel=1e-6)


def test_lnmax_beside_nzc_has_the_moments_bound_and_the_optimal_one():
    """Data-independent epsilons of LNMax with noise of scale 20 votes."""
    queries = [100, 1000, 5000, 9000]
    moments = [claimed_epsilon(1 / 20, count, 1e-5) for count in queries]
    optimal = [optimal_composition(2 / 20, 0.0, count, 1e-5).epsilon for count in queries]
    assert [round(value, 1) for value in moments] == [5.8, 25.2, 83.9, 135.5]
    assert moments[0] == pytest.approx(5.80, abs=0.01)
    assert [round(value, 1) for value in optimal] == [4.3, 17.8, 54.3, 84.5]
    assert all(least < moment for least, moment in zip(optimal, moments, strict=True))


def test_gaussian_claim_is_pates_renyi_bound_at_its_best_order():
    orders = np.geomspace(1 + 1e-6, 1e9, 200_000)
    for sigma, queries, delta in ((40.0, 286, 1e-5), (3.0, 1, 1e-3), (1e3, 9000, 1e-5)):
        curve = queries * orders / sigma**2 - math.log(delta) / (orders - 1)
        found = claimed_gaussian_epsilon(sigma, queries, delta)
        assert found == pytest.approx(curve.min(), rel=1e-6)
    readings = claimed_readings(1e10, 9000, 1e-5, noise="gaussian")
    assert readings["scale"] == pytest.approx(6.4e-8, rel=0.01)
    assert readings["inverse_scale"] == pytest.approx(9000 * 1e20, rel=1e-3)


@pytest.mark.parametrize(("constant", "scale"), [(0.0, 2.0), (3.0, 4.0), (10.0, 3.0)])
@pytest.mark.parametrize("noise", NOISES)
def test_proven_epsilon_covers_the_audit_of_all_histograms(constant, scale, noise):
    counts = np.stack([9 - np.arange(10), np.arange(10)], axis=1)
    matrix, error = label_distribution(counts, constant=constant, noise_scale=scale, noise=noise)
    errors = {"relative_error": 1e-12, "absolute_error": error}
    found = exact_epsilon(matrix, two_class_pairs(9), 1e-3, **errors)
    assert found <= proven_epsilon(constant, scale, noise=noise, delta=1e-3)


def test_constant_of_lemma_1_bounds_every_noise():
    c = immutability_constant(10, 1e-3, gamma=0.05)
    assert c == pytest.approx(20 * math.log(1e4))
    noise = np.random.default_rng(0).laplace(scale=20, size=(100_000, 10))
    assert (np.abs(noise).max(axis=1) >= c).mean() < 1.3e-3
    c = immutability_constant(10, 1e-3, sigma=20.0)
    noise = np.random.default_rng(0).normal(scale=20, size=(100_000, 10))
    assert (np.abs(noise).max(axis=1) >= c).mean() < 1.3e-3
    assert immutability_constant(10, 1e-5, gamma=1e-10) < 1e100


def test_lemma_1_needs_a_larger_constant():
    """It bounds single noises, but the ArgMax compares two: of two tied counts, 1.78 tau fail."""
    tau = 1e-5
    c = mpmath.mpf(immutability_constant(2, tau, gamma=1.0))
    assert float(2 * mpmath.exp(-c)) == pytest.approx(tau)
    density = lambda z: mpmath.exp(-abs(z)) / 2  # noqa: E731
    above = lambda z: mpmath.exp(-z) / 2 if z > 0 else 1 - mpmath.exp(z) / 2  # noqa: E731
    points = [-mpmath.inf, -c, 0, mpmath.inf]
    exact = mpmath.quad(lambda z: density(z) * above(z + c), points)
    assert float(exact / tau) == pytest.approx((2 + math.log(2e5)) / 8)
    assert float(exact / tau) == pytest.approx(1.78, abs=5e-3)
    # Twice as large a constant is enough.
    assert float(mpmath.exp(-2 * c) * (2 + 2 * c) / 4) < tau


@pytest.mark.parametrize(("ties", "noise"), list(product(TIES, NOISES)))
@pytest.mark.parametrize(
    ("n_teachers", "n_classes", "epsilon"), [(9, 2, 0.0), (10, 2, 50.0), (9, 3, 0.0), (9, 3, 5.0)]
)
def test_delta_is_one_at_a_lead_of_one_and_nothing_beyond_three(
    ties, noise, epsilon, n_teachers, n_classes
):
    for row in delta_by_lead(n_teachers, n_classes, epsilon, ties=ties, noise=noise):
        if row.lead == 1:
            assert row.least == row.most == 1
        elif row.lead >= 3:
            assert row.most < 1e-11 if epsilon == 0 else row.most < 1e-200
        elif row.lead == 0:  # one of two or three wins the tie
            assert 0.5 <= row.least <= row.most <= 1
        else:  # 0 or 1 where the tie rule is fixed, a half where it is not
            expected = (0.5, 0.5) if ties == "random" else (0, 1)
            assert (row.least, row.most) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("noise", NOISES)
def test_sampler_alone_refutes_the_claim(noise):
    def sample(counts, runs, generator):
        return immutable_noisy_argmax(np.tile(counts, (runs, 1)), generator, noise=noise)

    found = delta_lower_bound(
        sample,
        [125, 124, 1],
        [124, 125, 1],
        5.0,
        labels=(0, 1, 2),
        runs=40_000,
        generator=np.random.default_rng(0),
        confidence=0.999,
    )
    assert found.value >= 0.9


def test_true_epsilon_is_astronomical_and_within_what_is_proven():
    exact = lead_one_epsilon(1e100, 1e10, 1e-5)
    assert exact == pytest.approx(1e90)
    assert exact <= proven_epsilon(1e100, 1e10)
    exact = lead_one_epsilon(1e100, 1e10, 1e-5, noise="gaussian")
    assert 1e179 < exact <= proven_epsilon(1e100, 1e10, noise="gaussian", delta=1e-5)
    # Moderate constants, against the audit of the closed form.
    matrix, error = label_distribution(np.array([[4, 5], [5, 4]]), constant=3.0, noise_scale=2.0)
    found = exact_epsilon(matrix, [(0, 1)], 1e-3, relative_error=1e-12, absolute_error=error)
    assert lead_one_epsilon(3.0, 2.0, 1e-3) == pytest.approx(found, abs=1e-10)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: claimed_epsilon(0.0, 1, 0.1), "gamma"),
        (lambda: claimed_epsilon(1.0, 0, 0.1), "queries"),
        (lambda: claimed_epsilon(1.0, 1, 0.0), "delta"),
        (lambda: claimed_readings(-1.0, 1, 0.1), "printed_gamma"),
        (lambda: claimed_readings(1.0, 1, 0.1, noise="cauchy"), "noise"),
        (lambda: claimed_gaussian_epsilon(0.0, 1, 0.1), "sigma"),
        (lambda: claimed_gaussian_epsilon(1.0, 1, 1.0), "delta"),
        (lambda: proven_epsilon(1.0, 1.0, noise="cauchy"), "noise"),
        (lambda: proven_epsilon(1.0, 1.0, noise="gaussian"), "delta"),
        (lambda: immutability_constant(10, 0.1), "gamma, sigma"),
        (lambda: immutability_constant(1, 0.1, gamma=1.0), "n_classes"),
        (lambda: immutability_constant(10, 1.0, gamma=1.0), "failure"),
        (lambda: immutability_constant(10, 0.1, sigma=-1.0), "sigma"),
        (lambda: lead_one_epsilon(1.0, 1.0, 1.0), "delta"),
        (lambda: lead_one_epsilon(1.0, 0.0, 0.1), "noise_scale"),
        (lambda: lead_one_epsilon(1.0, 1.0, 0.1, noise="cauchy"), "noise"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3, 0.9])
@pytest.mark.parametrize(("constant", "scale"), [(0.0, 2.0), (3.0, 2.0), (3.0, 0.5), (0.5, 7.0)])
def test_a_lead_of_one_costs_what_its_two_labels_say(constant, scale, delta):
    """T is the chance that noise makes up for c + 1; in forty digits, 0 if delta covers it all."""
    with mpmath.workdps(40):
        y = (mpmath.mpf(constant) + 1) / mpmath.mpf(scale)
        lost = {
            "laplace": mpmath.exp(-y) * (2 + y) / 4,
            "gaussian": mpmath.ncdf(-y / mpmath.sqrt(2)),
        }
        for noise, T in lost.items():
            room = 1 - T - mpmath.mpf(delta)
            exact = max(0, mpmath.log(room / T)) if room > 0 else 0
            found = lead_one_epsilon(constant, scale, delta, noise=noise)
            assert found == pytest.approx(float(exact), rel=1e-12, abs=1e-14)


def test_claims_of_one_label_and_of_no_constant_are_taken():
    """The ends that are allowed, by the printed formulas."""
    root = math.sqrt(2 * math.log(10))
    assert claimed_epsilon(1.0, 1, 0.1) == pytest.approx(4 + 2 * root)
    assert claimed_epsilon(0.5, 3, 0.1) == pytest.approx(3 + math.sqrt(3) * root)
    gaussian = 1 / 4 + math.sqrt(math.log(10))
    assert claimed_gaussian_epsilon(2.0, 1, 0.1) == pytest.approx(gaussian)
    assert immutability_constant(2, 0.5, gamma=2.0) == pytest.approx(math.log(4) / 2)
    assert immutability_constant(2, 0.5, sigma=2.0) == pytest.approx(2 * math.sqrt(2 * math.log(8)))
    with pytest.raises(ValueError, match="exactly one of them"):
        immutability_constant(2, 0.5, gamma=2.0, sigma=2.0)
    for name, change in (("constant", (-1e-9, 1.0, 0.1)), ("delta", (1.0, 1.0, -1e-9))):
        with pytest.raises(ValueError, match=name):
            lead_one_epsilon(*change)
