"""The list of papers: every folder is on it, it loads none, and no paper reruns another's jobs."""

import subprocess
import sys

import pytest

from private_ensembles.papers.all import ALL, FOLDER, load
from private_ensembles.run.fingerprint import PACKAGE, SCRIPTS, closure

SHARED = {"common", "compare", "ledger"}
# Which scripts load a module of every paper. Sections and targets are for the Snakefile alone.
GATHERED = {
    "relations": {"compare_published.py", "build_index.py", "publish_docs.py"},
    "findings": {"build_index.py"},
}


def test_every_folder_is_a_paper_of_the_list_or_shared():
    folders = {path.parent.name for path in FOLDER.glob("*/__init__.py")}
    assert folders == {paper.name for paper in ALL} | SHARED


@pytest.mark.parametrize("paper", ALL, ids=lambda paper: paper.name)
def test_a_paper_has_a_section_of_its_name_targets_and_a_chapter(paper):
    section = load(f"{PACKAGE}.papers.{paper.name}.section")
    assert hasattr(section, paper.name.capitalize())
    assert callable(load(f"{PACKAGE}.papers.{paper.name}.targets").tables)
    assert (FOLDER / paper.name / "page.yaml").is_file()


def test_what_a_paper_does_not_have_is_not_loaded():
    assert load(f"{PACKAGE}.papers.nzc.no_such_module") is None


def test_the_list_loads_neither_numpy_nor_a_paper(root):
    code = f"import sys, {PACKAGE}.papers.all\nprint(*sys.modules)"
    command, folder = [sys.executable, "-c", code], root / "workflow"
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert not {"numpy", "pandas", "pydantic"} & set(loaded)
    assert not [
        name for name in loaded if name.startswith(f"{PACKAGE}.papers.") and "all" not in name
    ]


def test_section_and_targets_of_a_paper_are_read_by_no_job_and_the_others_by_those_that_show_all():
    for script in sorted(SCRIPTS.rglob("*.py")):
        names = set(closure(script))
        for part in ("section", "targets", *GATHERED):
            folders = {path.parent.name for path in FOLDER.glob(f"*/{part}.py")}
            gathered = {f"{PACKAGE}.papers.{folder}.{part}" for folder in folders - SHARED}
            wanted = gathered if script.name in GATHERED.get(part, ()) else set()
            assert names & gathered == wanted, script.name
