"""Teachers of several votes each: accounts against all neighbours and strategies, in fractions."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.mechanisms.laws.gaussian import GaussianNoise
from private_ensembles.mechanisms.laws.laplace import LaplaceNoise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task

from .test_groups import OF_TWO, ON_COUNTS, exact_delta_of

# Weights of the teachers, classes, labels.
SIZES = [
    ((3, 1, 1), 2, 3),
    ((2, 2, 1), 2, 2),
    ((5, 2, 1), 2, 1),
    ((3, 1, 1), 3, 1),
    pytest.param((2, 2, 1), 3, 2, marks=pytest.mark.slow),
    ((2, 1), 3, 3),
    ((3, 1), 4, 1),
]
ABSENT = [((3, 1, 1), 2, 2), ((2, 1), 3, 2), ((3, 1), 3, 1)]


def task_of(weights, C, Q, **others):
    size = {"n_teachers": len(weights), "n_classes": C, "n_votes": sum(weights)}
    return Task(1.0, 1e-3, queries=Q, labels=Q, **size, ballot=max(weights), **others)


def histogram(ballots, weights, C):
    """Votes of each class; None is no vote, and missing votes go to the classes in turn."""
    counts, missing = [0] * C, 0
    for ballot, weight in zip(ballots, weights, strict=True):
        if ballot is None:
            missing += weight
        else:
            counts[ballot] += weight
    for place in range(missing):
        counts[place % C] += 1
    return tuple(counts)


def neighbours(weights, C, *, absent=False, of=None):
    """All histograms, and all pairs between which one teacher says something else.

    of: the weight of the teachers who may; None: any.
    """
    says = [*range(C), *([None] if absent else [])]
    pairs = set()
    for ballots in itertools.product(says, repeat=len(weights)):
        before = histogram(ballots, weights, C)
        for teacher, other in itertools.product(range(len(weights)), says):
            if of is None or weights[teacher] == of:
                changed = [*ballots[:teacher], other, *ballots[teacher + 1 :]]
                pairs.add((before, histogram(changed, weights, C)))
    rows = sorted({row for pair in pairs for row in pair})
    places = {row: place for place, row in enumerate(rows)}
    return rows, [(places[a], places[b]) for a, b in pairs if a != b]


def calibrated(name, task):
    """The mechanism and its noise; None if it says that it does not apply."""
    mechanism = load(name)
    if reason := mechanism.refusal(task):
        assert task.n_classes > mechanism.law.n_classes == 2, reason
        pytest.skip(reason)
    return mechanism, mechanism.calibrate(task)


@pytest.mark.parametrize(("weights", "C", "Q"), SIZES)
@pytest.mark.parametrize("name", ON_COUNTS)
def test_no_teacher_of_several_votes_reaches_delta(name, weights, C, Q):
    task = task_of(weights, C, Q)
    assert task.together
    mechanism, parameters = calibrated(name, task)
    cost = mechanism.cost(task, parameters)
    assert cost.proven <= cost.claimed <= task.epsilon
    every = neighbours(weights, C)
    assert exact_delta_of(mechanism.law, parameters, task, *every) <= task.delta
    at_cost = replace(task, epsilon=cost.proven)
    most = task.delta * (1 + 1e-9)
    assert exact_delta_of(mechanism.law, parameters, at_cost, *every) <= most
    # What one vote may do was found too little by the same account.
    assert mechanism.cost(task, mechanism.calibrate(replace(task, ballot=1))).proven > task.epsilon


@pytest.mark.parametrize(("weights", "C", "Q"), ABSENT)
@pytest.mark.parametrize("name", ON_COUNTS)
def test_nor_does_one_who_may_be_absent(name, weights, C, Q):
    """Its votes are dealt out to several classes, or come from them."""
    task = task_of(weights, C, Q, absent=True)
    assert not task.together
    mechanism, parameters = calibrated(name, task)
    every = neighbours(weights, C, absent=True)
    assert exact_delta_of(mechanism.law, parameters, task, *every) <= task.delta


@pytest.mark.parametrize(("weights", "Q"), [((3, 1, 1), 1), ((2, 2, 1), 2), ((3, 1, 1), 3)])
@pytest.mark.parametrize("name", OF_TWO)
def test_five_per_cent_less_noise_is_caught(name, weights, Q):
    """Of two classes accounts are tight, so that an adversary who exists gains more than delta."""
    task = task_of(weights, 2, Q)
    mechanism, parameters = calibrated(name, task)
    twin = mechanism.law.less_noise(parameters, 0.95)
    assert exact_delta_of(mechanism.law, twin, task, *neighbours(weights, 2)) > task.delta
    assert mechanism.cost(task, twin).proven > task.epsilon


@pytest.mark.parametrize(
    ("weights", "C", "Q"),
    [
        ((3, 1, 1), 2, 2),
        ((4, 2, 1), 2, 1),
        ((3, 1), 3, 1),
        pytest.param((3, 1), 3, 2, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", ON_COUNTS)
def test_a_teacher_of_less_weight_has_a_smaller_epsilon_of_its_own(name, weights, C, Q):
    """At the noise for the largest weight: never below what that teacher alone can reach."""
    task = task_of(weights, C, Q)
    mechanism, parameters = calibrated(name, task)
    for weight in set(weights):
        own = replace(task, ballot=weight)
        spent = mechanism.cost(own, parameters).proven
        assert spent <= task.epsilon
        every = neighbours(weights, C, of=weight)
        at_cost = replace(own, epsilon=spent)
        most = task.delta * (1 + 1e-9)
        assert exact_delta_of(mechanism.law, parameters, at_cost, *every) <= most


def test_votes_that_go_together_need_less_noise_than_any_votes():
    """In many classes: no more than as many times the noise of one vote."""
    mechanism = load("gnmax_exact")
    together = Task(4.0, 1e-5, 30, 30, 40, 6, ballot=4, n_votes=60)
    noise = {
        kind: mechanism.calibrate(task)
        for kind, task in {
            "one": replace(together, ballot=1),
            "together": together,
            "split": replace(together, split=True),
        }.items()
    }
    scales = {kind: getattr(x, "sigma", None) or x.scale for kind, x in noise.items()}
    assert 3.9 * scales["one"] < scales["together"] < 4.03 * scales["one"]
    assert scales["split"] > 1.02 * scales["together"]
    assert mechanism.cost(replace(together, split=True), noise["together"]).proven > 4.0


def test_pairs_of_a_ballot_are_those_of_one_vote_of_its_size():
    """Two counts in units of the ballot: whole numbers of it are among those of the cover."""
    gnmax, lnmax = load("gnmax_exact").law, load("lnmax_pure").law
    one, five = Task(1.0, 1e-5, 5, 5, 8, 3), Task(1.0, 1e-5, 5, 5, 8, 3, ballot=5, n_votes=40)
    t = np.array([0.7, 1.0, 1.3])
    for law, noises in (
        (gnmax, (GaussianNoise(4.0), GaussianNoise(20.0))),
        (lnmax, (LaplaceNoise(4.0), LaplaceNoise(20.0))),
    ):
        whole, parts = (
            law.pairs(task, noise).excesses(t).max(axis=0)
            for task, noise in zip((one, five), noises, strict=True)
        )
        assert (parts >= whole * (1 - 1e-9)).all()
        assert (parts <= whole * 1.02).all()


def test_private_teachers_are_asked_for_one_vote_each():
    """Their own privacy covers any plurality of theirs, and no law of one vote each."""
    private = {"teacher_epsilon": 0.1, "adjacency": "add_remove"}
    task = task_of((3, 1, 1), 2, 1, **private)
    says = "proven for one vote of each teacher, not for 5 votes of 3"
    for name in ("committee", "darrm_sub", "darrm_opt"):
        shared = replace(task, privacy_model="shared_data")
        assert load(name).refusal(shared).startswith(says)
    assert load("majority_private").refusal(task) is None
