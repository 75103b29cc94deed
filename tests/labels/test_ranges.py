"""The ends of what each part of a task and each table of votes takes: at the end taken, beyond not.

GNMax's own functions: test_gnmax.py; what the papers' mathematics takes: tests/papers.
"""

import math

import numpy as np
import pytest

from private_ensembles.labels.array_votes import votes_from_arrays
from private_ensembles.labels.ballots import deal_absent_ballots
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.noisy_counts import (
    GaussianReleases,
    data_independent_epsilon,
    exact_data_independent_epsilon,
)
from private_ensembles.labels.planner.planning import attach_profile
from private_ensembles.labels.planner.ranking import rank_mechanisms
from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.profile_fit import fit_profile
from private_ensembles.labels.scores import draw_scores, score_epsilon, score_scale
from private_ensembles.labels.task import (
    LONGEST_UNIT,
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Task,
    Wanted,
    private_teacher_budget,
)
from private_ensembles.labels.votes import Votes, vote_histograms
from tests.ranges import NEGATIVE, NO_COUNT, NOT_POSITIVE, NOT_WITHIN_0_1, OUTSIDE_0_1, check_ends

SIZE, BUDGET, WANTED = Ensemble(5, 2), Budget(1.0, 1e-5), Wanted(4, 6)
TASK = Task(SIZE, BUDGET, WANTED)
AGREED = {"easy_share": 0.5, "easy": (20, 2), "hard": (2, 2), "confusion": 1.0}
BELOW_0_1 = (1.0, *OUTSIDE_0_1)
MILLION = 1_000_000
LEAST_EPSILON = (0.0, math.nextafter(1e-6, 0), math.nextafter(100, 101), math.nan)
LEAST_DELTA = (0.0, math.nextafter(1e-100, 0), 1.0, math.nan)


def unknown_but(known):
    """Labels of 30 queries, so many of which are known."""
    return np.where(np.arange(30) < known, 0, -1)


def rank(counts, labels):
    return rank_mechanisms(TASK, np.array(counts), np.array(labels), ["gnmax"])


RANGES = {
    "Ensemble, teachers": (lambda x: Ensemble(x, 2), (*NO_COUNT, MILLION + 1), (1, MILLION)),
    "Ensemble, classes": (lambda x: Ensemble(5, x), (1, 2.5, 100_001), (2, 100_000)),
    "Ensemble, names": (lambda x: Ensemble(5, x), (["a"], "ab"), (["a", "b"],)),
    "Ensemble, epsilon of a teacher": (
        lambda x: Ensemble(5, 2, private=Budget(x, 0.0)),
        (0.0, -1.0, math.nextafter(100, 101), math.nan),
        (1e-300, 100),
    ),
    "Ensemble, delta of a teacher": (
        lambda x: Ensemble(5, 2, private=(0.1, x)),
        BELOW_0_1,
        (0.0, 0.999),
    ),
    "private_teacher_budget": (lambda x: private_teacher_budget(None, x), BELOW_0_1, (0.0, 0.999)),
    "Budget": (Budget.coerce, (2, (1.0,), (1.0, 0.1, 0.1), "12"), ((1.0, 0.1), BUDGET)),
    "Protection, unit": (
        Protection.disjoint,
        ("", " ", "a\nb", "x" * (LONGEST_UNIT + 1), 3),
        ("x", "one patient", "x" * LONGEST_UNIT),
    ),
    "Protection, reach": (lambda x: Protection.disjoint(reach=x), NO_COUNT, (1, 2)),
    "Protection, reach of shared data": (lambda x: Protection.shared(reach=x), (0, 2), (1,)),
    "Protection, shards": (Protection, ("disjoint_shards", ""), ("disjoint", "shared")),
    "Wanted, labels": (lambda x: Wanted(x, 6), (*NO_COUNT, 7), (1, 6)),
    "Wanted, queries": (lambda x: Wanted(1, x), NO_COUNT, (1, None)),
    "Wanted, ones": (lambda x: Wanted(1, 6, x), NO_COUNT, (1, 7, None)),
    "Rehearsal": (Rehearsal, (-1, 1.5, True), (0, 10**6)),
    "Task, epsilon": (
        lambda x: Task(SIZE, Budget(x, 1e-5), WANTED),
        LEAST_EPSILON,
        (1e-6, 100),
    ),
    "Task, delta": (
        lambda x: Task(SIZE, Budget(1.0, x), WANTED),
        LEAST_DELTA,
        (1e-100, math.nextafter(1, 0)),
    ),
    "Task, reach": (
        lambda x: Task(SIZE, BUDGET, WANTED, Protection.disjoint(reach=x)),
        (6,),
        (1, 5),
    ),
    "Task, ones of so many classes": (
        lambda x: Task(Ensemble(5, x), BUDGET, Wanted(4, 6, 2)),
        (3, 100_000),
        (2,),
    ),
    "Task, ones beside absent ballots": (
        lambda x: Task(Ensemble(5, 2, absent=x), BUDGET, Wanted(4, 6, 2)),
        (True,),
        (False,),
    ),
    "Task, absent ballots of a profile": (
        lambda x: attach_profile(TASK, {"absent_share": x}),
        (1e-9, 0.5),
        (0.0,),
    ),
    "GaussianReleases, thresholds": (
        lambda x: GaussianReleases(x, 3.0, 1, 3.0),
        (-1, 1.5),
        (0, 1),
    ),
    "GaussianReleases, labels": (lambda x: GaussianReleases(1, 3.0, x, 3.0), (-1, 1.5), (0, 1)),
    "GaussianReleases, sigma1": (
        lambda x: GaussianReleases(1, x, 1, 3.0),
        NOT_POSITIVE,
        (0.1, None),
    ),
    "GaussianReleases, sigma2": (lambda x: GaussianReleases(1, 3.0, 1, x), NOT_POSITIVE, (0.1,)),
    "data_independent_epsilon": (lambda x: data_independent_epsilon(x, 0.1), NEGATIVE, (0.0, 1.0)),
    "data_independent_epsilon, delta": (
        lambda x: data_independent_epsilon(1.0, x),
        NOT_WITHIN_0_1,
        (0.5,),
    ),
    "exact_data_independent_epsilon": (
        lambda x: exact_data_independent_epsilon(x, 0.1),
        NEGATIVE,
        (0.0, 1.0),
    ),
    "score_epsilon": (
        lambda x: score_epsilon(x, 1, 0.1),
        (*NOT_POSITIVE, math.nextafter(600, 601)),
        (0.1, 600),
    ),
    "score_epsilon, draws": (
        lambda x: score_epsilon(0.1, x, 0.1),
        (*NO_COUNT, 100_000_001),
        (1,),
    ),
    "score_epsilon, delta": (lambda x: score_epsilon(0.1, 1, x), LEAST_DELTA, (1e-100, 0.9)),
    "score_scale, epsilon": (lambda x: score_scale(x, 1, 0.1), LEAST_EPSILON, (1e-6, 100)),
    "score_scale, draws": (lambda x: score_scale(1.0, x, 0.1), (*NO_COUNT, 100_000_001), (1,)),
    "draw_scores": (
        draw_scores,
        ([1j, 0], np.zeros(2, np.longdouble), 0.0, np.zeros((1, 1, 1)), ["a"]),
        ([0.0], [0], [[0.0, 1.0]], np.zeros(2, np.float16)),
    ),
    "Profile, commonest": (
        lambda x: ConsensusProfile(4, **AGREED, commonest=x),
        (math.nextafter(0.25, 0), 1.0, math.nan),
        (0.25, math.nextafter(1, 0)),
    ),
    "Profile, commonest beside imbalance": (
        lambda x: ConsensusProfile(4, **AGREED, commonest=0.5, imbalance=x),
        (math.nextafter(1, 2), 2.0),
        (1.0, 1),
    ),
    "Profile, mislabelled": (
        lambda x: ConsensusProfile(4, **AGREED, mislabelled=x),
        OUTSIDE_0_1,
        (0.0, 1.0),
    ),
    "Profile, absent": (
        lambda x: ConsensusProfile(4, **AGREED, absent_share=x),
        BELOW_0_1,
        (0.0, 0.999),
    ),
    "Profile, easy": (
        lambda x: ConsensusProfile(4, **AGREED | {"easy": x}),
        ((0.0, 1.0), (1.0, 0.0), (1.0, math.inf), (1.0,), (1.0, 1.0, 1.0), (math.nan, 1.0)),
        ((1e-9, 1e9), [1, 2]),
    ),
    "fit_profile, known labels": (
        lambda x: fit_profile(np.tile([[3, 1]], (30, 1)), unknown_but(x)),
        (0, 19),
        (20, 30),
    ),
    "fit_profile, teachers of whole rows": (
        lambda x: fit_profile(np.tile([[x, 0]], (30, 1)), unknown_but(30)),
        (0, 1),
        (2,),
    ),
    "fit_profile, teachers": (
        lambda x: fit_profile(np.tile([[3, 1]], (30, 1)), unknown_but(30), x),
        (1, 3, 4.5, True),
        (4, 9),
    ),
    "fit_profile, classes": (
        lambda x: fit_profile(np.full((30, x), 2), unknown_but(30)),
        (1,),
        (2, 3),
    ),
    "rank_mechanisms, labels": (
        lambda x: rank([[3, 2], [0, 5]], [0, x]),
        (-1, 2),
        (0, 1),
    ),
    "rank_mechanisms, number of labels": (lambda x: rank([[3, 2]] * 2, [0] * x), (1, 3), (2,)),
    "rank_mechanisms, counts": (
        lambda x: rank(x, [0] * len(x)),
        ([[3, 1]], [[3, 3]], [[3, 2], [3, 1]], [[3, 2, 0]], np.zeros((0, 2), int), [5, 5]),
        ([[3, 2]], [[5, 0]]),
    ),
    "votes_from_arrays, teachers": (
        lambda x: votes_from_arrays([[x, 0], [0, x]]),
        (0, 1, MILLION + 1),
        (2, MILLION),
    ),
    "votes_from_arrays, teachers stated": (
        lambda x: votes_from_arrays([[3, 1], [0, 4]], teachers=x),
        (3, 5),
        (4, None),
    ),
    "votes_from_arrays, teachers of absent ballots": (
        lambda x: votes_from_arrays([[1, 0], [1, 1]], teachers=x, absent=True),
        (*NO_COUNT, None, MILLION + 1),
        (2, 3, MILLION),
    ),
    "votes_from_arrays, counts": (
        lambda x: votes_from_arrays(np.array([[x, 2], [2, x]])),
        (-1, 2.5),
        (0, 7),
    ),
    "votes_from_arrays, classes": (
        lambda x: votes_from_arrays(np.full((3, x), 2)),
        (0, 1),
        (2, 3),
    ),
    "Votes, classes": (
        lambda x: Votes(x, np.array([-1]), np.array([[0, 1]])),
        (1, 0, 2**32 + 1),
        (2, 2**32),
    ),
    "Votes, a vote": (lambda x: Votes(3, np.array([-1]), np.array([[0, x]])), (-1, 3), (0, 2)),
    "Votes, an absent vote": (
        lambda x: Votes(3, np.array([-1]), np.array([[0, x]]), absent=True),
        (-2, 3),
        (-1, 0, 2),
    ),
    "Votes, a count": (
        lambda x: Votes(2, np.array([-1]), counts=np.array([[0, x]])),
        (-1, 0, 2**32),
        (1, 2**32 - 1),
    ),
    "Votes, a label": (lambda x: Votes(3, np.array([x]), np.array([[0]])), (-2, 3), (-1, 2)),
    "vote_histograms": (lambda x: vote_histograms([[0, x]], 3), (-1, 3), (0, 2)),
    "deal_absent_ballots": (lambda x: deal_absent_ballots([[1, 1]], x), (0, 1), (2, 3)),
    "deal_absent_ballots of none": (lambda x: deal_absent_ballots([[0, 0]], x), NO_COUNT, (1,)),
    "calibrate, cap": (
        lambda x: load_mechanism("gnmax").calibrate(TASK, cap=x),
        (-1e-9, 1 + 1e-9, math.nan),
        (0.0, 1.0),
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
