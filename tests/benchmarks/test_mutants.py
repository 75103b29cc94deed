"""The mutants: every change is one, of the kind it says; tests that notice it kill it."""

import ast
import json

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
    return pi * \xcf\x83 ** 2 if True else None
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
    ("dropped line", "return pi * σ ** 2 if True else None", "pass"),
    ("operator", "pi * σ ** 2", "(pi / σ ** 2)"),
    ("operator", "σ ** 2", "(σ * 2)"),
    ("constant", "2", "3"),
    ("constant", "True", "False"),
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


def test_own_tests_come_first_then_the_package_then_the_rest(root):
    own, package, rest, workflow = module.stages(root, f"{module.PACKAGE}/darrm/search.py")
    assert own == ["-n0", "tests/darrm/test_search.py"]
    assert package == ["tests/darrm"]
    assert rest[0] == "tests"
    assert {"tests/darrm", "tests/workflow"} <= set(rest)
    assert workflow == ["tests/workflow"]
    assert module.stages(root, f"{module.PACKAGE}/mechanisms/gnmax.py")[0][1] == "tests/mechanisms"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A repository of one module with a claim, and a test that leaves one of its lines alone."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take most of the time
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    package, tests = tmp_path / module.PACKAGE / "audit", tmp_path / "tests" / "audit"
    for folder in (package, tests):
        folder.mkdir(parents=True)
    for name in module.CLAIMING:
        (package.parent / name).mkdir(exist_ok=True)
    (package / "bound.py").write_text("def bound(x):\n    x > 9\n    return x + 1\n")
    (tests / "test_bound.py").write_text(
        "import importlib.util, pathlib\n"
        f"path = pathlib.Path(__file__).parents[2] / '{module.PACKAGE}' / 'audit' / 'bound.py'\n"
        "spec = importlib.util.spec_from_file_location('bound', path)\n"
        "bound = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(bound)\n\n\n"
        "def test_bound():\n    assert bound.bound(2) == 3\n"
    )
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "-n0"\n')
    return tmp_path


def test_noticed_changes_are_killed_others_survive_and_a_second_run_goes_on(toy, tmp_path):
    results = tmp_path / "results.jsonl"
    before = (toy / module.PACKAGE / "audit" / "bound.py").read_bytes()
    first = module.survey(toy, results, 6, 0, 2)
    verdicts = {(one["before"], one["after"]): one["verdict"] for one in first}
    assert verdicts == {
        ("x > 9", "pass"): "survived",
        ("x > 9", "(x >= 9)"): "survived",
        ("9", "10"): "survived",
        ("return x + 1", "pass"): "killed",
        ("x + 1", "(x - 1)"): "killed",
        ("1", "2"): "killed",
    }
    assert {one["stage"] for one in first if one["verdict"] == "survived"} == {2}
    assert all("test_bound" in one["by"] for one in first if one["verdict"] == "killed")
    assert (toy / module.PACKAGE / "audit" / "bound.py").read_bytes() == before
    text = module.summary(first)
    assert text.startswith("all: 3 of 6 killed\n")
    assert text.count("\nsurvived ") == 3

    lines = results.read_text().splitlines()
    results.write_text("\n".join(lines[:-1]) + "\n")
    module.survey(toy, results, 6, 0, 2)
    assert len(results.read_text().splitlines()) == 6
    assert json.loads(results.read_text().splitlines()[-1]).keys() == json.loads(lines[-1]).keys()
    with pytest.raises(ValueError, match="of another seed or of other code"):
        (toy / module.PACKAGE / "audit" / "bound.py").write_text("y = 1 + 2 + 3 + 4\n")
        module.survey(toy, results, 6, 0, 2)


def test_tests_that_do_not_end_kill(toy, monkeypatch):
    path = toy / "tests" / "audit" / "test_bound.py"
    path.write_text("import time\n\n\ndef test_bound():\n    time.sleep(60)\n")
    assert module.run(toy, ["tests"], 2) == "time is up"
