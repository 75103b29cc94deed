"""Labels of sampled voters against all neighbours, all samples and all adaptive adversaries."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.accounting.adaptive.account import adaptive_epsilon, curve
from private_ensembles.accounting.adaptive.sampled import (
    MOST_LISTED,
    lead_chances,
    sampled_bounds,
    sampled_family,
    sampled_fineness,
)
from private_ensembles.accounting.adaptive.scales import grid_fineness
from private_ensembles.api.noise import label_epsilon

from ..adversaries import exact_value, power
from .sampled_voters import neighbours

# law, scale, rate, voters, classes, adjacency, nearest, labels
CASES = [
    ("exponential", 0.7, 0.5, 3, 2, "replace_one", None, 3),
    ("exponential", 0.4, 0.2, 4, 2, "replace_one", None, 2),
    ("exponential", 0.7, 0.3, 3, 2, "add_remove", None, 3),
    ("exponential", 0.7, 0.5, 3, 3, "replace_one", None, 2),
    ("exponential", 0.5, 0.1, 2, 3, "replace_one", None, 3),
    ("exponential", 0.7, 0.3, 3, 3, "add_remove", None, 2),
    ("exponential", 0.7, 0.3, 2, 4, "add_remove", None, 3),
    ("exponential", 0.7, 0.4, 3, 2, "add_remove", 2, 2),
    ("exponential", 0.7, 0.4, 3, 3, "add_remove", 1, 2),
    ("exponential", 0.7, 1.0, 3, 3, "replace_one", None, 2),
    ("gnmax", 1.0, 0.5, 3, 2, "replace_one", None, 3),
    ("gnmax", 0.6, 0.2, 4, 2, "replace_one", None, 2),
    ("gnmax", 1.0, 0.3, 3, 2, "add_remove", None, 3),
    ("gnmax", 1.0, 0.5, 3, 3, "replace_one", None, 2),
    ("gnmax", 0.5, 0.2, 2, 3, "replace_one", None, 3),
    ("gnmax", 1.0, 0.3, 3, 3, "add_remove", None, 2),
    ("gnmax", 1.0, 0.3, 2, 4, "add_remove", None, 3),
    ("gnmax", 1.0, 0.4, 3, 2, "add_remove", 2, 2),
    ("gnmax", 1.0, 0.4, 3, 3, "add_remove", 2, 2),
    ("gnmax", 1.0, 1.0, 2, 3, "add_remove", None, 2),
]
EPSILONS = (0.0, 0.2, 0.7, 1.5)


def claimed_curve(law, scale, rate, voters, classes, adjacency, nearest, labels, delta=1e-3):
    options = {"rate": rate, "teachers": voters, "classes": classes, "adjacency": adjacency}
    family = sampled_family(law, scale, nearest=nearest, **options)
    fineness = sampled_fineness(family, labels)
    return curve(family, labels, max(EPSILONS), delta, fineness=fineness)


def exact_deltas(law, scale, rate, voters, classes, adjacency, nearest, labels):
    pairs = neighbours(law, scale, rate, voters, classes, adjacency, nearest)
    return [float(exact_value(pairs, labels, power(epsilon)[1])) for epsilon in EPSILONS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_no_adversary_is_above_the_claim(case):
    """All neighbours, all samples, all adaptive strategies. The lower bound is never above them."""
    found, exact = claimed_curve(*case), exact_deltas(*case)
    for epsilon, delta in zip(EPSILONS, exact, strict=True):
        assert delta <= found.delta(epsilon) * (1 + 1e-9)
        if case[6] is None:  # else the lower bound's adversary need not exist
            assert found.least_delta(epsilon) <= delta * (1 + 1e-6) + 1e-12
    # Two classes, one of whom votes differently: all pairs are listed, and nothing is lost.
    if case[4] == 2 and case[5] == "replace_one":
        assert found.delta(0.2) <= exact[1] * 1.01


@pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[10], CASES[11]])
def test_five_per_cent_less_noise_is_caught(case):
    law, scale, *others = case
    found, twin = claimed_curve(*case), exact_deltas(law, 0.95 * scale, *others)
    assert twin[1] > found.delta(EPSILONS[1])


@pytest.mark.parametrize("nearest", [None, 7])
@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("law", ["gnmax", "exponential"])
def test_cost_rises_with_the_rate_and_falls_with_the_noise(law, classes, adjacency, nearest):
    if nearest and adjacency == "replace_one":
        return

    def upper(scale, rate):
        options = {"teachers": 40, "classes": classes, "adjacency": adjacency, "nearest": nearest}
        family = sampled_family(law, scale, rate=rate, **options)
        return sampled_bounds(family, 30, 1e-5, fineness=sampled_fineness(family, 30)).upper

    spent = [upper(6.0, rate) for rate in (1e-9, 0.05, 0.2, 0.6)]
    assert spent[0] == 0
    assert spent == sorted(spent)
    assert upper(5.7, 0.2) > spent[2]


@pytest.mark.parametrize("classes", [2, 10])
@pytest.mark.parametrize(("law", "scale"), [("gnmax", 15.0), ("exponential", 12.0)])
def test_if_all_are_sampled_it_is_the_account_of_all_voters(law, scale, classes):
    sizes = {"teachers": 51, "classes": classes}
    family = sampled_family(law, scale, rate=1.0, adjacency="replace_one", **sizes)
    found = adaptive_epsilon(family, 50, 1e-5, fineness=grid_fineness(classes, 50))
    whole = label_epsilon(law, scale, delta=1e-5, labels=50, **sizes)
    assert found.upper == pytest.approx(whole.upper, rel=2e-3)
    assert found.lower <= whole.upper
    assert whole.lower <= found.upper
    # A vote that moves is one that goes and one that comes.
    moved = sampled_family(law, scale, rate=1.0, adjacency="add_remove", nearest=51, **sizes)
    of_moved = adaptive_epsilon(moved, 50, 1e-5, fineness=grid_fineness(classes, 50))
    assert of_moved.upper == pytest.approx(whole.upper, rel=5e-3)  # on another grid


@pytest.mark.parametrize("law", ["gnmax", "exponential"])
def test_more_voters_than_are_listed_cost_what_the_bound_for_many_classes_says(law):
    """And the exact table is below that bound, which gives away the sample of the others."""
    options = {"rate": 0.1, "classes": 2, "adjacency": "replace_one"}

    def upper(teachers):
        family = sampled_family(law, 5.0, teachers=teachers, **options)
        return sampled_bounds(family, 100, 1e-5, fineness=4.0).upper

    exact, bounded = upper(200), upper(MOST_LISTED + 1)
    assert exact < bounded


def test_the_leads_of_a_sample_are_those_of_two_binomial_laws():
    found = lead_chances(0.25, 4)
    for votes in range(5):
        for lead in range(-4, 5):
            exact = sum(
                Fraction(
                    math.comb(votes, up)
                    * math.comb(4 - votes, up - lead)
                    * 3 ** (4 - 2 * up + lead)
                )
                / 4**4
                for up in range(votes + 1)
                if 0 <= up - lead <= 4 - votes
            )
            assert found[votes, lead + 4] == pytest.approx(float(exact), rel=1e-14, abs=0)
    assert np.allclose(found.sum(axis=1), 1)


def test_an_epsilon_far_from_that_of_pairs_that_exist_is_found():
    options = {"rate": 0.05, "teachers": 250, "classes": 10, "adjacency": "add_remove"}
    family = sampled_family("gnmax", 1.0363, **options)
    assert 0.5 < sampled_bounds(family, 1, 1e-5, fineness=8.0).upper < 1.5


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"law": "lnmax"}, "law = 'lnmax': must be one of gnmax, exponential"),
        ({"adjacency": "both"}, "adjacency = 'both': must be one of add_remove, replace_one"),
        ({"rate": 0.0}, "rate = 0.0: must be in (0, 1]"),
        ({"scale": 0.0}, "scale = 0.0: must be a finite number > 0"),
        ({"teachers": 0}, "teachers = 0: must be an integer >= 1"),
        ({"classes": 1}, "classes = 1: must be an integer >= 2"),
        ({"nearest": 6}, "nearest = 6: must be an integer >= 1 and <= 5"),
        ({"nearest": 2, "adjacency": "replace_one"}, "must be add_remove where only the nearest"),
    ],
)
def test_what_is_refused(changed, message):
    options = {"law": "gnmax", "scale": 1.0, "rate": 0.5, "teachers": 5, "classes": 2}
    options |= {"adjacency": "add_remove"} | changed
    with pytest.raises(ValueError, match=re.escape(message)):
        sampled_family(options.pop("law"), options.pop("scale"), **options)
