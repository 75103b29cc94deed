"""What a law is: the labels of a bounded range, and fields that only some laws have."""

from fractions import Fraction

import mpmath
import pytest
from mpmath import mp

from verify import verify

COINS = {"name": "coins", "rows": [[1, "1/4"], [0, "1/4"]]}
RESPONSE = {"name": "response", "epsilon": "1/2", "delta": "1/100"}
RANGE = {"name": "bounded_range", "range": "1/2", "cells": 1}
MAXIMUM = {"name": "gaussian_maximum", "scale": 1, "teachers": 2, "classes": 3, "leads": "votes"}
MAXIMUM |= {"cells": 2, "panels": 1, "lattice": "none"}


@pytest.fixture(autouse=True)
def any_work():
    verify.steps.allow(10**12)


def label(law):
    return verify.bound_label_delta({"law": law}, Fraction(1, 4))


def composition(law):
    grid = {"labels": 1, "step": "1/4", "reach": 4}
    return verify.loss_distribution({"law": law} | grid, Fraction(1, 4))


def induction(law):
    nodes = [[0], [0]]
    if law["name"] == "gaussian_maximum":
        maximum = verify.Maximum({key: x for key, x in law.items() if key != "apart"})
        nodes = [[0] * maximum.middles for _ in range(2 * maximum.leads + 1)]
    grid = {"step": "1/4", "places": [0, 1], "width": 1, "counts": []}
    body = {"law": law, "groups": nodes, "blocks": [{"times": 1, "labels": 1}]}
    return verify.adaptive_labels(body | grid, Fraction(1, 4))


@pytest.mark.parametrize("check", [label, composition, induction])
@pytest.mark.parametrize("law", [COINS, RESPONSE, RANGE, MAXIMUM], ids=lambda law: law["name"])
def test_only_labels_of_coins_asked_adaptively_may_be_apart_from_their_law(check, law):
    """What is added for it is added to one label, which is all that a set of two classes has."""
    if law is MAXIMUM and check is not induction:
        with pytest.raises(NotImplementedError, match="no law 'gaussian_maximum' is known here"):
            check(law)
        return
    cost = check(law)[2]
    apart = law | {"apart": "1/1000"}
    if law is COINS and check is induction:
        assert check(apart)[2] > cost
    else:
        with pytest.raises(ValueError, match="nobody checks a field 'apart'"):
            check(apart)


def precise(number):
    return mpmath.mpf(number.numerator) / number.denominator


@pytest.mark.parametrize("cells", [1, 3])
@pytest.mark.parametrize("spread", ["1/1000", "1/2", "6/1"])
def test_the_labels_of_each_cell_have_its_two_outermost_ratios(spread, cells):
    """e^(R (i + 1) / n) and e^(R i / n - R), with a mean of 1, to 60 digits."""
    law = {"name": "bounded_range", "range": spread, "cells": cells}
    rows, pairs, _ = verify.bounded_range_rows(law)
    assert pairs == [(2 * cell, 2 * cell + 1) for cell in range(cells)]
    with mp.workdps(120):
        R = precise(Fraction(spread))
        for cell in range(cells):
            large, small = mpmath.exp(R * (cell + 1) / cells), mpmath.exp(R * cell / cells - R)
            rare = (1 - small) / (large - small)
            before, after = (1 - rare, rare), ((1 - rare) * small, rare * large)
            assert abs(sum(after) - 1) < mpmath.mpf(10) ** -100
            for row, exact in zip(rows[2 * cell : 2 * cell + 2], (before, after), strict=True):
                for (low, high), p in zip(row, exact, strict=True):
                    assert precise(low) <= p <= precise(high)
                    assert high - low <= Fraction(1, 10**60)


@pytest.mark.parametrize("cells", [1, 2, 7])
@pytest.mark.parametrize("spread", ["1/2", "3/1"])
def test_no_labels_of_a_bounded_range_cost_more(spread, cells):
    """Of two outcomes whose ratios are e^u and e^(u - R), whatever u; of many cells hardly less."""
    law, spread = {"name": "bounded_range", "range": spread, "cells": cells}, Fraction(spread)
    pairs, _ = verify.neighbours(law)
    with mp.workdps(60):
        for x in (Fraction(k, 8) * spread for k in range(-7, 8)):
            proven, growth = precise(verify.hockey_stick_upper(pairs, x)), mpmath.exp(precise(x))
            costs = [mpmath.mpf(0)]
            for k in range(1, 40):
                large, small = (
                    mpmath.exp(precise(spread) * k / 40),
                    mpmath.exp(precise(spread) * (k - 40) / 40),
                )
                rare = (1 - small) / (large - small)
                before, after = (1 - rare, rare), ((1 - rare) * small, rare * large)
                for P, Q in ((before, after), (after, before)):
                    costs.append(sum(max(0, p - growth * q) for p, q in zip(P, Q, strict=True)))
            assert max(costs) <= proven
            assert cells < 7 or proven <= max(costs) + mpmath.mpf("0.04") * precise(spread)
