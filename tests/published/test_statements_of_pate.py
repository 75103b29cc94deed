"""What PATE states holds or does not, and each statement would be seen to fail if it did."""

import math
from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.smooth_sensitivity import SensitivityProfile
from private_ensembles.published import statements_of_pate as statements
from private_ensembles.published.declarations import first_that_fits, paper
from private_ensembles.published.printed import FOLDER, key_of, read_published

PRINTED = read_published([FOLDER / "pate_statements.csv"])


@pytest.fixture
def clean():
    """Forget what was worked out in another world."""
    for function in (statements.histograms, statements._laws):
        function.cache_clear()
    yield
    statements._laws.cache_clear()


def blunt(counts, sigma):
    """A bound on q that is too small: half of the chance."""
    return LOG_Q(counts, sigma) - math.log(2)


LOG_Q, GNMAX_RDP, COROLLARY_11 = (
    getattr(statements, name) for name in ("gnmax_log_q", "gnmax_rdp", "corollary11")
)


class Still(SensitivityProfile):
    """Sensitivities of a fifth of what they are, and none beyond the votes themselves."""

    def at(self, *distances):
        return 0.2 * super().at(*(0 for _ in distances))


class Wavy(CostCurve):
    """A bound that does not grow with q."""

    def bound(self, log_q):
        return super().bound(log_q) * (1 + 0.5 * np.sin(np.asarray(log_q)))

    def upper(self, log_q):
        return np.asarray(log_q)

    def check_conditions(self, points=2000):
        return ("C5",)


def free_of_charge(gap, sigma):
    return replace(COROLLARY_11(gap, sigma), claimed=1e-9)


def sharper(q, sigma, order, mu1, mu2):
    """A bound whose least is elsewhere."""
    return 1 / (mu1 + mu2)


# A statement, what it rests on, and what that is in a world where the statement is false.
BROKEN = [
    ("converted_over_exact", "exact_data_independent_epsilon", lambda rho, delta: 1e9),
    ("missed_more_often", "gnmax_log_q", blunt),
    ("independent_cost_used", "divergence", lambda one, other, order: 2 * order),
    ("dependent_cost_used", "gnmax_rdp", lambda *given: 0.01 * GNMAX_RDP(*given)),
    ("falls_of_the_bound", "CostCurve", Wavy),
    ("better_moments", "bound_of_theorem_6", sharper),
    ("cost_of_clear_votes", "corollary11", free_of_charge),
    ("moves_above_local_sensitivity", "SensitivityProfile", Still),
    ("dominating_and_less_certain", "gnmax_log_q", lambda *given: LOG_Q(*given)[::-1]),
    ("distances_underrated", "SensitivityProfile", Still),
    ("neighbours_out_of_bounds", "CostCurve", Wavy),
    ("conditions_violated", "CostCurve", Wavy),
]


@pytest.mark.parametrize(("name", "part", "instead"), BROKEN, ids=[row[0] for row in BROKEN])
def test_statements_can_fail(monkeypatch, clean, name, part, instead):
    function = getattr(statements, name)
    (cell,) = (
        cell
        for cell in PRINTED.to_dict("records")
        if first_that_fits(paper("pate").limits, key_of(cell)).function == name
    )
    allowed = float(cell["published"])
    assert function(cell) <= allowed
    monkeypatch.setattr(statements, part, instead)
    assert function(cell) > allowed


class Zigzag:
    """A local sensitivity that goes up and down with the largest count, and is never smoothed."""

    def __init__(self, counts, curve):
        self.value = float(max(counts[0]) % 2)

    def at(self, *distances):
        return np.full(len(distances), self.value)

    def smooth(self, beta):
        return 0.0


def test_sensitivities_that_turn_twice_or_are_too_small_for_a_total_are_seen(monkeypatch):
    monkeypatch.setattr(statements, "SensitivityProfile", Zigzag)
    assert statements.turns_of_local_sensitivity({}) > 0
    assert statements.totals_above_theorem_24({}) > 0


def test_lemma_18_holds_if_its_histograms_are_exchanged_and_only_then():
    """By hand: [5, 2, 1] dominates [5, 3, 0]? No: 0, 3, 7 and 0, 2, 7. So it does."""
    above, below = (5, 2, 1), (5, 3, 0)
    assert statements.dominates(above, below)
    assert not statements.dominates(below, above)
    certain, unsure = LOG_Q([above, below], 1.0)
    assert certain < unsure
    cell = {"published": "0"}
    assert statements.lemma_18_is_turned_round(cell)
    assert not statements.lemma_18_is_turned_round({"published": "1"})


def test_rules_of_thumb_by_hand():
    """From Table 2 as it is printed: epsilon, order, beta, sigma_SS, delta."""
    rows = [
        (2.00, 14, 0.0329, 6.23, 1e-5),
        (4.96, 7.5, 0.0533, 4.88, 1e-6),
        (1.68, 15.5, 0.0310, 7.92, 1e-5),
        (2.07, 20.5, 0.0205, 11.9, 1e-8),
        (0.837, 50, 0.009, 26.4, 1e-8),
        (0.837, 50, 0.008, 38.7, 1e-8),
    ]
    shares = [100 * math.log(1 / delta) / (order - 1) / eps for eps, order, _, _, delta in rows]
    assert statements.share_of_delta({}) == pytest.approx(min(shares))
    products = [order * beta for _, order, beta, _, _ in rows]
    assert statements.smoothness({}) == pytest.approx(max(products))
    units = [sigma / math.sqrt((order + 1) / eps) for eps, order, _, sigma, _ in rows]
    assert [2 <= unit <= 4 for unit in units] == 5 * [True] + [False]
    assert statements.noises_out_of_range({}) == 1
    # lambda e^(2 beta) / sigma^2 at sigma = 4 sqrt((lambda + 1) / epsilon), over epsilon / 16.
    firsts = [order * math.exp(0.8 / order) / (order + 1) for _, order, *_ in rows]
    assert statements.first_component({}) == pytest.approx(min(firsts))
    assert [round(t / k, 2) for t, k in ((200, 250), (300, 250), (1000, 5000), (3500, 5000))] == [
        0.8,
        1.2,
        0.2,
        0.7,
    ]
    assert statements.thresholds_out_of_range({}) == 3
    cost = 50 * (6000 / (2 * 1500**2) + 10000 / (2 * 2000**2))
    share = 100 * cost / (0.837 - math.log(1e8) / 49)
    assert statements.share_of_thresholds({}) == pytest.approx(share)
