"""Tests mirror the tree: tests/<package>/test_<module>.py for every module of the package."""

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
HOUSE = TESTS.parent / "workflow" / "private_ensembles"
# Packages whose modules all have a test file of their own; the list only grows.
MIRRORED = (
    "api",
    "accounting",
    "audit",
    "command",
    "configuration",
    "darrm",
    "datasets",
    "dpbag",
    "figures",
    "jobs",
    "ledger",
    "mechanisms",
    "noise",
    "nzc",
    "page",
    "papers",
    "pate",
    "planner",
    "published",
    "release",
    "student",
    "teachers",
    "votes",
)


def modules(package: str) -> list[str]:
    """Return the modules of a package and of those inside it: audit/bounds."""
    found = (HOUSE / package).rglob("*.py")
    return sorted(
        path.relative_to(HOUSE).with_suffix("").as_posix()
        for path in found
        if path.name != "__init__.py"
    )


@pytest.mark.parametrize("package", MIRRORED)
def test_every_module_has_its_test_file(package):
    missing = []
    for module in modules(package):
        folder, _, name = module.rpartition("/")
        if not (TESTS / folder / f"test_{name}.py").is_file():
            missing.append(module)
    assert missing == []


def test_every_benchmark_has_its_test_file():
    benchmarks = (TESTS.parent / "benchmarks").glob("*.py")
    names = sorted(path.name for path in benchmarks if path.name != "__init__.py")
    assert [name for name in names if not (TESTS / "benchmarks" / f"test_{name}").is_file()] == []


def test_packages_that_are_named_exist():
    assert [name for name in MIRRORED if not (HOUSE / name).is_dir()] == []
