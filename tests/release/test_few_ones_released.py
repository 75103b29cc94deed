"""Few ones of a teacher, from the file to the labels: command, Python, statement, verifier."""

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from private_ensembles import release_labels, release_statement
from private_ensembles.command.main import main
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Ensemble,
    Rehearsal,
    Task,
    Wanted,
)
from private_ensembles.labels.votes import Votes
from private_ensembles.release import certificate
from private_ensembles.release.release_plan import ReleasePlan
from private_ensembles.verify import verify
from tests.ledgers import releases
from tests.release.releases import table

K, QUERIES, MOST = 60, 60, 24
PROFILE = {"commonest": 0.8, "easy": (45, 5), "easy_share": 1.0}
STATED = ["--commonest", "0.8", "--easy", "45", "5", "--easy-share", "1", "--epsilon", "8"]


@pytest.fixture(scope="module")
def truth():
    return (np.random.default_rng(0).random(QUERIES) < 0.2).astype(int)


@pytest.fixture(scope="module")
def votes(truth):
    chances = np.where(truth, 0.95, 0.03)[:, None]
    return (np.random.default_rng(1).random((QUERIES, K)) < chances).astype(np.uint8)


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
    votes, truth, tmp_path, monkeypatch, capsys, name, teachers
):
    monkeypatch.chdir(tmp_path)
    np.savez("v.npz", votes=votes[:, :teachers])
    words = ["--teachers", str(teachers), "--classes", "2", "--most-ones", "24"]
    # There are as many queries as teachers.
    words += ["--shards", "disjoint", "--votes-kind", "votes", "--mechanism", name]
    assert main(["release", "v.npz", *words, *STATED, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["asked"]["most_ones"] == MOST
    found = rows(report["files"]["labels"])
    right = sum(row["label"] == str(truth[int(row["query"])]) for row in found)
    assert right > 0.9 * len(found)
    (one,) = releases()
    assert one.batch.answers == len(found)
    plan = one.plan
    assert (plan.task.wanted.most_ones, plan.task.wanted.queries) == (MOST, QUERIES)
    assert main(["verify", report["files"]["certificate"]]) == 0
    capsys.readouterr()
    statement = Path(report["files"]["statement"]).read_text(encoding="utf-8")
    assert (
        "One unit can change at most 48 of them, because a teacher votes 1 on at most 24"
        in statement
    )


def test_a_certificate_of_fewer_ones_than_the_plan_states_is_refused(tmp_path):
    """A certificate for one one is none for two; and one for the labels that change is needed."""
    size = {"queries": 30, "labels": 30, "n_teachers": 5, "n_classes": 2, "secure": True}
    plans = {}
    for most in (6, 12, None):
        task = Task.from_dict({"epsilon": 4.0, "delta": 1e-5, "most_ones": most, **size})
        mechanism = load_mechanism("gnmax_exact")
        plans[most] = ReleasePlan(task, "gnmax_exact", mechanism.calibrate(task), 0.0, None, "0")
    proofs = {most: certificate.prove(plans[most]) for most in (6, 12)}
    path, labels = tmp_path / "certificate.json", table(30).encode()
    (tmp_path / "labels.csv").write_bytes(labels)
    for stated, proven in ((6, 6), (12, 6), (6, 12), (None, 12), (12, 12)):
        plan = replace(plans[proven], task=plans[stated].task)
        times = {
            "time": "2026-11-26T15:00:00+00:00",
            "labels_sha256": hashlib.sha256(labels).hexdigest(),
        }
        path.write_text(certificate.render_certificate(plan, proofs[proven], **times, epsilon=4.0))
        assert verify.main([path]) == (0 if stated == proven else 1)


def test_python_takes_counts_of_whoever_has_cut_the_votes(votes, truth):
    counts = Votes(2, truth, votes, most_ones=30).histogram()
    stated = {"profile": PROFILE, "rehearsal": Rehearsal(seed=1), "mechanism": "gnmax_exact"}
    some = release_labels(counts, (8, 1e-5), labels=Wanted(len(counts), most_ones=30), **stated)
    assert (some.labels == truth).mean() > 0.9
    text = release_statement(some)
    assert "One unit can change at most 60 of them" in text
    assert "Counts do not show this; whoever released the labels stated it" in text
    with pytest.raises(ValueError, match="most_ones = 2: must be of two classes"):
        release_labels([[30, 20, 10]], (8, 1e-5), labels=Wanted(1, most_ones=2), **stated)
    with pytest.raises(ValueError, match="without absent ballots"):
        stated["ensemble"] = Ensemble(70, 2, absent=True)
        release_labels([[30, 30]], (8, 1e-5), labels=Wanted(1, most_ones=2), **stated)


def test_fewer_ones_need_less_noise(votes):
    stated = {"profile": PROFILE, "rehearsal": Rehearsal(), "mechanism": "gnmax_exact"}
    counts = np.stack([K - votes.sum(axis=1), votes.sum(axis=1)], axis=1)
    noise = [
        release_labels(
            counts, (8, 1e-5), labels=Wanted(len(counts), most_ones=most), **stated
        ).parameters.sigma
        for most in (10, 20, 30)
    ]
    assert noise[0] < noise[1] < noise[2]
    assert noise[2] == release_labels(counts, (8, 1e-5), **stated).parameters.sigma


def test_two_releases_of_few_ones_are_added_up(votes, tmp_path, monkeypatch, capsys):
    """How few ones a teacher has on the queries of both is not said."""
    monkeypatch.chdir(tmp_path)
    np.savez("v.npz", votes=votes[:30, :20])
    words = ["release", "v.npz", "--teachers", "20", "--classes", "2"]
    words += ["--shards", "disjoint", "--votes-kind", "votes"]
    words += ["--mechanism", "gnmax_analytic", "--again", *STATED, "--json"]
    for more, joint in (["--most-ones", "4"], False), ([], True):
        out = ["--out", "few" if more else "any"]
        for _ in range(2):
            assert main([*words, *more, *out]) == 0
            report = json.loads(capsys.readouterr().out)
        assert (report["if_planned_together"] is not None) == joint


def test_a_session_has_no_such_cap(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["--teachers", "60", "--classes", "2", "--labels", "60", *STATED]
    with pytest.raises(SystemExit):
        main(["session", "create", "s", *words, "--most-ones", "2"])
    assert "would have to remember each teacher's ones" in capsys.readouterr().err


def test_the_plan_knows_few_ones(capsys):
    words = ["--teachers", "60", "--queries", "60", "--classes", "2", "--delta", "1e-5", *STATED]
    words += ["--mechanism", "gnmax_exact", "--noise", "reproducible", "--json"]
    noise = []
    for most in ([], ["--most-ones", "12"]):
        assert main(["plan", *words, *most]) == 0
        report = json.loads(capsys.readouterr().out)
        (row,) = report["plans"]
        assert report.get("most_ones") == (12 if most else None)
        assert row["wanted"] == 60
        noise.append(float(row["parameters"].split(",")[0].removeprefix("sigma = ")))
    assert noise[1] < 0.8 * noise[0]
    assert main(["plan", *words, "--absent", "--most-ones", "1"]) == 2
    assert "may be absent" in capsys.readouterr().err
