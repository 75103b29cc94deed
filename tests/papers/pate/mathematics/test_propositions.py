"""What PATE proves its theorems with, on every histogram of a small ensemble, or its sorted ones.

Noise and orders are such that Theorem 6 helps many of the histograms.
"""

from itertools import product

import numpy as np
import pytest

from private_ensembles.labels.gnmax_quadrature import gnmax_distribution
from private_ensembles.papers.pate.mathematics.cost_curve import CostCurve
from private_ensembles.papers.pate.mathematics.rdp import gnmax_log_q, gnmax_rdp
from private_ensembles.papers.pate.mathematics.smooth_sensitivity import SensitivityProfile
from tests.papers.pate.mathematics.oracle import histograms, neighbours, partitions

TEACHERS, CLASSES = 12, 3
ROWS = histograms(TEACHERS, CLASSES)
# Another order of the classes has the same q, cost and sensitivity.
SORTED = partitions(TEACHERS, CLASSES)
CASES = ((1.0, 1.8), (2.0, 2.0), (2.5, 1.5))
# Differences that are rounding, as parts of the larger number.
ROUNDING = 1e-9
each_case = pytest.mark.parametrize(("sigma", "order"), CASES)


def cost_by_histogram(values):
    return dict(zip(ROWS, values, strict=True))


def log_q(sigma):
    return cost_by_histogram(gnmax_log_q(ROWS, sigma))


def sensitivities(sigma, order):
    """Return the profile of each sorted histogram."""
    curve = CostCurve(sigma, order, CLASSES)
    return {row: SensitivityProfile([row], curve) for row in SORTED}


@each_case
def test_proposition_7_bounds_how_often_the_plurality_is_missed(sigma, order):
    bounds = gnmax_log_q(ROWS, sigma)
    for row, law, bound in zip(ROWS, gnmax_distribution(ROWS, sigma), bounds, strict=True):
        assert 1 - law[int(np.argmax(row))] <= np.exp(bound) * (1 + ROUNDING)


@each_case
def test_proposition_8_bounds_the_divergence_between_neighbours_whatever_the_votes(sigma, order):
    laws = cost_by_histogram(gnmax_distribution(ROWS, sigma))
    divergences = [
        np.log((law**order * laws[other] ** (1 - order)).sum()) / (order - 1)
        for row, law in laws.items()
        for other in neighbours(row)
    ]
    assert 0.3 * order / sigma**2 < max(divergences) <= order / sigma**2


@each_case
def test_lemma_9_the_bound_grows_with_q_up_to_where_it_is_used(sigma, order):
    curve = CostCurve(sigma, order, CLASSES)
    costs = curve.bound(-np.geomspace(700, -curve.log_q0(), 2000))
    assert (np.diff(costs) >= -ROUNDING * curve.ceiling).all()


@each_case
def test_proposition_14_local_sensitivity_rises_and_then_falls_with_q(sigma, order):
    q, profiles = log_q(sigma), sensitivities(sigma, order)
    values = np.array([profiles[row].sensitivities(0)[0] for row in sorted(SORTED, key=q.get)])
    steps = np.diff(values)[np.abs(np.diff(values)) > ROUNDING * order / sigma**2]
    assert not ((steps[:-1] < 0) & (steps[1:] > 0)).any()
    assert (steps > 0).any()
    assert (steps < 0).any()


def dominates(upper, lower):
    """Definition 15: whether all of upper's gaps to its largest count, summed, are no smaller."""
    first, second = (np.cumsum(max(row) - np.sort(row)[::-1]) for row in (upper, lower))
    return (first >= second).all()


def reach(sigma, order):
    """log B_U(q0), below which appendix B compares histograms."""
    curve = CostCurve(sigma, order, CLASSES)
    return float(curve.upper(curve.log_q0()))


@each_case
def test_proposition_16_a_histogram_that_dominates_has_the_smaller_q(sigma, order):
    q = log_q(sigma)
    near = [row for row in SORTED if q[row] < reach(sigma, order)]
    pairs = [(a, b) for a, b in product(near, SORTED) if dominates(a, b)]
    assert len(pairs) > len(near)
    assert all(q[a] <= q[b] + ROUNDING for a, b in pairs)


def test_lemma_18_holds_if_its_histograms_are_exchanged_and_only_then():
    """As printed, n' dominates n and q(n) <= q(n'). Its proof has n dominate n'."""
    against = []
    for sigma, order in CASES:
        q = log_q(sigma)
        links = [
            (row, moved)
            for row in ROWS
            for moved in neighbours(row)
            if q[row] <= reach(sigma, order) and max(moved) == max(row) and dominates(row, moved)
        ]
        assert all(q[above] <= q[below] + ROUNDING for above, below in links)
        against += [link for link in links if q[link[1]] > q[link[0]] + ROUNDING]
    assert len(against) == 120
    # By hand: gaps 0, 3, 7 and 0, 2, 7.
    assert dominates((5, 2, 1), (5, 3, 0))
    assert not dominates((5, 3, 0), (5, 2, 1))


@each_case
def test_theorem_20_algorithm_4_finds_the_largest_local_sensitivity_within_a_distance(sigma, order):
    profiles = sensitivities(sigma, order)
    own = {row: profile.sensitivities(0)[0] for row, profile in profiles.items()}
    local = np.array([own[tuple(sorted(row, reverse=True))] for row in ROWS])
    rows = np.array(ROWS)
    for row, profile in profiles.items():
        far = np.maximum(rows - np.array(row), 0).sum(axis=1)
        for distance in range(TEACHERS + 1):
            allowed = profile.sensitivities(distance)[0] + ROUNDING * order / sigma**2
            assert local[far <= distance].max() <= allowed


@each_case
def test_theorem_24_totals_of_three_queries_move_by_no_more_than_their_smooth_sensitivity(
    sigma, order
):
    """A teacher may change its vote on all of them."""
    source, beta = np.random.default_rng(0), 0.2
    curve = CostCurve(sigma, order, CLASSES)
    for _ in range(40):
        here = [ROWS[i] for i in source.integers(len(ROWS), size=3)]
        there = [source.choice(list(neighbours(row))) for row in here]
        totals = [gnmax_rdp(np.array(x), sigma, order).sum() for x in (here, there)]
        smooth = [
            SensitivityProfile(np.array(x), curve).smooth_sensitivity(beta) for x in (here, there)
        ]
        assert abs(totals[0] - totals[1]) <= min(smooth) + ROUNDING
        assert max(smooth) <= np.exp(beta) * min(smooth) * (1 + ROUNDING)
