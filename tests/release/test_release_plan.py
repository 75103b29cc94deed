"""Plans of labels: as text and back without a change, bounds in their order, and larger caps."""

import json
import math
from dataclasses import replace

import pytest

from private_ensembles.labels import registry
from private_ensembles.labels.task import Protection
from private_ensembles.release import release_plan, session_plan
from tests.release import flat

SIZES = {"teachers": 7, "classes": 2, "labels": 6, "queries": 9, "epsilon": 2.0, "delta": 1e-4}
PRIVATE = {"teacher_epsilon": 0.4, "teacher_delta": 1e-6, "adjacency": "add_remove"}


def make_plan_file(name, **changes):
    entry = registry.get_entry(name)
    more = PRIVATE if entry.guarantee.teachers == "private" else {}
    stated = {"unit": "patient", "noise": "reproducible", "mechanisms": [name]}
    return flat.planned(**stated | SIZES | more | changes)


@pytest.mark.parametrize("name", session_plan.list_session_mechanisms())
def test_a_plan_is_read_as_it_was_written(name):
    changes = {}
    if name.startswith("darrm"):
        changes = {"labels": 1, "queries": 1}
    plan = make_plan_file(name, **changes)
    again = release_plan.read_plan(plan.to_json())
    assert again == plan
    assert again.parameters == plan.parameters
    assert json.loads(plan.to_json())["name"] == name
    used = plan.labels
    assert again.epsilon(plan.queries, used, 1e-4) == plan.epsilon(plan.queries, used, 1e-4)
    assert plan.epsilon(plan.queries, used, 1e-4) <= plan.task.budget.epsilon * (1 + 1e-12)


@pytest.mark.parametrize("text", ["", "{}", '{"name": "gnmax"}', "[]"])
def test_other_texts_are_no_plans(text):
    with pytest.raises(ValueError, match="the plan of the labels cannot be read"):
        release_plan.read_plan(text)


@pytest.mark.parametrize("name", ["gnmax_exact", "gnmax_analytic", "confident_gnmax_exact"])
def test_costs_grow_with_what_was_used_and_nothing_costs_nothing(name):
    plan = make_plan_file(name)
    assert plan.epsilon(0, 0, 1e-4) == 0
    costs = [plan.epsilon(used, used, 1e-4) for used in range(1, plan.labels + 1)]
    assert costs == sorted(costs)
    whole = plan.queries, plan.labels
    assert plan.epsilon(*whole, 1e-5) > plan.epsilon(*whole, 1e-4) > plan.epsilon(*whole, 1e-3)
    bounds = plan.bounds(3, 3, 1e-4)
    assert 0 <= bounds.lower <= bounds.upper <= costs[2]
    assert (bounds.lower > 0.9 * bounds.upper) == (name == "gnmax_exact")


@pytest.mark.parametrize("name", ["ladder", "exponential", "majority_private", "darrm_sub"])
def test_a_label_that_was_found_for_one_delta_proves_nothing_at_a_smaller_one(name):
    """But where the account of what it releases is known, which says what it costs there."""
    plan = make_plan_file(name, labels=1, queries=1)
    smaller, planned, larger = (plan.epsilon(1, 1, delta) for delta in (1e-9, 1e-4, 1e-2))
    assert larger <= planned <= plan.task.budget.epsilon
    table = name in ("ladder", "exponential")
    if table:
        law = plan.mechanism.law.build_audit(plan.task, plan.parameters)
        assert law.worst_inputs(1e-9).epsilon * (1 - 1e-6) <= smaller < math.inf
    else:
        assert smaller == math.inf


def test_facts_stand_in_the_plan():
    plan = make_plan_file("gnmax_exact")
    assert json.loads(plan.to_json())["task"]["unit"] == "patient"
    assert release_plan.read_plan(plan.to_json()).task.protection == Protection.disjoint("patient")


def test_a_larger_cap_costs_more_and_stays_what_it_was_otherwise():
    plan = make_plan_file("gnmax_exact")
    more = session_plan.enlarge_cap(plan, 12)
    assert more.task.budget.epsilon > plan.task.budget.epsilon
    assert more.correct == pytest.approx(2 * plan.correct)  # twelve labels, not six
    assert more.parameters == replace(plan.parameters, labels=12)
    with pytest.raises(ValueError, match="labels = 5"):
        session_plan.enlarge_cap(plan, 5)
    checked = session_plan.enlarge_cap(make_plan_file("confident_gnmax"), 12)
    assert checked.parameters.queries == 18 == checked.task.wanted.queries


def test_caps_beside_the_one_that_was_chosen_have_other_noise():
    rows = session_plan.compare_caps(make_plan_file("gnmax_exact"))
    assert [row["cap"] for row in rows] == [3, 6, 12]
    assert [row["correct"] / row["cap"] for row in rows] == sorted(
        (row["correct"] / row["cap"] for row in rows), reverse=True
    )
