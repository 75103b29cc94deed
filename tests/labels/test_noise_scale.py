"""noise_scale and label_epsilon: two ways of one account, and the mechanisms' own calibrations."""

import itertools

import numpy as np
import pytest

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

BUDGET = {"epsilon": 1.0, "delta": 1e-4, "labels": 5, "teachers": 9}
LAWS = ("gnmax", "exponential", "permute_and_flip")


@pytest.mark.parametrize(("law", "classes"), [*itertools.product(LAWS, (2, 3))])
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


@pytest.mark.parametrize(("law", "classes"), [*itertools.product(LAWS, (2, 3))])
def test_units_of_several_shards_need_more_noise(law, classes):
    size = {"delta": 1e-4, "labels": 5, "teachers": 9, "classes": classes}
    scales = [noise_scale(law, **BUDGET, classes=classes, reach=reach) for reach in (1, 2, 3)]
    assert scales[0] == noise_scale(law, **BUDGET, classes=classes)
    # Of few teachers, votes that move soon are most of those that there are.
    assert scales[0] < scales[1] <= 2.02 * scales[0]
    assert scales[1] < scales[2] <= 3.02 * scales[0]
    for reach, scale in zip((1, 2, 3), scales, strict=True):
        found = label_epsilon(law, scale, **size, reach=reach)
        assert found.upper <= 1.001
        if classes == 2:
            assert found.lower > 0.95
    assert label_epsilon(law, scales[0], **size, reach=2).upper > 1.5


@pytest.mark.parametrize("reach", [0, 10, 1.5])
def test_a_reach_that_no_unit_has_is_refused(reach):
    with pytest.raises(ValueError, match="reach"):
        noise_scale("gnmax", **BUDGET, reach=reach)
