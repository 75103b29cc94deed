"""Verdicts are computed: the claim beside what is proven and what is true."""

import math

import pytest

from private_ensembles.audit.verdicts import exceeds, verdict


@pytest.mark.parametrize(
    ("claimed", "proven", "exact", "expected"),
    [
        (1.0, 1.0, 0.9, "holds"),
        (1.0, None, 1.0, "holds"),
        (1.0, 1.2, 0.9, "holds"),
        (1.0, 2.0, 1.5, "fails"),
        (9e-8, None, math.inf, "fails"),
        (1.0, 0.9, None, "holds"),
        (1.0, 1.0, None, "proven"),
        (1.0, 1.0 - 1e-12, None, "proven"),
        (1.0, 1.1, None, "unproven"),
        (None, 1.0, 1.0, "unproven"),
        (1.0, None, None, "unproven"),
        (math.inf, None, math.inf, "holds"),
        (1.0, None, 1.0 + 1e-12, "holds"),
    ],
)
def test_verdict_compares_the_claim_with_the_truth(claimed, proven, exact, expected):
    assert verdict(claimed, proven, exact) == expected


def test_rounding_exceeds_nothing_and_nothing_exceeds_infinity():
    assert exceeds(1.0 + 1e-8, 1.0)
    assert not exceeds(1.0 + 1e-10, 1.0)
    assert not exceeds(math.inf, math.inf)
    assert exceeds(math.inf, 1e300)


@pytest.mark.parametrize(
    ("claimed", "proven", "exact", "lower", "expected"),
    [
        (1.0, 1.2, None, 1.1, "fails"),
        (1.0, 0.9, None, 1.1, "fails"),  # whatever is said to be proven
        (1.0, None, 0.9, 1.1, "fails"),
        (1.0, None, 1.1, 0.9, "fails"),
        (1.0, 0.9, None, 0.8, "holds"),
        (1.0, 1.0, None, 0.8, "proven"),
        (1.0, 1.2, None, 0.8, "unproven"),  # a lower bound supports no claim
        (1.0, None, None, 0.8, "unproven"),
        (1.0, None, None, 1.0 + 1e-10, "unproven"),
        (1.0, None, 1.0, 1.0 + 1e-10, "holds"),
        (0.0, None, None, 1e-8, "fails"),
        (None, None, None, 5.0, "unproven"),
        (math.inf, None, None, 5.0, "unproven"),
        (math.inf, 5.0, None, math.inf, "holds"),  # nothing is above infinity
    ],
)
def test_a_lower_bound_refutes_and_never_supports(claimed, proven, exact, lower, expected):
    assert verdict(claimed, proven, exact, lower) == expected


@pytest.mark.parametrize(
    ("bound", "rounding"), [(0.0, 1e-9), (0.01, 1e-9), (1.0, 1e-9), (1e6, 1e-3)]
)
def test_rounding_is_a_billionth_of_a_large_bound_and_of_1_for_a_small_one(bound, rounding):
    assert exceeds(bound + 1.01 * rounding, bound)
    assert not exceeds(bound + 0.99 * rounding, bound)
