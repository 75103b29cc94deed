"""audit on the command line: verdicts and their status, for functions and samplers."""

import json
import math
import runpy

import pytest

from private_ensembles.audit import audit_function
from private_ensembles.command.main import main

RESPONSE = "examples/randomized_response.py"
SIZE = ["--teachers", "11", "--classes", "3"]


@pytest.fixture(autouse=True)
def there(root, monkeypatch):
    monkeypatch.chdir(root)


def report(capsys, *words):
    status = main(["audit", *words, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_the_numbers_are_the_library_s(capsys):
    labels = runpy.run_path(RESPONSE)["labels"]
    status, found = report(capsys, f"{RESPONSE}:labels", *SIZE, "--claims", "1.01,0")
    exact = audit_function(labels, 11, 3)
    assert status == 0
    assert found["epsilon"] == exact.epsilon(1e-5)
    assert found["pure_epsilon"] == pytest.approx(1.0, abs=1e-11)
    assert (found["rho"], found["mu"]) == (exact.rho(), exact.mu())
    assert [one["delta"] for one in found["delta_curve"]] == pytest.approx(
        exact.curve([one["epsilon"] for one in found["delta_curve"]]).tolist(), abs=0
    )
    assert found["claims"] == [{"epsilon": 1.01, "delta": 0.0, "verdict": "holds"}]
    worst = found["worst_pair"]
    moved = [b - a for a, b in zip(worst["first"], worst["second"], strict=True)]
    assert sorted(moved) == [-1, 0, 1]


def test_a_false_claim_has_status_1_and_a_tight_one_is_undecided(capsys):
    claims = ["--claims", "1,0", "--claims", "0.99,0"]
    status, found = report(capsys, f"{RESPONSE}:labels", *SIZE, *claims)
    assert status == 1
    assert [claim["verdict"] for claim in found["claims"]] == ["undecided", "fails"]
    assert main(["audit", f"{RESPONSE}:labels", *SIZE, *claims]) == 1
    text = capsys.readouterr().out
    assert "claim (1, 0): undecided: it lies between" in text
    assert "claim (0.99, 0): fails" in text


def test_bounds_are_printed_on_their_safe_sides(capsys):
    main(["audit", f"{RESPONSE}:labels", *SIZE])
    lines = capsys.readouterr().out.splitlines()
    (pure,) = (line.split()[-1] for line in lines if line.startswith("epsilon at delta = 0 "))
    assert float(pure) >= 1.0
    (mu,) = (line.split() for line in lines if line.startswith("mu"))
    _, found = report(capsys, f"{RESPONSE}:labels", *SIZE)
    assert float(mu[4]) >= found["mu"]
    assert float(mu[-1].rstrip(")")) <= found["mu_lower"]


def test_a_sampler_is_known_by_its_arguments_and_proves_no_claim(capsys):
    words = [f"{RESPONSE}:draw", *SIZE, "--runs", "100000"]
    status, found = report(capsys, *words, "--claims", "1,1e-5", "--claims", "0.5,0")
    assert status == 1
    assert found["kind"] == "sampler"
    assert 0.8 < found["epsilon_lower"] < 1.0
    assert [claim["verdict"] for claim in found["claims"]] == ["not refuted", "fails"]
    # At a larger delta than was looked at, nothing is refuted.
    status, found = report(capsys, *words, "--claims", "0.5,0.1")
    assert (status, found["claims"][0]["verdict"]) == (0, "not refuted")
    assert main(["audit", *words, "--claims", "1,1e-5"]) == 0
    assert "no number of runs proves a claim" in capsys.readouterr().out


def test_private_teachers_that_share_all_data(capsys, tmp_path):
    """The majority of eleven, of which the worst teachers all move together."""
    file = tmp_path / "majority.py"
    file.write_text("import numpy as np\ndef f(c):\n    return np.eye(2)[c.argmax(axis=1)]\n")
    words = ["--teachers", "3", "--classes", "2", "--neighbours", "private_teachers"]
    _, found = report(capsys, f"{file}:f", *words, "--teacher-epsilon", "0.1", "--delta", "0")
    assert 0.1 < found["epsilon"] <= 0.3
    assert len(found["worst_pair"]["first"]) == 3
    assert main(["audit", f"{file}:f", *words, "--teacher-epsilon", "0.1"]) == 0
    assert "teachers that say 1 with chances" in capsys.readouterr().out


def test_what_has_no_privacy_is_infinite_in_json_too(capsys, tmp_path):
    file = tmp_path / "exact.py"
    file.write_text("import numpy as np\ndef f(c):\n    return np.eye(2)[c.argmax(axis=1)]\n")
    status, found = report(
        capsys, f"{file}:f", "--teachers", "3", "--classes", "2", "--claims", "5,0.9"
    )
    assert status == 1
    assert math.isinf(float(found["epsilon"]))
    assert found["mu"] == found["rho"] == "inf"
    assert found["claims"][0]["verdict"] == "fails"
