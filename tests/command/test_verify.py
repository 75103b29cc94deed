"""verify hands over to a program that runs by itself, and hands back what it says."""

import json
import os
import shutil
import subprocess
import sys

import pytest

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


def test_an_installed_package_says_where_the_verifier_is(tmp_path, capsys, monkeypatch):
    (tmp_path / "c.json").write_text("{}")
    words = ["verify", str(tmp_path / "c.json"), "--verifier", str(tmp_path / "verify.py")]
    assert main(words) == 2
    assert "it is the file verify/verify.py of the repository" in capsys.readouterr().err


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
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: verify.py: is not there; it is the file verify/verify.py")


def test_it_is_looked_for_beside_the_package(root):
    assert root / "verify" / "verify.py" == verify.VERIFIER
