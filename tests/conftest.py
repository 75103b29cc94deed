"""What tests of more than one room use: a stand-in for Snakemake's job object, and small runs."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# A slow machine is no failure, and a failure must be the same on every machine.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("steady")


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


@pytest.fixture(scope="session")
def copy_workflow():
    """Copy the workflow, without anything it made, into a folder."""

    def copy(destination: Path) -> Path:
        destination.mkdir(parents=True, exist_ok=True)
        for name in ("Snakefile", "config.yaml", "pyproject.toml"):
            shutil.copy2(ROOT / name, destination)
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "workflow", destination / "workflow", ignore=ignore)
        shutil.copytree(ROOT / "profiles", destination / "profiles")
        shutil.copytree(ROOT / "tests" / "config", destination / "tests" / "config")
        return destination

    return copy


@pytest.fixture(scope="session")
def run_snakemake():
    """Run Snakemake in a folder as a user would; returns the finished process, output as text."""

    def run(
        folder: Path, *arguments: str, timeout: float = 1200, memory: int | None = None, **variables
    ) -> subprocess.CompletedProcess:
        """variables: of the environment. memory: bytes of address space for each process."""
        # The workflow must find its modules by itself, not through what pytest was given.
        inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment = {**inherited, "PWD": str(folder), **variables}

        def limit():
            if memory is not None:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        return subprocess.run(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=folder,
            env=environment,
            preexec_fn=limit,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def planned(run_snakemake):
    """Return how many jobs of each rule a dry run plans, by rule; fails if the dry run fails."""

    def plan(folder: Path, *arguments: str) -> dict[str, int]:
        done = run_snakemake(folder, "-n", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        text = done.stdout + done.stderr
        if "Job stats:" not in text:
            assert "Nothing to be done" in text, text
            return {}
        lines = text.split("Job stats:", 1)[1].strip().splitlines()[2:]
        counts = {}
        for line in lines:
            if not line.strip():
                break
            rule, number = line.split()
            counts[rule] = int(number)
        return {rule: number for rule, number in counts.items() if rule not in ("all", "total")}

    return plan


@pytest.fixture(scope="session")
def finished_tiny_run(tmp_path_factory, copy_workflow, run_snakemake):
    """A folder in which the tiny configuration has run to its end."""
    return _finished(tmp_path_factory, copy_workflow, run_snakemake, "tiny")


@pytest.fixture(scope="session")
def finished_tiny_pate_run(tmp_path_factory, copy_workflow, run_snakemake):
    """A folder in which the tiny configuration of PATE has run to its end."""
    return _finished(tmp_path_factory, copy_workflow, run_snakemake, "tiny_pate")


@pytest.fixture(scope="session")
def finished_tiny_nzc_run(tmp_path_factory, copy_workflow, run_snakemake):
    """A folder in which the tiny configuration of NZC and the ledger has run to its end."""
    return _finished(tmp_path_factory, copy_workflow, run_snakemake, "tiny_nzc")


def _finished(tmp_path_factory, copy_workflow, run_snakemake, name):
    folder = copy_workflow(tmp_path_factory.mktemp(name) / "workflow-copy")
    done = run_snakemake(folder, "--configfile", f"tests/config/{name}.yaml", "--cores", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
