"""docs/add.md, "A paper", followed to the letter after a tiny run: files, four lines, the page."""

import difflib
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from tests import blocks
from tests.conftest import jobs_by_rule

pytestmark = pytest.mark.slow

# A step of the page: the last file that its words name, and what stands in it or is changed there.
STEP = re.compile(
    r"^\*\*\d+\. (?:(?!```).)*?in\s+`([\w./]+)`(?:(?!```|\*\*\d).)*?```(\w+)\n(.*?)^```",
    re.DOTALL | re.MULTILINE,
)
# What the tiny run covers is kept, so that only the new paper's jobs are left to run.
PAPERS = ("--configfile", "config/scenarios/tiny.yaml", "--config", "papers=[darrm, toy]")


@pytest.fixture(scope="module")
def steps(root):
    """The page's steps: (file, language, content)."""
    text = blocks.section(root / "docs" / "add.md", "A paper")
    steps = STEP.findall(text)
    assert len(steps) == len(re.findall(r"^\*\*\d+\. ", text, re.MULTILINE)) == 14
    return steps


@pytest.fixture(scope="module")
def ran(steps, tmp_path_factory, finish_run, start_snakemake):
    """A copy of the finished tiny run to which the page's paper is added; what running it says."""
    folder = tmp_path_factory.mktemp("new") / "copy"
    shutil.copytree(finish_run("tiny"), folder)
    for name, language, content in steps:
        path = folder / name
        if language == "diff":
            change(path, content)
        else:
            assert not path.exists(), path
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
    done = start_snakemake(folder, *PAPERS, "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout + done.stderr


def change(path, diff):
    """Apply a diff without line numbers; what it changes must stand there once."""
    content, lines = path.read_text(encoding="utf-8"), diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in " -")
    after = "".join(line[1:] for line in lines if line[0] in " +")
    assert ("\n" + content).count("\n" + before) == 1, before
    path.write_text(content.replace(before, after), encoding="utf-8")


def test_four_lines_of_other_files_change(ran, root, steps):
    folder, _ = ran
    changed = []
    for name in {name for name, language, _ in steps if language == "diff"}:
        old, new = ((place / name).read_text(encoding="utf-8") for place in (root, folder))
        lines = difflib.ndiff(old.splitlines(), new.splitlines())
        changed += [line for line in lines if line.startswith("+ ") and line.strip("+ ")]
    assert len(changed) <= 4, changed


def test_nothing_of_another_paper_is_made_again(ran):
    _, said = ran
    shown = {"compare_published": 1, "build_index": 1}
    assert jobs_by_rule(said) == {"tabulate_majorities": 1} | shown


def test_the_new_paper_is_named_as_the_run_starts(ran):
    _, said = ran
    assert "Reproducing DaRRM and Toy" in said


def test_its_printed_numbers_are_compared(ran):
    folder, _ = ran
    fidelity = pd.read_csv(folder / "results/fidelity.csv")
    rows = fidelity[fidelity["paper"] == "toy"]
    assert list(rows["status"]) == ["match", "differs"]  # of 5 teachers, 3 are a majority
    assert list(rows["reproduced"]) == [2, 3]


def test_it_is_on_the_page_of_results(ran):
    folder, _ = ran
    page = (folder / "results/index.html").read_text(encoding="utf-8")
    assert "Toy: how many teachers are a majority" in page
    assert 'id="toy-table1"' in page
    assert "more than half of the" in page


def test_the_schema_for_editors_knows_its_keys_and_the_tests_of_all_papers_pass(ran, root):
    folder, _ = ran
    made = [sys.executable, "-m", "private_ensembles.run.schema"]
    workflow = folder / "workflow"
    schema = subprocess.run(made, cwd=workflow, capture_output=True, text=True, check=True).stdout
    assert '"Toy"' in schema
    (workflow / "schemas" / "config.schema.json").write_text(schema, encoding="utf-8")
    files = ("papers/test_all.py", "run/test_schema.py", "workflow/test_rules.py")
    for name in (*files, "run/shipped.py", "conftest.py", "forks.py"):
        (folder / "tests" / name).parent.mkdir(exist_ok=True)
        shutil.copy2(root / "tests" / name, folder / "tests" / name)
    *whole, rules = (f"tests/{name}" for name in files)
    named = ("every_rule_has_what_a_job_needs", "captions_exist")
    named += ("script_log_benchmark_and_fingerprint_carry_the_name_of_the_rule",)
    tests = [*whole, *(f"{rules}::test_{name}" for name in named)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", *tests],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
