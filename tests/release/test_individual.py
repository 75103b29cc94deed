"""Each weight's own epsilon: what teachers of less weight are promised, stated and proven."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from private_ensembles.command.main import main
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.release import certificate, individual, statement
from private_ensembles.release.facts import Facts
from private_ensembles.release.release_plan import ReleasePlan, read
from private_ensembles.verify import verify
from private_ensembles.votes.ballots import of_weights

WEIGHTS = (3, 3, 2, 1, 1, 1, 1, 1, 1)


def plan_of(name="gnmax_exact", weights=WEIGHTS, C=2, labels=4, **others):
    size = {"n_teachers": len(weights), "n_classes": C} | of_weights(weights, len(weights))
    task = Task(4.0, 1e-5, labels, labels, secure=True, **size, **others)
    noise = load(name).calibrate(task)
    return ReleasePlan(task, name, noise, 0.0, None, "1", facts=Facts("disjoint"))


@pytest.mark.parametrize("name", ["gnmax_exact", "exponential", "gnmax_analytic"])
@pytest.mark.parametrize("labels", [1, 4])
def test_epsilons_fall_with_the_weight_and_are_those_of_fewer_votes(name, labels):
    plan = plan_of(name, labels=labels)
    found = individual.by_weight(plan)
    assert list(found) == [3, 2, 1]
    assert found[3] == plan.task.epsilon
    assert found[3] > found[2] > found[1] > 0
    for weight, own in [(2, found[2]), (1, found[1])]:
        cost = plan.mechanism.cost(replace(plan.task, ballot=weight, weights=None), plan.parameters)
        assert own <= cost.proven * (1 + 1e-9)
    stated = individual.by_weight(plan, 3.5)
    assert stated[3] == 3.5
    assert all(stated[weight] <= found[weight] for weight in found)


def test_of_many_weights_five_are_listed_each_for_those_up_to_it():
    plan = plan_of(weights=tuple(range(1, 10)), labels=2)
    found = individual.by_weight(plan)
    assert list(found) == [9, 7, 5, 3, 1]
    assert individual.teachers_of(list(found), plan.task.weights) == {9: 2, 7: 2, 5: 2, 3: 2, 1: 1}


def test_where_there_is_none_nothing_is_said():
    assert individual.by_weight(plan_of(weights=(2, 2, 2))) == {}
    plan = plan_of()
    two = replace(plan, task=replace(plan.task, reach=2))
    assert individual.by_weight(two) == {}
    assert individual.lines({}, ()) == []
    private = {"teacher_epsilon": 0.5, "adjacency": "add_remove"}
    assert individual.by_weight(plan_of("majority_private", **private)) == {}


def test_the_command_the_page_and_the_workflow_s_facts_say_it(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(["a,b,c,d", *["0,0,1,0", "1,1,1,0", "0,1,0,0"] * 4])
    Path("votes.csv").write_text(f"{rows}\n")
    given = ["votes.csv", "--classes", "2", "--votes-kind", "votes", "--labels", "3"]
    given += ["--weights", "4,2,2,2", "--noise", "reproducible", "--mechanism", "gnmax_exact"]
    assert main(["release", *given, "--epsilon", "6", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["asked"]["largest_weight"] == 2
    assert list(report["by_weight"]) == ["2", "1"]
    assert 0 < report["by_weight"]["1"] < 0.7 * report["by_weight"]["2"]
    assert main(["release", *given, "--epsilon", "6"]) == 0
    said = capsys.readouterr().out
    assert "4 teachers (of weights up to 2)" in said
    assert "by weight: up to 2: epsilon = " in said
    assert main(["release", *given, "--votes-kind", "counts", "--classes", "4"]) == 2
    assert "has counts: weights need each teacher's votes" in capsys.readouterr().err


def test_a_plan_with_weights_is_read_as_it_was_written():
    plan = plan_of()
    assert read(plan.text()) == plan
    assert json.loads(plan.text())["task"]["weights"] == list(WEIGHTS)


def released(plan, tmp_path):
    """A certificate's file, and the statement, of a release with each weight's own."""
    labels = tmp_path / "labels.csv"
    labels.write_text("query,label\n0,1\n")
    times = {
        "time": "2026-11-26",
        "labels_sha256": verify.hashlib.sha256(labels.read_bytes()).hexdigest(),
    }
    proof = certificate.proof_or_reason(plan)
    own = individual.proofs(plan, plan.task.epsilon)
    said = statement.statement(plan, proof, statement.Charged(plan.task.epsilon, 1e-5), own)
    proven = [(row.weight, row.epsilon, row.proof) for row in own]
    text = certificate.of_release(plan, proof, **times, epsilon=plan.task.epsilon, own=proven)
    path = tmp_path / "certificate.json"
    path.write_text(text)
    return path, json.loads(text), said


def test_each_weight_has_a_certificate_and_a_place_in_the_statement(tmp_path, capsys):
    plan = plan_of(labels=2)
    path, record, said = released(plan, tmp_path)
    assert "from 1 to 3, all for one class" in said
    assert "Weight up to 2</dt><dd>the records of 1 teacher: (" in said
    assert said.count("proven by a certificate of its own") == 2
    assert [row["weight"] for row in record["release"]["own"]] == [2, 1]
    assert verify.main([path]) == 0
    assert "teachers of weight 1 or less, stated (" in capsys.readouterr().out

    def status(change):
        forged = json.loads(json.dumps(record))
        change(forged["release"]["own"], forged["certificates"])
        path.write_text(json.dumps(forged))
        return verify.main([path])

    def smaller(own, _):
        own[1]["epsilon"] = certificate.exactly(0.9 * float.fromhex(own[1]["epsilon"]))

    assert status(smaller) == 1
    assert status(lambda own, _: own[0].update(weight=3)) == 1
    assert status(lambda own, bodies: bodies.__setitem__(1, bodies[2])) == 1
    assert status(lambda own, bodies: own.pop()) == 1
    capsys.readouterr()


def test_what_the_verifier_cannot_prove_is_said_to_rest_on_the_account(tmp_path):
    plan = plan_of("gnmax_analytic")
    _, record, said = released(plan, tmp_path)
    assert (
        "own" not in record["release"] or len(record["release"]["own"]) == 1
    )  # one vote is proven
    assert "by the account alone" in said
