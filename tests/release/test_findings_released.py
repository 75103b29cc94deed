"""Many findings of one query, from the file to the labels: command, Python, sessions, verifier."""

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from private_ensembles import release_labels, release_statement
from private_ensembles.command.main import main
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.planner import study
from private_ensembles.release import certificate, expectation
from private_ensembles.release.facts import Facts
from private_ensembles.release.release_plan import ReleasePlan, read
from private_ensembles.release.session import Session
from private_ensembles.verify import verify
from private_ensembles.votes.synthetic import ConsensusProfile

K, FINDINGS = 60, 5
PROFILE = {"commonest": 0.8, "easy": (45, 5), "easy_share": 1.0}
STATED = ["--commonest", "0.8", "--easy", "45", "5", "--easy-share", "1", "--epsilon", "8"]
NAMES = "a,b,c,d,e"


@pytest.fixture(scope="module")
def truth():
    return (np.random.default_rng(0).random((12, FINDINGS)) < 0.2).astype(int)


@pytest.fixture(scope="module")
def ballots(truth):
    chances = np.where(truth, 0.95, 0.03)[:, None]
    return (np.random.default_rng(1).random((12, K, FINDINGS)) < chances).astype(np.uint8)


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


# The proof of thresholds and labels takes longest, and half as long for half the teachers.
@pytest.mark.parametrize(
    ("name", "teachers"),
    [
        ("gnmax_exact", K),
        ("gnmax_analytic", K),
        pytest.param("confident_gnmax_exact", 30, marks=pytest.mark.slow),
    ],
)
def test_the_command_releases_them_with_a_certificate(
    ballots, truth, tmp_path, monkeypatch, capsys, name, teachers
):
    monkeypatch.chdir(tmp_path)
    np.savez("v.npz", votes=ballots[:, :teachers])
    words = ["--findings", NAMES, "--most-ones", "2", "--shards", "disjoint", "--mechanism", name]
    assert main(["release", "v.npz", *words, *STATED, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["asked"]["findings"], report["asked"]["most_ones"]) == (5, 2)
    assert report["expectation"]["vectors_right"] <= 12
    found = rows(report["files"]["labels"])
    assert list(found[0]) == ["query", *NAMES.split(",")]
    for row in found:
        answers = [row[name] for name in NAMES.split(",")]
        known = [answer for answer in answers if answer]
        right = [a for a, t in zip(answers, truth[int(row["query"])], strict=True) if a == str(t)]
        assert len(right) >= len(known) - 1
    (record,) = rows("results/own/release/releases.csv")
    assert int(record["labels"]) == len(found)
    plan = read(record["terms"])
    assert (plan.task.findings, plan.task.most_ones, plan.task.queries) == (5, 2, 60)
    assert main(["verify", report["files"]["certificate"]]) == 0
    capsys.readouterr()
    statement = Path(report["files"]["statement"]).read_text(encoding="utf-8")
    assert "of 5 yes/no findings each, for 12 queries" in statement
    assert "says yes to 2 findings of a query at most" in statement


def test_a_certificate_of_fewer_ones_than_the_plan_states_is_refused(tmp_path):
    """A certificate for one yes is none for two; and one for the labels that change is needed."""
    size = {"queries": 30, "labels": 30, "n_teachers": 40, "n_classes": 2, "secure": True}
    plans = {}
    for most in (1, 2, None):
        task = Task(4.0, 1e-5, findings=5, most_ones=most, **size)
        mechanism = load("gnmax_exact")
        plans[most] = ReleasePlan(task, "gnmax_exact", mechanism.calibrate(task), 0.0, None, "0")
    path, labels = tmp_path / "certificate.json", b"query,finding0\n0,1\n"
    (tmp_path / "labels.csv").write_bytes(labels)
    for stated, proven in ((1, 1), (2, 1), (1, 2), (None, 2), (2, 2)):
        plan = replace(plans[proven], task=plans[stated].task)
        proof = certificate.prove(plans[proven])
        times = {
            "time": "2026-11-26T15:00:00+00:00",
            "labels_sha256": hashlib.sha256(labels).hexdigest(),
        }
        path.write_text(certificate.of_release(plan, proof, **times, epsilon=4.0))
        assert verify.main([path]) == (0 if stated == proven else 1)


def test_python_takes_ballots_or_counts_of_yes(ballots, truth):
    stated = {"epsilon": 8, "delta": 1e-5, "profile": PROFILE, "noise": "reproducible", "seed": 1}
    stated["mechanism"] = "gnmax_exact"
    of_ballots = release_labels(ballots, findings=NAMES, **stated)
    yes = ballots.sum(axis=1)
    of_counts = release_labels(yes, findings=5, teachers=K, **stated)
    assert (of_ballots.labels == of_counts.labels).all()
    assert (of_ballots.labels == truth).mean() > 0.9
    some = release_labels(yes, findings=5, teachers=K, answer=[7, 2], labels=1, **stated)
    assert (some.labels[np.arange(12) != 7] == -1).all()
    assert (some.labels[7] >= 0).all()
    assert "findings each" in release_statement(some)
    with pytest.raises(ValueError, match="most_ones = 2: must be left out without findings"):
        release_labels([[30, 30]], most_ones=2, **stated)


def test_fewer_ones_need_less_noise(ballots):
    stated = {"epsilon": 8, "delta": 1e-5, "profile": PROFILE, "noise": "reproducible"}
    stated |= {"findings": 5, "mechanism": "gnmax_exact"}
    noise = [
        release_labels(ballots, most_ones=most, **stated).parameters.sigma for most in (1, 2, 3)
    ]
    assert noise[0] < noise[1] < noise[2]
    assert noise[2] == release_labels(ballots, **stated).parameters.sigma


def test_a_session_counts_whole_queries(ballots, truth, tmp_path):
    stated = {"teachers": K, "classes": 2, "epsilon": 8, "delta": 1e-5, "profile": PROFILE}
    stated |= {"findings": 5, "most_ones": 2, "mechanisms": ["gnmax_exact"]}
    with Session.create(tmp_path / "s", labels=20, noise="reproducible", **stated) as session:
        first = session.release(ballots, key="one")
        assert first.shape == (12, 5)
        assert (session.release(ballots, key="one") == first).all()
        assert (first == truth).mean() > 0.9
        assert (session.remaining, session.remaining_queries) == (8, 8)
        with pytest.raises(ValueError, match="12 queries: must be at most 8, which"):
            session.release(ballots)
        session.release(ballots.sum(axis=1)[:8])
        assert session.remaining == 0
        spent = session.spent.epsilon
        assert 0.9 * 8 < spent <= 8
        assert session.cost_of(40).epsilon > 8
        # As many labels as can change, of an account that knows nothing of findings.
        task = session.plan.task
        plain = replace(task, findings=1, most_ones=None, queries=80, labels=80)
        noise = replace(session.plan.parameters, labels=80)
        assert spent == load("gnmax_exact").cost(plain, noise).proven


def test_the_session_command_writes_a_column_for_each(ballots, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.savez("v.npz", votes=ballots)
    words = ["--teachers", str(K), "--findings", "5", "--most-ones", "2", "--labels", "12"]
    words += ["--shards", "disjoint", "--mechanism", "gnmax_exact"]
    assert main(["session", "create", "s", *words, *STATED]) == 0
    assert main(["session", "release", "s", "v.npz", "--key", "one", "--findings", NAMES]) == 0
    assert "60 findings of 12 queries" in capsys.readouterr().out
    assert list(rows("s.one.csv")[0]) == ["query", *NAMES.split(",")]
    assert main(["session", "export", "s", "--out", "out"]) == 0
    assert len(rows("out/labels.csv")) == 12
    assert rows("out/batches.csv")[0]["queries"] == "12"
    assert main(["verify", "out/certificate.json"]) == 0
    assert main(["session", "release", "s", "v.npz", "--key", "two", "--findings", "4"]) == 2


def test_right_vectors_are_those_of_all_right_findings():
    """Independent findings that are right with the same probability p: p to the power k."""
    mechanism = load("gnmax_exact")
    profile = ConsensusProfile(2, easy_share=1.0, easy=(1e9, 0.6e9), hard=(1, 1), confusion=1.0)
    task = Task(4.0, 1e-5, 300, 300, K, 2, profile=profile, findings=5, most_ones=2)
    (plan,) = study.ranked(task, ["gnmax_exact"], 0)
    found = expectation.of(task, plan, 0, Facts("disjoint"))
    votes, labels = study.profile_votes(task, 0)
    right = mechanism.law.right(votes, labels, plan.parameters).reshape(-1, 5)
    assert found.vectors == pytest.approx(right.prod(axis=1).mean() * plan.parameters.labels / 5)
    assert found.vectors < found.right / 5
    assert f"all 5 of {found.vectors:.0f} of 60 queries" in found.lines()[0]


def test_the_plan_counts_findings(capsys):
    words = ["--teachers", "60", "--queries", "12", "--findings", "5", "--delta", "1e-5", *STATED]
    words += ["--mechanism", "gnmax_exact", "--noise", "reproducible", "--json"]
    noise = []
    for most in ([], ["--most-ones", "1"]):
        assert main(["plan", *words, *most]) == 0
        (row,) = json.loads(capsys.readouterr().out)["plans"]
        assert row["wanted"] == 60
        noise.append(float(row["parameters"].split(",")[0].removeprefix("sigma = ")))
    assert noise[1] < 0.8 * noise[0]
    assert main(["plan", *words, "--absent", "--most-ones", "1"]) == 2
    assert "may be absent" in capsys.readouterr().err
