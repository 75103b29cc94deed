"""Tests lie where what they test lies: tests/<room>/ for a room, test_<module>.py where one is."""

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
HOUSE = TESTS.parent / "workflow" / "private_ensembles"


def folders(root: Path) -> set[str]:
    """Return the folders with Python files below a root, by their paths from it."""
    files = (path.relative_to(root) for path in root.rglob("*.py"))
    return {path.parent.as_posix() for path in files if path.name != "__init__.py"} - {"."}


ROOMS = folders(HOUSE)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_every_room_has_its_tests(room):
    assert list((TESTS / room).glob("test_*.py"))


def test_every_folder_of_tests_below_a_room_is_a_room():
    rooms = {name.partition("/")[0] for name in ROOMS}
    below = {name for name in folders(TESTS) if name.partition("/")[0] in rooms}
    assert below <= ROOMS | rooms


def test_every_benchmark_has_its_test_file():
    benchmarks = (TESTS.parent / "benchmarks").glob("*.py")
    names = sorted(path.name for path in benchmarks if path.name != "__init__.py")
    assert [name for name in names if not (TESTS / "benchmarks" / f"test_{name}").is_file()] == []
