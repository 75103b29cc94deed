"""Claims that PATE and DaRRM make in passing, worked out: Corollary 11, Algorithm 6, PATE's text.

Nothing here looks at votes of real teachers. Each function returns what follows from the printed
parameters; the tests say which printed numbers hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from private_ensembles.accounting.composition import (
    check_orders,
    conversion_cost,
    general_composition,
)
from private_ensembles.base import checks
from private_ensembles.labels.gnmax import check_sigma
from private_ensembles.labels.noisy_counts import (
    GaussianReleases,
    data_independent_epsilon,
    exact_data_independent_epsilon,
)
from private_ensembles.papers.pate.mathematics.cost_curve import CostCurve
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp_of_log_q
from private_ensembles.papers.pate.mathematics.tails import GaussianTails

DELTA_GLYPH = 1e-8


@dataclass(frozen=True)
class Corollary11:
    """Corollary 11 at one gap n1 - n2 (votes) and sigma, beside what holds.

    Attributes:
        order: gap / 4.
        claimed: e^(-2 order / sigma^2) / order.
        exact: Rényi divergence of the label of two classes to the worse neighbour.
        theorem6: the bound that the corollary simplifies, with `rivals` classes at the second
            place.
        independent: order / sigma^2.
    """

    order: float
    claimed: float
    exact: float
    theorem6: float
    independent: float


def corollary11(gap: float, sigma: float, *, rivals: int = 1) -> Corollary11:
    """Return Corollary 11's (gap/4, e^(-2 gap/4 / sigma^2) / (gap/4))-RDP, beside what holds.

    The corollary is asymptotic, for n1 - n2 and n2 - n3 much larger than sigma.

    Args:
        gap: n1 - n2, in votes, > 4 (else the order is at most 1).
        sigma: noise in votes, > 0.
        rivals: equal second places, 1 as the corollary assumes. More show what it leaves out;
            `exact` is then that of one class against so many, which merges them: a lower bound.

    Raises:
        ValueError: an argument is outside its range.

    References:
        PATE 2018, appendix A, Corollary 11.
    """
    sigma = check_sigma(sigma)
    checks.check_finite(gap=gap, above=4)
    checks.check_integer(rivals=rivals, at_least=1)
    order, log_tail = gap / 4, GaussianTails(sigma).log_overtake_probability

    def two_outcomes(neighbour_gap: float) -> float:
        """Return D_order of GNMax's label of two classes, their gap `gap` against another."""
        # Both are order log Pr + (1 - order) log Pr', of the first label and of the second.
        first = order * log_tail(-gap) + (1 - order) * log_tail(-neighbour_gap)
        second = order * log_tail(gap) + (1 - order) * log_tail(neighbour_gap)
        return max(0.0, float(np.logaddexp(first, second)) / (order - 1))

    log_q = min(0.0, math.log(rivals) + float(log_tail(gap)))
    return Corollary11(
        order=order,
        claimed=math.exp(-2 * order / sigma**2) / order,
        exact=max(two_outcomes(gap + change) for change in (-2, 2)),
        theorem6=float(gnmax_rdp_of_log_q([log_q], sigma, [order])[0, 0]),
        independent=order / sigma**2,
    )


@dataclass(frozen=True)
class UnanimousCondition:
    """Theorem 6's conditions if all K teachers agree (DaRRM, Algorithm 6, line 8).

    Attributes:
        q_small: q is within its limit.
        order_covered: Proposition 10's mu1 >= order.
        applies: all conditions hold.
        improves: the data-dependent bound is below order / sigma^2.
    """

    q_small: bool
    order_covered: bool
    applies: bool
    improves: bool


def unanimous_condition(
    n_teachers: int, sigma: float, order: float, *, n_classes: int = 2
) -> UnanimousCondition:
    """Return whether GNMax's data-dependent bound applies to the clearest votes there are.

    Args:
        n_teachers: K >= 1, who all agree.
        sigma: noise in votes, > 0.
        order: lambda > 1.
        n_classes: at least 2.

    Raises:
        ValueError: an argument is outside its range.
    """
    sigma, order = check_sigma(sigma), float(check_orders(order)[0])
    checks.check_integer(n_teachers=n_teachers, at_least=1)
    curve = CostCurve(sigma, order, n_classes)
    log_q = min(
        0.0, math.log(n_classes - 1) + float(curve.tails.log_overtake_probability(n_teachers))
    )
    mu2 = sigma * math.sqrt(-log_q)
    mu1 = mu2 + 1
    limit = -math.inf
    if mu2 > 1:
        limit = (mu2 - 1) * mu2 / sigma**2 - mu2 * math.log(mu1 / (mu2 - 1))
    is_q_small, is_order_covered = mu2 > 1 and log_q <= limit, mu1 >= order
    return UnanimousCondition(
        q_small=is_q_small,
        order_covered=is_order_covered,
        applies=is_q_small and is_order_covered,
        improves=bool(curve.bound(log_q) < curve.ceiling * (1 - 1e-12)),
    )


# PATE's text. ------------------------------------------------------------------------------------

CONFIDENT = GaussianReleases(12_000, 500.0, 10_762, 100.0)  # Table 1, Glyph, Confident-GNMax
# The same 12,000 queries had so many answers when the authors drew Figure 1: the last point of
# utility_queries_answered.py in their public code.
ANSWERS_IN_THE_CODE = 10_842
# Section 5.3 has two rounds of 6,000 and 10,000 queries, with about 3,400 answers in the first. In
# total there are 4,341 answers by Table 1, and 10,422 by the text.
ROUND_ONE = GaussianReleases(6_000, 1500.0, 3_400, 100.0)


def round_two(answers: int) -> GaussianReleases:
    """Return the second round, if that many queries were answered in both together."""
    return GaussianReleases(10_000, 2000.0, answers - ROUND_ONE.labels, 200.0)


def exchanged_numbers() -> dict[str, float]:
    """Return what section 4.1 prints in each other's place, by the row that it names; delta = 1e-8.

    Both are Rényi composition with Theorem 5's conversion, whatever the votes. interactive (10.14
    is printed): Confident-GNMax with the answers of the authors' code. confident (8.42): two rounds
    with 10,422 answers, 3,400 of them in the first, and each round's labels with the other's noise.
    """
    first, second = ROUND_ONE, round_two(10_422)
    rho = {
        "interactive": replace(CONFIDENT, labels=ANSWERS_IN_THE_CODE).rho,
        "confident": replace(first, sigma2=second.sigma2).rho
        + replace(second, sigma2=first.sigma2).rho,
    }
    return {
        row: data_independent_epsilon(value, DELTA_GLYPH, conversion="classic")[0]
        for row, value in rho.items()
    }


def data_independent_candidates() -> dict[str, tuple[float, float]]:
    """Return what section 4.1's 8.42 and 10.14 could be, (Confident, two rounds), by name.

    "The standard advanced composition theorem applied to experiments in the last two rows of Table
    1". Tried were Rényi composition with both conversions, one Gaussian mechanism, and strong
    composition of (eps0, delta0)-DP releases with eps0 by the classical and the analytic Gaussian
    mechanism, half of delta for each part; with and without the thresholds; all pool queries
    answered; 4,341 and 10,422 answers in two rounds. delta = 1e-8.
    """
    pairs = {
        "": ([CONFIDENT], [ROUND_ONE, round_two(4_341)]),
        ", 10,422 answers": ([CONFIDENT], [ROUND_ONE, round_two(10_422)]),
    }
    rows = {f"with thresholds{answers}": pair for answers, pair in pairs.items()}
    for answers, pair in pairs.items():
        rows[f"labels only{answers}"] = tuple(
            [replace(part, thresholds=0, sigma1=None) for part in parts] for parts in pair
        )
    rows["every query answered"] = (
        [GaussianReleases(12_000, 500.0, 12_000, 100.0)],
        [
            GaussianReleases(6_000, 1500.0, 6_000, 100.0),
            GaussianReleases(10_000, 2000.0, 10_000, 200.0),
        ],
    )
    candidates = {}
    for name, pair in rows.items():
        rho = [sum(part.rho for part in parts) for parts in pair]
        for conversion in ("classic", "improved"):
            candidates[f"Rényi, {conversion}: {name}"] = tuple(
                data_independent_epsilon(value, DELTA_GLYPH, conversion=conversion)[0]
                for value in rho
            )
        candidates[f"one Gaussian mechanism: {name}"] = tuple(
            exact_data_independent_epsilon(value, DELTA_GLYPH) for value in rho
        )
        for kind in ("classical", "analytic"):
            candidates[f"strong composition, {kind} Gaussian: {name}"] = tuple(
                _strong(parts, kind) for parts in pair
            )
    return candidates


def _strong(parts: list[GaussianReleases], kind: str) -> float:
    """Return strong composition of each kind of release, epsilons added, delta shared evenly."""
    kinds = [(part.labels, math.sqrt(2) / part.sigma2) for part in parts if part.labels]
    kinds += [(part.thresholds, 1 / part.sigma1) for part in parts if part.thresholds]
    share = DELTA_GLYPH / (2 * len(kinds))
    total = 0.0
    for times, mu in kinds:
        delta_each = share / times
        if kind == "classical":  # sigma = Delta sqrt(2 ln(1.25 / delta)) / epsilon
            epsilon = mu * math.sqrt(2 * math.log(1.25 / delta_each))
        else:
            epsilon = exact_data_independent_epsilon(mu**2 / 2, delta_each)
        total += general_composition(epsilon, 0.0, times, share).epsilon
    return total


def round_one_threshold_epsilon(order: float | None = None) -> float:
    """Return epsilon of round one's 6,000 thresholds alone, delta = 1e-8, classic conversion.

    No votes enter: of the printed 0.59 for round one this much is the thresholds' (the text: "about
    a third to a half of our budget").

    Args:
        order: the Rényi order; by default the best one for them.
    """
    rho = GaussianReleases(ROUND_ONE.thresholds, ROUND_ONE.sigma1, 0, ROUND_ONE.sigma2).rho
    if order is None:
        return data_independent_epsilon(rho, DELTA_GLYPH, conversion="classic")[0]
    cost = conversion_cost(check_orders(order), DELTA_GLYPH, "classic")[0]
    return float(order * rho + cost)


def count_unanswered() -> int:
    """Return how many of Glyph's queries Table 1 leaves unanswered (the text: "roughly 1,300")."""
    return CONFIDENT.thresholds - CONFIDENT.labels
