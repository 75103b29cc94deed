"""Ballots that are split: accounts against all soft ballots and all strategies, in fractions."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task

from ...audit.oracle import all_histograms
from .test_groups import OF_TEACHERS, OF_TWO, ON_COUNTS, exact_delta_of

# Teachers, votes of a ballot, classes, labels.
SIZES = [(3, 2, 2, 3), (2, 3, 2, 3), (2, 5, 2, 1), (3, 2, 3, 1), (2, 3, 3, 1)]
SIZES += [pytest.param((2, 2, 3, 2), marks=pytest.mark.slow)]


def task_of(K, S, C, Q, **others):
    size = {"n_teachers": K, "n_classes": C, "n_votes": K * S, "ballot": S, "split": True}
    return Task(1.0, 1e-3, queries=Q, labels=Q, **size, **others)


def neighbours(K, S, C):
    """All histograms, and pairs between which one teacher's ballot becomes another, any other."""
    ballots = all_histograms(S, C)
    pairs = set()
    for others in itertools.product(ballots, repeat=K - 1):
        rows = {tuple(np.sum([*others, ballot], axis=0).tolist()) for ballot in ballots}
        pairs |= set(itertools.permutations(rows, 2))
    rows = sorted({row for pair in pairs for row in pair})
    places = {row: place for place, row in enumerate(rows)}
    return rows, [(places[one], places[other]) for one, other in pairs]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ON_COUNTS)
def test_no_teacher_whose_ballot_is_split_reaches_delta(name, size):
    mechanism, task = load(name), task_of(*size)
    if reason := mechanism.refusal(task):
        assert task.n_classes > mechanism.law.n_classes == 2, reason
        return
    parameters = mechanism.calibrate(task)
    cost = mechanism.cost(task, parameters)
    assert cost.proven <= cost.claimed <= task.epsilon
    near = neighbours(*size[:3])
    assert exact_delta_of(mechanism.law, parameters, task, *near) <= task.delta
    at_cost = replace(task, epsilon=cost.proven)
    assert exact_delta_of(mechanism.law, parameters, at_cost, *near) <= task.delta * (1 + 1e-9)


@pytest.mark.parametrize("size", SIZES[:3])
@pytest.mark.parametrize("name", OF_TWO)
def test_five_per_cent_less_noise_is_caught(name, size):
    """Of two classes accounts are tight, so that an adversary who exists gains more than delta."""
    mechanism, task = load(name), task_of(*size)
    twin = mechanism.law.less_noise(mechanism.calibrate(task), 0.95)
    assert exact_delta_of(mechanism.law, twin, task, *neighbours(*size[:3])) > task.delta
    assert mechanism.cost(task, twin).proven > task.epsilon


@pytest.mark.parametrize("C", [2, 4])
@pytest.mark.parametrize("name", ON_COUNTS)
def test_every_account_notices_less_noise(name, C):
    mechanism = load(name)
    task = replace(task_of(12, 10, C, 20), delta=1e-5)
    if mechanism.refusal(task):
        return
    parameters = mechanism.calibrate(task)
    assert 0.97 < mechanism.cost(task, parameters).claimed <= 1
    twin = mechanism.law.less_noise(parameters, 0.95)
    assert mechanism.cost(task, twin).claimed > 1


def scale(parameters):
    """The noise's scale in parts of a vote."""
    for name in ("sigma", "scale"):
        if hasattr(parameters, name):
            return getattr(parameters, name)
    return 1 / parameters.used_rate


@pytest.mark.parametrize("Q", [1, 100])
@pytest.mark.parametrize("S", [7, 100])
@pytest.mark.parametrize(
    ("name", "within"),
    [
        ("gnmax", 1e-12),
        ("gnmax_analytic", 1e-12),
        ("lnmax_pure", 1e-12),
        ("exponential", 1e-3),
    ],
)
def test_the_noise_of_a_vote_serves_a_vote_that_is_split(name, within, S, Q):
    """S times as much in parts of a vote: the account of a moved vote, word for word."""
    mechanism, soft = load(name), replace(task_of(20, S, 5, Q), delta=1e-5)
    hard = replace(soft.of_one_vote(), n_votes=None)
    whole, parts = mechanism.calibrate(hard), mechanism.calibrate(soft)
    share = scale(parts) / (S * scale(whole))
    # Of more than a thousand parts of votes the grid is finer, and noise a bit less.
    assert 1 - within - 4e-3 * (name == "exponential") < share < 1 + within
    claims = mechanism.cost(hard, whole).claimed, mechanism.cost(soft, parts).claimed
    assert claims[0] == pytest.approx(claims[1], abs=max(within, 1e-9))


@pytest.mark.parametrize("secure", [False, True])
def test_labels_of_split_votes_need_at_most_a_hundredth_more_noise(secure):
    """What group privacy loses of a whole vote, in many classes and with discrete noise."""
    names = ["gnmax_exact", "gnmax_analytic", "confident_gnmax"]
    for mechanism in map(load, names if secure else names[:1]):
        soft = replace(task_of(50, 100, 6, 100, secure=secure), delta=1e-5)
        hard = replace(soft.of_one_vote(), n_votes=None)
        whole, parts = mechanism.calibrate(hard), mechanism.calibrate(soft)
        for name in ("sigma", "sigma1", "sigma2"):
            if hasattr(whole, name):
                share = getattr(parts, name) / getattr(whole, name) / 100
                assert 1 - 1e-3 < share < 1.01


def test_what_private_teachers_cost_is_theirs_whatever_a_ballot_says():
    facts = {"teacher_epsilon": 0.1, "adjacency": "add_remove"}
    for name in OF_TEACHERS:
        model = "disjoint_shards" if name == "majority_private" else "shared_data"
        soft = task_of(11, 10, 2, 1, privacy_model=model, **facts)
        mechanism = load(name)
        if name == "majority_private":
            hard = replace(soft.of_one_vote(), n_votes=None)
            costs = [mechanism.cost(task, mechanism.calibrate(task)) for task in (hard, soft)]
            assert costs[0] == costs[1]
        else:
            refusal = mechanism.refusal(soft)
            assert refusal.startswith("proven for one vote of each teacher")
            assert refusal.endswith("covered if each casts one vote, for its likeliest class")


def test_every_mechanism_says_whether_it_takes_split_votes():
    """As docs/ballots.md has it: all that are offered, but those that draw teachers."""
    task = task_of(50, 10, 2, 10, teacher_epsilon=0.1, adjacency="add_remove")
    taken = [name for name in registry.offered() if load(name).refusal(task) is None]
    assert taken == [*ON_COUNTS[: ON_COUNTS.index("confident_gnmax")], "majority_private"] + [
        name for name in ON_COUNTS if name.startswith("confident")
    ]
