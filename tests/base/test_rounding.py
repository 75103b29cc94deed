"""Whatever promises a bound keeps it in floating point: against sixty digits, at random arguments.

`promises.py` is the table: a sampler and an exact value for each such function. The last tests here
see to it that the table is complete.
"""

import ast
import functools
import importlib
import re
import zlib
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import private_ensembles
from private_ensembles.base.rounding import (
    ELEMENTARY,
    UNIT_ROUNDOFF,
    Ball,
    log_sum,
    normal_error,
    round_float_down,
    round_float_up,
)
from tests.accounting.promises import DIGITS, PROMISES

HOUSE = Path(private_ensembles.__file__).parent
DRAWS = 120
# Where an exact value takes long: all strategies of an adversary, a search of sigma.
CURVE = ("delta", "epsilon", "least_epsilon")
FEWER = {
    "accounting.adaptive_composition.account:adaptive_epsilon": 20,
    "accounting.adaptive_composition.counts_and_labels:joint_epsilon": 20,
    **dict.fromkeys(
        (f"accounting.adaptive_composition.account:PrivacyCurve.{name}" for name in CURVE), 30
    ),
    "labels.gnmax:gnmax_sigma": 20,
    "accounting.trade_off:least_mu": 40,
}
# A bound is worth little if it is far away.
CLOSE = mpf(10) ** -6


def function(name):
    """The function, or the property, that an entry is about."""
    module, _, path = name.partition(":")
    found = importlib.import_module(f"private_ensembles.{module}")
    return functools.reduce(getattr, path.split("."), found)


@pytest.mark.parametrize("name", PROMISES)
def test_the_bound_holds_against_sixty_digits(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    broken = []
    with mpmath.workdps(DIGITS):
        for _ in range(FEWER.get(name, DRAWS)):
            for larger, smaller, *close in PROMISES[name](rng, function(name)):
                larger, smaller = mpf(larger), mpf(smaller)
                if larger < smaller:
                    broken.append(float((smaller - larger) / max(abs(smaller), abs(larger))))
                elif close != [False]:
                    assert larger - smaller <= CLOSE * max(abs(smaller), abs(larger))
    assert not broken, f"{len(broken)} pairs, by up to {max(broken):.2g} of the value"


# Rooms that work out what something costs, and what in them, or above them, hands it on.
ACCOUNTS = ("accounting", "audit", "labels", "papers", "training/teachers")
HANDS_ON = re.compile(
    r"labels\.(noise_scale|scores|planner\..*)|papers\.(?!.*\.mathematics\.|darrm).*"
)
# A docstring that says one of these makes a promise.
PROMISE = re.compile(r"rounded (up|down)|(upper|lower) bound\b", re.IGNORECASE)
DARRM, DPBAG = (f"tests/papers/{paper}/mathematics/" for paper in ("darrm", "dpbag"))
TEACHERS = "tests/training/teachers/"
# Where a promise is kept by another entry, or held against exact values by a test of its own.
CERTIFIED = f"{DARRM}test_certificate.py::test_certificate_bounds_the_exact_worst_cost_and_no_more"
ALLOWED = f"{DARRM}test_privacy_cost.py::test_what_is_rounded_is_rounded_against_us"
LOOSER = f"{DARRM}test_worst_case.py::test_looser_bounds_are_never_below_the_exact_one"
PLAIN = f"{DPBAG}test_label_loss.py::test_no_votes_of_several_queries_lose_more_than_is_claimed"
TEACHER = f"{TEACHERS}test_accounting.py::test_unsampled_single_step_is_the_gaussian_mechanism"
GROUP = f"{TEACHERS}test_accounting.py::test_group_privacy_of_one_gaussian_step_is_its_closed_form"
MIXTURE = (
    "tests/accounting/adaptive_composition/test_gaussian_maximum.py::"
    "test_what_lies_between_nodes_is_below_their_mixture"
)
DOMINATED = (
    "tests/accounting/adaptive_composition/test_dominating_pairs.py::"
    "test_no_neighbours_do_more_to_a_convex_function_than_the_pairs"
)
DISCRETE = "tests/accounting/test_discrete_gaussian.py::test_delta_is_the_sum_over_all_outcomes"
TAILS = "tests/accounting/test_discrete_gaussian.py::test_log_tails_hold_however_far_out"
ORDERS = (
    "tests/accounting/test_zero_concentrated.py::"
    "test_no_order_costs_more_and_rho_is_hardly_more_than_the_dearest"
)
ONE_PAIR = (
    "tests/accounting/adaptive_composition/test_bounded_range.py::"
    "test_both_bounds_hold_the_best_composition_that_is_not_adaptive"
)
TOGETHER = "tests/accounting/adaptive_composition/"
BETWEEN_NODES = "test_a_curve_between_nodes_lies_below_the_mixture_of_those_around_it"
ELSEWHERE = {
    "accounting.adaptive_composition.whole_curve:WholeCurve": (
        f"{TOGETHER}test_whole_curve.py::test_it_is_above_every_adversary_and_close"
    ),
    "accounting.adaptive_composition.bounded_range:least_epsilon": ONE_PAIR,
    "accounting.adaptive_composition.bounded_range:_repeated_pair_epsilon": ONE_PAIR,
    "accounting.adaptive_composition.dominating_pairs:DominatingPairs": MIXTURE,
    "accounting.adaptive_composition.counts_and_labels:_count_divergences": (
        "accounting.adaptive_composition.counts_and_labels:joint_epsilon"
    ),
    "accounting.adaptive_composition.dominating_pairs:PessimisticPairs": DOMINATED,
    "accounting.adaptive_composition.dominating_pairs:bounded_range_pairs": DOMINATED,
    "accounting.adaptive_composition.dominating_pairs:pure_pair": DOMINATED,
    "accounting.privacy_loss_distribution:PrivacyLossDistribution.delta": (
        "accounting.budgets:pld_epsilon"
    ),
    "accounting.privacy_loss_distribution:PrivacyLossDistribution.epsilon": (
        "accounting.budgets:pld_epsilon"
    ),
    "accounting.privacy_loss_distribution:compose": "accounting.budgets:pld_epsilon",
    "accounting.discrete_gaussian:Law.lower_tail": DISCRETE,
    "accounting.discrete_gaussian:Law.upper_tail": DISCRETE,
    "accounting.discrete_gaussian:DiscreteGaussianCounts.delta": DISCRETE,
    "accounting.discrete_gaussian:delta": DISCRETE,
    "accounting.discrete_gaussian:log_tail": TAILS,
    "accounting.discrete_gaussian:log_overtakes": TAILS,
    "papers.pate.mathematics.tails:LatticeTails": TAILS,
    "accounting.discrete_gaussian:epsilon": DISCRETE,
    "accounting.zero_concentrated:least_rho": ORDERS,
    "accounting.gaussian:hockey_stick_divergence": "labels.gnmax:analytic_epsilon",
    "accounting.gaussian:gaussian_delta": "labels.gnmax:analytic_epsilon",
    "audit.api:Audited": "audit.divergence:exact_epsilon",
    "audit.bounds:epsilon_bounds": "audit.divergence:exact_epsilon",
    "audit.histograms:leading_pairs": "audit.divergence:exact_epsilon",
    "audit.shared_data:_sides": "audit.shared_data:shared_data_curve",
    "papers.darrm.mathematics.certificate:Certificate": CERTIFIED,
    "papers.dpbag.mathematics.label_loss:plain_epsilon": PLAIN,
    "papers.darrm.mathematics.privacy_cost:PrivacyProblem.c": ALLOWED,
    "papers.darrm.mathematics.privacy_cost:PrivacyProblem.allowance": ALLOWED,
    "papers.darrm.mathematics.worst_case:WorstCase": LOOSER,
    "papers.darrm.mathematics.worst_case:series_worst_case": LOOSER,
    "papers.darrm.accounts:OptimisedAccount.allowance": CERTIFIED,
    "audit.audited_labels:AuditedLabel.epsilon_lower_bound": "audit.divergence:exact_epsilon",
    "audit.audited_labels:AuditedLabel.worst_inputs": "audit.divergence:exact_epsilon",
    "audit.audited_labels:AuditedLabel.curve": "audit.divergence:delta_curve",
    "labels.accounts.label:joint_cost": "accounting.adaptive_composition.account:adaptive_epsilon",
    "papers.pate.mathematics.smooth_sensitivity:SensitivityProfile.smooth_lower_bound": (
        "tests/papers/pate/mathematics/test_smooth_sensitivity.py::"
        "test_what_is_known_so_far_is_no_more_than_the_smooth_sensitivity"
    ),
    "labels.parameters:Cost": "accounting.label_composition:total_label_epsilon",
    "labels.noisy_counts:rho_to_epsilon": "labels.noisy_counts:data_independent_epsilon",
    "papers.nzc.mathematics.claims_and_truth:lead_one_epsilon": "audit.divergence:exact_epsilon",
    "labels.laws.selection:truncate_rate": "tests/labels/laws/test_secure_selection.py::"
    "test_exponents_are_exact_for_all_counts",
    "papers.pate.mathematics.rdp:log_of_union_bound": "papers.pate.mathematics.rdp:gnmax_log_q",
    "training.teachers.accounting:_noise_per_norm": f"{TEACHERS}test_accounting.py::"
    "test_all_but_the_papers_accountant_allow_for_norms_that_rounding_leaves_above_one",
    "training.teachers.accounting:epsilon_prv": TEACHER,
    "training.teachers.accounting:epsilon_group": GROUP,
    "training.teachers.accounting:epsilon_pld": TEACHER,
    "training.teachers.accounting:epsilon_rdp": TEACHER,
    "training.teachers.accounting:teacher_costs": TEACHER,
    "training.teachers.sampled_gaussian:composed_epsilon": f"{TEACHERS}test_sampled_gaussian.py::"
    "test_without_sampling_many_steps_are_one_gaussian",
}
# Bounds of which the text speaks, and no float that is returned.
SPOKEN_OF = (
    "papers.darrm.mathematics.error:expected_error_estimate",
    "papers.pate.mathematics.small_print:corollary11",
)


def promising():
    """module:function of every docstring that promises a bound."""
    paths = (path for package in ACCOUNTS for path in (HOUSE / package).rglob("*.py"))
    for path in sorted(paths):
        module = ".".join(path.relative_to(HOUSE).with_suffix("").parts)
        if HANDS_ON.fullmatch(module):
            continue
        for name, node in _definitions(ast.parse(path.read_text()), ""):
            if PROMISE.search(" ".join((ast.get_docstring(node) or "").split())):
                yield f"{module}:{name}"


def _definitions(node, prefix):
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield prefix + child.name, child
            yield from _definitions(child, f"{prefix}{child.name}.")


@pytest.mark.parametrize(
    "operation", ["add", "multiply", "divide", "sqrt", "exp", "expm1", "log", "log1p"]
)
def test_a_ball_holds_every_result_of_the_numbers_in_it(operation):
    rng = np.random.default_rng(zlib.crc32(operation.encode()))
    middles = 10 ** rng.uniform(-8, 2, (2, 400)) * rng.choice([-1, 1], (2, 400))
    if operation in ("sqrt", "log", "log1p"):
        middles = abs(middles)
    radii = abs(middles) * 10 ** rng.uniform(-18, -2, middles.shape)
    first, second = (Ball(m, r) for m, r in zip(middles, radii, strict=True))
    ours, exact = {
        "add": lambda: (first + second, lambda a, b: a + b),
        "multiply": lambda: (first * second, lambda a, b: a * b),
        "divide": lambda: (first / second, lambda a, b: a / b),
        "sqrt": lambda: (first.sqrt(), lambda a, b: mpmath.sqrt(a)),
        "exp": lambda: (first.exp(), lambda a, b: mpmath.exp(a)),
        "expm1": lambda: (first.expm1(), lambda a, b: mpmath.expm1(a)),
        "log": lambda: (first.log(), lambda a, b: mpmath.log(a)),
        "log1p": lambda: (first.log1p(), lambda a, b: mpmath.log1p(a)),
    }[operation]()
    with mpmath.workdps(DIGITS):
        for k in range(middles.shape[1]):
            for signs in np.vstack([rng.choice([-1, 1], (3, 2)), [[0, 0]]]):
                a, b = (mpf(middles[i, k]) + int(signs[i]) * mpf(radii[i, k]) for i in (0, 1))
                assert mpf(ours.lower[k]) <= exact(a, b) <= mpf(ours.upper[k])


def test_a_ball_knows_where_nothing_is_known():
    with np.errstate(all="ignore"):
        around_zero = Ball(1e-3, 2e-3)
        for lost in (1 / around_zero, around_zero.log(), around_zero.sqrt(), Ball(800.0).exp()):
            assert np.isposinf(lost.upper)


def test_a_sum_of_exponentials_neither_overflows_nor_loses_digits():
    for a, b in ((900.0, 880.0), (-900.0, -900.5), (1e-9, -40.0), (-1.0, -0.4586751453870819)):
        found = log_sum(Ball(a), Ball(b))
        with mpmath.workdps(500):
            exact = mpmath.log(mpmath.exp(mpf(a)) + mpmath.exp(mpf(b)))
            assert mpf(float(found.lower)) <= exact <= mpf(float(found.upper))
        assert found.upper - found.lower < 1e-11


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p"])
def test_numpy_is_as_exact_as_is_granted(name):
    """Here; on other machines the bound is NumPy's own (docs/rounding.md)."""
    rng = np.random.default_rng(7)
    arguments = 10 ** rng.uniform(-8, 2.5, 4000) * (1 if name.startswith("log") else -1)
    ours = getattr(np, name)(arguments)
    with mpmath.workdps(40):
        exact = [getattr(mpmath, name)(mpf(x)) for x in arguments.tolist()]
        worst = max(abs(mpf(o) / e - 1) for o, e in zip(ours.tolist(), exact, strict=True))
    assert worst < ELEMENTARY / 4


def test_every_promise_is_in_the_table():
    known = {*PROMISES, *ELSEWHERE, *SPOKEN_OF}
    assert [name for name in promising() if name not in known] == []


def test_what_is_kept_elsewhere_exists():
    for name, where in ELSEWHERE.items():
        function(name)
        if "::" in where:
            path, _, test = where.partition("::")
            assert f"def {test}(" in (HOUSE.parents[1] / path).read_text(), where
        else:
            assert where in PROMISES, where


def test_bounds_of_a_list_are_those_of_its_numbers():
    for bound in (round_float_up, round_float_down):
        assert bound([1.0, 3.0], 9).tolist() == [bound(1.0, 9), bound(3.0, 9)]


def test_a_ball_s_logarithm_of_more_than_one_is_known():
    found = Ball(5.0, 1e-3).log1p()
    assert float(found.upper - found.lower) < 1e-3


def test_a_roundoff_is_what_one_operation_can_lose():
    """Half way between 1 and the next float, where rounding to even loses most."""
    exact = 1 + Fraction(1, 2**53)
    lost = (exact - Fraction(1.0 + 2.0**-53)) / exact
    assert lost <= Fraction(UNIT_ROUNDOFF) <= lost * (1 + Fraction(1, 2**50))


def test_rounding_of_a_tail_grows_with_its_square_as_far_as_tails_reach():
    assert normal_error(0) == 1e-12
    assert normal_error(10) == pytest.approx(101e-12)
    assert normal_error(1e9) == normal_error(40)
