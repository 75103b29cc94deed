"""Sessions before their first batch and when they grow."""

from dataclasses import replace

import pytest

from private_ensembles.release import session_plan
from tests.release.test_release_plan import make_plan_file


def test_a_larger_cap_costs_more_and_stays_what_it_was_otherwise():
    plan = make_plan_file("gnmax_exact")
    more = session_plan.enlarge_cap(plan, 12)
    assert more.task.budget.epsilon > plan.task.budget.epsilon
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
