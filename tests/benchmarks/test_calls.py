"""The calls: who called what, directly, through a fixture or through a cache."""

import json
import os
import subprocess
import sys

import pytest

from benchmarks import calls

MODULE = """import functools


def plain(x):
    return helper(x)


def helper(x):
    return x


@functools.cache
def kept(x):
    return helper(x)


class Table:
    def size(self):
        return 1


def example():
    \"\"\"Say 1.

    >>> example()
    1
    \"\"\"
    return 1


loaded = plain(3)
"""
TESTS = """import pytest
from private_ensembles.room import Table, kept, plain


@pytest.fixture(scope="module")
def table():
    plain(1)
    return Table()


def test_plain():
    plain(2)


def test_first_to_keep():
    kept(1)


def test_second_finds_it():
    kept(1)


def test_makes_the_fixture(table):
    pass


def test_finds_the_fixture(table):
    assert table.size() == 1


def test_nothing():
    pass
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, root):
    toy = tmp_path_factory.mktemp("toy")
    package = toy / calls.PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "room.py").write_text(MODULE)
    (toy / "tests").mkdir()
    (toy / "tests" / "test_room.py").write_text(TESTS)
    (toy / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["workflow"]\n'
        'addopts = "--import-mode=importlib"\n'
    )
    run = (
        "import sys; from pathlib import Path; from benchmarks import calls\n"
        "calls.record(Path(sys.argv[1]), Path(sys.argv[2]), ['tests', calls.PACKAGE])"
    )
    subprocess.run(
        [sys.executable, "-c", run, str(toy), str(toy / "calls.jsonl")],
        env={
            **os.environ,
            "PYTHONPATH": str(root),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_PLUGINS": "xdist.plugin",
        },
        check=True,
    )
    found = calls.known(toy / "calls.jsonl")
    return {name.split("::")[-1]: set(one["calls"]) for name, one in found.items()}


def test_each_test_has_the_functions_that_it_calls(recorded):
    assert recorded["test_plain"] == {"room.py:plain", "room.py:helper"}
    assert recorded["test_nothing"] == set()
    assert recorded["private_ensembles.room.example"] == {"room.py:example"}


def test_what_a_cache_or_a_fixture_holds_was_called_for_all_who_use_it(recorded):
    kept = {"room.py:kept", "room.py:helper"}
    assert recorded["test_first_to_keep"] == recorded["test_second_finds_it"] == kept
    made = {"room.py:plain", "room.py:helper"}
    assert recorded["test_makes_the_fixture"] == made
    assert recorded["test_finds_the_fixture"] == {*made, "room.py:Table.size"}


def test_what_runs_while_tests_are_loaded_stands_apart(recorded):
    assert {"room.py:plain", "room.py:<module>"} <= recorded[calls.LOADING]
    assert "room.py:Table.size" not in recorded[calls.LOADING]


def test_a_later_line_counts_in_place_of_an_earlier_one_but_what_was_loaded_was_loaded(tmp_path):
    lines = [
        {"test": test, "seconds": seconds, "calls": [f"{test} {seconds}"]}
        for seconds in (1, 2)
        for test in ("a", calls.LOADING)
    ]
    (tmp_path / "calls").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = calls.known(tmp_path / "calls")
    assert found["a"]["calls"] == ["a 2"]
    assert found[calls.LOADING]["calls"] == ["loading 1", "loading 2"]
