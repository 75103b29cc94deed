"""plan on the command line: the planner's ranking, and nothing else."""

import json

import numpy as np
import pytest

from private_ensembles.command.main import main
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise import streams
from private_ensembles.planner import ranking
from private_ensembles.votes.synthetic import ConsensusProfile, synthetic_counts

SIZE = {"--teachers": 40, "--classes": 3, "--queries": 30, "--labels": 10}
GIVEN = {"--epsilon": 3, "--seed": 5} | SIZE
WORDS = ["plan", *(str(word) for option in GIVEN.items() for word in option)]
NAMES = ["gnmax_analytic", "permute_and_flip", "ladder"]
MECHANISMS = [word for name in NAMES for word in ("--mechanism", name)]


def test_the_ranking_is_the_planner_s(capsys):
    assert main([*WORDS, *MECHANISMS, "--noise", "reproducible", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    task = Task(3.0, 1e-5, 30, 10, 40, 3)
    profile = ConsensusProfile(3, 0.7, (20, 2), (2, 2), 1.0)
    counts, truth = synthetic_counts(profile, 40, 30, streams.generator(5, "planner", "profile"))
    plans = ranking.plan(task, counts, truth, NAMES)
    assert [row["mechanism"] for row in found["plans"]] == [one.mechanism for one in plans]
    assert np.allclose([row["correct"] for row in found["plans"]], [one.correct for one in plans])
    assert found["plans"][-1]["not_applicable"] == "for two classes only"
    assert found["plans"][-1]["epsilon"] is None


def test_noise_is_secure_unless_said_otherwise(capsys):
    main([*WORDS, *MECHANISMS, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["noise"] == "secure"
    refused = {row["mechanism"]: row["not_applicable"] for row in found["plans"]}
    assert "no sampler" in refused["permute_and_flip"]


def test_a_task_for_which_nothing_applies_has_status_1(capsys):
    assert main([*WORDS, "--mechanism", "ladder"]) == 1
    assert "for two classes only" in capsys.readouterr().out


def test_more_classes_than_can_be_planned_are_refused_before_any_work(capsys, monkeypatch):
    monkeypatch.setattr(ranking, "plan", lambda *_: pytest.fail("planned"))
    words = ["plan", "--teachers", "50", "--classes", "1000000", "--queries", "20"]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error == "error: --classes = 1000000: must be at most 10,000\n"


def test_what_takes_long_is_said_beforehand_and_not_among_the_results(capsys, monkeypatch):
    monkeypatch.setattr(ranking, "about_seconds", lambda task: 75.0)
    assert main([*WORDS, *MECHANISMS, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == "this takes about 75 s of one core\n"
    json.loads(said.out)
