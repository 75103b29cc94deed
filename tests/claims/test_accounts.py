"""No adversary of many labels gains more than an account states: every mechanism, exactly.

The adversary knows all votes but those of the unit that is protected, and chooses each query by
what came before (`adversary`). What it may move is one vote, several, ballots that may be absent,
or few ones of a teacher. Secure labels have the law that their draws follow (`drawn`).
"""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from private_ensembles.labels import registry
from private_ensembles.labels.accounts.gaussian_counts import GaussianCounts
from private_ensembles.labels.accounts.label import LabelAccount
from private_ensembles.labels.accounts.thresholds import CheckedCounts, CheckedLabels
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import Budget, Ensemble, Protection, Task, Wanted
from tests.claims.adversary import ROUNDING, delta_of, exact_laws, largest_delta, moved_votes
from tests.claims.drawn import noise_law

OFFERED = [load_mechanism(name) for name in registry.offered_mechanisms()]
ON_COUNTS = [mechanism.name for mechanism in OFFERED if mechanism.guarantee.hides_votes]
# The teachers' own privacy, not noise on the votes, keeps the budget of these.
OF_TEACHERS = [mechanism.name for mechanism in OFFERED if not mechanism.guarantee.hides_votes]
# Of two classes these are charged all that an adversary who exists can gain.
TIGHT = [mechanism.name for mechanism in OFFERED if isinstance(mechanism.account, LabelAccount)]

# What an adversary moves: facts of the task, and its classes, teachers and queries.
MOVES = {
    "a vote": ({}, [(2, 5, 1), (2, 4, 2), (2, 3, 3), (3, 4, 1), (3, 3, 2)]),
    "two votes": ({"reach": 2}, [(2, 5, 1), (2, 4, 2), (2, 5, 3), (3, 5, 1), (3, 2, 3)]),
    "a ballot": ({"absent": True}, [(2, 4, 1), (2, 4, 2), (2, 3, 3), (3, 4, 1), (3, 2, 3)]),
    "two ballots": ({"absent": True, "reach": 2}, [(2, 4, 1), (2, 3, 2), (3, 3, 1)]),
    "a one": ({"most_ones": 1}, [(2, 3, 2), (2, 2, 3), (2, 3, 3), (2, 2, 4)]),
    "two ones": ({"most_ones": 2}, [(2, 2, 4), (2, 2, 5)]),
    "a one of two": ({"most_ones": 1, "reach": 2}, [(2, 3, 3)]),
}
# So many tasks are drawn for each mechanism and move.
EXAMPLES = [3, pytest.param(40, marks=pytest.mark.slow)]


def task_of(C, K, Q, epsilon=1.0, delta=1e-3, **others):
    size = {"n_classes": C, "n_teachers": K, "queries": Q, "labels": Q}
    return Task.from_dict({"epsilon": epsilon, "delta": delta, **size, **others})


@st.composite
def tasks(draw, mechanism, facts, sizes):
    """Small tasks that the mechanism takes, with a budget that is tiny, huge or between."""
    most = mechanism.law.n_classes or 3
    C, K, Q = draw(st.sampled_from([size for size in sizes if size[0] <= most]))
    epsilon, digits = draw(st.floats(0.1, 6)), draw(st.floats(1.3, 8))
    task = task_of(C, K, Q, epsilon, 10**-digits, **facts)
    if mechanism.law.may_abstain and "most_ones" not in facts:
        task = replace(task, wanted=Wanted(draw(st.integers(1, Q)), Q))
    secure = replace(task, secure=True)
    return secure if mechanism.refusal(secure) is None and draw(st.booleans()) else task


@st.composite
def noises(draw, mechanism, task):
    """Noise that the account finds for the task, at free parameters of any values."""
    ranges = mechanism.account.free_parameters.items()
    free = {name: draw(st.floats(max(low, 0.05), high)) for name, (low, high) in ranges}
    return mechanism.calibrate(task, **free)


@pytest.mark.keeps(
    "labels.accounts.label:joint_cost",
    "labels.accounts.label:label_curve",
    "labels.parameters:Cost",
)
@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("moved", MOVES)
@pytest.mark.parametrize("name", ON_COUNTS)
def test_no_adversary_gains_more_than_is_stated(name, moved, examples):
    """At the budget that noise is found for, and at the cost that is stated of this noise."""
    mechanism = load_mechanism(name)
    facts, sizes = MOVES[moved]
    if all(size[0] > (mechanism.law.n_classes or 3) for size in sizes):
        return

    @settings(max_examples=examples)
    @given(st.data())
    def check(data):
        task = data.draw(tasks(mechanism, facts, sizes))
        assert mechanism.refusal(task) is None
        parameters = data.draw(noises(mechanism, task))
        cost = mechanism.cost(task, parameters)
        assert cost.proven <= cost.claimed <= task.budget.epsilon
        most = task.budget.delta + (ROUNDING if task.secure else 0)
        assert delta_of(mechanism, parameters, task) <= most
        assert delta_of(mechanism, parameters, task, cost.proven) <= most * (1 + 1e-9)

    check()


# Where accounts are tight: an adversary gains nearly all of delta.
TWINS = {
    "a vote": [(5, 1), (4, 2), (3, 3)],
    "two votes": [(5, 1), (4, 2)],
    "a ballot": [(4, 1), (4, 2)],
    "a one": [(3, 2), (5, 3)],
    "two ones": [(3, 4)],
}


@pytest.mark.parametrize(("moved", "K", "Q"), [(m, *s) for m, some in TWINS.items() for s in some])
@pytest.mark.parametrize("name", TIGHT)
def test_five_per_cent_less_noise_is_caught(name, moved, K, Q):
    """By an adversary who exists, so that accounts are tight; and by the account."""
    mechanism, task = load_mechanism(name), task_of(2, K, Q, **MOVES[moved][0])
    parameters = mechanism.calibrate(task)
    twin = mechanism.law.scale_noise(parameters, 0.95)
    assert delta_of(mechanism, parameters, task) <= task.budget.delta
    assert delta_of(mechanism, twin, task) > task.budget.delta
    if Q > 1:  # of one label some are asked for its budget, which the twin states wrongly
        assert mechanism.cost(task, twin).proven > task.budget.epsilon


def whole_noise_delta(moved, epsilon):
    """Delta of all noisy counts together, on whole numbers. moved: lists (times, by, sigma)."""
    chances, losses = np.ones(1), np.zeros(1)
    for times, by, sigma in moved:
        x, one = noise_law(sigma)
        law = np.ones(1)
        for _ in range(times):
            law = np.convolve(law, one)
        total = np.arange(len(law)) + times * x[0]
        lost = by * (2 * total + times * by) / (2 * sigma**2)
        kept = law > 1e-22
        chances = np.outer(chances, law[kept]).ravel()
        losses = np.add.outer(losses, lost[kept]).ravel()
    return float(-(chances * np.expm1(np.minimum(epsilon - losses, 0))).sum())


def continuous_noise_delta(moved, epsilon):
    """The same of continuous noise, which is one Gaussian that moves by mu, to forty digits."""
    with mpmath.workdps(40):
        mu = mpmath.sqrt(
            mpmath.fsum(times * (by / mpmath.mpf(sigma)) ** 2 for times, by, sigma in moved)
        )
        growth, ends = mpmath.exp(epsilon), (mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu)
        return mpmath.ncdf(ends[0]) - growth * mpmath.ncdf(ends[1])


@pytest.mark.parametrize("examples", [12, pytest.param(120, marks=pytest.mark.slow)])
@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        mechanism.name
        for mechanism in OFFERED
        if isinstance(mechanism.account, GaussianCounts | CheckedCounts)
        and not isinstance(mechanism.account, CheckedLabels)
    ],
)
def test_all_noisy_counts_together_cost_no_more_than_is_stated(name, secure, examples):
    """A vote moves one count of a threshold by 1, and two of a label; several move as much each."""
    mechanism = load_mechanism(name)

    @settings(max_examples=examples)
    @given(st.data())
    def check(data):
        reach = data.draw(st.integers(1, 3))
        queries = data.draw(st.integers(1, 3 if secure else 400))
        labels = data.draw(st.integers(1, queries))
        epsilon, digits = data.draw(st.floats(0.3, 6)), data.draw(st.floats(1.3, 8))
        task = task_of(3, 9, queries, epsilon, 10**-digits, reach=reach, secure=secure)
        task = replace(task, wanted=Wanted(labels, queries))
        parameters = data.draw(noises(mechanism, task))
        if mechanism.law.may_abstain:
            moved = [(queries, reach, parameters.sigma1)]
            moved.append((2 * parameters.labels, reach, parameters.sigma2))
        else:
            moved = [(2 * parameters.labels, reach, parameters.sigma)]
        delta = whole_noise_delta if secure else continuous_noise_delta
        most = task.budget.delta + (ROUNDING if secure else 0)
        cost = mechanism.cost(task, parameters)
        assert delta(moved, epsilon) <= most
        assert delta(moved, cost.proven) <= most * (1 + 1e-9)
        less = [(times, by, 0.95 * sigma) for times, by, sigma in moved]
        # GNMax's published analysis is not tight, nor is any where noise hardly leaves its number.
        if reach == 1 and name != "gnmax" and min(sigma for _, _, sigma in moved) > 2:
            assert delta(less, epsilon) > task.budget.delta

    check()


def test_noise_for_continuous_accounts_would_be_caught_on_whole_numbers():
    task = task_of(2, 5, 1, 20.0, 1e-6)
    sigma = load_mechanism("gnmax_analytic").calibrate(task).sigma
    assert whole_noise_delta([(2, 1, sigma)], 20.0) > 1.9 * task.budget.delta


@pytest.mark.parametrize("C", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ON_COUNTS)
def test_every_account_notices_less_noise(name, C):
    """Of votes that move together, in many labels: 5 % less, and what one vote would need."""
    mechanism = load_mechanism(name)
    if (mechanism.law.n_classes or C) < C:
        return
    size = Ensemble(7, C), Budget(1.0, 1e-5), Wanted(3)
    task = Task(*size, protection=Protection.disjoint(reach=3))
    parameters = mechanism.calibrate(task)
    assert 0.98 < mechanism.cost(task, parameters).claimed <= 1
    twin = mechanism.law.scale_noise(parameters, 0.95)
    assert mechanism.cost(task, twin).claimed > 1
    assert mechanism.cost(task, mechanism.calibrate(Task(*size))).claimed > 1


@pytest.mark.parametrize("name", TIGHT)
def test_a_teacher_that_moves_its_one_changes_two_labels(name):
    """Were it charged for one of them, an adversary would gain more than delta."""
    mechanism, task = load_mechanism(name), task_of(2, 5, 3, most_ones=1)
    one = replace(mechanism.calibrate(task_of(2, 5, 1)), labels=3)
    assert delta_of(mechanism, one, task) > task.budget.delta


@pytest.mark.parametrize("name", ["ladder", "gnmax_exact", "permute_and_flip"])
def test_absent_ballots_that_are_not_dealt_out_would_be_caught(name):
    """The test can tell: a rule by which a ballot that vanishes moves more than a vote.

    All that is missing goes to class 0 if it is an odd number, and to class 1 if it is even.
    """
    mechanism, task = load_mechanism(name), task_of(2, 4, 1, absent=True)
    ballots, pairs = moved_votes(4, 3)
    rows, missing = ballots[:, :2].copy(), ballots[:, 2]
    rows[range(len(rows)), 1 - missing % 2] += missing
    laws = exact_laws(mechanism.law, rows, mechanism.calibrate(task))
    assert largest_delta(laws, pairs, task.budget.epsilon, 1) > task.budget.delta


@pytest.mark.parametrize("labels", [1, 2])
@pytest.mark.parametrize("name", OF_TEACHERS)
def test_private_teachers_keep_the_budget_of_their_own(name, labels):
    """Of one teacher that changes on disjoint shards, of all of them where data are shared.

    Teachers are trained once: any number of labels may tell all votes, or all of a committee.
    """
    mechanism = load_mechanism(name)
    model = sorted(mechanism.guarantee.privacy_models)[-1]
    for epsilon, delta in ((1.5, 1e-3), (0.2, 1e-6), (8.0, 0.02)):
        facts = {"teacher_epsilon": epsilon / 4, "teacher_Delta": delta / 20}
        task = task_of(2, 3, labels, epsilon, delta, privacy_model=model, secure=True, **facts)
        if mechanism.refusal(task):
            assert labels > 1
            return
        parameters = mechanism.calibrate(task)
        assert mechanism.cost(task, parameters).claimed <= epsilon
        assert delta_of(mechanism, parameters, task) <= delta


@pytest.mark.parametrize("examples", [4, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", registry.offered_mechanisms())
def test_no_free_parameter_costs_more_than_the_budget(name, examples):
    """Of ensembles too large for an adversary: whatever a planner chooses."""
    mechanism = load_mechanism(name)
    model = min(mechanism.guarantee.privacy_models)

    @settings(max_examples=examples)
    @given(st.data())
    def check(data):
        C, epsilon = data.draw(st.sampled_from([2, 4])), data.draw(st.sampled_from([0.7, 3.0]))
        labels = data.draw(st.sampled_from([1, 7, 40]))
        facts = {"teacher_epsilon": 0.3, "privacy_model": model, "queries": 60, "labels": labels}
        task = task_of(C, 9, 60, epsilon, 1e-5, **facts)
        if mechanism.refusal(task):
            task = task_of(2, 9, 60, epsilon, 1e-5, **facts | {"labels": 1})
        parameters = data.draw(noises(mechanism, task))
        assert 1 <= parameters.labels <= labels
        assert 0 < mechanism.cost(task, parameters).claimed <= epsilon

    check()
