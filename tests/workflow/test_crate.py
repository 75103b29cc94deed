"""`snakemake crate` describes a finished run, and nothing else runs again for it."""

import hashlib
import json
import shutil
from urllib.parse import unquote

import pytest

from ..conftest import jobs_by_rule

pytest.importorskip("rocrate", reason="comes with the extra `workflow`")


def test_a_finished_run_becomes_a_crate(finished_tiny_run, tmp_path, planned, run_snakemake):
    folder = shutil.copytree(finished_tiny_run, tmp_path / "copy")
    tiny = ("--configfile", "tests/config/tiny.yaml", "--cores", "1")
    done = run_snakemake(folder, "crate", *tiny)
    assert done.returncode == 0, done.stdout + done.stderr
    assert jobs_by_rule(done.stdout + done.stderr) == {"write_crate": 1, "crate": 1}
    results = folder / "results"
    metadata = json.loads((results / "ro-crate-metadata.json").read_text())
    found = {entity["@id"]: entity for entity in metadata["@graph"]}
    parts = [found[one["@id"]] for one in found["./"]["hasPart"]]
    for part in parts:
        path = results / unquote(part["@id"])
        assert path.is_file(), part
        if "sha256" in part:
            assert hashlib.sha256(path.read_bytes()).hexdigest() == part["sha256"]
    records = {path.name for path in (results / "provenance").rglob("*.json")}
    # Two are of folders, and one is its own.
    assert len([part for part in parts if "sha256" in part]) >= len(records) - 3
    lines = (results / "fidelity.csv").read_text().count("\n") - 1
    assert len([name for name in found if name.startswith("#check/")]) >= lines > 100
    assert planned(folder, "crate", *tiny) == {}
