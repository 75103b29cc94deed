"""The planner's tables, settings and `plan`: a row per mechanism and budget, exact audits."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from private_ensembles.base import streams
from private_ensembles.labels import registry
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.laws.selection import SelectionRate
from private_ensembles.labels.planner import defaults, planning, ranking
from private_ensembles.labels.planner.api import plan
from private_ensembles.labels.planner.section import SyntheticVotes
from private_ensembles.labels.profile import ConsensusProfile, synthetic_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Task,
    Wanted,
)
from private_ensembles.run.check import ConfigError, check
from tests.run.shipped import DEFAULT

BASE = Task(Ensemble(9, 2, private=Budget(0.3, 0.0)), Budget(1.0, 1e-5), Wanted(40, 60))
SETTINGS = {
    "mechanisms": ["gnmax", "permute_and_flip", "ladder", "majority_private"],
    "privacy_model": "disjoint_shards",
    "adjacency": "replace_one",
    "teacher_epsilon": None,
    "teacher_Delta": 0,
    "teachers": 20,
    "n_classes": 3,
    "queries": 40,
    "labels": 20,
    "delta": 1e-5,
    "profile": {"easy_share": 0.7, "easy": [20, 2], "hard": [2, 2], "confusion": 1},
}


def test_the_audit_catches_half_the_noise(monkeypatch):
    honest = SelectionRate.used_rate
    monkeypatch.setattr(SelectionRate, "used_rate", property(lambda noise: 2 * honest.fget(noise)))
    task = replace(BASE, wanted=replace(BASE.wanted, labels=1, queries=1))
    assert planning.audit_row("permute_and_flip", task)["verdict"] == "fails"


def test_the_ladder_is_exactly_as_private_as_it_says():
    row = planning.audit_row(
        "ladder", replace(BASE, wanted=replace(BASE.wanted, labels=1, queries=1))
    )
    assert row["exact"] == pytest.approx(row["claimed"], rel=1e-3)


def test_plans_are_ranked_within_each_budget_and_refusals_come_last():
    table = planning.tabulate_plans(planning.plan_budgets(SETTINGS, [0.5, 2.0], seed=1))
    assert set(table["mechanism"]) == set(SETTINGS["mechanisms"])
    for epsilon, rows in table.groupby("budget_epsilon"):
        applies = rows["not_applicable"] == ""
        assert applies.tolist() == [True, True, False, False]
        assert rows.loc[applies, "correct"].is_monotonic_decreasing
        assert (rows.loc[applies, "epsilon"] <= epsilon).all()
    assert set(table["wanted"]) == {20}
    gnmax = table[table["mechanism"] == "gnmax"].iloc[0]
    assert gnmax["name"] == registry.get_entry("gnmax").label
    assert gnmax["parameters"].startswith("sigma = ")
    assert table["published"].isna().all()  # one mechanism a family
    both = SETTINGS | {"mechanisms": ["gnmax", "gnmax_exact"]}
    (row,) = planning.tabulate_plans(planning.plan_budgets(both, [2.0], seed=1)).to_dict("records")
    assert (row["mechanism"], row["correct"] > row["published"]) == ("gnmax_exact", True)


def test_votes_of_the_profile_are_enough_for_the_task_and_the_seed_s():
    task = planning.build_task(SETTINGS, 1.0, 1e-5, n_teachers=7)
    counts, labels = planning.profile_votes(task, seed=1)
    assert counts.shape == (500, 3)  # forty alone would say little about forty others
    assert set(counts.sum(axis=1)) == {7}
    assert labels.shape == (500,)
    many = planning.build_task(SETTINGS, 1.0, 1e-5, n_teachers=7, queries=800)
    assert planning.profile_votes(many, seed=1)[0].shape == (800, 3)
    again, _ = planning.profile_votes(task, seed=1)
    other, _ = planning.profile_votes(task, seed=2)
    assert again.tolist() == counts.tolist() != other.tolist()


def test_every_label_is_audited_or_says_why_not():
    table = planning.audit_table(SETTINGS).set_index(["mechanism", "classes"])
    assert table.loc[("gnmax", 2), "verdict"] == table.loc[("gnmax", 3), "verdict"] == "holds"
    assert table.loc[("ladder", 3), "verdict"] == "for two classes only"
    assert "needs teachers" in table.loc[("majority_private", 2), "verdict"]
    known = table[table["verdict"] == "holds"]
    assert (known["exact"] <= known["claimed"] * (1 + 1e-9)).all()


def test_parameters_are_words_of_four_digits():
    assert (
        planning.describe_parameters(GaussianNoise(12.34567, 286)) == "sigma = 12.35, labels = 286"
    )
    assert planning.describe_parameters(None) == ""


def test_secure_noise_is_planned_and_audited_as_it_is_drawn():
    sure = ["gnmax_analytic", "confident_gnmax", "permute_and_flip"]
    names = {"mechanisms": [*sure, "lnmax_pure"]}
    table = planning.tabulate_plans(
        planning.plan_budgets(SETTINGS | names, [2.0], seed=1, noise="secure")
    )
    refused = table["not_applicable"] != ""
    assert table.loc[refused, "mechanism"].tolist() == ["lnmax_pure"]
    assert (table.loc[~refused, "epsilon"] <= 2.0).all()
    audit = planning.audit_table(SETTINGS | names, noise="secure")
    verdicts = audit.set_index(["mechanism", "classes"])["verdict"].to_dict()
    assert verdicts["lnmax_pure", 2] == "holds"
    assert "secure noise" in verdicts["lnmax_pure", 3]
    assert {verdicts[name, C] for name in sure for C in (2, 3)} == {"holds"}


def test_they_are_config_yaml_s(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    stated = defaults.planner_settings()
    profile = {key: np.array(value).tolist() for key, value in stated.pop("profile").items()}
    section = config["planner"]
    assert profile == section["profile"]
    assert sorted(stated.pop("mechanisms")) == sorted(section["mechanisms"])
    assert stated == {key: section[key] for key in stated}
    assert config["own"]["budget"] == defaults.BUDGET


def test_they_are_a_task_s():
    stated = Task(Ensemble(9, 2), Budget(1.0, 1e-5), Wanted(1)).to_dict()
    assert {key: stated[key] for key in defaults.PRIVACY} == defaults.PRIVACY


def test_the_profile_can_be_drawn_from():
    assert ConsensusProfile(3, **defaults.ASSUMED_PROFILE).n_classes == 3


def planner(**values):
    return DEFAULT | {"planner": DEFAULT["planner"] | values}


def test_mechanisms_are_among_those_that_are_offered():
    offered = DEFAULT["planner"]["mechanisms"]
    check(planner(), mechanisms=offered)
    with pytest.raises(ConfigError) as error:
        check(planner(mechanisms=[offered[0], "magic"]), mechanisms=offered)
    allowed = f"must be one of {', '.join(offered)}"
    assert str(error.value) == f"planner.mechanisms[1] = 'magic': {allowed}"
    check(planner(mechanisms=["magic"]))  # nobody said what there is


def test_labels_are_at_most_the_queries():
    with pytest.raises(ConfigError, match=r"labels = 9: must be at most planner\.queries = 8$"):
        check(planner(queries=8, labels=9))
    check(planner(queries=8, labels=8))


def test_synthetic_votes_have_the_keys_of_a_profile_in_the_order_of_config_yaml():
    assert list(SyntheticVotes.model_fields) == list(DEFAULT["synthetic_votes"]["glyph"])


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
    names = ["gnmax_analytic", "exponential", "confident_gnmax", "ladder"]
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
