"""plan on the command line: the planner's ranking, and nothing else."""

import json

import numpy as np
import pytest

from private_ensembles.base import streams
from private_ensembles.command.main import main
from private_ensembles.labels.planner import ranking
from private_ensembles.labels.profile import ConsensusProfile, synthetic_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

SIZE = {"--teachers": 40, "--classes": 3, "--queries": 30, "--labels": 10}
GIVEN = {"--epsilon": 3, "--seed": 5} | SIZE
WORDS = ["plan", *(str(word) for option in GIVEN.items() for word in option)]
NAMES = ["gnmax_analytic", "permute_and_flip", "ladder"]
MECHANISMS = [word for name in NAMES for word in ("--mechanism", name)]


def test_the_ranking_is_the_planner_s(capsys):
    assert main([*WORDS, *MECHANISMS, "--noise", "reproducible", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    task = Task(Ensemble(40, 3), Budget(3.0, 1e-5), Wanted(10, 30))
    profile = ConsensusProfile(3, 0.7, (20, 2), (2, 2), 1.0)
    counts, truth = synthetic_counts(profile, 40, 500, streams.generator(5, "planner", "profile"))
    plans = ranking.rank_mechanisms(task, counts, truth, NAMES)
    assert [row["mechanism"] for row in found["plans"]] == [one.mechanism for one in plans]
    assert np.allclose([row["correct"] for row in found["plans"]], [one.correct for one in plans])
    assert found["plans"][-1]["not_applicable"] == "for two classes only"
    assert found["plans"][-1]["epsilon"] is None


def test_noise_is_secure_unless_said_otherwise(capsys):
    main([*WORDS, *MECHANISMS, "--mechanism", "lnmax_pure", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["noise"] == "secure"
    refused = {row["mechanism"]: row["not_applicable"] for row in found["plans"]}
    assert "no sampler" in refused["lnmax_pure"]
    assert refused["permute_and_flip"] == ""


def test_a_task_for_which_nothing_applies_has_status_1(capsys):
    assert main([*WORDS, "--mechanism", "ladder"]) == 1
    assert "for two classes only" in capsys.readouterr().out


def test_more_classes_than_can_be_planned_are_refused_before_any_work(capsys, monkeypatch):
    monkeypatch.setattr(ranking, "rank_mechanisms", lambda *_: pytest.fail("planned"))
    words = ["plan", "--teachers", "50", "--classes", "1000000", "--queries", "20"]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error == "error: --classes = 1000000: must be at most 100,000\n"


def test_what_takes_long_is_said_beforehand_and_not_among_the_results(capsys, monkeypatch):
    monkeypatch.setattr(ranking, "estimate_seconds", lambda task: 75.0)
    assert main([*WORDS, *MECHANISMS, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == "this takes about 75 s of one core\n"
    json.loads(said.out)


def test_the_first_line_says_which_shards_are_taken_for_granted(capsys):
    assert main([*WORDS, *MECHANISMS]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert "(disjoint shards, replace_one)" in first
    assert last.startswith("expected on an assumed profile, not yours")
    teachers = ["--teacher-epsilon", "0.5", "--adjacency", "add_remove", "--noise", "reproducible"]
    assert main([*WORDS, "--shards", "shared", *teachers]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert "(shared shards, add_remove)" in first
    assert second.split()[0] == "committee"


def test_mechanisms_that_do_not_apply_for_one_reason_share_a_line(capsys):
    main([*WORDS, "--mechanism", "darrm_opt", "--mechanism", "darrm_sub", "--mechanism", "gnmax"])
    lines = capsys.readouterr().out.splitlines()
    assert "  not applicable: darrm_opt, darrm_sub: needs teachers that are private" in "\n".join(
        lines
    )


def test_what_the_labels_are_worth_is_said_and_no_plan_is_refused(capsys):
    words = ["plan", "--teachers", "40", "--classes", "7", "--queries", "60"]
    few = [*words, "--epsilon", "0.01", "--mechanism", "gnmax_analytic"]
    assert main(few) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("warning: usefulness = 0.0")
    assert main([*few, "--unit", "patient", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["shards"], found["unit"], found["reach"]) == ("disjoint", "patient", 1)
    assert not found["expectation"]["useful"]
