"""noise_scale, label_epsilon and what is exported: of one account, and never cheaper than it."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting import pld

from private_ensembles import label_loss_distribution
from private_ensembles.audit.divergence import exact_epsilon
from private_ensembles.audit.histograms import two_class_matrix, two_class_pairs
from private_ensembles.labels.gnmax import label_probability
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.noise_scale import label_epsilon, noise_scale
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from tests.instructions import needs_avx2, print_twice

BUDGET = {"epsilon": 1.0, "delta": 1e-4, "labels": 5, "teachers": 9}
LAWS = ("gnmax", "exponential", "permute_and_flip")


FEW = [("gnmax", 3), ("exponential", 2), ("permute_and_flip", 3)]
SIZES = [
    *FEW,
    *(
        pytest.param(*size, marks=pytest.mark.slow)
        for size in itertools.product(LAWS, (2, 3))
        if size not in FEW
    ),
]


@pytest.mark.parametrize(("law", "classes"), SIZES)
def test_the_scale_found_costs_the_budget(law, classes):
    scale = noise_scale(law, **BUDGET, classes=classes)
    size = {"delta": 1e-4, "labels": 5, "teachers": 9, "classes": classes}
    found = label_epsilon(law, scale, **size)
    # The search has its own grid: both are upper bounds of one number. Of three classes an
    # adversary is played against gnmax alone, who votes for two.
    least = 0.95 if classes == 2 else 0.85 if law == "gnmax" else 0
    assert least <= found.lower <= found.upper <= 1.001
    less = label_epsilon(law, scale / 2, **size)
    assert less.lower > 1.3 or not least
    assert less.upper > 1.3


def test_one_label_is_its_exact_audit():
    table = two_class_matrix(label_probability(7, 4.0))
    exact = exact_epsilon(table, two_class_pairs(7), 1e-3)
    found = label_epsilon("gnmax", 4.0, delta=1e-3, labels=1, teachers=7)
    assert found.lower <= exact * (1 + 1e-9)
    assert exact <= found.upper * (1 + 1e-9)
    assert found.upper - found.lower < 0.01 * exact


def test_better_analyses_need_less_noise():
    budget = {"epsilon": 1, "delta": 1e-5, "labels": 50, "teachers": 51}
    names = ("paper", "analytic", "label")
    paper, analytic, label = (noise_scale("gnmax", **budget, analysis=name) for name in names)
    assert label < analytic < paper


def test_laplace_noise_is_charged_as_published():
    budget = {"epsilon": 1, "delta": 1e-5, "labels": 50, "teachers": 51}
    scale = noise_scale("lnmax", **budget, analysis="paper")
    for classes in (2, 3):
        found = label_epsilon("lnmax", scale, delta=1e-5, labels=50, teachers=51, classes=classes)
        assert found.lower <= found.upper <= 1
    with pytest.raises(ValueError, match="analysis = 'label': must be one of paper"):
        noise_scale("lnmax", **budget)


def test_the_scale_is_the_mechanism_s():
    task = Task(Ensemble(9, 2), Budget(1.0, 1e-4), Wanted(5))
    assert noise_scale("gnmax", **BUDGET) == load_mechanism("gnmax_exact").calibrate(task).sigma


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"mechanism": "gaussian"}, "mechanism = 'gaussian': must be one of gnmax, lnmax"),
        ({"analysis": "rdp"}, "analysis = 'rdp': must be one of paper, analytic"),
        ({"mechanism": "exponential", "analysis": "paper"}, "must be one of label"),
        ({"labels": 20_000}, "for at most 10,000 labels"),
        ({"delta": 0.0}, "delta = 0.0"),
    ],
)
def test_bad_values_of_noise_scale(change, says):
    given = {"mechanism": "gnmax", **BUDGET} | change
    with pytest.raises(ValueError, match=says):
        noise_scale(given.pop("mechanism"), **given)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_bad_scales(scale):
    with pytest.raises(ValueError, match=r"scale = .*: must be a finite number > 0"):
        label_epsilon("gnmax", scale, delta=1e-4, labels=5, teachers=9)


@pytest.mark.parametrize(("law", "classes"), SIZES)
def test_units_of_several_shards_need_more_noise(law, classes):
    size = {"delta": 1e-4, "labels": 5, "teachers": 9, "classes": classes}
    scales = [noise_scale(law, **BUDGET, classes=classes, reach=reach) for reach in (1, 3)]
    assert scales[0] == noise_scale(law, **BUDGET, classes=classes)
    # Of few teachers, votes that move soon are most of those that there are.
    assert scales[0] < scales[1] <= 3.02 * scales[0]
    for reach, scale in zip((1, 3), scales, strict=True):
        found = label_epsilon(law, scale, **size, reach=reach)
        assert found.upper <= 1.001
        if classes == 2:
            assert found.lower > 0.95
    assert label_epsilon(law, scales[0], **size, reach=2).upper > 1.5


@pytest.mark.parametrize("reach", [0, 10, 1.5])
def test_a_reach_that_no_unit_has_is_refused(reach):
    with pytest.raises(ValueError, match="reach"):
        noise_scale("gnmax", **BUDGET, reach=reach)


CASES = [
    ("gnmax", 19.5, {"labels": 20, "teachers": 51}),
    ("gnmax", 8.0, {"labels": 10, "teachers": 30, "classes": 4}),
    ("exponential", 7.474, {"labels": 100, "teachers": 11}),
    ("lnmax", 20.0, {"labels": 40, "teachers": 30, "classes": 3}),
    ("permute_and_flip", 20.0, {"labels": 40, "teachers": 30, "classes": 3}),
    ("gnmax", 39.0, {"labels": 20, "teachers": 51, "reach": 2}),
]


@pytest.mark.parametrize(("mechanism", "scale", "sizes"), CASES)
def test_what_is_exported_costs_no_less_than_the_labels_and_little_more(mechanism, scale, sizes):
    bounds = label_epsilon(mechanism, scale, delta=1e-5, **sizes)
    # Losses are rounded up to whole intervals, and a whole curve gathers its pairs by the orders
    # that decide at its far end, not at this delta.
    interval = 1e-3
    whole = label_loss_distribution(mechanism, scale, **sizes, interval=interval)
    most = bounds.upper * 1.004 + interval
    assert bounds.lower <= whole.get_epsilon_for_delta(1e-5) <= most


def test_labels_compose_with_dp_sgd_in_one_total():
    sgd = pld.privacy_loss_distribution.from_gaussian_mechanism(
        2.0, value_discretization_interval=1e-3, sampling_prob=0.01
    ).self_compose(500)
    labels = label_loss_distribution("gnmax", 19.5, labels=20, teachers=51, interval=1e-3)
    both = labels.compose(sgd).get_epsilon_for_delta(1e-5)
    alone = [each.get_epsilon_for_delta(1e-5) for each in (labels, sgd)]
    assert max(alone) < both < sum(alone)


def test_what_is_out_of_range_is_refused_in_one_line():
    good = {"labels": 5, "teachers": 11}
    with pytest.raises(ValueError, match="mechanism"):
        label_loss_distribution("laplace", 1.0, **good)
    with pytest.raises(ValueError, match="scale"):
        label_loss_distribution("gnmax", 0.0, **good)
    with pytest.raises(ValueError, match="labels"):
        label_loss_distribution("gnmax", 1.0, labels=0, teachers=11)


def test_the_scale_of_a_rate_is_its_inverse_rounded_up():
    """One label of three classes has the rate epsilon / 2."""
    budget = {"delta": 1e-4, "labels": 1, "teachers": 9, "classes": 3}
    for epsilon in np.random.default_rng(3).uniform(0.1, 5, 40).tolist():
        for law in ("exponential", "permute_and_flip"):
            scale = Fraction(noise_scale(law, epsilon=epsilon, **budget))
            exact = 2 / Fraction(epsilon)
            assert exact <= scale <= exact * (1 + Fraction(1, 10**9))


SCALES = """
import itertools, json
from private_ensembles import noise_scale

budget = {"epsilon": 1, "delta": 1e-5, "labels": 20, "teachers": 51}
names = ("gnmax", "lnmax", "exponential", "permute_and_flip")
for name, classes in itertools.product(names, (2, 10)):
    analysis = "paper" if name == "lnmax" else "label"
    print(name, classes, noise_scale(name, classes=classes, analysis=analysis, **budget).hex())
"""


@needs_avx2
def test_scales_of_noise_do_not_depend_on_the_processor_s_instructions(root):
    """Last bits decided to which others the exponential mechanism joined a pair."""
    usual, oldest = print_twice(root, SCALES)
    assert len(usual.splitlines()) == 8
    assert usual == oldest
