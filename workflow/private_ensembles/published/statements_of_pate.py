"""What PATE states of its own mathematics and settings, worked out again: theorems, rules of thumb.

As `statements_of_darrm`; the rows are in ``pate_statements.csv``. Costs and sensitivities are
compared on every histogram of a small ensemble, at noise and orders where Theorem 6 helps.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product

import numpy as np

from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.data_independent import (
    data_independent_epsilon,
    exact_data_independent_epsilon,
)
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution
from private_ensembles.pate.rdp import gnmax_log_q, gnmax_rdp
from private_ensembles.pate.small_print import corollary11
from private_ensembles.pate.smooth_sensitivity import SensitivityProfile
from private_ensembles.pate.table2 import ROWS, Sanitisation

Cell = Mapping[str, str]
Histogram = tuple[int, ...]

# Votes, classes, and noise with an order at which Theorem 6 helps many of the histograms.
TEACHERS, CLASSES = 12, 3
CASES = ((1.0, 1.8), (2.0, 2.0), (2.5, 1.5))
# Differences that are rounding, as parts of the larger number.
ROUNDING = 1e-9
# Classes and noise of the labels, by row of Table 2.
LABELS = {
    "MNIST": [(10, 40)],
    "SVHN": [(10, 40)],
    "Adult": [(2, 40)],
    "Glyph": [(150, 100)],
    "Glyph, two rounds": [(150, 100), (150, 200)],
}
# Threshold, sigma1 and sigma2 of every confident or interactive aggregator, and its teachers.
THRESHOLDS = (
    (200, 150, 40, 250),
    (300, 200, 40, 250),
    (300, 200, 40, 250),
    (1000, 500, 100, 5000),
    (3500, 1500, 100, 5000),
    (3500, 2000, 200, 5000),
)
# Of the two rounds: queries and sigma1.
ROUNDS = ((6_000, 1500), (10_000, 2000))
# Training records, delta; SVHN's with the additional images of the authors' code.
SIZES = ((60_000, 1e-5), (604_388, 1e-6), (32_561, 1e-5), (65_000_000, 1e-8))


@cache
def histograms(teachers: int = TEACHERS) -> list[Histogram]:
    """Every histogram of that many votes for CLASSES classes."""
    rows = product(range(teachers + 1), repeat=CLASSES)
    return [row for row in rows if sum(row) == teachers]


def moves(row: Histogram) -> Iterator[Histogram]:
    """The histograms to which one teacher's other vote leads."""
    for source, target in product(range(CLASSES), repeat=2):
        if source != target and row[source]:
            moved = list(row)
            moved[source] -= 1
            moved[target] += 1
            yield tuple(moved)


def _by_histogram(values: np.ndarray) -> dict[Histogram, float]:
    return dict(zip(histograms(), values.tolist(), strict=True))


@cache
def _laws(sigma: float) -> dict[Histogram, np.ndarray]:
    """The exact distribution of GNMax's label."""
    return dict(zip(histograms(), gnmax_distribution(histograms(), sigma), strict=True))


def divergence(first: np.ndarray, second: np.ndarray, order: float) -> float:
    """Rényi divergence of two distributions of labels."""
    return float(np.log((first**order * second ** (1 - order)).sum()) / (order - 1))


def _largest(ratio: Callable[[float, float], float]) -> float:
    return max(ratio(sigma, order) for sigma, order in CASES)


# Sections 3 and 4, appendix A --------------------------------------------------------------------


def converted_over_exact(cell: Cell) -> float:
    """Theorem 5: the least that Gaussian mechanisms' epsilon falls short of the conversion.

    The largest exact epsilon over the converted one, for twelve costs and three delta.
    """
    ratios = [
        exact_data_independent_epsilon(rho, delta)
        / data_independent_epsilon(rho, delta, conversion="classic")[0]
        for rho in np.geomspace(1e-3, 3, 12)
        for delta in (1e-8, 1e-5, 1e-2)
    ]
    return max(ratios)


def missed_more_often(cell: Cell) -> float:
    """Proposition 7: histograms whose plurality is missed more often than the bound on it."""
    violations = 0
    for sigma, _ in CASES:
        bounds = np.exp(gnmax_log_q(histograms(), sigma))
        for (row, law), bound in zip(_laws(sigma).items(), bounds, strict=True):
            violations += 1 - law[int(np.argmax(row))] > bound * (1 + ROUNDING)
    return float(violations)


def independent_cost_used(cell: Cell) -> float:
    """Proposition 8: the largest divergence between neighbours over lambda / sigma^2."""

    def largest(sigma: float, order: float) -> float:
        laws = _laws(sigma)
        costs = (divergence(law, laws[x], order) for row, law in laws.items() for x in moves(row))
        return max(costs) / (order / sigma**2)

    return _largest(largest)


def dependent_cost_used(cell: Cell) -> float:
    """Theorem 6 with Proposition 10: the largest divergence to a neighbour over the bound."""

    def largest(sigma: float, order: float) -> float:
        laws, bounds = _laws(sigma), gnmax_rdp(histograms(), sigma, order)[:, 0]
        return max(
            max(divergence(law, laws[x], order) for x in moves(row)) / bound
            for (row, law), bound in zip(laws.items(), bounds, strict=True)
            if bound < order / sigma**2 * (1 - ROUNDING)
        )

    return _largest(largest)


def falls_of_the_bound(cell: Cell) -> float:
    """Lemma 9: how often the bound falls on a grid of q up to where it is used."""
    falls = 0
    for sigma, order in CASES:
        curve = CostCurve(sigma, order, CLASSES)
        costs = curve.bound(-np.geomspace(700, -curve.log_q0(), 2000))
        falls += int((np.diff(costs) < -ROUNDING * curve.ceiling).sum())
    return float(falls)


def bound_of_theorem_6(q: float, sigma: float, order: float, mu1: float, mu2: float) -> float:
    """The right-hand side of (2) for GNMax at any moments."""
    a = (1 - q) / (1 - (q * math.exp(mu2 / sigma**2)) ** ((mu2 - 1) / mu2))
    b = math.exp(mu1 / sigma**2) / q ** (1 / (mu1 - 1))
    return math.log((1 - q) * a ** (order - 1) + q * b ** (order - 1)) / (order - 1)


def better_moments(cell: Cell) -> float:
    """Proposition 10: how many of other moments give less than its own."""
    better = 0
    for sigma, order, q in ((40, 8.0, 1e-6), (100, 20.5, 1e-9), (10, 3.0, 1e-4)):
        best = sigma * math.sqrt(-math.log(q))
        least = bound_of_theorem_6(q, sigma, order, best + 1, best)
        for up, down in product((0.5, 0.8, 0.95, 1, 1.05, 1.25, 2), repeat=2):
            other = bound_of_theorem_6(q, sigma, order, 1 + best * up, best * down)
            better += other < least * (1 - ROUNDING)
    return float(better)


def cost_of_clear_votes(cell: Cell) -> float:
    """Corollary 11: the largest exact cost of two classes over the claimed one, six gaps."""
    cases = [corollary11(gap, 40) for gap in (80, 120, 160, 200, 300, 400)]
    return max(case.exact / case.claimed for case in cases)


# Appendix B --------------------------------------------------------------------------------------


def _q(sigma: float) -> dict[Histogram, float]:
    return _by_histogram(gnmax_log_q(histograms(), sigma))


def _sensitivities(sigma: float, order: float) -> dict[Histogram, SensitivityProfile]:
    curve = CostCurve(sigma, order, CLASSES)
    return {row: SensitivityProfile([row], curve) for row in histograms()}


def moves_above_local_sensitivity(cell: Cell) -> float:
    """Proposition 13: moves that change the cost by more than Algorithm 3 allows."""
    violations = 0
    for sigma, order in CASES:
        costs = _by_histogram(gnmax_rdp(histograms(), sigma, order)[:, 0])
        for row, profile in _sensitivities(sigma, order).items():
            allowed = profile.at(0)[0] + ROUNDING * order / sigma**2
            violations += sum(abs(costs[row] - costs[x]) > allowed for x in moves(row))
    return float(violations)


def turns_of_local_sensitivity(cell: Cell) -> float:
    """Proposition 14: how often Algorithm 3 rises again after a fall, as q grows."""
    turns = 0
    for sigma, order in CASES:
        q = _q(sigma)
        profiles = _sensitivities(sigma, order)
        values = np.array([profiles[row].at(0)[0] for row in sorted(q, key=q.get)])
        steps = np.diff(values)[np.abs(np.diff(values)) > ROUNDING * order / sigma**2]
        turns += int(((steps[:-1] < 0) & (steps[1:] > 0)).sum())
    return float(turns)


def dominates(upper: Histogram, lower: Histogram) -> bool:
    """Definition 15: whether all of upper's gaps to its largest count, summed, are no smaller."""
    gaps = (np.cumsum(max(row) - np.sort(row)[::-1]) for row in (upper, lower))
    first, second = gaps
    return bool((first >= second).all())


def _reach(sigma: float, order: float) -> float:
    """log B_U(q0), below which appendix B compares histograms."""
    curve = CostCurve(sigma, order, CLASSES)
    return float(curve.upper(curve.log_q0()))


def dominating_and_less_certain(cell: Cell) -> float:
    """Proposition 16: pairs of which the dominating histogram has the larger q."""
    violations = 0
    for sigma, order in CASES:
        q, reach = _q(sigma), _reach(sigma, order)
        near = [row for row in histograms() if q[row] < reach]
        pairs = product(near, histograms())
        violations += sum(q[a] > q[b] + ROUNDING and dominates(a, b) for a, b in pairs)
    return float(violations)


def _chain_links(sigma: float, order: float) -> Iterator[tuple[Histogram, Histogram]]:
    """Neighbours with equal largest counts, the first of which dominates the second."""
    q, reach = _q(sigma), _reach(sigma, order)
    for row in histograms():
        for moved in moves(row):
            if q[row] <= reach and max(moved) == max(row) and dominates(row, moved):
                yield row, moved


def links_against_lemma_18(cell: Cell) -> float:
    """Lemma 18 as printed: n' dominates n and yet q(n) > q(n')."""
    violations = 0
    for sigma, order in CASES:
        q = _q(sigma)
        links = _chain_links(sigma, order)
        violations += sum(q[below] > q[above] + ROUNDING for above, below in links)
    return float(violations)


def lemma_18_is_turned_round(cell: Cell) -> bool:
    """With n and n' exchanged, as its proof and Proposition 16 have it, there is no exception."""
    against = 0
    for sigma, order in CASES:
        q = _q(sigma)
        links = _chain_links(sigma, order)
        against += sum(q[above] > q[below] + ROUNDING for above, below in links)
    return cell["published"] == "0" and against == 0 and links_against_lemma_18(cell) > 0


def distances_underrated(cell: Cell) -> float:
    """Proposition 19 and Theorem 20: histograms and distances where Algorithm 4 finds too little.

    Beside the largest local sensitivity of all histograms within that distance.
    """
    violations = 0
    for sigma, order in CASES:
        profiles = _sensitivities(sigma, order)
        local = np.array([profile.at(0)[0] for profile in profiles.values()])
        rows = np.array(list(profiles))
        for row, profile in profiles.items():
            far = np.maximum(rows - np.array(row), 0).sum(axis=1)
            for distance in range(TEACHERS + 1):
                allowed = profile.at(distance)[0] + ROUNDING * order / sigma**2
                violations += local[far <= distance].max() > allowed
    return float(violations)


def neighbours_out_of_bounds(cell: Cell) -> float:
    """Proposition 21: moves that lead to a q outside of [B_L(q), B_U(q)]."""
    violations = 0
    for sigma, order in CASES:
        q, curve = _q(sigma), CostCurve(sigma, order, CLASSES)
        for row, here in q.items():
            low, high = float(curve.lower(here)), float(curve.upper(here))
            violations += sum(not low - ROUNDING <= q[x] <= high + ROUNDING for x in moves(row))
    return float(violations)


def conditions_violated(cell: Cell) -> float:
    """Appendix B.4.2: violations of C5 and C6 at the parameters of Table 2."""
    return float(
        sum(
            len(CostCurve(float(sigma), part.order, classes).check_conditions())
            for name, labels in LABELS.items()
            for (classes, sigma), part in zip(labels, ROWS[name].gnss, strict=True)
        )
    )


def rows_above_theorem_23(cell: Cell) -> float:
    """Theorem 23: rows of Table 2 that cost more than it says."""
    return float(
        sum(
            sum(part.cost("exact") for part in row.gnss)
            > sum(part.cost("paper") for part in row.gnss) * (1 + ROUNDING)
            for row in ROWS.values()
        )
    )


def all_rows_exceed_theorem_23(cell: Cell) -> bool:
    """The exact divergence of two Gaussians at the bounds (12) and (13) is above the formula."""
    return cell["published"] == "0" and rows_above_theorem_23(cell) == len(ROWS)


def totals_above_theorem_24(cell: Cell) -> float:
    """Theorem 24: pairs of neighbours whose total moves by more than SS, or SS by more than e^beta.

    Three queries; a teacher may change its vote on all of them.
    """
    source, beta, violations = np.random.default_rng(0), 0.2, 0
    rows = histograms()
    for sigma, order in CASES:
        curve = CostCurve(sigma, order, CLASSES)
        for _ in range(40):
            here = [rows[i] for i in source.integers(len(rows), size=3)]
            there = [list(moves(row))[source.integers(len(list(moves(row))))] for row in here]
            totals = [gnmax_rdp(np.array(x), sigma, order).sum() for x in (here, there)]
            smooth = [SensitivityProfile(np.array(x), curve).smooth(beta) for x in (here, there)]
            violations += abs(totals[0] - totals[1]) > min(smooth) + ROUNDING
            violations += max(smooth) > math.exp(beta) * min(smooth) * (1 + ROUNDING)
    return float(violations)


# Rules of thumb (appendix B.6) and settings ------------------------------------------------------


def _parts() -> Iterator[tuple[float, Sanitisation]]:
    """Epsilon and the parameters of each GNSS of Table 2."""
    for row in ROWS.values():
        for part in row.gnss:
            yield row.epsilon, part


def deltas_too_large(cell: Cell) -> float:
    """Tasks whose delta is not below the inverse of the number of training examples."""
    return float(sum(delta >= 1 / size for size, delta in SIZES))


def share_of_delta(cell: Cell) -> float:
    """Percent of epsilon that delta contributes, in the row of Table 2 farthest from a half."""
    shares = [
        -100 * math.log(row.delta) / (row.gnss[0].order - 1) / row.epsilon for row in ROWS.values()
    ]
    return max(shares, key=lambda share: abs(share - 50))


def smoothness(cell: Cell) -> float:
    """Table 2's beta times the order, the one farthest from 0.4."""
    return max((part.beta * part.order for _, part in _parts()), key=lambda x: abs(x - 0.4))


def noises_out_of_range(cell: Cell) -> float:
    """Table 2's sigma_SS outside of 2 to 4 times sqrt((lambda + 1) / epsilon)."""
    units = (part.sigma_ss / math.sqrt((part.order + 1) / epsilon) for epsilon, part in _parts())
    return float(sum(not 2 <= unit <= 4 for unit in units))


def first_component(cell: Cell) -> float:
    """Sixteen times the first component of Theorem 23 over epsilon, at the rule's largest noise.

    With the rule's beta, 0.4 / lambda; of all orders of Table 2 the one farthest from 1.
    """
    shares = [part.order / (part.order + 1) * math.exp(0.8 / part.order) for _, part in _parts()]
    return max(shares, key=lambda share: abs(share - 1))


def thresholds_out_of_range(cell: Cell) -> float:
    """Settings whose threshold is not between 0.6 and 0.8 of the teachers (section 4.2)."""
    return float(sum(not 0.6 <= t / teachers <= 0.8 for t, _, _, teachers in THRESHOLDS))


def threshold_noise(cell: Cell) -> float:
    """The least sigma1 over sigma2 (section 4.2: "significantly higher values")."""
    return min(sigma1 / sigma2 for _, sigma1, sigma2, _ in THRESHOLDS)


def share_of_thresholds(cell: Cell) -> float:
    """Percent of the two rounds' Rényi cost, at Table 2's order, that thresholds take (5.4)."""
    row = ROWS["Glyph, two rounds"]
    order = row.gnss[0].order
    thresholds = sum(order * queries / (2 * sigma1**2) for queries, sigma1 in ROUNDS)
    total = row.epsilon + math.log(row.delta) / (order - 1)
    return 100 * thresholds / total
