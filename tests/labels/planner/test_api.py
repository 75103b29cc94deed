"""plan: the planner's own ranking, from plain numbers."""

import pytest

from private_ensembles.base import streams
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner import ranking
from private_ensembles.labels.planner.api import plan
from private_ensembles.labels.profile import ConsensusProfile, synthetic_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Task,
    Wanted,
)

ASKED = {"ensemble": Ensemble(40, 3), "budget": Budget(3, 1e-5), "labels": 30}
NAMES = ["gnmax_analytic", "permute_and_flip", "ladder"]


def test_the_ranking_is_the_planner_s():
    stated = {"easy": (5, 1), "easy_share": 0.5}
    more = {"profile": stated, "mechanisms": NAMES, "rehearsal": Rehearsal(), "seed": 5}
    found = plan(Ensemble(40, 3), (3, 1e-5), Wanted(10, queries=30), **more)
    profile = ConsensusProfile(3, 0.5, (5, 1), (2, 2), 1.0)
    generator = streams.generator(5, "planner", "profile")
    votes = synthetic_counts(profile, 40, 500, generator)
    task = Task(Ensemble(40, 3), Budget(3, 1e-5), Wanted(10, 30), profile=profile)
    assert found == ranking.rank_mechanisms(task, *votes, NAMES)
    assert found[-1].mechanism == "ladder"
    assert found[-1].refusal == "for two classes only"


def test_noise_is_secure_and_a_label_for_each_query_unless_said_otherwise():
    found = {one.mechanism: one for one in plan(**ASKED, mechanisms=[*NAMES, "lnmax_pure"])}
    assert "no sampler" in found["lnmax_pure"].refusal
    assert found["permute_and_flip"].refusal is None
    assert round(found["gnmax_analytic"].answers, 6) == 30
    assert found["gnmax_analytic"].epsilon <= 3


def test_private_teachers_are_stated():
    asked = Budget(1, 1e-3), 5, Protection.shared(adjacency="add_remove")
    rehearsed = {"mechanisms": ["committee"], "rehearsal": Rehearsal()}
    (refused,) = plan(Ensemble(11, 2), *asked, **rehearsed)
    assert "teacher_epsilon" in refused.refusal
    (found,) = plan(Ensemble(11, 2, private=(0.1, 1e-5)), *asked, **rehearsed)
    assert found.refusal is None
    assert found.answers == 5


def test_a_plan_for_units_of_several_shards_has_more_noise():
    asked = Ensemble(60, 3), Budget(2, 1e-5), 20
    names = [
        name for name in registry.offered_mechanisms() if load_mechanism(name).guarantee.hides_votes
    ]
    one, two = (
        plan(*asked, Protection.disjoint(reach=reach), mechanisms=names) for reach in (1, 2)
    )
    correct = {found.mechanism: found.correct for found in one if found.refusal is None}
    others = {found.mechanism: found for found in two if found.refusal is None}
    assert set(others) == set(correct)
    for name, found in others.items():
        assert found.correct < correct[name]
        assert found.epsilon <= 2


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"mechanisms": ["gnmaxx"]}, "mechanism = 'gnmaxx': must be one of"),
        ({"profile": {"hardly": (1, 1)}}, "profile: hardly: must be of easy_share"),
        ({"budget": (0, 1e-5)}, r"epsilon = 0: must be in \[1e-06, 100\]"),
        ({"budget": 2}, r"budget = 2: must be \(epsilon, delta\)"),
    ],
)
def test_bad_values_are_named_in_one_line(wrong, says):
    with pytest.raises(ValueError, match=says) as caught:
        plan(**(ASKED | {"mechanisms": ["ladder"]} | wrong))
    assert "\n" not in str(caught.value)
