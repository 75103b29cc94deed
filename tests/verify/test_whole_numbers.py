"""The verifier's noise on whole numbers: tails, sums and costs, on the safe side of the truth."""

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import mpmath
import pytest
from mpmath import mp

from verify import verify

DIGITS = 200


@pytest.fixture(autouse=True)
def any_work():
    verify.steps.allow(10**12)


def precise(number):
    return mpmath.mpf(number.numerator) / number.denominator


@pytest.mark.parametrize("variance", ["1/6", "1", "25/4", "75/4", "100"])
def test_tails_lie_between_their_bounds_however_far(variance):
    """At every whole number, to 60 digits, and beyond those that are listed."""
    variance = Fraction(variance)
    tails = verify.tails_of(variance)
    far = len(tails) + 20
    with mp.workdps(DIGITS):
        weights = [mpmath.exp(-mpmath.mpf(s * s) / (2 * precise(variance))) for s in range(2 * far)]
        sums = list(accumulate(weights[::-1]))[::-1]
        whole = 2 * sums[0] - 1
        for s in range(1 - far, far):
            exact = sums[s] / whole if s > 0 else 1 - sums[1 - s] / whole
            low, high = verify.tail_at(tails, s)
            assert 0 <= precise(low) <= exact <= precise(high), s
            assert high - low <= Fraction(1, 10**60)


@lru_cache
def law_of_sum(times, scale):
    """Pr[S = s] of so many discrete Gaussians, by s, term by term."""
    reach = 24 * (int(scale) + 1)
    weights = {s: mpmath.exp(-mpmath.mpf(s * s) / (2 * precise(scale) ** 2)) for s in range(reach)}
    weights |= {-s: weight for s, weight in weights.items()}
    whole = mpmath.fsum(weights.values())
    total = {0: mpmath.mpf(1)}
    for _ in range(times):
        after = {}
        for s, p in total.items():
            for x, weight in weights.items():
                after[s + x] = after.get(s + x, 0) + p * weight / whole
        total = after
    return total


@pytest.mark.parametrize("scale", ["93/100", "1", "5/4", "3/2"])
@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_a_sum_of_noise_is_as_near_to_one_noise_as_is_said(times, scale):
    """Each chance is within eta = 5 (n - 1) e^(-pi^2 scale^2) + 10^-18 of the other, relatively."""
    scale = Fraction(scale)
    with mp.workdps(60):
        stated = 5 * (times - 1) * mpmath.exp(-((mpmath.pi * precise(scale)) ** 2))
        stated += mpmath.mpf(10) ** -18
        if stated > mpmath.mpf(1) / 1000:
            with pytest.raises(ValueError, match="the scale is too small"):
                verify.eta_of(times, scale)
            return
        eta = precise(verify.eta_of(times, scale))
        assert stated <= eta <= stated * mpmath.mpf("1.002")
        variance = times * precise(scale) ** 2
        single = [mpmath.exp(-mpmath.mpf(s * s) / (2 * variance)) for s in range(200)]
        whole = 2 * mpmath.fsum(single) - 1
        exact = law_of_sum(times, scale)
        assert max(abs(exact[s] * whole / single[s] - 1) for s in range(9)) <= eta


@pytest.mark.parametrize(
    ("times", "taken", "refused"),
    [
        (2, "929/1000", "928/1000"),
        (4, "1", "24/25"),
        (5, "51/50", "1"),
        (99999, "143/100", "71/50"),
    ],
)
def test_noise_whose_sum_is_too_far_from_one_noise_is_refused(times, taken, refused):
    """From 5 (n - 1) e^(-pi^2 scale^2) = 1/1000 on."""
    verify.eta_of(times, Fraction(taken))
    with pytest.raises(ValueError, match="the scale is too small"):
        verify.eta_of(times, Fraction(refused))


@pytest.mark.parametrize(("times", "scale"), [(1, "2/5"), (2, "9/10"), (3, "3/2"), (5, "1/2")])
def test_sums_of_small_noise_cost_no_less_than_they_do_and_hardly_more(times, scale):
    """What is left out of the listed sums counts in full, also where nothing else is left."""
    scale, off = Fraction(scale), mpmath.mpf(10) ** -27
    masses, left_out = verify.masses_of_sum(times, scale)
    stick, _ = verify.discrete_noise(times, scale)
    with mp.workdps(60):
        exact = law_of_sum(times, scale)
        for s, mass in masses.items():
            assert exact.get(s, 0) <= precise(mass) <= exact.get(s, 0) + off
        rest = mpmath.fsum(p for s, p in exact.items() if s not in masses)
        assert rest <= mpmath.mpf(left_out) / verify.GUARD <= rest + off
        losses = {s: (2 * s + times) / (2 * scale**2) for s in exact}
        for x in (Fraction(-2), Fraction(0), Fraction(1, 3), Fraction(4), losses[1], Fraction(15)):
            cost = mpmath.fsum(
                p * (1 - mpmath.exp(precise(x - losses[s])))
                for s, p in exact.items()
                if losses[s] > x
            )
            assert cost <= precise(stick(x)) <= cost * (1 + off) + off, x
        beyond = (2 * (max(masses) + 2) + times) / (2 * scale**2)  # where nothing is listed
        assert rest <= precise(stick(beyond)) <= 2 * off


@pytest.mark.parametrize(
    "rows",
    [
        [(2, "300"), (4000, "10")],
        [(4000, "10"), (2, "300")],
        [(1601, "10"), (17778, "3")],
    ],
)
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(5)])
def test_two_kinds_of_many_counts_are_gaussians_of_less_variance_whose_moves_add_up(rows, epsilon):
    """Moves of n counts by n, in squares; what either law may be off by is granted for both."""
    rows = [(times, Fraction(scale)) for times, scale in rows]
    eta = sum(verify.eta_of(*row) for row in rows)
    body = {"counts": [{"times": n, "scale": f"{x.numerator}/{x.denominator}"} for n, x in rows]}
    _, least, most = verify.discrete_counts(body, epsilon)
    assert least == most
    with mp.workdps(80):
        moves = [n / mpmath.sqrt(n * precise(scale) ** 2 - mpmath.mpf(9) / 4) for n, scale in rows]
        mu, x = mpmath.sqrt(sum(move**2 for move in moves)), precise(epsilon - 3 * eta)
        here, there = (mpmath.ncdf(sign * mu / 2 - x / mu) for sign in (1, -1))
        exact = min(mpmath.mpf(1), (here - mpmath.exp(x) * there) * (1 + precise(eta)))
        off = mpmath.mpf(10) ** -37  # of the root of the sum of squares
        assert exact * (1 - mpmath.mpf(10) ** -60) <= precise(most) <= exact * (1 + off) + off
