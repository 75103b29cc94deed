"""The verifier that a certificate has passed is the one that strangers get."""

import runpy
import subprocess
import sys

from private_ensembles.release.verifier import VERIFIER, load


def test_it_is_the_file_to_which_the_repository_leads(root, tmp_path):
    given = [sys.executable, "-I", "-S"]
    shown = [
        subprocess.run([*given, str(path), "--help"], capture_output=True, text=True, cwd=tmp_path)
        for path in (VERIFIER, root / "verify" / "verify.py")
    ]
    assert [one.returncode for one in shown] == [0, 0]
    assert shown[0].stdout == shown[1].stdout != ""


def test_it_is_loaded_once_and_runs_nothing(capsys):
    assert load() is load()
    assert capsys.readouterr().out == ""
    assert runpy.run_path(str(VERIFIER), run_name="stranger")["MILLION"] == load().MILLION
