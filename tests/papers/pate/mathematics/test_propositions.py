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


def rdp(laws, others, order):
    """Rényi divergences of distributions, the last axis, from others."""
    return np.log((laws**order * others ** (1 - order)).sum(axis=-1)) / (order - 1)


@each_case
def test_theorem_4_adaptive_labels_cost_no_more_than_the_sum(sigma, order):
    """The first label chooses the second query, and how much noise its label gets."""
    # By the first label: the second query's votes, those of the neighbour, and sigma.
    then = [((7, 5, 0), (6, 6, 0), sigma), ((4, 4, 4), (5, 4, 3), 2), ((9, 2, 1), (8, 3, 1), 3)]
    labels = [gnmax_distribution([votes, near], noise) for votes, near, noise in then]
    adaptive = np.array(labels).transpose(1, 0, 2)
    same = adaptive[:, [0, 0, 0]]
    for first in ([(5, 4, 3), (4, 5, 3)], [(5, 3, 4), (6, 3, 3)]):
        once = gnmax_distribution(first, sigma)

        def cost_of_both(second, once=once):
            laws, others = (once[:, :, None] * second).reshape(2, -1)
            return rdp(laws, others, order)

        cost = rdp(*once, order)
        assert cost_of_both(adaptive) <= cost + rdp(*adaptive, order).max() + ROUNDING
        # If the second label costs the same after every first one, it is the sum.
        assert cost_of_both(same) == pytest.approx(cost + rdp(*same, order)[0], rel=ROUNDING)


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


def distance(row, other):
    """Appendix B's: the votes that are taken, or those that are given if these are more."""
    change = np.subtract(other, row)
    return max(change[change > 0].sum(), -change[change < 0].sum())


def test_lemma_17_a_chain_of_single_steps_leads_down_from_who_dominates():
    """Every histogram of up to six votes a class, in falling order: permutations are free."""
    links, pairs = 0, 0
    for largest in range(7):
        rows = [
            (largest, *rest) for rest in product(range(largest + 1), repeat=2) if rest[0] >= rest[1]
        ]
        below = {row: {other for other in rows if dominates(row, other)} for row in rows}
        single = {row: {other for other in below[row] if distance(row, other) == 1} for row in rows}
        for row in rows:
            reached, new = {row}, {row}
            while new:
                new = {other for step in new for other in single[step]} - reached
                reached |= new
            assert reached == below[row]
        links += sum(map(len, single.values()))
        pairs += sum(map(len, below.values()))
    assert pairs > 2 * links > 0


@each_case
def test_proposition_19_names_the_largest_and_the_smallest_q_at_a_distance(sigma, order):
    """Eight votes of three classes, beside every histogram of up to eleven votes a class."""
    grid = [row for row in product(range(12), repeat=CLASSES) if any(row)]
    q = {row: float(gnmax_log_q([row], sigma)[0]) for row in grid}
    checked = {"largest": 0, "smallest": 0}
    for row, d in product(partitions(8, CLASSES), (1, 2, 3)):
        around = [q[other] for other in grid if distance(row, other) == d]
        if row[0] - row[1] >= 2 * d:
            assert q[row[0] - d, row[1] + d, row[2]] >= max(around) - ROUNDING
            checked["largest"] += 1
        if row[1] + row[2] >= d:
            second, third = row[1:]
            for _ in range(d):
                second, third = sorted((second - 1, third), reverse=True)
            assert q[row[0] + d, second, third] <= min(around) + ROUNDING
            checked["smallest"] += 1
    assert checked == {"largest": 13, "smallest": 23}


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
