"""The mutants: every change is one, of the kind it says; tests that notice it kill it."""

import ast
import json
import os
import subprocess
import sys

import pytest

from benchmarks import mutants as module

SOURCE = b'''"""Words: 1 < 2."""
from math import pi


def area(radius: int = 2) -> float:
    """Not 3 + 4."""
    if radius < 0 and not pi == 3:
        raise ValueError(f"radius = {radius + 0}: must be positive")
    \xcf\x83 = -radius
    \xcf\x83 += 1
    return pi * \xcf\x83 ** 2 if True else 1e30
'''
WANTED = [
    ("constant", "2", "3"),
    ("operator", "radius < 0 and not pi == 3", "(radius < 0 or not pi == 3)"),
    ("comparison", "radius < 0", "(radius <= 0)"),
    ("constant", "0", "1"),
    ("operator", "not pi == 3", "(pi == 3)"),
    ("comparison", "pi == 3", "(pi != 3)"),
    ("constant", "3", "4"),
    ("dropped line", 'raise ValueError(f"radius = {radius + 0}: must be positive")', "pass"),
    ("dropped line", "σ = -radius", "pass"),
    ("operator", "-radius", "(radius)"),
    ("dropped line", "σ += 1", "pass"),
    ("operator", "σ += 1", "σ -= 1"),
    ("constant", "1", "2"),
    ("dropped line", "return pi * σ ** 2 if True else 1e30", "pass"),
    ("operator", "pi * σ ** 2", "(pi / σ ** 2)"),
    ("operator", "σ ** 2", "(σ * 2)"),
    ("constant", "2", "3"),
    ("constant", "True", "False"),
    ("constant", "1e30", "2e+30"),
]


def test_every_change_is_found_where_it_stands():
    found = module.mutants("area.py", SOURCE)
    assert sorted((one.kind, one.before, one.after) for one in found) == sorted(WANTED)
    lines = SOURCE.decode().splitlines()
    for one in found:
        assert one.before in lines[one.line - 1]
        changed = one.apply(SOURCE)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE))
        with pytest.raises(ValueError, match="is not the file in which"):
            one.apply(b"x" + SOURCE)


def test_mutants_of_the_packages_that_claim_privacy_are_drawn_once_each_from_a_seed(root):
    drawn = module.drawn(root, 300, 0)
    assert len(set(drawn)) == 300
    assert {one.file.split("/")[2] for one in drawn} == set(module.CLAIMING)
    assert {one.kind for one in drawn} == {"operator", "comparison", "constant", "dropped line"}
    assert module.drawn(root, 300, 0) == drawn != module.drawn(root, 300, 1)
    for one in drawn[::20]:
        ast.parse(one.apply((root / one.file).read_bytes()))


def test_a_change_belongs_to_the_innermost_function_around_it():
    source = b"""
limit = 1 + 1

class Table:
    size: int = 2

    def width(self, more=3):
        def half(x):
            if x:
                return x / 4
            return 5
        return half(lambda: 6)
"""
    places = {one.before: module.place(source, one) for one in module.mutants("a.py", source)}
    assert places["1"] is places["2"] is None
    assert places["3"] == places["6"] == "Table.width"
    assert places["4"] == places["return 5"] == "Table.width.<locals>.half"


BOUND = """def bound(x):
    x > 9
    return x + 1


def other(x):
    return x * 7
"""
TEST = """from private_ensembles.audit.bound import bound, other


def test_bound():
    assert bound(2) == 3


def test_other():
    other(2)
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A repository of one module with a claim, tests that leave some lines alone, and its calls."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take most of the time
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    package, tests = tmp_path / module.PACKAGE, tmp_path / "tests" / "audit"
    for folder in (package, *(package / name for name in module.CLAIMING)):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    tests.mkdir(parents=True)
    (package / "audit" / "bound.py").write_text(BOUND)
    (tests / "test_bound.py").write_text(TEST)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["workflow"]\n'
        'addopts = "--import-mode=importlib"\n'
    )
    write_calls(tmp_path, {"test_bound": ["bound"], "test_other": ["other"]})
    return tmp_path


def write_calls(toy, by_test):
    lines = [
        {
            "test": f"tests/audit/test_bound.py::{test}",
            "seconds": 0.1,
            "calls": [f"audit/bound.py:{name}" for name in names],
        }
        for test, names in by_test.items()
    ]
    (toy / "calls.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def alone(toy, code):
    """Run code in a process of its own, since tests are loaded in it; returns its `found`."""
    start = "import json; from pathlib import Path; from benchmarks import mutants as module; "
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{start}toy = Path({str(toy)!r})\n{code}\nprint(json.dumps(found))",
        ],
        env={**os.environ, "PYTHONPATH": str(module.ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def survey(toy, again=False):
    given = f"toy, toy / 'calls.jsonl', toy / 'results.jsonl', 9, 0, {again}"
    return alone(toy, f"found = module.survey({given})")


def test_noticed_changes_are_killed_others_survive_and_a_second_run_goes_on(toy):
    results, place = toy / "results.jsonl", toy / module.PACKAGE / "audit" / "bound.py"
    first = survey(toy)
    verdicts = {(one["before"], one["after"]): one["verdict"] for one in first}
    assert verdicts == {
        ("x > 9", "pass"): "survived",
        ("x > 9", "(x >= 9)"): "survived",
        ("9", "10"): "survived",
        ("return x + 1", "pass"): "killed",
        ("x + 1", "(x - 1)"): "killed",
        ("1", "2"): "killed",
        ("return x * 7", "pass"): "survived",
        ("x * 7", "(x / 7)"): "survived",
        ("7", "8"): "survived",
    }
    killers = {one["by"] for one in first if one["verdict"] == "killed"}
    assert killers == {"tests/audit/test_bound.py::test_bound"}
    assert {one["tests"] for one in first} == {1}
    assert place.read_text() == BOUND
    text = module.summary(first)
    assert text.startswith("all: 3 of 9 killed\n")
    assert text.count("\nsurvived ") == 6

    lines = results.read_text().splitlines()
    results.write_text("\n".join(lines[:-1]) + "\n")
    survey(toy)
    assert len(results.read_text().splitlines()) == 9
    place.write_text("y = 1 + 2 + 3 + 4 + 5\n")
    with pytest.raises(ValueError, match="of another seed or of other code"):
        module.survey(toy, toy / "calls.jsonl", results, 9, 0)


def test_survivors_are_tried_again_when_there_are_more_tests(toy):
    survey(toy)
    tests = toy / "tests" / "audit" / "test_bound.py"
    tests.write_text(TEST.replace("other(2)", "assert other(2) == 14"))
    assert sum(one["verdict"] == "killed" for one in survey(toy)) == 3
    assert sum(one["verdict"] == "killed" for one in survey(toy, again=True)) == 6


def test_a_test_that_fails_without_a_mutant_is_named(toy):
    tests = toy / "tests" / "audit" / "test_bound.py"
    tests.write_text(TEST.replace("== 3", "== 4"))
    with pytest.raises(AssertionError, match=r"fails without a mutant: .*::test_bound"):
        survey(toy)


def test_tests_that_do_not_end_and_modules_that_do_not_load_kill(toy):
    start, test = BOUND.index("x > 9"), "tests/audit/test_bound.py::test_bound"
    code = f"""
module.PATIENCE = 0.3, 1.0
known, found = module.calls.known(toy / "calls.jsonl"), []
def work(session):
    for after in ("while True: pass", "raise SystemExit"):
        mutant = module.Mutant(
            "{module.PACKAGE}/audit/bound.py", 2, "", "x > 9", after, {start}, {start + 5}
        )
        found.append(session.attempt(mutant, [{test!r}]))
    text = "y = z\\n"
    (toy / "{module.PACKAGE}/audit/bound.py").write_text(text)
    mutant = module.Mutant("{module.PACKAGE}/audit/bound.py", 1, "", "y", "y = x", 0, 1)
    found.append(session.attempt(mutant, [{test!r}]))
import os, pytest
os.chdir(toy)
pytest.main(["-s", *module.HOW, "tests"], plugins=[module.Session(toy, known, work)])
"""
    assert alone(toy, code) == [f"time is up: {test}", test, "loading the tests"]


def test_a_change_outside_every_function_concerns_who_calls_any_and_the_module_s_own_tests(toy):
    file = f"{module.PACKAGE}/audit/bound.py"
    (toy / file).write_text("y = 1\n" + BOUND)
    elsewhere = {"test": "tests/test_a.py::test_a", "seconds": 1, "calls": ["audit/bound.py:other"]}
    known = {**module.calls.known(toy / "calls.jsonl"), elsewhere["test"]: elsewhere}
    first, *_ = module.mutants(file, (toy / file).read_bytes())
    own = [f"tests/audit/test_bound.py::test_{name}" for name in ("bound", "other")]
    assert module.noticing(toy, first, known) == [*own, elsewhere["test"]]
