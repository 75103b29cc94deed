"""What tests of more than one room use: a stand-in for Snakemake's job object, and small runs.

Also how tests are shared out: one process for each core and two more (`-n auto`), of one thread
each, since tests of Slurm and of downloads wait more than they compute. Whole files go to whoever
is free, so that what a file prepares is prepared once; what several files need is made by the first
that asks for it.
"""

import compileall
import fcntl
import functools
import gc
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from . import forks

ROOT = Path(__file__).resolve().parents[1]
# Before any test loads NumPy or PyTorch: they run side by side, and train as the jobs do.
PINNED = {
    name: os.environ.get(name)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MKL_CBWR")
}
os.environ |= dict.fromkeys(PINNED, "1") | {"MKL_CBWR": PINNED["MKL_CBWR"] or "AUTO"}
threadpool_limits(1)  # for what a plugin has loaded already, as pytest-randomly loads NumPy
# The tests themselves are so many objects that looking for garbage among them takes a third of
# collecting them.
gc.set_threshold(50_000, 20, 20)

# What holds the longest files comes first, so that short ones are left for the end.
FIRST = ("workflow", "release", "papers", "claims", "verify", "accounting", "labels", "studies")

# A slow machine is no failure, and a failure must be the same on every machine.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("steady")


def pytest_collection_modifyitems(items):
    """Start with what takes long: the tests that run the workflow, then the others of `FIRST`."""

    def place(item):
        folder = item.path.relative_to(ROOT / "tests").parts[0]
        return FIRST.index(folder) if folder in FIRST else len(FIRST)

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers():
    """Return how many processes `-n auto` stands for: two more than xdist would take.

    One waits for Slurm, and one for the tiny runs.
    """
    cores = yield
    return cores if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else cores + 2


class NamedList(list):
    """Like Snakemake's: a list whose items may also have names."""

    def __init__(self, items=(), **named):
        super().__init__([*items, *named.values()])
        self._named = named
        self.__dict__.update(named)

    def items(self):
        return self._named.items()


@pytest.fixture(scope="session")
def root():
    """The root of the repository."""
    return ROOT


@pytest.fixture
def fake_snakemake(tmp_path):
    """Build what Snakemake hands to a script; outputs and log are names in `tmp_path`."""

    def build(outputs=("out.txt",), named=None, inputs=None, params=None, log="job.log", **more):
        named = {name: str(tmp_path / path) for name, path in (named or {}).items()}
        return SimpleNamespace(
            input=NamedList(**(inputs or {})),
            output=NamedList([] if named else [str(tmp_path / o) for o in outputs], **named),
            params=NamedList(**(params or {})),
            wildcards=NamedList(),
            threads=1,
            resources=NamedList(),
            log=[str(tmp_path / log)] if log else [],
            config={},
            rule="some_rule",
            **more,
        )

    return build


@pytest.fixture
def stand_in(monkeypatch):
    """Replace functions of a foreign module where one module of ours looks for them, only there."""

    def replace(module, name, **functions):
        everything = vars(getattr(module, name)) | functions
        monkeypatch.setattr(module, name, SimpleNamespace(**everything))

    return replace


@pytest.fixture(scope="session")
def make_once(request, tmp_path_factory):
    """Make something in a folder that all processes share; returns the folder, what was said.

    The first process that asks makes it, and the others wait. Nobody may change what is in it.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if hasattr(request.config, "workerinput") else own

    def once(name: str, make: Callable[[Path], str]) -> tuple[Path, str]:
        folder, said = shared / name, shared / f"{name}.txt"
        with open(shared / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not said.exists():
                said.write_text(make(folder))
        return folder, said.read_text()

    return once


def _compiled_workflow(folder: Path) -> str:
    folder.mkdir()
    for name in ("Snakefile", "config.yaml", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder)
    for name in ("workflow", "config", "envs", "profiles", "studies", "tests/config"):
        made = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=made)
    assert compileall.compile_dir(folder / "workflow" / "private_ensembles", quiet=1)
    return "compiled"


@pytest.fixture(scope="session")
def copy_workflow(make_once):
    """Copy the workflow, without anything it made but its bytecode, into a folder.

    It is compiled once: otherwise every copy would be, and where Python may write no bytecode every
    job anew.
    """
    template, _ = make_once("template", _compiled_workflow)

    def copy(destination: Path) -> Path:
        return shutil.copytree(template, destination, dirs_exist_ok=True)

    return copy


def users_environment() -> dict[str, str]:
    """Return the environment of a user's shell: nothing of what pytest and this file set."""
    # The workflow must find its modules by itself, not through what pytest was given.
    ours = {"PYTHONPATH", *PINNED}
    before = {name: value for name, value in PINNED.items() if value is not None}
    return {name: value for name, value in os.environ.items() if name not in ours} | before


@pytest.fixture(scope="session")
def run_snakemake():
    """Run Snakemake in a folder as a user would; returns the finished process, output as text."""

    def run(folder: Path, *arguments: str, timeout=1200, memory=None, **variables):
        """timeout, memory: as in `forks.run_snakemake`. variables: of the environment."""
        environment = {**users_environment(), "PWD": str(folder), **variables}
        return forks.run_snakemake(folder, arguments, environment, timeout, memory)

    return run


@pytest.fixture(scope="session")
def start_snakemake():
    """Run Snakemake in a folder as a user does: as `run_snakemake`, by Python's own start."""

    def start(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=folder,
            env={**users_environment(), "PWD": str(folder)},
            capture_output=True,
            text=True,
            timeout=1200,
        )

    return start


def jobs_by_rule(text: str) -> dict[str, int]:
    """Return how many jobs of each rule Snakemake says that it runs."""
    assert "Job stats:" in text or "Nothing to be done" in text, text
    jobs = re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE)
    return {rule: int(number) for rule, number in jobs if rule not in ("all", "total")}


@pytest.fixture(scope="session")
def planned(run_snakemake):
    """Return how many jobs of each rule a dry run plans, by rule; fails if the dry run fails."""

    def plan(folder: Path, *arguments: str, **variables) -> dict[str, int]:
        done = run_snakemake(folder, "-n", *arguments, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return jobs_by_rule(done.stdout + done.stderr)

    return plan


@pytest.fixture(scope="session")
def finish_run(make_once, copy_workflow, start_snakemake):
    """The folder in which a scenario, or tiny_studies, has run to its end, by its name."""

    @functools.cache
    def finish(name: str) -> Path:
        def run(folder: Path) -> str:
            copy_workflow(folder)
            studies = name == "tiny_studies"
            own = ("--snakefile", "studies/Snakefile") if studies else ()
            place = "tests/config" if studies else "config/scenarios"
            given = ("--configfile", f"{place}/{name}.yaml", "--cores", "2")
            done = start_snakemake(folder, *own, *given)
            return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"

        folder, said = make_once(f"finished-{name}", run)
        assert said.startswith("exit status 0\n"), said
        return folder

    return finish


@pytest.fixture(scope="session")
def finished_tiny_run(finish_run):
    """A folder in which the tiny configuration has run to its end."""
    return finish_run("tiny")


@pytest.fixture(scope="session")
def finished_tiny_pate_run(finish_run):
    """A folder in which the tiny configuration of PATE has run to its end."""
    return finish_run("tiny_pate")


@pytest.fixture(scope="session")
def finished_tiny_nzc_run(finish_run):
    """A folder in which the tiny configuration of NZC and the ledger has run to its end."""
    return finish_run("tiny_nzc")
