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
