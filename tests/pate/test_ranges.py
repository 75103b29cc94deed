"""The ends of what each function of PATE's takes: just beyond, it refuses."""

import math

import numpy as np
import pytest

from private_ensembles.pate import (
    consensus,
    data_independent,
    gnmax,
    rdp,
    rounds,
    sanitize,
    small_print,
)
from private_ensembles.pate.confident import confident_gnmax_privacy
from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.lnmax_accounting import (
    lnmax_independent_rdp,
    lnmax_log_q,
    lnmax_privacy,
    lnmax_rdp_of_log_q,
)
from private_ensembles.pate.lnmax_quadrature import check_scale
from private_ensembles.pate.release_accounting import choose_publication, release_privacy
from private_ensembles.pate.smooth_sensitivity import SensitivityProfile
from tests.ranges import NOT_POSITIVE, NOT_WITHIN_0_1, OUTSIDE_0_1, check_ends

COUNTS = np.array([[190, 6, 4], [120, 50, 30]])
ONE = rounds.confident_round(COUNTS, 150.0, 100.0, 20.0)
ORDERS = (1.0, 0.5, math.inf, math.nan), (1 + 1e-9, 500.0)
CURVE = CostCurve(20.0, 4.0, 3)
CONFIDENT, QUICKLY = (COUNTS, 150.0, 100.0, 20.0, 1e-5), {"order": 4.0, "beta": 0.05}


def released(confidence):
    return release_privacy(
        ONE, 1e-5, np.random.default_rng(0), report="data_independent", confidence=confidence
    )


RANGES = {
    "sigma": (gnmax.check_sigma, NOT_POSITIVE, (1e-9,)),
    "scale": (check_scale, NOT_POSITIVE, (1e-9,)),
    "orders": (rdp.check_orders, *ORDERS),
    "votes": (lambda x: rdp.check_counts([[x, 2]]), (-1, 0.5, -2), (0, 1)),
    "teachers": (lambda x: rdp.check_counts([[x, 0]]), (0,), (1,)),
    "gnmax_rdp_of_log_q": (
        lambda x: rdp.gnmax_rdp_of_log_q([x], 5.0, [2.0]),
        (1e-9, math.nan),
        (0.0, -1.0),
    ),
    "lnmax_rdp_of_log_q": (
        lambda x: lnmax_rdp_of_log_q([x], 5.0, [2.0]),
        (1e-9, math.nan),
        (0.0, -1.0),
    ),
    "lnmax_log_q": (lambda x: lnmax_log_q(COUNTS, x), NOT_POSITIVE, (1.0,)),
    "lnmax_independent_rdp": (
        lambda x: lnmax_independent_rdp(x, [2.0]),
        NOT_POSITIVE,
        (1.0,),
    ),
    "lnmax_privacy": (lambda x: lnmax_privacy(COUNTS, 5.0, x), NOT_WITHIN_0_1, (0.5,)),
    "search_sigma, epsilon": (
        lambda x: gnmax.search_sigma(x, 1e-5, method="analytic"),
        NOT_POSITIVE,
        (1.0,),
    ),
    "search_sigma, delta": (
        lambda x: gnmax.search_sigma(1.0, x, method="analytic"),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "search_sigma, classes": (
        lambda x: gnmax.search_sigma(1.0, 1e-5, method="analytic", n_classes=x),
        (1, 0),
        (2, 3),
    ),
    "search_sigma, teachers": (
        lambda x: gnmax.search_sigma(1.0, 1e-2, method="exact", n_teachers=x),
        (0, -1, 2, None),
        (1, 3),
    ),
    "search_sigma, classes of the exact way": (
        lambda x: gnmax.search_sigma(1.0, 1e-2, method="exact", n_teachers=1, n_classes=x),
        (1, 3),
        (2,),
    ),
    "analytic_epsilon, labels": (
        lambda x: gnmax.analytic_epsilon(5.0, 1e-5, labels=x),
        (0, -1, 1.5),
        (1, 2),
    ),
    "order_grid": (
        lambda x: gnmax.order_grid(1.0, 1e-5, method="rdp", order_max=20.0, order_step=x),
        (0.0, -1.0, math.nan),
        (0.5,),
    ),
    "order_grid, the largest": (
        lambda x: gnmax.order_grid(1.0, 1e-5, method="rdp", order_max=x, order_step=0.5),
        (math.inf, math.nan),
        (1.0, 20.0),
    ),
    "sigma_curve": (lambda x: gnmax.sigma_curve(1.0, 1e-5, [x]), (1.0, 0.5, math.nan), (1.5,)),
    "label_probability": (
        lambda x: gnmax.label_probability(x, 1.0),
        (0, -1, 1.5),
        (1, 2),
    ),
    "Releases, labels": (
        lambda x: data_independent.Releases(0, None, x, 1.0),
        (-1, 0.5),
        (0, 1),
    ),
    "data_independent_epsilon": (
        lambda x: data_independent.data_independent_epsilon(x, 1e-5),
        (-1e-9, math.inf, math.nan),
        (0.0, 0.1),
    ),
    "data_independent_epsilon, delta": (
        lambda x: data_independent.data_independent_epsilon(0.1, x),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "exact_data_independent_epsilon": (
        lambda x: data_independent.exact_data_independent_epsilon(x, 1e-5),
        (-1e-9, math.inf, math.nan),
        (0.0, 0.1),
    ),
    "gnss_terms": (lambda x: sanitize.gnss_terms(4.0, x), (0.0, -1.0, math.nan), (1e-9,)),
    "rule_of_thumb": (lambda x: sanitize.rule_of_thumb(4.0, x), NOT_WITHIN_0_1, (0.5,)),
    "guessed_order": (lambda x: sanitize.guessed_order(x, 1.0), NOT_WITHIN_0_1, (0.5,)),
    "guessed_order, epsilon": (lambda x: sanitize.guessed_order(0.1, x), NOT_POSITIVE, (1.0,)),
    "appendix_b6": (
        lambda x: sanitize.appendix_b6(1e-5, 1.0, factor=x),
        (1.999, 4.001, math.nan),
        (2.0, 4.0),
    ),
    "confidence of a student": (consensus.check_confidence, OUTSIDE_0_1, (0.0, 1.0)),
    "threshold": (consensus.check_threshold, (math.inf, -math.inf, math.nan), (0.0, -5.0)),
    "cap": (lambda x: consensus.check_cap("cap", x), (-1, 0.5, True), (0, 1, None)),
    "scores": (
        lambda x: consensus.check_scores(np.array([[x, 1 - x]]), np.array([[1, 1]])),
        (-1e-9, 1 + 1e-9, math.nan),
        (0.0, 1.0),
    ),
    "CostCurve, classes": (lambda x: CostCurve(20.0, 4.0, x), (1, 0), (2,)),
    "CostCurve, order": (lambda x: CostCurve(20.0, x, 2), *ORDERS),
    "smooth": (
        lambda x: SensitivityProfile(COUNTS, CURVE).smooth(x),
        (0.0, -1.0, math.nan),
        (0.1,),
    ),
    "weights": (
        lambda x: SensitivityProfile(COUNTS, CURVE, [x, 1.0]),
        (-1e-9, math.nan),
        (0.0, 1.0),
    ),
    "corollary11, gap": (
        lambda x: small_print.corollary11(x, 1.0),
        (4.0, 3.0, math.inf, math.nan),
        (4.1,),
    ),
    "corollary11, rivals": (
        lambda x: small_print.corollary11(8.0, 1.0, rivals=x),
        (0, -1, 1.5),
        (1, 2),
    ),
    "unanimous_condition": (
        lambda x: small_print.unanimous_condition(x, 5.0, 2.0),
        (0, -1, 1.5),
        (1, 2),
    ),
    "release_privacy": (released, NOT_WITHIN_0_1, (0.5,)),
    "choose_publication": (
        lambda x: choose_publication(ONE, 1e-5, order=4.0, sigma_log=x),
        NOT_POSITIVE,
        (1.0,),
    ),
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


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
