"""docs/add.md, "A data set", followed to the letter: files, an entry, and labels at the end."""

import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from tests import blocks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def steps(root):
    """The page's code: a script, a configuration, a command."""
    text = blocks.section(root / "docs" / "add.md", "A data set")
    (script,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (entry,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (command,) = re.findall(r"```sh\nsnakemake (.*)\n```", text)
    return script, entry, shlex.split(command)


@pytest.fixture
def prepared(steps, tmp_path, copy_workflow):
    """A copy of the workflow with the page's files and its entry."""
    folder = copy_workflow(tmp_path / "copy")
    script, entry, _ = steps
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True, capture_output=True)
    (folder / "stripes.yaml").write_text(entry, encoding="utf-8")
    return folder


def test_the_pinned_checksums_are_those_of_the_script_s_files(steps, tmp_path):
    script, entry, _ = steps
    made = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    pinned = dict(re.findall(r"      (\S+):\n        role: \S+\n        sha256: (\S+)", entry))
    assert pinned == dict(line.split() for line in made.splitlines())


def test_the_command_plans_the_new_data_set_from_its_files_to_its_labels(prepared, steps, planned):
    assert planned(prepared, *steps[2]) == {
        "download_data": 4,
        "prepare_dataset": 1,
        "train_teachers": 2,
        "cast_darrm_votes": 1,
        "account_teachers": 1,
        "optimize_gamma": 1,
        "search_gnmax_sigma": 1,
        "release_labels": 1,
    }


def test_teachers_of_the_new_data_set_learn_and_its_labels_are_no_stand_in(
    prepared, steps, run_snakemake
):
    done = run_snakemake(prepared, *steps[2])
    assert done.returncode == 0, done.stdout + done.stderr
    with np.load(prepared / "results/votes/stripes/kind=plain,K=11,seed=0.npz") as file:
        votes, labels = file["votes"], file["labels"]
    assert votes.shape == (200, 11)
    assert set(np.unique(labels)) == {0, 1}
    assert ((votes.mean(axis=1) > 0.5) == labels).mean() > 0.9
    table = pd.read_csv(prepared / "results/darrm/labels/dataset=stripes,m=3.csv")
    assert {"gnmax", "darrm_opt", "darrm_sub"} <= set(table["mechanism"])
    assert set(table["dataset"]) == {"stripes"}
    assert not table["stand_in"].any()
