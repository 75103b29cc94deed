"""A task says what is wanted and what it may cost; values out of range are refused."""

from dataclasses import replace

import pytest

from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

BASE = Task(Ensemble(9, 2, private=Budget(0.3, 0.0)), Budget(1.0, 1e-5), Wanted(40, 60))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 1.0}, r"delta = 1.0: must be in \[1e-100, 1\)"),
        ({"epsilon": 0.0}, r"epsilon = 0.0: must be in \[1e-06, 100\]"),
        ({"labels": 61}, "labels = 61: must be at most queries = 60"),
        ({"n_teachers": 0}, "n_teachers = 0: must be an integer >= 1"),
        ({"n_classes": 2.5}, "n_classes = 2.5: must be an integer >= 2"),
        ({"privacy_model": "none"}, "= 'none': must be one of disjoint_shards, shared_data"),
        ({"adjacency": "none"}, "adjacency = 'none': must be one of add_remove, replace_one"),
        ({"teacher_epsilon": -1.0}, "teacher_epsilon = -1.0: must be > 0"),
        ({"teacher_Delta": 1.0}, "teacher_Delta = 1.0: must be in"),
        ({"most_ones": 0}, "most_ones = 0: must be an integer >= 1"),
    ],
)
def test_a_task_out_of_range_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Task.from_dict(BASE.to_dict() | change)


def test_a_teacher_that_costs_all_of_the_budget_is_not_too_much():
    task = replace(
        BASE,
        ensemble=replace(BASE.ensemble, private=Budget(1.0, 1e-5)),
        protection=replace(BASE.protection, adjacency="replace_one"),
    )
    cost = task.teacher_cost()
    exactly = replace(task, budget=Budget(cost.epsilon, cost.delta))
    assert exactly.teacher_refusal() is None
    for less in ({"epsilon": cost.epsilon * 0.99}, {"delta": cost.delta * 0.99}):
        assert "more than the budget" in Task.from_dict(exactly.to_dict() | less).teacher_refusal()


def test_which_votes_a_unit_moves():
    """Those of all teachers that it reaches, of whom there are no more than teachers."""
    two = replace(BASE, protection=replace(BASE.protection, reach=2))
    assert two.single_vote_task() == BASE
    with pytest.raises(ValueError, match="reach = 10: must be an integer >= 1 and <= 9"):
        replace(BASE, protection=replace(BASE.protection, reach=10))


def test_a_text_of_a_task_is_read_as_it_was():
    more = {"reach": 2, "absent": True, "secure": True, "counts_only": True}
    task = Task.from_dict(BASE.to_dict() | more)
    assert task.to_dict() == BASE.to_dict() | more
    assert Task.from_dict(task.to_dict()) == task


def test_texts_leave_out_what_a_ballot_is_if_it_is_one_vote():
    of_ballots = {"absent", "most_ones"}
    assert not of_ballots & set(BASE.to_dict())
    others = {"absent": True}
    stated = Task.from_dict(BASE.to_dict() | others).to_dict()
    assert {name: stated[name] for name in of_ballots & set(stated)} == others
    assert Task.from_dict({**stated}) == Task.from_dict(BASE.to_dict() | others)


def test_a_task_without_absent_ballots_has_none_on_its_profile():
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
