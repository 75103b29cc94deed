"""The planner's tables: a row per mechanism and budget, and every label's exact audit."""

from dataclasses import replace

import pytest

from private_ensembles.labels import registry
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.laws.selection import SelectionRate
from private_ensembles.labels.planner import planning
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

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
