"""Scaled plans keep their budget by a proof of their own, and give nearly what a plan does."""

from dataclasses import replace

import pytest

from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner import plan_scaling, planning, ranking
from private_ensembles.labels.planner.plan_scaling import ScaledPlan, scale_plan
from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

PROFILE = ConsensusProfile(3, 0.7, (20, 2), (2, 2), 1.0)
TASK = Task(Ensemble(60, 3), Budget(1.0, 1e-5), Wanted(40, 60), profile=PROFILE)
CHANGES = [{"labels": 8}, {"epsilon": 0.5}, {"epsilon": 2.0}]
QUICK = ["gnmax", "gnmax_analytic", "exponential", "permute_and_flip"]
CASES = [
    (name, False, change) for name, change in zip(QUICK, [*CHANGES, {"labels": 8}], strict=True)
]
CASES += [
    ("gnmax_analytic", True, {"labels": 8}),
    ("gnmax_exact", True, {"epsilon": 0.5}),
    ("confident_gnmax", False, {"labels": 8}),
    pytest.param("gnmax_exact", False, {"labels": 16}, marks=pytest.mark.slow),
    pytest.param("confident_gnmax_exact", True, {"epsilon": 0.5}, marks=pytest.mark.slow),
]


def planned(name, task):
    votes = planning.profile_votes(task, 0)
    (plan,) = ranking.rank_mechanisms(task, *votes, [name])
    assert plan.refusal is None
    return ScaledPlan(task, plan), votes


@pytest.mark.parametrize(("name", "secure", "change"), CASES)
def test_a_scaled_plan_keeps_its_budget_and_is_near_a_plan_of_its_own(name, secure, change):
    task = replace(TASK, secure=secure)
    known, votes = planned(name, task)
    wanted = Task.from_dict(task.to_dict() | change)
    found = scale_plan(known, wanted, *votes)
    mechanism, parameters = load_mechanism(name), found.plan.parameters
    # Asked anew, of the parameters alone.
    assert mechanism.cost(wanted, parameters).claimed <= wanted.budget.epsilon
    assert mechanism.cost(wanted, parameters).claimed <= found.plan.epsilon * (1 + 1e-9)
    assert parameters.labels <= wanted.wanted.labels
    answers, right = mechanism.law.expected_answers(*votes, wanted, parameters)
    assert (answers, right) == (found.plan.answers, found.plan.correct)
    own = planned(name, wanted)[0].plan.correct
    assert 0.93 * own <= right <= own * 1.01


def test_a_mechanism_without_noise_to_scale_serves_fewer_labels_and_no_smaller_budget():
    task = replace(TASK, ensemble=replace(TASK.ensemble, teachers=61, private=Budget(0.2, 0.0)))
    known, votes = planned("majority_private", task)
    fewer = scale_plan(known, replace(task, wanted=replace(task.wanted, labels=10)), *votes)
    assert fewer.plan.parameters.labels == 10
    assert fewer.plan.epsilon == known.plan.epsilon
    assert (
        scale_plan(known, replace(task, budget=replace(task.budget, epsilon=0.5)), *votes) is None
    )


def test_noise_that_costs_nothing_is_left_as_it_is(monkeypatch):
    task = replace(TASK, budget=replace(TASK.budget, epsilon=60.0))
    known, votes = planned("gnmax_analytic", task)
    monkeypatch.setattr(plan_scaling, "_noise_within_budget", lambda *_: pytest.fail("a proof"))
    fewer = scale_plan(known, replace(task, wanted=replace(task.wanted, labels=8)), *votes)
    assert fewer.plan.parameters.sigma == known.plan.parameters.sigma
    with pytest.raises(pytest.fail.Exception, match="a proof"):
        scale_plan(
            ScaledPlan(task, known.plan),
            replace(task, budget=replace(task.budget, epsilon=1.0)),
            *votes,
        )


def test_noise_of_which_nothing_is_proven_is_not_used(monkeypatch):
    known, votes = planned("gnmax_analytic", TASK)
    monkeypatch.setattr(plan_scaling, "_NOISE_MARGINS", (0.5,))
    assert (
        scale_plan(known, replace(TASK, budget=replace(TASK.budget, epsilon=0.5)), *votes) is None
    )
    fewer = scale_plan(known, replace(TASK, wanted=replace(TASK.wanted, labels=8)), *votes)
    assert fewer.plan.parameters.sigma == known.plan.parameters.sigma


def test_more_budget_or_more_labels_never_give_fewer_right_ones():
    tasks = [
        replace(TASK, budget=replace(TASK.budget, epsilon=epsilon)) for epsilon in (4.0, 1.0, 2.0)
    ]
    votes = planning.profile_votes(TASK, 0)
    names = ["gnmax_analytic", "permute_and_flip", "ladder"]
    plans = [(task, ranking.rank_mechanisms(task, *votes, names)) for task in tasks]
    table = plan_scaling.tabulate_fewer_labels(plans, *votes)
    assert set(table["mechanism"]) == {"gnmax_analytic", "permute_and_flip"}
    assert sorted(set(table["wanted"])) == [1, 2, 5, 10, 20, 40]
    assert (table["epsilon"] <= table["budget_epsilon"]).all()
    wide = table.pivot(index=["mechanism", "budget_epsilon"], columns="wanted", values="correct")
    assert wide.notna().all(axis=None)
    assert (wide.diff(axis=1).iloc[:, 1:] >= 0).all(axis=None)
    assert (wide.groupby("mechanism").diff().dropna() >= 0).all(axis=None)
    whole = {(t.budget.epsilon, p.mechanism): p.correct for t, ranked in plans for p in ranked[:2]}
    for (mechanism, epsilon), right in wide[40].items():
        assert right >= whole[epsilon, mechanism]


def test_around_a_plan_are_fewer_labels_and_other_budgets():
    votes = planning.profile_votes(TASK, 0)
    plans = ranking.rank_mechanisms(TASK, *votes, ["gnmax_analytic", "lnmax_pure"])
    rows = plan_scaling.vary_labels_and_budget(plans, TASK, *votes)
    for plan in plans:
        mine = [row for row in rows if row["mechanism"] == plan.mechanism]
        by_labels = [row for row in mine if row["over"] == "labels"]
        assert [row["wanted"] for row in by_labels] == [1, 2, 5, 10, 20, 40]
        assert {row["budget_epsilon"] for row in by_labels} == {1.0}
        by_epsilon = [row for row in mine if row["over"] == "epsilon"]
        assert [row["budget_epsilon"] for row in by_epsilon] == [0.5, 1.0, 2.0]
        assert {row["wanted"] for row in by_epsilon} == {40}
        assert by_labels[-1]["correct"] == by_epsilon[1]["correct"] == plan.correct


@pytest.mark.parametrize(("epsilon", "others"), [(60.0, [30.0, 60.0]), (1e-6, [1e-6, 2e-6])])
def test_around_a_plan_are_only_budgets_that_there_are(epsilon, others):
    """120 is none, and that ended what was asked for 60."""
    task = replace(TASK, budget=replace(TASK.budget, epsilon=epsilon))
    votes = planning.profile_votes(task, 0)
    plans = ranking.rank_mechanisms(task, *votes, ["gnmax_analytic"])
    rows = plan_scaling.vary_labels_and_budget(plans, task, *votes)
    assert [row["budget_epsilon"] for row in rows if row["over"] == "epsilon"] == others


def test_plans_of_very_many_labels_become_fewer_ones_only(monkeypatch):
    monkeypatch.setattr(plan_scaling, "MAX_SCALED_LABELS", 5)
    votes = planning.profile_votes(TASK, 0)
    plans = ranking.rank_mechanisms(TASK, *votes, ["gnmax_analytic"])
    rows = plan_scaling.vary_labels_and_budget(plans, TASK, *votes)
    over = {(row["over"], row["wanted"]) for row in rows}
    assert over == {*(("labels", few) for few in (1, 2, 5, 40)), ("epsilon", 40)}
    assert plan_scaling.tabulate_fewer_labels([(TASK, plans)], *votes)["wanted"].tolist() == [
        40,
        5,
        2,
        1,
    ]


def test_at_another_budget_thresholds_are_searched_for_anew():
    votes = planning.profile_votes(TASK, 0)
    (first,) = ranking.rank_mechanisms(TASK, *votes, ["confident_gnmax"])
    rows = plan_scaling.vary_labels_and_budget([first], TASK, *votes)
    (row,) = [row for row in rows if row["budget_epsilon"] == 0.5]
    (own,) = ranking.rank_mechanisms(
        replace(TASK, budget=replace(TASK.budget, epsilon=0.5)), *votes, ["confident_gnmax"]
    )
    assert row["correct"] == own.correct


@pytest.mark.parametrize(
    "name", ["gnmax_analytic", pytest.param("gnmax_exact", marks=pytest.mark.slow)]
)
def test_an_estimate_is_close_to_what_a_plan_of_its_own_gives(name):
    known, votes = planned(name, TASK)
    for change in ({"labels": 5}, {"labels": 20}, {"epsilon": 2.0}, {"epsilon": 0.5}):
        wanted = Task.from_dict(TASK.to_dict() | change)
        own = planned(name, wanted)[0].plan.correct
        assert plan_scaling.estimate_correct(known, wanted, *votes) == pytest.approx(own, rel=0.02)


@pytest.mark.parametrize(
    ("name", "secure"),
    [
        ("gnmax_analytic", True),
        *(
            pytest.param(name, secure, marks=pytest.mark.slow)
            for name in ("gnmax_exact", "confident_gnmax_exact")
            for secure in (False, True)
        ),
    ],
)
def test_one_question_has_one_answer(name, secure):
    """What twice the budget gives is on the screen by an estimate, and on the page as proven."""
    known, votes = planned(name, replace(TASK, secure=secure))
    rows = plan_scaling.vary_labels_and_budget([known.plan], known.task, *votes)
    for row in rows:
        if row["over"] == "epsilon" and row["budget_epsilon"] > 1:
            budget = replace(known.task.budget, epsilon=row["budget_epsilon"])
            told = plan_scaling.estimate_correct(known, replace(known.task, budget=budget), *votes)
            assert told == row["correct"]


def test_nothing_is_estimated_of_noise_that_does_not_scale():
    task = replace(TASK, ensemble=replace(TASK.ensemble, private=Budget(0.1, 0.0)))
    known, votes = planned("majority_private", task)
    assert (
        plan_scaling.estimate_correct(
            known, replace(task, wanted=replace(task.wanted, labels=5)), *votes
        )
        is None
    )
