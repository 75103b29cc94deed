"""verify hands over to a program that runs by itself, and hands back what it says."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from private_ensembles.accounting.certificate_format import build_certificate
from private_ensembles.command import verify
from private_ensembles.command.main import main


@pytest.fixture
def verifier(tmp_path, monkeypatch):
    """One that accepts what says so, and proves that it runs without any package."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_text('"good"')
    (tmp_path / "bad.json").write_text('"bad"')
    path = tmp_path / "verify.py"
    path.write_text(
        "import sys\n"
        "assert sys.flags.isolated and 'private_ensembles' not in sys.modules\n"
        "for file in sys.argv[1:]:\n"
        "    good = open(file).read() == '\"good\"'\n"
        "    print('holds' if good else 'FAILS', file)\n"
        "    if not good:\n"
        "        sys.exit(1)\n"
    )
    return str(path)


def test_every_file_is_handed_over_and_the_status_handed_back(verifier, capsys):
    assert main(["verify", "good.json", "good.json", "--verifier", verifier]) == 0
    assert capsys.readouterr().out == "holds good.json\nholds good.json\n"
    assert main(["verify", "good.json", "bad.json", "--verifier", verifier, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["holds"] is False
    assert found["lines"] == ["holds good.json", "FAILS bad.json"]


def test_the_statuses_of_the_verifier_are_the_command_s(tmp_path, capsys, monkeypatch):
    """The repository's own verifier: true, false, no JSON, out of its range, not there."""
    monkeypatch.chdir(tmp_path)
    coins = [[1, "1/4"], [1, "1/3"], [0, "1/3"], [0, "1/4"]]
    law = {"name": "coins", "rows": coins}
    true = build_certificate("label", "hockey_stick", law=law, epsilon=2, delta=0)
    for name, content, status in (
        ("-true.json", true, 0),
        ("false.json", true | {"epsilon": "1/2"}, 1),
        ("large.json", true | {"epsilon": 10**5}, 2),
        ("half.json", None, 2),
    ):
        Path(name).write_text("{" if content is None else json.dumps(content))
        assert main(["verify", "--json", "--", name]) == status
        assert json.loads(capsys.readouterr().out)["holds"] is (status == 0)
    assert main(["verify", "none.json"]) == 2
    with pytest.raises(SystemExit) as ended:
        main(["verify"])
    assert ended.value.code == 2


def test_the_limit_is_passed_on(tmp_path, capsys):
    path = tmp_path / "many.json"
    coins = [[1, "1/3"]] * 15000 + [[0, "1/3"]] * 15000
    law = {"name": "coins", "rows": coins}
    path.write_text(
        json.dumps(build_certificate("label", "hockey_stick", law=law, epsilon=1, delta=0))
    )
    assert main(["verify", str(path), "--limit", "1"]) == 2
    assert "1 million are allowed (--limit)" in capsys.readouterr().out
    assert main(["verify", str(path)]) == 0


def test_a_verifier_that_is_not_there_is_said_to_be_elsewhere(tmp_path, capsys, monkeypatch):
    (tmp_path / "c.json").write_text("{}")
    words = ["verify", str(tmp_path / "c.json"), "--verifier", str(tmp_path / "verify.py")]
    assert main(words) == 2
    assert "it is verify/verify.py in the repository" in capsys.readouterr().err


def test_nothing_that_lies_beside_an_installed_package_is_run(tmp_path, root):
    installed = tmp_path / "lib" / "site-packages"
    shutil.copytree(root / "workflow" / "private_ensembles", installed / "private_ensembles")
    (tmp_path / "lib" / "verify").mkdir()
    (tmp_path / "lib" / "verify" / "verify.py").write_text("print('mine')\n")
    (tmp_path / "c.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, "-m", "private_ensembles", "verify", "c.json"],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == "unchecked  c.json: there is no certificate\n"


def test_there_is_one_copy_and_the_repository_s_leads_to_it(root):
    assert (root / "verify" / "verify.py").resolve() == verify.VERIFIER.resolve()
    assert (root / "verify" / "verify.py").is_symlink()
