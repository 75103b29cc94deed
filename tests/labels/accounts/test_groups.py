"""Several votes that move together: group privacy, and accounts that prove less than it.

Against every adversary: tests/claims/test_accounts.py.
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.labels import registry, release_gate
from private_ensembles.labels.accounts import groups
from private_ensembles.labels.accounts.account import Account
from private_ensembles.labels.accounts.label import LabelAccount
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import Budget, Ensemble, Protection, Task, Wanted
from tests.claims.adversary import delta_of

OFFERED = [load_mechanism(name) for name in registry.offered_mechanisms()]
ON_COUNTS = [mechanism.name for mechanism in OFFERED if mechanism.guarantee.hides_votes]
OF_TWO = [mechanism.name for mechanism in OFFERED if isinstance(mechanism.account, LabelAccount)]


def task_of(C, K, Q, **others):
    return Task.from_dict(
        {
            "epsilon": 1.0,
            "delta": 1e-3,
            "queries": Q,
            "labels": Q,
            "n_teachers": K,
            "n_classes": C,
            **others,
        }
    )


@pytest.mark.parametrize(
    ("epsilon", "C"),
    [
        (4.0, 2),
        *(pytest.param(*size, marks=pytest.mark.slow) for size in [(0.3, 2), (0.3, 6), (4, 6)]),
    ],
)
@pytest.mark.parametrize("name", ON_COUNTS)
def test_claims_lie_between_one_vote_and_group_privacy(name, epsilon, C):
    """At one noise: what g votes cost is more than one, no more than groups, and rises with g."""
    size = {"queries": 6, "labels": 6, "n_teachers": 20, "n_classes": C}
    task = Task.from_dict({"epsilon": epsilon, "delta": 1e-5, "reach": 4, **size})
    mechanism = load_mechanism(name)
    if mechanism.refusal(task):
        return
    parameters = mechanism.calibrate(task)
    last = 0.0
    for reach in (1, 3):
        of = replace(task, protection=replace(task.protection, reach=reach))
        claimed = mechanism.cost(of, parameters).proven
        assert last <= claimed * (1 + 1e-3)
        if reach > 1:
            by_groups = groups.group_cost(lambda one: mechanism.cost(one, parameters).proven, of)
            assert last < claimed <= by_groups
        last = claimed


def test_the_budget_of_one_vote_is_that_of_group_privacy():
    task = task_of(2, 9, 4, reach=3)
    one = groups.divide_budget(task)
    assert one.protection.reach == 1
    assert one.budget.epsilon == pytest.approx(1 / 3)
    whole = one.budget.delta * (1 + math.exp(one.budget.epsilon) + math.exp(2 * one.budget.epsilon))
    assert whole == pytest.approx(task.budget.delta)
    assert whole <= task.budget.delta
    assert 3 * one.budget.epsilon <= task.budget.epsilon


@pytest.mark.parametrize(("epsilon", "delta"), [(100.0, 1e-70), (2e-6, 1e-5)])
def test_a_budget_too_little_to_be_shared_is_refused(epsilon, delta):
    task = Task(
        Ensemble(9, 2), Budget(epsilon, delta), Wanted(1), protection=Protection.disjoint(reach=9)
    )
    for name in ON_COUNTS:
        begins = "leaves each of 9 votes too little of the budget: ("
        assert load_mechanism(name).refusal(task).startswith(begins)
        assert begins not in (
            load_mechanism(name).refusal(
                replace(task, protection=replace(task.protection, reach=1))
            )
            or ""
        )
    assert groups.group_cost(lambda one: 0.0, task) == math.inf


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_group_privacy_of_randomised_response_is_what_it_is(epsilon):
    """(e, d) of one vote by a formula of its own, and of a chain of three by the definition."""
    ones = np.array([1 / (1 + math.exp(epsilon * (1.5 - n))) for n in range(4)])
    task = replace(task_of(2, 3, 1, reach=3), budget=Budget(1.0, 0.2))

    def cost_of_one(one):
        """The least epsilon of neighbours of the chain at this delta."""
        found = 0.0
        for p, q in itertools.chain(itertools.pairwise(ones), itertools.pairwise(ones[::-1])):
            for mine, theirs in ((p, q), (1 - p, 1 - q)):
                if mine > one.budget.delta:
                    found = max(found, math.log((mine - one.budget.delta) / theirs))
        return found

    spent = groups.group_cost(cost_of_one, task)
    assert ones[3] - math.exp(spent) * ones[0] <= task.budget.delta
    assert ones[3] - math.exp(spent / 2) * ones[0] > task.budget.delta or spent == 0


def test_a_cost_that_no_share_of_delta_pays_for_is_infinite():
    task = task_of(2, 9, 4, reach=3)
    assert groups.group_cost(lambda one: math.inf, task) == math.inf
    assert groups.group_cost(lambda one: one.budget.epsilon + 300, task) == math.inf
    assert groups.group_cost(lambda one: 0.0, task) == 0


def test_an_account_of_one_vote_refuses_several():
    """As every account does that says nothing of groups."""
    gnmax = load_mechanism("gnmax_analytic")

    class OfOneVote(Account):
        def find_noise(self, law, task, labels, **free):
            return gnmax.account.find_noise(
                law, replace(task, protection=replace(task.protection, reach=1)), labels
            )

        def cost(self, law, task, parameters):
            return gnmax.account.cost(
                law, replace(task, protection=replace(task.protection, reach=1)), parameters
            )

    mechanism, task = replace(gnmax, account=OfOneVote()), task_of(3, 9, 4)
    assert mechanism.refusal(task) is None
    refusal = mechanism.refusal(replace(task, protection=replace(task.protection, reach=2)))
    assert refusal == "its account is of one vote that moves, not of several"


def test_pairs_that_are_not_known_are_not_guessed():
    law, task = load_mechanism("dpbag").law, task_of(3, 4, 2)
    assert not law.has_dominating_pairs(task)
    with pytest.raises(ValueError, match="n_classes = 3: no pairs of neighbours"):
        law.dominating_pairs(task, None)


def test_noise_is_multiplied_up_and_divided_down():
    for reach in (1, 2, 3, 7, 1000):
        more, less = (
            Fraction(f(reach)) for f in (groups.group_noise_factor, groups.single_vote_noise_factor)
        )
        assert more >= reach
        assert less <= Fraction(1, reach)
        assert more * less >= 1


@pytest.mark.parametrize("name", ["gnmax", "gnmax_analytic", "confident_gnmax"])
def test_secure_noise_of_several_votes_is_that_of_one_by_group_privacy(name):
    mechanism = load_mechanism(name)
    for C in (2, 4):
        task = Task(
            Ensemble(12, C),
            Budget(1.0, 1e-5),
            Wanted(20),
            protection=Protection.disjoint(reach=2),
            secure=True,
        )
        parameters = mechanism.calibrate(task)
        assert not parameters.continuous
        cost = mechanism.cost(task, parameters)
        assert cost.proven <= cost.claimed <= 1
        if name == "gnmax":  # the paper claims what Rényi divergence says, and more is proven
            assert cost.proven < 0.8 < 0.99 < cost.claimed
        continuous = mechanism.calibrate(replace(task, secure=False))
        more = mechanism.law.scale_noise(continuous, 1.02)
        assert mechanism.cost(task, more).proven <= 1


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("reach", [1, 2])
@pytest.mark.parametrize("C", [2, 3])
def test_noise_is_marked_continuous_only_where_a_seed_draws_more_than_two_classes(C, reach, secure):
    """Two classes are coins of the law's own table; secure labels of more are drawn exactly."""
    mechanism = load_mechanism("gnmax_exact")
    task = Task(
        Ensemble(5, C),
        Budget(1.0, 1e-3),
        Wanted(3),
        protection=Protection.disjoint(reach=reach),
        secure=secure,
    )
    noise = mechanism.calibrate(task)
    by_parts = mechanism.account.start.find_noise(mechanism.law, groups.divide_budget(task), 3)
    assert noise.sigma < by_parts.sigma  # so that it is what all labels together need
    assert noise.continuous == (C > 2 and not secure)
    assert bool(release_gate.refusal(mechanism, noise, C, secure=True)) == noise.continuous


@pytest.mark.parametrize("name", OF_TWO)
def test_coins_of_one_label_are_audited_for_all_votes_that_move(name):
    mechanism = load_mechanism(name)
    task = Task(
        Ensemble(12, 2),
        Budget(1.0, 1e-5),
        Wanted(1),
        protection=Protection.disjoint(reach=3),
        secure=True,
    )
    parameters = mechanism.calibrate(task)
    mechanism.require_bernoulli_within_delta(task, parameters)
    assert delta_of(mechanism, parameters, task) <= task.budget.delta
    cost_of_one = mechanism.calibrate(replace(task, protection=replace(task.protection, reach=1)))
    if mechanism.law.draws_exact_bernoulli:
        with pytest.raises(ValueError, match="coins of"):
            mechanism.require_bernoulli_within_delta(task, cost_of_one)


def test_what_private_teachers_cost_by_how_many_of_them_see_the_unit():
    facts = {"teacher_epsilon": 0.1, "adjacency": "add_remove"}
    majority = load_mechanism("majority_private")
    spent = [
        majority.cost(task, majority.calibrate(task)).proven
        for task in (task_of(3, 11, 5, reach=reach, **facts) for reach in (1, 2, 3))
    ]
    assert spent[0] == 0.1
    assert spent[1:] == pytest.approx([0.2, 0.3], abs=0.01)
    refusal = majority.refusal(task_of(3, 40, 5, reach=30, **facts))
    assert refusal.startswith("30 teachers cost")
