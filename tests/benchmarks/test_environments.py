"""Environments of other packages: what is printed is returned, and what fails gives a reason."""

import subprocess

import pytest

from benchmarks import environments
from benchmarks.environments import Skipped


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    monkeypatch.setenv(environments.FOLDER_VARIABLE, str(tmp_path / "made"))
    return tmp_path


def test_what_a_reproducer_prints_last_is_returned(folder):
    (folder / "some.py").write_text("print('a bar of progress')\nprint('{\"version\": \"1\"}')\n")
    assert environments.run_script("some") == {"version": "1"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import no_such_module", "did not run: ModuleNotFoundError"),
        ("print('no numbers')", "printed no numbers"),
        ("", "printed no numbers"),
    ],
)
def test_a_reproducer_that_fails_gives_a_reason(folder, text, reason):
    (folder / "some.py").write_text(text)
    found = environments.run_script("some")
    assert isinstance(found, Skipped)
    assert found.reason.startswith(reason)


def test_a_package_that_cannot_be_installed_gives_a_reason_and_leaves_nothing(folder, monkeypatch):
    (folder / "some.txt").write_text("# nowhere\nno-such-package==1\n")
    # No index and no links: what pip says without a network.
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    found = environments.run_script("some", "some")
    assert isinstance(found, Skipped)
    assert found.reason.startswith("could not be installed: ERROR: No matching distribution")
    assert list((folder / "made").iterdir()) == []


def test_an_environment_is_made_once_and_sees_this_one(folder, monkeypatch):
    (folder / "none.txt").write_text("# nothing of its own\n")
    made = environments.ensure_environment(folder / "none.txt")
    subprocess.run([made, "-c", "import numpy"], check=True)
    monkeypatch.setattr(environments, "_build_environment", None)
    assert environments.ensure_environment(folder / "none.txt") == made
    assert environments.read_installation_note("none") == "nothing of its own"
