"""The ends of what each function of the audit takes: just beyond, it refuses."""

import math

import numpy as np
import pytest

from private_ensembles.audit import (
    divergence,
    histograms,
    sampler,
    shared_data,
)
from private_ensembles.audit.finite_mechanism import audit_function
from tests.ranges import NEGATIVE, NO_COUNT, NOT_WITHIN_0_1, OUTSIDE_0_1, check_ends

COIN, PAIR = [[0.5, 0.5], [0.25, 0.75]], [[0, 1]]
VOTE = [0.0, 0.25, 0.75, 1.0]


def sampled(bound, number, **change):
    given = {"labels": (0, 1), "runs": 4, "generator": np.random.default_rng(0)} | change

    def sample(histogram, runs, generator):
        return generator.integers(0, 2, runs)

    return bound(sample, [1], [0], number, **given)


RANGES = {
    "exact_delta": (lambda x: divergence.exact_delta(COIN, PAIR, x), NEGATIVE[::2], (0.0,)),
    "exact_epsilon": (lambda x: divergence.exact_epsilon(COIN, PAIR, x), OUTSIDE_0_1, (0.0, 1.0)),
    "delta_curve": (
        lambda x: divergence.delta_curve(COIN, PAIR, [x]),
        NEGATIVE[::2],
        (0.0, math.inf),
    ),
    "renyi_curve": (
        lambda x: divergence.renyi_curve(COIN, PAIR, [x]),
        (1.0, 0.5, math.inf, math.nan),
        (1 + 1e-9,),
    ),
    "relative_error": (
        lambda x: divergence.exact_delta(COIN, PAIR, 1.0, relative_error=x),
        (1.0, -1e-9, math.nan),
        (0.0, 0.5),
    ),
    "absolute_error": (
        lambda x: divergence.exact_delta(COIN, PAIR, 1.0, absolute_error=x),
        (1.0, -1e-9, math.nan),
        (0.0, 0.5),
    ),
    "a probability": (
        lambda x: divergence.exact_delta([[x, 1 - x], [0.5, 0.5]], PAIR, 1.0),
        (-1e-12, 1 + 1e-12, math.nan),
        (0.0, 1.0),
    ),
    "a row": (
        lambda x: divergence.exact_delta([[0.5, x], [0.5, 0.5]], PAIR, 1.0),
        (0.5 - 1e-12, 0.5 + 1e-12),
        (0.5,),
    ),
    "a place": (lambda x: divergence.exact_delta(COIN, [[0, x]], 1.0), (-1, 2), (0, 1)),
    "enumerate_histograms, teachers": (
        lambda x: histograms.enumerate_histograms(x, 2),
        NO_COUNT,
        (1,),
    ),
    "enumerate_histograms, classes": (
        lambda x: histograms.enumerate_histograms(2, x),
        (1, 0, 2.5, True),
        (2,),
    ),
    "too many histograms": (lambda x: histograms.enumerate_histograms(x, 2), (5_000_000,), (1000,)),
    "vote_neighbours": (
        lambda x: histograms.vote_neighbours(x, 2, "missing_vote"),
        (*NO_COUNT, 1),
        (2,),
    ),
    "two_class_matrix": (
        lambda x: histograms.two_class_matrix(np.full(x, 0.5)),
        ((1,), (0,), (2, 2)),
        ((2,), (3,)),
    ),
    "two_class_pairs": (histograms.two_class_pairs, NO_COUNT, (1,)),
    "clopper_pearson, successes": (lambda x: sampler.clopper_pearson([x], 2, 0.1), (-1, 3), (0, 2)),
    "clopper_pearson, runs": (lambda x: sampler.clopper_pearson([0], x, 0.1), (0, -1), (1,)),
    "clopper_pearson, error": (
        lambda x: sampler.clopper_pearson([1], 2, x),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "epsilon_lower_bound, delta": (
        lambda x: sampled(sampler.epsilon_lower_bound, x),
        (*OUTSIDE_0_1, 1.0),
        (0.0,),
    ),
    "delta_lower_bound, epsilon": (
        lambda x: sampled(sampler.delta_lower_bound, x),
        NEGATIVE,
        (0.0,),
    ),
    "delta_lower_bound, confidence": (
        lambda x: sampled(sampler.delta_lower_bound, 1.0, confidence=x),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "delta_lower_bound, runs": (
        lambda x: sampled(sampler.delta_lower_bound, 1.0, runs=x),
        NO_COUNT,
        (1,),
    ),
    "delta_lower_bound, labels": (
        lambda x: sampled(sampler.delta_lower_bound, 1.0, labels=x),
        ((0,), (0, 0), ()),
        ((0, 1),),
    ),
    "teacher_corners, epsilon": (lambda x: shared_data.teacher_corners(x, 0.1), NEGATIVE, (0.0,)),
    "teacher_corners, Delta": (
        lambda x: shared_data.teacher_corners(1.0, x),
        OUTSIDE_0_1,
        (0.0, 1.0),
    ),
    "shared_data_delta": (
        lambda x: shared_data.shared_data_delta(VOTE, 0.1, 0.0, x),
        NEGATIVE[::2],
        (0.0,),
    ),
    "worst_teachers": (
        lambda x: shared_data.worst_teachers(VOTE, 0.1, 0.0, x),
        OUTSIDE_0_1,
        (0.0, 1.0),
    ),
    "shared_data, a probability": (
        lambda x: shared_data.shared_data_delta([x, 0.5], 0.1, 0.0, 0.0),
        OUTSIDE_0_1,
        (0.0, 1.0),
    ),
    "shared_data, teachers": (
        lambda x: shared_data.shared_data_delta(np.full(x, 0.5), 0.1, 0.0, 0.0),
        (1, shared_data.LARGEST_K + 2),
        (2,),
    ),
    "audit_function, outcomes": (
        lambda x: audit_function(
            lambda rows: np.full((len(rows), x), 1 / x), n_teachers=1, n_classes=2
        ),
        (1,),
        (2, 3),
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
