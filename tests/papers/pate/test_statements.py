"""What PATE says of its parameters, worked out from the printed ones, by hand.

`workflow/published/pate_statements.csv` has these numbers, and fidelity.csv compares them.
"""

import math

import pytest

from private_ensembles.papers.compare.printed import FOLDER, read_published

PRINTED = read_published([FOLDER / "pate_statements.csv"]).to_dict("records")
# Table 2: epsilon, order, beta, sigma_SS, delta, by row and round.
ROWS = [
    (2.00, 14, 0.0329, 6.23, 1e-5),
    (4.96, 7.5, 0.0533, 4.88, 1e-6),
    (1.68, 15.5, 0.0310, 7.92, 1e-5),
    (2.07, 20.5, 0.0205, 11.9, 1e-8),
    (0.837, 50, 0.009, 26.4, 1e-8),
    (0.837, 50, 0.008, 38.7, 1e-8),
]
# Threshold, sigma1 and sigma2 of every confident or interactive aggregator, and its teachers.
THRESHOLDS = [
    (200, 150, 40, 250),
    (300, 200, 40, 250),
    (300, 200, 40, 250),
    (1000, 500, 100, 5000),
    (3500, 1500, 100, 5000),
    (3500, 2000, 200, 5000),
]
# Training records, delta; SVHN's with the additional images of the authors' code.
SIZES = [(60_000, 1e-5), (604_388, 1e-6), (32_561, 1e-5), (65_000_000, 1e-8)]


def test_rules_of_thumb_by_hand():
    """Of several rows the one that is farthest from the rule, or how many are beyond it."""
    shares = [100 * math.log(1 / delta) / (order - 1) / eps for eps, order, _, _, delta in ROWS]
    units = [sigma / math.sqrt((order + 1) / eps) for eps, order, _, sigma, _ in ROWS]
    # lambda e^(2 beta) / sigma^2 at sigma = 4 sqrt((lambda + 1) / epsilon), over epsilon / 16.
    firsts = [order * math.exp(0.8 / order) / (order + 1) for _, order, *_ in ROWS]
    thresholds = [t / teachers for t, _, _, teachers in THRESHOLDS]
    # Of both rounds' cost at order 50, without what delta adds.
    rounds = 50 * (6000 / (2 * 1500**2) + 10000 / (2 * 2000**2))
    ours = {
        "violated_conditions": 0,  # tests/papers/pate/mathematics/test_cost_curve.py
        "delta below 1 / records": sum(delta >= 1 / size for size, delta in SIZES),
        "delta's share of epsilon": min(shares),
        "beta times the order": max(order * beta for _, order, beta, _, _ in ROWS),
        "sigma_ss between 2 and 4": sum(not 2 <= unit <= 4 for unit in units),
        "first component at 4": min(firsts),
        "threshold between 0.6 and 0.8": sum(not 0.6 <= share <= 0.8 for share in thresholds),
        "sigma1 over sigma2": min(sigma1 / sigma2 for _, sigma1, sigma2, _ in THRESHOLDS),
        "thresholds' share of two rounds": 100 * rounds / (0.837 - math.log(1e8) / 49),
    }
    known = [(float(cell["low"]), float(cell["high"])) for cell in PRINTED]
    assert known == [pytest.approx((value, value)) for value in ours.values()]
    assert [cell["row"] for cell in PRINTED[1:]] == list(ours)[1:]
