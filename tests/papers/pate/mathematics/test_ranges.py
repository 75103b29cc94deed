"""What each function of PATE's takes: at the ends of its ranges, and what is refused by name."""

import math

import numpy as np
import pytest

from private_ensembles.labels import (
    gnmax,
    lnmax,
    noisy_counts,
    thresholds,
)
from private_ensembles.labels.histograms import check_counts
from private_ensembles.labels.lnmax_quadrature import check_scale
from private_ensembles.labels.noisy_counts import GaussianReleases
from private_ensembles.papers.pate import mathematics as pate
from private_ensembles.papers.pate.mathematics import lnmax as lnmax_costs
from private_ensembles.papers.pate.mathematics import rdp, sanitize
from private_ensembles.papers.pate.mathematics.confident import (
    compose_rounds,
    confident_gnmax_privacy,
)
from private_ensembles.papers.pate.mathematics.cost_curve import CostCurve
from private_ensembles.papers.pate.mathematics.rounds import confident_round, interactive_round
from private_ensembles.papers.pate.mathematics.small_print import corollary11, unanimous_condition
from private_ensembles.papers.pate.mathematics.smooth_sensitivity import SensitivityProfile
from private_ensembles.papers.pate.mathematics.tails import tails_of
from tests.ranges import NOT_POSITIVE, NOT_WITHIN_0_1, OUTSIDE_0_1, check_ends

COUNTS = np.array([[190, 6, 4], [120, 50, 30]])
ONE = confident_round(COUNTS, 150.0, 100.0, 20.0)
ORDERS = (1.0, 0.5, math.inf, math.nan), (1 + 1e-9, 500.0)
CURVE = CostCurve(20.0, 4.0, 3)
CONFIDENT, QUICKLY = (COUNTS, 150.0, 100.0, 20.0, 1e-5), {"order": 4.0, "beta": 0.05}


def confident(**change):
    names = ("counts", "threshold", "sigma1", "sigma2", "delta")
    return confident_gnmax_privacy(**(dict(zip(names, CONFIDENT, strict=True)) | change))


def sigma(epsilon=0.2676, delta=3e-4, method="rdp", **options):
    return gnmax.gnmax_sigma(epsilon, delta, method=method, **options)


RANGES = {
    "sigma": (gnmax.check_sigma, NOT_POSITIVE, (1e-9,)),
    "scale": (check_scale, NOT_POSITIVE, (1e-9,)),
    "orders": (rdp.check_orders, *ORDERS),
    "votes": (lambda x: check_counts([[x, 2]]), (-1, 0.5, -2), (0, 1)),
    "teachers": (lambda x: check_counts([[x, 0]]), (0,), (1,)),
    "gnmax_rdp_of_log_q": (
        lambda x: rdp.gnmax_rdp_of_log_q([x], 5.0, [2.0]),
        (1e-9, math.nan),
        (0.0, -1.0),
    ),
    "lnmax_rdp_of_log_q": (
        lambda x: lnmax_costs.lnmax_rdp_of_log_q([x], 5.0, [2.0]),
        (1e-9, math.nan),
        (0.0, -1.0),
    ),
    "lnmax_log_q": (lambda x: lnmax_costs.lnmax_log_q(COUNTS, x), NOT_POSITIVE, (1.0,)),
    "lnmax_independent_rdp": (
        lambda x: lnmax.lnmax_independent_rdp(x, [2.0]),
        NOT_POSITIVE,
        (1.0,),
    ),
    "lnmax_privacy": (lambda x: pate.lnmax_privacy(COUNTS, 5.0, x), NOT_WITHIN_0_1, (0.5,)),
    "gnmax_sigma, epsilon": (lambda x: sigma(x), NOT_POSITIVE, (1.0,)),
    "gnmax_sigma, delta": (lambda x: sigma(1.0, x), NOT_WITHIN_0_1, (0.5,)),
    "gnmax_sigma, classes": (lambda x: sigma(n_classes=x), (1, 0), (2, 3)),
    "gnmax_sigma, teachers": (
        lambda x: sigma(1.0, 1e-2, "exact", n_teachers=x),
        (0, -1, 2, None),
        (1, 3),
    ),
    "gnmax_sigma, classes of the exact way": (
        lambda x: sigma(1.0, 1e-2, "exact", n_teachers=1, n_classes=x),
        (1, 3),
        (2,),
    ),
    "analytic_epsilon, labels": (
        lambda x: gnmax.analytic_epsilon(5.0, 1e-5, labels=x),
        (0, -1, 1.5),
        (1, 2),
    ),
    "order_grid": (
        lambda x: gnmax.order_grid(1.0, 1e-5, order_max=20.0, order_step=x),
        (0.0, -1.0, math.nan),
        (0.5,),
    ),
    "order_grid, the largest": (
        lambda x: gnmax.order_grid(1.0, 1e-5, order_max=x),
        (math.inf, math.nan),
        (1.0, 20.0),
    ),
    "sigma_curve": (lambda x: gnmax.sigma_curve(1.0, 1e-5, [x]), (1.0, 0.5, math.nan), (1.5,)),
    "label_probability": (lambda x: gnmax.label_probability(x, 1.0), (0, -1, 1.5), (1, 2)),
    "Releases, labels": (lambda x: GaussianReleases(0, None, x, 1.0), (-1, 0.5), (0, 1)),
    "data_independent_epsilon": (
        lambda x: noisy_counts.data_independent_epsilon(x, 1e-5),
        (-1e-9, math.inf, math.nan),
        (0.0, 0.1),
    ),
    "data_independent_epsilon, delta": (
        lambda x: noisy_counts.data_independent_epsilon(0.1, x),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "exact_data_independent_epsilon": (
        lambda x: noisy_counts.exact_data_independent_epsilon(x, 1e-5),
        (-1e-9, math.inf, math.nan),
        (0.0, 0.1),
    ),
    "gnss_terms": (lambda x: sanitize.gnss_terms(4.0, x), (0.0, -1.0, math.nan), (1e-9,)),
    "rule_of_thumb": (lambda x: sanitize.rule_of_thumb(4.0, x), NOT_WITHIN_0_1, (0.5,)),
    "guessed_order": (lambda x: sanitize.order_for_target(x, 1.0), NOT_WITHIN_0_1, (0.5,)),
    "guessed_order, epsilon": (lambda x: sanitize.order_for_target(0.1, x), NOT_POSITIVE, (1.0,)),
    "confidence of a student": (thresholds.check_confidence, OUTSIDE_0_1, (0.0, 1.0)),
    "threshold": (thresholds.check_threshold, (math.inf, -math.inf, math.nan), (0.0, -5.0)),
    "cap": (lambda x: thresholds.check_cap("cap", x), (-1, 0.5, True), (0, 1, None)),
    "scores": (
        lambda x: thresholds.check_scores(np.array([[x, 1 - x]]), np.array([[1, 1]])),
        (-1e-9, 1 + 1e-9, math.nan),
        (0.0, 1.0),
    ),
    "CostCurve, classes": (lambda x: CostCurve(20.0, 4.0, x), (1, 0), (2,)),
    "CostCurve, order": (lambda x: CostCurve(20.0, x, 2), *ORDERS),
    "smooth": (
        lambda x: SensitivityProfile(COUNTS, CURVE).smooth_sensitivity(x),
        (0.0, -1.0, math.nan),
        (0.1,),
    ),
    "weights": (
        lambda x: SensitivityProfile(COUNTS, CURVE, [x, 1.0]),
        (-1e-9, math.nan),
        (0.0, 1.0),
    ),
    "corollary11, gap": (lambda x: corollary11(x, 1.0), (4.0, 3.0, math.inf, math.nan), (4.1,)),
    "corollary11, rivals": (lambda x: corollary11(8.0, 1.0, rivals=x), (0, -1, 1.5), (1, 2)),
    "unanimous_condition": (lambda x: unanimous_condition(x, 5.0, 2.0), (0, -1, 1.5), (1, 2)),
    "upper_confidence": (
        lambda x: confident_gnmax_privacy(*CONFIDENT, upper_confidence=x, **QUICKLY),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "sigma_ss": (
        lambda x: confident_gnmax_privacy(*CONFIDENT, sigma_ss=x, **QUICKLY),
        (*NOT_POSITIVE, [1.0, 1.0]),
        (1.0, [1.0]),
    ),
}

BAD = [
    # Votes and noise, whatever is asked about them.
    (lambda: pate.gnmax_rdp([[1, -1]], 1.0, [2]), "at least 0"),
    (lambda: pate.gnmax_rdp([[1, 2], [1, 1]], 1.0, [2]), "same positive number"),
    (lambda: pate.gnmax_rdp([[0, 0]], 1.0, [2]), "same positive number"),
    (lambda: pate.gnmax_rdp([[1.0, 2.0]], 1.0, [2]), "whole numbers"),
    (lambda: pate.gnmax_rdp([1, 2], 1.0, [2]), "shape"),
    (lambda: pate.gnmax_rdp([[1, 2]], 0.0, [2]), "sigma"),
    (lambda: pate.gnmax_rdp([[1, 2]], 1.0, [1.0]), "orders"),
    (lambda: pate.gnmax_distribution([[]], 1.0), "counts"),
    (lambda: pate.gnmax_distribution([[1, 2]], 0.0), "sigma"),
    (lambda: pate.lnmax_distribution([[0.5, 0.5]], 1.0), "counts"),
    (lambda: pate.lnmax_distribution([[1, 2]], math.inf), "scale"),
    (lambda: tails_of("quiet", 1.0), "noise"),
    (lambda: tails_of("secure", 0.0), "sigma"),
    (lambda: tails_of("secure", 1.0).log_pass_probability(0.5), "whole"),
    # GNMax's scale.
    (lambda: sigma(method="guess"), "method"),
    (lambda: sigma(method="exact"), "n_teachers"),
    (lambda: sigma(method="exact", n_teachers=11, n_classes=10), "n_classes"),
    (lambda: sigma(order_step=0.0), "order_step"),
    (lambda: sigma(order_max=10.0), "order_max"),
    (lambda: gnmax.label_probability(11, 0.0), "sigma"),
    # LNMax.
    (lambda: pate.lnmax_privacy([[1, -1]], 1.0, 1e-5), "at least 0"),
    (lambda: pate.lnmax_privacy([[1, 2]], math.nan, 1e-5), "scale"),
    (lambda: pate.lnmax_privacy([[1, 2]], 1.0, 1.0), "delta"),
    (lambda: pate.lnmax_privacy([[1, 2]], 1.0, 1e-5, conversion="x"), "conversion"),
    (lambda: lnmax.lnmax_independent_rdp(1.0, [2.0], bounds="x"), "bounds"),
    (lambda: pate.lnmax_rdp([[1, 2]], 1.0, [1.0]), "orders"),
    (lambda: lnmax.lnmax_matrix(0, 1.0), "n_teachers"),
    (lambda: lnmax.lnmax_matrix(3, 0.0), "scale"),
    # Rounds and what they cost for certain.
    (lambda: GaussianReleases(-1, 1.0, 1, 1.0), "thresholds"),
    (lambda: GaussianReleases(1, 0.0, 1, 1.0), "sigma"),
    (lambda: noisy_counts.data_independent_epsilon(1.0, 0.1, conversion="x"), "conversion"),
    (lambda: noisy_counts.exact_data_independent_epsilon(1.0, 1.0), "delta"),
    (lambda: confident_round([3, 1], 2, 1.0, 1.0), "counts"),
    (lambda: confident_round([[3, 1]], math.nan, 1.0, 1.0), "threshold"),
    (lambda: confident_round(COUNTS, 5.0, 0.0, 2.0), r"sigma = 0\.0"),
    (lambda: confident_round(COUNTS, 5.0, 3.0, 0.0), r"sigma = 0\.0"),
    (lambda: interactive_round([[3, 1]], [[0.5, 0.5, 0.0]], 1.0, 1.0, 1.0), "shape"),
    (lambda: interactive_round([[3, 1]], [[0.9, 0.3]], 1.0, 1.0, 1.0), "add up"),
    (lambda: interactive_round([[3, 1]], [[1.2, -0.2]], 1.0, 1.0, 1.0), ">= 0"),
    # What the sampler refuses has no account either.
    (lambda: interactive_round([[3, 1]], [[0.50005, 0.5]], 1.0, 1.0, 1.0), "add up"),
    (lambda: thresholds.check_scores([[0.50005, 0.5]], np.array([[3, 1]])), "add up"),
    (lambda: thresholds.check_scores(np.eye(2), COUNTS), r"scores: shape \(2, 2\) must be"),
    # What they cost as the paper has it.
    (lambda: compose_rounds([], 1e-5), "rounds"),
    (lambda: confident(delta=0.0), "delta"),
    (lambda: confident(conversion="x"), "conversion"),
    (lambda: confident(formula="x"), "formula"),
    (lambda: confident(tuning="x"), "tuning"),
    (lambda: confident(target_epsilon=0.0, tuning="rule_of_thumb"), "target_epsilon"),
    (lambda: confident(order=1.0), "orders"),
    (lambda: confident(beta=-0.1), "beta"),
    (lambda: confident(threshold=math.nan), "threshold"),
    (lambda: confident(answer_cap=-1, order=4.0), "labels"),
    (lambda: confident(counts=[[2, 2], [1, 2]]), "same positive number"),
    (lambda: CostCurve(0.0, 3.0, 3), "sigma"),
    (lambda: CostCurve(4.0, 3.0, 3, "loud"), "noise"),
    (lambda: SensitivityProfile([[1, 2]], CostCurve(1.0, 2.0, 3)), "classes"),
    (lambda: sanitize.gnss_rdp(1.0, 0.1, 1.0), "orders"),
    (lambda: sanitize.gnss_rdp(2.0, 0.1, 0.0), "sigma"),
    (lambda: sanitize.gnss_rdp(2.0, 0.1, 1.0, formula="x"), "formula"),
    (lambda: sanitize.largest_beta(2.0, formula="x"), "formula"),
    (lambda: sanitize.rule_of_thumb(2.0, 1e-5, beta=1.0), "beta"),
    (lambda: sanitize.appendix_b6(0.0, 1.0), "delta"),
    (lambda: sanitize.appendix_b6(1e-5, 0.0), "target_epsilon"),
    (lambda: corollary11(9, 0.0), "sigma"),
    (lambda: unanimous_condition(3, 1.0, 1.0), "orders"),
    (lambda: unanimous_condition(3, 1.0, 2.0, n_classes=1), "n_classes"),
]


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
