"""Random releases by the command hold, and file, screen and statement say the same numbers."""

import json
import random
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from private_ensembles.accounting.certificate_format import write_hexadecimal
from private_ensembles.base.parameter_names import write_upper_bound
from private_ensembles.command.main import main
from private_ensembles.labels import registry
from tests.ledgers import releases
from verify import verify


def draw(seed):
    """The votes of an ensemble and the words of a command that asks for labels of it."""
    rng = random.Random(seed)
    K, C, Q = rng.choice([3, 5, 9, 20, 41]), rng.choice([2, 2, 3, 10]), rng.choice([1, 2, 5, 20])
    truth = np.random.default_rng(seed).integers(C, size=Q)
    right = np.random.default_rng(seed + 1).random((Q, K)) < 0.9
    words = ["--classes", C, "--teachers", K, "--epsilon", round(10 ** rng.uniform(-0.3, 1), 2)]
    words += ["--delta", 10 ** rng.randint(-8, -4), "--anyway"]
    words += ["--adjacency", rng.choice(["add_remove", "replace_one"])]
    names = [None, *registry.offered_mechanisms()]
    name = rng.choice(names)
    if name is not None and registry.get_entry(name).guarantee.teachers == "private":
        words += ["--teacher-epsilon", round(10 ** rng.uniform(-2, -0.5), 3)]
    words += ["--shards", "shared" if name == "committee" else "disjoint"]
    words += [] if name is None else ["--mechanism", name]
    return np.where(right, truth[:, None], (truth[:, None] + 1) % C), [str(word) for word in words]


def released(seed, capsys):
    """Release labels; what was printed, or None for what the mechanism is not for."""
    votes, words = draw(seed)
    np.save("votes.npy", votes)
    status = main(["release", "votes.npy", *words])
    said = capsys.readouterr()
    if status != 0:
        assert said.err.count("\n") == 1, (words, said.err)
        assert not Path("results").exists()
        return None
    return said.out


def holds(seed, said, capsys):
    (release,) = releases()
    folder = Path("results/own/release/0001")
    content = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    facts, (body,) = content["release"], content["certificates"]
    plan, (epsilon, delta, *_) = release.plan, astuple(release.cost)
    budget = plan.task.budget
    # One number in the ledger, on the screen, in the statement, and in the certificate.
    assert epsilon <= budget.epsilon, seed
    assert facts["terms"] == plan.to_json(), seed
    assert facts["epsilon"] == write_hexadecimal(epsilon), seed
    assert facts["delta"] == write_hexadecimal(delta) == write_hexadecimal(budget.delta), seed
    shown = write_upper_bound(epsilon)
    assert f"cost of all labels: epsilon = {shown} at delta" in said, (seed, said)
    statement = (folder / "statement.html").read_text(encoding="utf-8")
    assert f"<strong>({shown}, {write_upper_bound(delta)})-differentially" in statement, seed
    assert body["kind"] != "none", (seed, plan, body)
    proven = float.fromhex(body["epsilon"]) * float.fromhex(body.get("m", "0x1p0"))
    assert proven <= epsilon, seed
    assert float.fromhex(body["delta"]) <= delta, seed
    status = verify.main([folder / "certificate.json"])
    lines = capsys.readouterr().out.splitlines()
    assert (status, [line.split()[0] for line in lines]) == (0, ["holds", "holds"]), (seed, lines)
    # The verifier prints a number that is a little above, by a unit in the tenth digit at most.
    assert f"stated ({verify.write_upper_bound(verify.number(facts['epsilon']))}, " in lines[0], (
        seed
    )


@pytest.mark.parametrize(
    "seeds", [range(5), pytest.param(range(5, 400), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_random_releases_hold_and_say_one_number(seeds, tmp_path, monkeypatch, capsys):
    done = 0
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        monkeypatch.chdir(folder)
        said = released(seed, capsys)
        if said is not None:
            holds(seed, said, capsys)
            done += 1
    assert 2 * done > len(seeds)
