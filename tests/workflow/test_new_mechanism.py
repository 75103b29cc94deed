"""docs/add.md, "A mechanism", followed to the letter, and the tests that it names."""

import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest
import yaml

from private_ensembles.report import index
from tests import blocks

pytestmark = pytest.mark.slow

NAME = "randomised_response"
# A step of the page: the file that it names, and what stands in it or is changed there. Between
# them may stand a comment that says which test runs the block: this one.
STEP = re.compile(
    r"^\*\*\d\. [^`]*`([\w./]+)`\s+(?:<!-- run: [^`]*? -->\s+)?```(python|diff)\n(.*?)^```",
    re.DOTALL | re.MULTILINE,
)


@pytest.fixture(scope="module")
def extended(root, tmp_path_factory, copy_workflow, run_snakemake):
    """A copy of the workflow with the documented mechanism, planned and applied to votes."""
    folder = copy_workflow(tmp_path_factory.mktemp("new") / "copy")
    text = blocks.section(root / "docs" / "add.md", "A mechanism")
    steps = STEP.findall(text)
    assert len(steps) == text.count("```") // 2 == 4
    for name, kind, content in steps:
        path = folder / name
        if kind == "python":
            assert not path.exists(), path
            path.write_text(content, encoding="utf-8")
        else:
            change(path, content)
    # All mechanisms, and the new one: what the page changes is config.yaml's own list of them.
    tiny_yaml = folder / "config" / "scenarios" / "tiny.yaml"
    settings = yaml.safe_load(tiny_yaml.read_text(encoding="utf-8"))
    del settings["planner"]["mechanisms"]
    tiny_yaml.write_text(yaml.safe_dump(settings), encoding="utf-8")
    votes = "\n".join(",".join("0011122201"[i:] + "0011122201"[:i]) for i in range(10))
    (folder / "votes.csv").write_text(votes + "\n")
    tiny = ("--configfile", "config/scenarios/tiny.yaml", "--cores", "1")
    done = run_snakemake(folder, *tiny, "--", "results/planner/tables/planner.csv")
    assert done.returncode == 0, done.stderr
    # Of three classes it draws from a seed alone: that is enough for a rehearsal.
    own = ("--config", "votes=votes.csv", "votes_kind=votes", "n_classes=3", "n_teachers=10")
    own += ("noise=reproducible",)
    done = run_snakemake(folder, *tiny, *own)
    assert done.returncode == 0, done.stderr
    return folder


def change(path, diff):
    """Apply a diff without line numbers; what it changes must stand there once."""
    content = path.read_text(encoding="utf-8")
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] == " ")
    after = "".join(line[1:] for line in lines)
    assert {line[0] for line in lines} == {" ", "+"}
    assert content.count(before) == 1, before
    path.write_text(content.replace(before, after), encoding="utf-8")


def test_the_tests_of_all_mechanisms_check_the_new_one_by_themselves(extended, root):
    """Its claim, its sampler, its twin, secure noise and the page of its proof."""
    for name in ("tests/labels", "tests/claims", "docs", "benchmarks"):
        shutil.copytree(root / name, extended / name)
    for name in ("conftest.py", "forks.py"):
        shutil.copy2(root / "tests" / name, extended / "tests")
    files = (
        "labels/test_registry.py",
        "claims/test_one_label.py",
        "claims/test_samplers.py",
        "claims/test_may_be_released.py",
        "claims/test_accounts.py::test_no_adversary_gains_more_than_is_stated",
        "claims/test_accounts.py::test_no_free_parameter_costs_more_than_the_budget",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "-k", NAME, *files],
        cwd=extended / "tests",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 20


def test_the_new_mechanism_is_in_the_planner_s_table(extended):
    table = pd.read_csv(extended / "results/planner/tables/planner.csv")
    rows = table[table["mechanism"] == NAME]
    assert len(rows) == len(set(table["budget_epsilon"]))
    assert (rows["epsilon"] <= rows["budget_epsilon"]).all()
    assert (rows["correct"] > 0).all()


def test_the_new_mechanism_is_drawn(extended):
    pdf = (extended / "results/planner/figures/correct_labels.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    table = pd.read_csv(extended / "results/planner/tables/planner.csv")
    from private_ensembles.report import planner_figure

    drawn = planner_figure.drawn_names(table)
    assert NAME in drawn


def test_the_new_mechanism_is_audited_and_as_private_as_it_claims(extended):
    table = pd.read_csv(extended / "results/planner/tables/audit.csv")
    rows = table[table["mechanism"] == NAME]
    assert set(rows["verdict"]) == {"holds"}
    assert rows["exact"].to_numpy() == pytest.approx(rows["claimed"].to_numpy(), rel=1e-3)


def test_the_new_mechanism_is_on_the_page_of_results(extended, tmp_path):
    results = extended / "results"
    columns = "paper,item,dataset,row,column,published,status,note,kind"
    (results / "fidelity.csv").write_text(f"{columns}\n")
    page = index.build(
        fidelity=results / "fidelity.csv",
        tables=sorted((results / "planner/tables").glob("*.csv")),
        figures=sorted((results / "planner/figures").glob("*.png")),
        data="embedded",
        config=yaml.safe_load((extended / "config.yaml").read_text(encoding="utf-8")),
    )
    assert page.count(NAME) >= 4


def test_the_new_mechanism_serves_own_votes(extended):
    own = extended / "results/own"
    table = pd.read_csv(own / "rehearsal/rehearsal_mechanisms.csv")
    assert NAME in set(table["mechanism"])
    page = (own / "rehearsal/rehearsal_index.html").read_text(encoding="utf-8")
    assert "Randomised response on the plurality" in page
    assert NAME in set(pd.read_csv(own / "private/rehearsal_votes.csv")["mechanism"])
