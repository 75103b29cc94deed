"""Composed privacy losses against exact composition: nothing is lost by Fourier transforms."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.accounting.privacy_loss_distribution import (
    PrivacyLossDistribution,
    _power,
    compose,
    dominating_masses,
    fourier_error,
    mirrored_deltas,
)
from tests.accounting.bound_samplers import randomised_response_delta


def response_deltas(epsilon, points):
    """delta of randomised response at the grid -epsilon, ..., epsilon of 2 points + 1."""
    with mpmath.workdps(40):
        e = mpf(epsilon)
        truth, lie = 1 / (1 + mpmath.exp(-e)), 1 / (1 + mpmath.exp(e))
        grid = [mpf(epsilon / points) * k for k in range(-points, points + 1)]
        exact = [max(1 - mpmath.exp(x), truth - mpmath.exp(x) * lie, mpf(0)) for x in grid]
        return np.array([math.nextafter(float(value), 1) for value in exact])


@pytest.mark.parametrize("labels", [20, 1000, 5000])
@pytest.mark.parametrize("delta", [1e-4, 1e-8, 1e-12, 1e-14])
def test_epsilon_is_never_below_optimal_composition(labels, delta):
    """dp-accounting's own, at 5000 labels, was up to 1.3 % below."""
    epsilon = 0.01
    total = compose(response_deltas(epsilon, 50), epsilon / 50, labels)
    found = total.epsilon(delta, epsilon / 5e4)
    exact = optimal_composition(epsilon, 0.0, labels, delta).epsilon
    assert found >= exact
    assert found <= 1.001 * exact or delta < 1e-10


@pytest.mark.keeps("accounting.privacy_loss_distribution:dominating_masses")
def test_masses_reach_every_dot_whatever_the_noise_on_it():
    generator = np.random.default_rng(3)
    for interval in (1e-4, 1e-2, 0.3):
        deltas = np.sort(generator.random(81))[::-1] ** 3
        deltas = np.clip(deltas + 1e-15 * generator.standard_normal(81), 0, 1)
        deltas = np.minimum.accumulate(deltas)
        masses, leak = dominating_masses(deltas, interval)
        assert (masses >= 0).all()
        with mpmath.workdps(40):
            losses = [mpf(interval) * k for k in range(-40, 41)]
            for here, delta in zip(losses, deltas.tolist(), strict=True):
                reached = mpf(leak) + mpmath.fsum(
                    mpf(mass) * (1 - mpmath.exp(here - loss))
                    for mass, loss in zip(masses.tolist(), losses, strict=True)
                    if loss > here
                )
                assert reached >= delta
            assert mpmath.fsum(masses.tolist()) + mpf(leak) >= 1 - mpf(10) ** -15


@pytest.mark.parametrize(("largest", "interval"), [(2.0, 0.3), (0.05, 1e-3), (1.0, 0.25), (0.1, 1)])
def test_left_of_zero_a_curve_is_that_of_the_other_order_rounded_up(largest, interval):
    """delta(-x) = 1 - e^-x (1 - delta(x)), on a grid that ends at or just beyond the largest."""
    asked = []

    def curve(epsilons):
        asked.append(epsilons)
        return np.maximum(0.8 - 0.2 * np.exp(epsilons), 0.0)

    deltas = mirrored_deltas(curve, largest, interval)
    n = len(deltas) // 2
    assert len(deltas) == 2 * n + 1
    assert (n - 1) * interval < largest <= n * interval
    (grid,) = asked
    assert grid.tolist() == [k * interval for k in range(n + 1)]
    right = curve(grid)
    assert deltas[n:].tolist() == right.tolist()
    with mpmath.workdps(40):
        for k in range(1, n + 1):
            exact = 1 - mpmath.exp(-mpf(interval) * k) * (1 - mpf(float(right[k])))
            assert exact <= mpf(float(deltas[n - k])) <= exact + mpf(10) ** -14


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([0.5, 0.7, 0.499], [0.5, 0.5, 0.499]),
        ([1.5, 1.2, 1.0], [1.0, 1.0, 1.0]),
        ([0.01, 0.005, -0.1], [0.01, 0.005, 0.0]),
    ],
)
def test_a_bound_at_one_epsilon_holds_at_all_larger_ones_and_none_is_above_1(given, kept):
    deltas = mirrored_deltas(lambda _: given, 0.02, 0.01)
    assert deltas[2:].tolist() == kept
    assert (np.diff(deltas) <= 0).all()


@pytest.mark.keeps("accounting.privacy_loss_distribution:fourier_error")
def test_transforms_are_off_by_less_than_is_charged():
    generator = np.random.default_rng(5)
    for size, times in ((5, 9), (21, 30)):
        deltas = response_deltas(1.0, size // 2)
        deltas = np.minimum(1, deltas + 0.01 * generator.random())
        total = compose(deltas, 2.0 / size, times)
        masses, _ = dominating_masses(deltas, 2.0 / size)
        exact = [Fraction(1)]
        for _ in range(times):
            wider = [Fraction(0)] * (len(exact) + size - 1)
            for place, mass in enumerate(exact):
                for more, other in enumerate(masses.tolist()):
                    wider[place + more] += mass * Fraction(other)
            exact = wider
        start = total.lowest + times * (size // 2)
        kept = exact[start : start + len(total.masses)]
        pairs = zip(total.masses.tolist(), kept, strict=True)
        # Rounding to a float in the end is not the transforms'.
        off = float(sum(abs(Fraction(ours) - truth) for ours, truth in pairs))
        assert off < fourier_error(masses, len(total.masses), times) + 2.0**-53


@pytest.mark.parametrize("epsilon", [0.0, 0.31, 1.0, 2.5, 1.003])  # just above a loss
def test_delta_is_what_is_left_above_epsilon(epsilon):
    total = compose(response_deltas(0.5, 40), 0.5 / 40, 6)
    with mpmath.workdps(40):
        exact = randomised_response_delta(0.5, 6, epsilon)
        assert exact <= mpf(total.delta(epsilon)) <= exact + 1e-12


@pytest.mark.parametrize("times", [1, 2, 9, 40])
@pytest.mark.parametrize("last", [0.0, 1e-6, 0.05])
def test_all_labels_leak_what_any_of_them_does_and_all_that_is_cut_off(times, last):
    """whole^k - (whole - leak)^k, where masses of curves with bends to either side exceed 1."""
    deltas = np.array([0.6, 0.5, 0.45, 0.2, 0.19, 0.02, 0.0]) * (0.6 - last) / 0.6 + last
    masses, leak = dominating_masses(deltas, 0.1)
    whole = sum(map(Fraction, masses.tolist())) + Fraction(leak)
    assert whole > 1.05
    exact = float(whole**times - (whole - Fraction(leak)) ** times)
    total = compose(deltas, 0.1, times)
    charged = 2e-15 + fourier_error(masses, len(total.masses), times)
    assert exact + charged <= total.leak * (1 + 1e-14) <= exact * (1 + 1e-9) + 3 * charged


def test_a_delta_that_leaks_exceed_has_no_finite_epsilon():
    leaking = np.maximum(response_deltas(0.1, 10), 1e-3)
    total = compose(leaking, 0.01, 10)
    assert total.epsilon(5e-3, 1e-4) == math.inf
    assert total.epsilon(2e-2, 1e-4) < 1


@pytest.mark.parametrize("times", [1, 2, 3, 152, 5000])
def test_powers_of_a_spectrum_are_as_good_as_they_are_charged(times):
    rng = np.random.default_rng(times)
    base = np.exp(-rng.exponential(2 / times, 50) + 1j * rng.uniform(-3, 3, 50))
    found = _power(base.astype(np.clongdouble), times)
    unit = float(np.finfo(np.longdouble).eps) / 2
    with mpmath.workdps(60):
        for value, power in zip(base.tolist(), found, strict=True):
            exact = mpmath.mpc(value) ** times
            parts = [mpf(float(x)) + mpf(float(x - float(x))) for x in (power.real, power.imag)]
            assert abs(mpmath.mpc(*parts) - exact) <= 16 * times * unit * abs(exact)
    assert _power(np.array([2.0 ** (-1001 / times)], np.clongdouble), times)[0] == 0


@pytest.mark.parametrize("length", [4, 64, 4096])
@pytest.mark.parametrize("times", [1, 2, 30])
def test_transforms_are_charged_what_the_noise_page_proves_twice(length, times):
    """2 sqrt(N) ((k + 1) kappa + 16 k v) |p|, kappa = 20 v log2 N, v the unit of long floats."""
    masses, unit = np.array([0.5, 0.25, 0.125]), float(np.finfo(np.longdouble).eps) / 2
    with mpmath.workdps(40):
        kappa = 20 * mpf(unit) * mpmath.log(length, 2)
        whole = mpmath.sqrt(mpf(1) / 4 + mpf(1) / 16 + mpf(1) / 64)
        exact = 2 * mpmath.sqrt(length) * ((times + 1) * kappa + 16 * times * unit) * whole
    assert fourier_error(masses, length, times) == pytest.approx(float(exact), rel=1e-14, abs=0)


def test_what_transforms_take_grows_with_the_masses():
    masses = np.array([0.1, 0.2, 0.3])
    once, twice = (fourier_error(scale * masses, 64, 10) for scale in (1, 2))
    assert twice == pytest.approx(2 * once, abs=0)


def test_what_rounding_takes_from_every_loss_is_granted_for_all_masses_together():
    """Losses are all rounded down by nearly half a unit, and epsilon lies next to them."""
    interval, size, lowest = 2.0**-40 * (1 + 2.0**-52), 64, int(1.49 * 2**40)
    total = PrivacyLossDistribution(np.full(size, 1 / size), lowest, interval, 0.0)
    epsilon = lowest * interval
    with mpmath.workdps(40):
        losses = [mpf(interval) * (lowest + i) for i in range(size)]
        assert all(loss > mpf(float((lowest + i) * interval)) for i, loss in enumerate(losses))
        exact = mpmath.fsum(-mpmath.expm1(epsilon - loss) / size for loss in losses)
        assert exact <= total.delta(epsilon) <= exact + 2e-15
