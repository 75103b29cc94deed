"""The ends of what the verifier reads: they are taken, and what lies just beyond is refused."""

from fractions import Fraction

import pytest

from verify import verify

ONE = verify.ONE
TINY, BELOW_0 = "1/1000000000000", "-1/1000000000000"
BELOW_1, ABOVE_1 = "999999999999/1000000000000", "1000000000001/1000000000000"


@pytest.fixture(autouse=True)
def any_work():
    verify.steps.allow(10**12)


def read_setting(**change):
    stated = {"K": 3, "m": 1, "epsilon": "1/5", "Delta": 0, "delta": 0} | change
    return verify.parse_setting(stated, {})


def read_gamma(end):
    body = {"K": 1, "m": 1, "epsilon": 1, "Delta": 0, "delta": "9/10", "gamma": [end, end]}
    return verify.check_gamma_privacy(body)


def read_row(**change):
    row = {"teachers": [1, 0, 0, 0, 0, 0, 0, 0], "multiplier": 1} | change
    body = {"K": 1, "m": 1, "epsilon": 1, "Delta": 0, "delta": 0, "utility": 9, "rows": [row]}
    return verify.check_utility_bound(body | {"prior": {"kind": "uniform", "low": 0, "high": 1}})


def read_prior(low, high):
    return verify.objective(3, {"kind": "uniform", "low": low, "high": high})


def read_coins(*rows):
    return verify.coins({"name": "coins", "rows": list(rows)})


def read_response(epsilon, delta):
    return verify.dominating_response({"name": "response", "epsilon": epsilon, "delta": delta})


def read_range(spread, cells):
    return verify.bounded_range_rows({"name": "bounded_range", "range": spread, "cells": cells})


COINS = {"name": "coins", "rows": [[1, "1/4"], [0, "1/4"]]}


def read_pairs(apart, group=0):
    law = COINS | ({"apart": apart} if apart else {})
    return verify.pairs_hockey_sticks(law, [[group], [group]], Fraction(1), [0, 1])


def read_composition(**change):
    return verify.loss_distribution(
        {"law": COINS, "labels": 1, "step": 1, "reach": 1} | change, Fraction(1)
    )


def read_induction(**change):
    grid = {"step": "1/4", "places": [0, 1], "width": 1, "counts": []}
    blocks = [{"times": 1, "labels": 1}]
    body = {"law": COINS, "groups": [[0], [0]], "blocks": blocks}
    return verify.adaptive_labels(grid | body | change, Fraction(1))


def read_counts(*rows):
    rows = [{"times": times, "scale": scale} for times, scale in rows]
    return verify.discrete_counts({"counts": rows}, Fraction(1))


def read_maximum(**change):
    law = {"name": "gaussian_maximum", "scale": 1, "teachers": 2, "classes": 2, "lattice": "none"}
    return verify.Maximum(law | {"leads": "votes", "cells": 2, "panels": 1} | change)


def read_label(epsilon, delta):
    law = {"name": "response", "epsilon": 0, "delta": 0}
    page = "docs/certificates.md#hockey_stick"
    body = {"kind": "label", "theorem": "hockey_stick", "proof": page, "law": law}
    return verify.check(body | {"epsilon": epsilon, "delta": delta})


def compose_mass(mass):
    return verify.compose_kernels((0, [ONE, mass - ONE], 0), (0, [ONE], 0))


def read_kernel(mass):
    return verify.small_kernel(verify.Kernel(0, [mass - ONE], ONE))


def take_work(number):
    verify.Steps(100).take(number)


LONG = 10**verify.MOST_DIGITS
HALF = [1, "1/2"]
# What is read, values at its ends, and values beyond them.
RANGES = {
    "a count": (verify.count, [(0,), (99999,)], [(-1,), (100000,), (True,), (1.0,)]),
    "an integer": (verify.number, [(LONG - 1,), (1 - LONG,)], [(LONG,), (-LONG,)]),
    "a fraction": (
        verify.number,
        [(f"-{LONG - 1}/1",), (f"1/{LONG - 1}",)],
        [(f"-{LONG}/1",), (f"1/{LONG}",), ("1/0",)],
    ),
    "a float": (
        verify.number,
        [("0x1.fffffffffffffp+1023",), ("0x0.0000000000001p-1022",), ("-0x1.0p+999",)],
        [
            ("0x1.0p+1024",),
            ("0x1.0p-1023",),
            ("0x2.0p+0",),
            ("0x1.00000000000000p+0",),
            ("+0x1.0p+0",),
        ],
    ),
    "a real number": (
        verify.real,
        [(0,), (-0.5,), (1.7976931348623157e308,)],
        [(float("inf"),), (float("nan"),), (True,), ("1",), (None,)],
    ),
    "a number above 0": (
        verify.positive_number,
        [(5e-324,), (1,)],
        [(0,), (0.0,), (-5e-324,), (None,)],
    ),
    "a share": (
        verify.share,
        [(0,), (1.0,), (5e-324,)],
        [(-5e-324,), (1.0000000000000002,), (None,)],
    ),
    "a number or nothing": (
        verify.nullable_kind(verify.positive_number),
        [(None,), (5e-324,)],
        [(0,), (False,)],
    ),
    "yes": (verify.choice_kind(True), [(True,)], [(1,), (1.0,), (False,), ("true",), (None,)]),
    "no or yes": (verify.choice_kind(False, True), [(False,), (True,)], [(0,), (1,), (None,)]),
    "nothing": (verify.choice_kind(None), [(None,)], [(0,), (False,), ("",)]),
    "a time": (
        verify.moment,
        [("2028-02-29T23:59:59+00:00",), ("0001-01-01T00:00:00+00:00",)],
        [
            ("2027-02-29T23:59:59+00:00",),
            ("2028-02-29T24:00:01+00:00",),
            ("2028-02-29T23:59:59+01:00",),
            ("2028-02-29T23:59:59+00:00\n",),
            ("2028-02-29T23:59:59Z",),
        ],
    ),
    "work": (take_work, [(0,), (100,)], [(101,)]),
    "an exponent": (
        verify.exp,
        [(Fraction(2000),), (Fraction(-2000),), (Fraction(-9999),)],
        [(Fraction(2000) + Fraction(TINY),)],
    ),
    "epsilon and delta": (
        read_label,
        [(0, 0), (0, 1), (1, 0)],
        [(BELOW_0, 1), (1, BELOW_0), (1, ABOVE_1)],
    ),
    "a gamma": (read_gamma, [(0,), (1,)], [(BELOW_0,), (ABOVE_1,)]),
    "a prior": (
        read_prior,
        [(0, 1), (0, TINY)],
        [("1/2", "1/2"), (BELOW_0, 1), (0, ABOVE_1)],
    ),
    "a response": (
        read_response,
        [(0, 0), (0, 1), (1, 1)],
        [(BELOW_0, 0), (1, BELOW_0), (1, ABOVE_1)],
    ),
    "a range": (read_range, [(TINY, 1)], [(0, 1), (1, 0)]),
    "coins": (
        read_coins,
        [(HALF, HALF), ([0, 0], HALF)],
        [(HALF,), (HALF, [1, "500000000001/1000000000000"]), (HALF, [1, BELOW_0])],
    ),
    "a coin's label": (read_coins, [(HALF, [0, "1/2"])], [(HALF, [2, "1/2"])]),
    "a distance": (
        read_pairs,
        [(0,), (TINY,), (1,)],
        [(BELOW_0,), (ABOVE_1,)],
    ),
    "a group": (read_pairs, [(0, 9999)], [(0, 10000)]),
    "kinds of counts": (
        read_counts,
        [((1, 2),), ((1, 2), (1, 3))],
        [(), ((1, 2), (1, 3), (1, 4)), ((0, 2),), ((1, 0),)],
    ),
    "a kernel's mass": (compose_mass, [(9 * ONE - 1,)], [(9 * ONE,)]),
    "a small kernel's mass": (
        read_kernel,
        [(2 * ONE - (1 << verify.BITS - verify.SMALL_BITS),)],
        [(2 * ONE,)],
    ),
    "a scale on the lattice": (
        verify.fine_lattice_total_variation,
        [(Fraction(1, 2**20), 2)],
        [(Fraction(1, 2**20) - Fraction(1, 2**60), 2)],
    ),
}
# Fields of which the others stay as they are.
FIELDS = {
    read_setting: {
        "K": ([1, 3], [0, 2, 4]),
        "m": ([1, 3], [BELOW_1, "3000000000001/1000000000000"]),
        "epsilon": ([TINY], [0, "-1/1"]),
        "Delta": ([0, "499999999999/1000000000000"], [BELOW_0, "1/2"]),
        "delta": ([0, BELOW_1], [BELOW_0, 1]),
    },
    read_row: {
        "teachers": ([[1] + 7 * [0], 7 * [0] + [1]], [8 * [0], [2] + 7 * [0], 7 * [0]]),
        "multiplier": ([0, 1], [BELOW_0]),
    },
    read_composition: {"labels": ([1], [0]), "step": ([TINY], [0, "-1/1"]), "reach": ([1], [0])},
    read_induction: {
        "step": ([TINY], [0, "-1/1"]),
        "width": ([1], [0]),
        "places": ([[0, 1], [0, 4000]], [[0], [1, 2], [0, 1, 1], [0, 4001]]),
        "blocks": (
            [[{"times": 1, "labels": 1}]],
            [[], [{"times": 0, "labels": 1}], [{"times": 1, "labels": 0}]],
        ),
    },
    read_maximum: {
        "scale": ([1], [0, "-1/1"]),
        "teachers": ([1], [0]),
        "classes": ([2], [1]),
        "cells": ([2], [1, 101]),
        "panels": ([1], [0, 65]),
        "leads": (["votes", "cells"], ["rows"]),
        "lattice": (["none", "fine"], ["coarse"]),
    },
}


@pytest.mark.parametrize("name", RANGES)
def test_ends_are_taken_and_what_lies_beyond_is_refused(name):
    read, taken, refused = RANGES[name]
    for values in taken:
        read(*values)
    for values in refused:
        with pytest.raises((ValueError, NotImplementedError)):
            read(*values)


@pytest.mark.parametrize(("read", "field"), [(read, x) for read in FIELDS for x in FIELDS[read]])
def test_a_field_s_ends_are_taken_and_what_lies_beyond_is_refused(read, field):
    taken, refused = FIELDS[read][field]
    for value in taken:
        read(**{field: value})
    for value in refused:
        with pytest.raises((ValueError, NotImplementedError)):
            read(**{field: value})


def test_leads_of_a_single_teacher_are_votes():
    read_maximum(teachers=1)
    with pytest.raises(ValueError, match="leads are cells, or else votes"):
        read_maximum(teachers=1, leads="cells")


def test_work_adds_up_until_the_next_certificate_begins():
    steps = verify.Steps(100)
    for _ in range(2):
        steps.take(60)
        steps.take(40)
        with pytest.raises(
            NotImplementedError, match=r"1 million steps or more, and 0 million are"
        ):
            steps.take(1)
        steps.restart()
    steps.allow(10)
    with pytest.raises(NotImplementedError, match="--limit"):
        steps.take(11)
