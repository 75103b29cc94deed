"""Scenarios: each says what it runs, is in the table of config/README.md, and can be planned."""

import re
import shlex

import pytest

from tests.conftest import ROOT

FILES = sorted(path.name for path in (ROOT / "config" / "scenarios").glob("*.yaml"))
# A row of the table: the file and the command that runs it.
ROW = re.compile(r"^\| \[(\w+)\]\(scenarios/(\w+\.yaml)\) \|.*\| `snakemake (.*)` \|$", re.M)
ROWS = {
    file: (name, shlex.split(command))
    for name, file, command in ROW.findall((ROOT / "config" / "README.md").read_text())
}


def test_the_table_names_every_scenario():
    assert sorted(ROWS) == FILES
    for file, (name, command) in ROWS.items():
        assert f"{name}.yaml" == file
        assert command[command.index("--configfile") + 1] == f"config/scenarios/{file}"


def test_a_scenario_opens_with_what_it_runs_and_how():
    for file in FILES:
        text = (ROOT / "config" / "scenarios" / file).read_text()
        comment = re.match(r"(#.*\n)+", text)[0]
        assert f"#   snakemake {shlex.join(ROWS[file][1])}\n" in comment
        assert "Needs" in comment, file


@pytest.mark.slow  # tests/run/test_check.py checks each file; this plans it
@pytest.mark.parametrize("file", FILES)
def test_a_scenario_can_be_planned_by_its_command(file, tmp_path, copy_workflow, planned):
    folder = copy_workflow(tmp_path / "workflow")
    jobs = planned(folder, *ROWS[file][1])
    assert jobs["compare_published"] == 1
    downloads = "paper" in file or file == "published.yaml"
    assert ("download_data" in jobs) == downloads
