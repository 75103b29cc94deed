"""Absent ballots: every mechanism on offer, over all neighbours and strategies, in fractions.

A neighbour turns one ballot of every query into another class, into nothing, or nothing into one.
"""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.labels.ballots import count_votes, deal_absent_ballots
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
)
from tests.accounting.adversaries import exact_value, power
from tests.audit.oracle import all_histograms
from tests.labels.accounts.test_groups import (
    OF_TEACHERS,
    OF_TWO,
    ON_COUNTS,
    exact_delta_of,
    task_of,
)

# Classes, teachers, labels.
SIZES = [(2, 4, 1), (2, 4, 2), (2, 3, 3), (3, 4, 1), (3, 2, 3)]
SIZES += [pytest.param(3, 3, 2, marks=pytest.mark.slow)]


def neighbours(C, K, *, reach=1):
    """Histograms of all ballots, absent ones dealt out, and all pairs that `reach` ballots make.

    One more class than there are stands for those that are absent.
    """
    ballots = all_histograms(K, C + 1)
    rows = deal_absent_ballots(ballots[:, :C], K)
    near = [
        (one, other)
        for one, other in itertools.permutations(range(len(ballots)), 2)
        if np.abs(ballots[one] - ballots[other]).sum() <= 2 * reach
        and (rows[one] != rows[other]).any()
    ]
    return rows, near


def absent(C, K, Q, **others):
    return task_of(C, K, Q, absent=True, **others)


@pytest.mark.parametrize(("C", "K", "Q"), SIZES)
@pytest.mark.parametrize("name", ON_COUNTS)
def test_no_ballot_that_vanishes_or_appears_reaches_delta(name, C, K, Q):
    """And the noise is what it is without absent ballots: they cost nothing more."""
    mechanism, task = load_mechanism(name), absent(C, K, Q)
    if reason := mechanism.refusal(task):
        assert C > mechanism.law.n_classes == 2, reason
        return
    parameters = mechanism.calibrate(task)
    assert parameters == mechanism.calibrate(
        replace(task, ensemble=replace(task.ensemble, absent=False))
    )
    cost = mechanism.cost(task, parameters)
    assert cost.proven <= cost.claimed <= task.budget.epsilon
    every = neighbours(C, K)
    assert exact_delta_of(mechanism.law, parameters, task, *every) <= task.budget.delta
    at_cost = replace(task, budget=replace(task.budget, epsilon=cost.proven))
    most = task.budget.delta * (1 + 1e-9)
    assert exact_delta_of(mechanism.law, parameters, at_cost, *every) <= most


@pytest.mark.parametrize(("C", "K", "Q"), [(2, 4, 1), (2, 3, 2), (3, 3, 1)])
@pytest.mark.parametrize("name", ON_COUNTS)
def test_nor_do_two_ballots_of_one_unit(name, C, K, Q):
    mechanism, task = load_mechanism(name), absent(C, K, Q, reach=2)
    if mechanism.refusal(task) is None:
        parameters = mechanism.calibrate(task)
        every = neighbours(C, K, reach=2)
        assert exact_delta_of(mechanism.law, parameters, task, *every) <= task.budget.delta


@pytest.mark.parametrize(("K", "Q"), [(4, 1), (4, 2), (3, 3)])
@pytest.mark.parametrize("name", OF_TWO)
def test_five_per_cent_less_noise_is_caught(name, K, Q):
    mechanism, task = load_mechanism(name), absent(2, K, Q)
    twin = mechanism.law.scale_noise(mechanism.calibrate(task), 0.95)
    assert exact_delta_of(mechanism.law, twin, task, *neighbours(2, K)) > task.budget.delta
    if Q > 1:  # of one label some are asked for its budget, which the twin states wrongly
        assert mechanism.cost(task, twin).proven > task.budget.epsilon


@pytest.mark.parametrize(("K", "Q"), [(4, 1), (4, 2)])
@pytest.mark.parametrize("name", OF_TWO)
def test_who_vanishes_alone_gains_the_same(name, K, Q):
    """No teacher changes its class here: what is charged, a ballot that vanishes can reach."""
    mechanism, task = load_mechanism(name), absent(2, K, Q)
    ballots, (rows, near) = all_histograms(K, 3), neighbours(2, K)
    vanishes = [pair for pair in near if ballots[pair[0]][2] != ballots[pair[1]][2]]
    assert 0 < len(vanishes) < len(near)
    twin = mechanism.law.scale_noise(mechanism.calibrate(task), 0.95)
    assert exact_delta_of(mechanism.law, twin, task, rows, vanishes) > task.budget.delta


@pytest.mark.parametrize("name", ["ladder", "gnmax_exact", "permute_and_flip"])
def test_absent_ballots_that_are_not_dealt_out_would_be_caught(name):
    """The test can tell: a rule by which a ballot that vanishes moves more than a vote.

    All that is missing goes to class 0 if it is an odd number, and to class 1 if it is even.
    """
    mechanism, task = load_mechanism(name), absent(2, 4, 1)
    ballots = all_histograms(4, 3)
    rows, odd = ballots[:, :2].copy(), ballots[:, 2] % 2
    for row, (missing, where) in enumerate(zip(ballots[:, 2], 1 - odd, strict=True)):
        rows[row, where] += missing
    near = [
        (one, other)
        for one, other in itertools.permutations(range(len(ballots)), 2)
        if np.abs(ballots[one] - ballots[other]).sum() <= 2
    ]
    parameters = mechanism.calibrate(task)
    assert exact_delta_of(mechanism.law, parameters, task, rows, near) > task.budget.delta


@pytest.mark.parametrize(("C", "K"), [(2, 4), (3, 3)])
@pytest.mark.parametrize("name", ON_COUNTS)
def test_secure_noise_is_covered_likewise(name, C, K):
    """By what is drawn: discrete noise, coins and dice."""
    mechanism, task = load_mechanism(name), absent(C, K, 1, secure=True)
    if mechanism.refusal(task):
        return
    parameters = mechanism.calibrate(task)
    assert parameters == mechanism.calibrate(
        replace(task, ensemble=replace(task.ensemble, absent=False))
    )
    rows, near = neighbours(C, K)
    laws = mechanism.law.outcome_distribution(rows, parameters, secure=True)
    named = [[Fraction(float(p)) for p in row] for row in laws]
    pairs = {tuple(sorted(zip(named[one], named[other], strict=True))) for one, other in near}
    listed = [tuple(zip(*pair, strict=True)) for pair in pairs]
    assert exact_value(listed, 1, power(task.budget.epsilon)[1]) <= task.budget.delta


def test_private_teachers_are_asked_to_vote():
    """Their own privacy covers their plurality, and no law of independent votes."""
    private = {"teacher_epsilon": 0.1, "adjacency": "add_remove"}
    task = absent(2, 5, 1, **private)
    assert load_mechanism("majority_private").refusal(task) is None
    shared = replace(task, protection=Protection.shared())
    for name in set(OF_TEACHERS) - {"majority_private"}:
        refusal = load_mechanism(name).refusal(shared)
        assert refusal.startswith("proven for teachers whose votes are their own, not for absent")
        assert refusal.endswith(
            "if every teacher votes, for instance an absent one by a coin of its own"
        )


def test_votes_and_counts_are_dealt_out_alike():
    ballots = np.random.default_rng(5).integers(-1, 3, (60, 7))
    one_by_one = np.array([[(row == c).sum() for c in range(3)] for row in ballots])
    assert np.array_equal(
        deal_absent_ballots(count_votes(ballots, 3), 7), deal_absent_ballots(one_by_one, 7)
    )


def test_a_task_without_absent_ballots_has_none_on_its_profile():
    from private_ensembles.labels.profile import ConsensusProfile

    profile = ConsensusProfile(
        3, easy_share=0.7, easy=(20, 2), hard=(2, 2), confusion=1, absent_share=0.2
    )
    with pytest.raises(ValueError, match=r"absent_share = 0.2: must be 0, unless ballots may be"):
        Task(Ensemble(20, 3), Budget(1.0, 1e-5), Wanted(10), profile=profile)
    assert (
        Task(
            Ensemble(20, 3, absent=True), Budget(1.0, 1e-5), Wanted(10), profile=profile
        ).to_dict()["absent"]
        is True
    )
