"""The numbers that a file of gamma states beside its certificates, at their ends."""

from fractions import Fraction

import mpmath
import pytest
from mpmath import mp

from verify import verify

K, M, EPSILON, DELTA = 3, 2, Fraction(1, 2), Fraction(1, 100)
GAMMA = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
HAIR = Fraction(1, 10**50)
with mp.workdps(120):
    C = Fraction(int(mpmath.exp(M * 0.5) * 10**100), 10**100)
# What the package's floats may be off by, of which half of half is the least that it states.
FLOATING = Fraction(K + 4, 2**46) * (1 + C)
MOST = C - 1 + 2 * DELTA
# If all teachers say 1 on both sides, G(p) - C G(p') is gamma(K) (1 - C).
ATTAINED = GAMMA[-1] * (1 - C)
PLACES = {"1,1": K}


@pytest.fixture(autouse=True)
def any_work():
    verify.steps.allow(10**12)


def read_numbers(rising=True, gamma=GAMMA, Delta=Fraction(0), slack=None, **changes):
    stated = {"holds": True, "worst_cost": Fraction(0), "allowance": MOST - HAIR}
    stated |= {"method": "three_corners", "rounding_error": FLOATING / 2}
    stated |= {"attained_cost": ATTAINED, "worst_assignment": PLACES} | changes
    worst, allowance = (float(stated[name]) for name in ("worst_cost", "allowance"))
    stated["slack"] = Fraction(allowance - worst) if slack is None else slack
    privacy = {"m": M, "epsilon": "1/2", "delta": "1/100"}
    privacy["Delta"] = f"{Delta.numerator}/{Delta.denominator}"
    values = [stated[name] for name in verify.CERTIFICATE]
    verify.check_certificate_numbers(values, gamma, rising, privacy)


LEAST_ROUNDING = FLOATING / 4 / (1 + Fraction(1, 10**6))
# What is stated, values that it may have, and values beyond them.
NUMBERS = {
    "holds": ([True], [False, 1, None]),
    "allowance": (
        [MOST - HAIR, MOST - FLOATING + HAIR],
        [MOST + HAIR, MOST - FLOATING - HAIR],
    ),
    "worst_cost": ([ATTAINED, MOST - HAIR], [ATTAINED - HAIR, MOST + HAIR]),
    "rounding_error": (
        [LEAST_ROUNDING + HAIR, FLOATING - HAIR],
        [LEAST_ROUNDING - HAIR, FLOATING + HAIR, Fraction(0)],
    ),
    "attained_cost": (
        [ATTAINED - FLOATING + HAIR, ATTAINED + FLOATING - HAIR],
        [ATTAINED - FLOATING - HAIR, ATTAINED + FLOATING + HAIR],
    ),
    "slack": ([], [MOST, Fraction(0)]),
    "worst_assignment": (
        [PLACES, PLACES | {"0,0": 0}],
        [None, [], {}, {"1,1": K - 1}, {"1,1": K + 1}, PLACES | {"2,2": 0}, {"1,1": K, "0,0": 1}],
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_stated_of_gamma_s_cost_is_taken_to_its_ends(name):
    taken, others = NUMBERS[name]
    for value in taken:
        read_numbers(**{name: value})
    for value in others:
        with pytest.raises(ValueError, match=r"allow|worst|slack|rounding|attained"):
            read_numbers(**{name: value})


@pytest.mark.parametrize("corner", range(8))
@pytest.mark.parametrize("Delta", [Fraction(0), Fraction(1, 10)])
def test_the_attained_cost_is_that_of_the_stated_corner(corner, Delta):
    """Of three teachers at one corner, in fractions."""
    with mp.workdps(120):
        growth = Fraction(int(mpmath.exp(0.5) * 10**100), 10**100)
    h = (growth + Delta) / (growth + 1)
    p = [0, 1, 0, Delta, 1 - Delta, 1, h, 1 - h][corner]
    q = [0, 1, Delta, 0, 1, 1 - Delta, 1 - h, h][corner]

    def mean(p):  # of gamma's sign, over the ones of three
        chances = [(1 - p) ** 3, 3 * p * (1 - p) ** 2, 3 * p**2 * (1 - p), p**3]
        signs = (-1, -1, 1, 1)
        return sum(s * g * chance for s, g, chance in zip(signs, GAMMA, chances, strict=True))

    stated = {"worst_assignment": {verify.CORNERS[corner]: K}, "worst_cost": MOST - HAIR}
    stated |= {"Delta": Delta}
    attained = mean(p) - C * mean(q)
    off = Fraction(1, 10**30)  # the verifier's own rounding
    for by in (FLOATING - off, off - FLOATING):
        read_numbers(**stated, attained_cost=attained + by)
    for by in (FLOATING + off, -FLOATING - off):
        with pytest.raises(ValueError, match="attained_cost is not worst_assignment's"):
            read_numbers(**stated, attained_cost=attained + by)


@pytest.mark.parametrize(
    ("rising", "Delta", "methods"),
    [
        (True, 0, {"three_corners"}),
        (True, Fraction(1, 10), {"three_corners"}),
        (False, 0, {"monotone_envelope", "four_corners"}),
        (False, Fraction(1, 10), {"monotone_envelope", "eight_corners", "series"}),
    ],
)
def test_a_cost_is_found_by_a_method_that_holds_for_this_gamma(rising, Delta, methods):
    known = ("three_corners", "monotone_envelope", "four_corners", "eight_corners", "series")
    for method in (*known, "trust"):
        if method in methods:
            read_numbers(rising, Delta=Fraction(Delta), method=method)
        else:
            with pytest.raises(ValueError, match="method must be one of"):
                read_numbers(rising, Delta=Fraction(Delta), method=method)


# The utility of one teacher whose p has a mean of 3/4 is gamma(1) / 2.
UPPER, EXACT = [Fraction(1, 4)], Fraction(1, 8)
ROOM = Fraction(1 + 3, 2**50)
BOUND = Fraction(1, 7)
LOSS = 1 - EXACT / BOUND + Fraction(1, 10**6)


def read_utility(prior="uniform:0.5,1", kind="uniform", low="1/2", high=1, **changes):
    proven = {"K": 1, "prior": {"kind": kind, "low": low, "high": high}, "utility": "1/7"}
    stated = {"prior": prior, "utility": EXACT, "utility_upper_bound": BOUND, "scaling_loss": 0}
    with pytest.MonkeyPatch.context() as patch:  # a file has floats; ends lie between them
        patch.setattr(verify, "real", Fraction)
        verify.check_utility(stated | changes, UPPER, proven)


UTILITIES = {
    "utility": ([EXACT - ROOM, EXACT + ROOM], [EXACT - ROOM - HAIR, EXACT + ROOM + HAIR]),
    "utility_upper_bound": ([BOUND], [BOUND - HAIR, BOUND + HAIR]),
    "scaling_loss": ([0, LOSS], [-HAIR, LOSS + HAIR]),
    "prior": (
        ["uniform:0.5,1.0", "uniform:5e-1,1"],
        [
            "common:0.5,1",
            "uniform:0.4,1",
            "uniform:0.5,0.9",
            "uniform:0.5",
            "uniform",
            "",
            ":0.5,1",
        ],
    ),
}


@pytest.mark.parametrize("name", UTILITIES)
def test_what_is_stated_of_gamma_s_utility_is_taken_to_its_ends(name):
    taken, others = UTILITIES[name]
    for value in taken:
        read_utility(**{name: value})
    for value in others:
        with pytest.raises(ValueError, match=r"utility|prior|scaling_loss"):
            read_utility(**{name: value})


@pytest.mark.parametrize(
    "change", [{"kind": "common"}, {"low": "1/3"}, {"high": "99/100"}], ids=lambda x: next(iter(x))
)
def test_the_certificate_of_another_prior_is_not_the_file_s(change):
    with pytest.raises(ValueError, match="prior is not that of the file"):
        read_utility(**change)
