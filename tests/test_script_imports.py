"""What scripts load when they start: all of it in their fingerprints, and nothing in vain."""

import json
import os
import re
import subprocess
import sys

import pytest

from private_ensembles.run.fingerprint import SCRIPTS, closure

# What computes labels, their costs or their chances, and so needs laws and accounts: the job that
# draws PATE's Figure 4 (`compare_noise`) computes it, too. No other table, figure or page does.
COMPUTES = {
    "apply_votes",
    "audit_mechanisms",
    "compare_noise",
    "plan_mechanisms",
    "release_batch",
    "train_bagged_students",
}
PATHS = {path.stem: path for path in sorted(SCRIPTS.rglob("*.py"))}
ALL_SCRIPTS = list(PATHS)
LIGHT = ("download_data", "optimize_gamma", "train_teachers")
# Runs the imports of each script, up to the first use of the `snakemake` object, and prints what is
# loaded then: in a fork of a process that has loaded what nearly all of them do, or, for the light
# ones, which come first, little of it.
LOADED = """
import ast, json, os, sys
import numpy, yaml
light = int(sys.argv[1])

for number, path in enumerate(sys.argv[2:]):
    if number == light:
        import matplotlib.pyplot, pandas, scipy.optimize, scipy.special
    child = os.fork()
    if child == 0:
        tree = ast.parse(open(path, encoding="utf-8").read())
        tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        exec(compile(tree, path, "exec"), {})
        print(json.dumps([path, sorted(sys.modules)]), flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(f"{path} could not be loaded")
"""


def printed(root, code) -> str:
    """What a fresh process prints that runs `code`."""
    environment = {**os.environ, "PYTHONPATH": str(root / "workflow")}
    return subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)


@pytest.fixture(scope="module")
def loaded_by(root):
    """The modules that are loaded once a script's own imports are done, by script."""
    scripts = [*LIGHT, *(name for name in ALL_SCRIPTS if name not in LIGHT)]
    paths = [str(PATHS[name]) for name in scripts]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(len(LIGHT)), *paths],
        env={**os.environ, "PYTHONPATH": str(root / "workflow")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [path for path, _ in found] == paths
    return {name: set(modules) for name, (_, modules) in zip(scripts, found, strict=True)}


def test_closure_holds_every_module_that_the_script_loads(loaded_by):
    for script, loaded in loaded_by.items():
        ours = {name for name in loaded if name.split(".")[0] == "private_ensembles"}
        assert ours, script
        assert ours - set(closure(PATHS[script])) == set(), script


def test_no_script_imports_a_heavy_library_that_it_does_not_use(loaded_by):
    # What each pays for before it does anything: torch 1 s, scipy.stats 0.6 s, pandas 0.3 s.
    torch = {name for name, found in loaded_by.items() if "torch" in found}
    assert torch == {"train_teachers", "train_student", "cast_votes"}
    assert {name for name, found in loaded_by.items() if "opacus" in found} == set()
    assert {name for name, found in loaded_by.items() if "scipy.stats" in found} == set()
    for name in LIGHT:
        assert not loaded_by[name] & {"pandas", "matplotlib", "scipy", "sklearn"}, name


@pytest.mark.parametrize(
    ("code", "libraries"),
    [
        (
            "import numpy; from private_ensembles.training.student import ranking_metrics; "
            "ranking_metrics.roc_and_pr_auc(numpy.array([0, 1]), numpy.array([0.1, 0.2]))",
            {"scipy", "sklearn"},
        ),
        ("import private_ensembles.papers.pate.experiment", {"pandas"}),
        ("import private_ensembles.papers.nzc.experiment", {"pandas"}),
        ("import private_ensembles.papers.darrm.experiment", {"pandas"}),
    ],
)
def test_what_jobs_load_while_they_run_needs_no_library_in_vain(root, code, libraries):
    assert printed(root, f"{code}; import sys; print({libraries} & set(sys.modules))") == "set()\n"


def laws_and_accounts(modules):
    """The laws and accounts of `labels`, and what puts them together."""
    hangs = re.compile(r"private_ensembles\.labels\.(mechanism|laws\..*|accounts\..*)")
    return {name for name in modules if hangs.fullmatch(name)}


def test_only_what_computes_labels_hangs_on_laws_and_accounts():
    """An edit of a proof reruns these, and no table or figure that others computed."""
    assert {name for name in ALL_SCRIPTS if laws_and_accounts(closure(PATHS[name]))} == COMPUTES


def test_tables_figures_and_pages_load_neither_laws_nor_accounts(loaded_by):
    for name in set(ALL_SCRIPTS) - COMPUTES:
        assert laws_and_accounts(loaded_by[name]) == set(), name
    # The experiments of a paper are loaded by the name that a rule gives them.
    assert laws_and_accounts(
        closure(PATHS["release_labels"], "private_ensembles.papers.pate.experiment")
    )


def test_the_list_of_mechanisms_loads_nothing_else(root):
    code = (
        "import sys; from private_ensembles.labels import registry; registry.offered_mechanisms(); "
    )
    code += "print(*sorted(name for name in sys.modules if name.startswith('private_ensembles')))"
    room = "private_ensembles.labels"
    assert printed(root, code).split() == ["private_ensembles", room, f"{room}.registry"]
