"""The package's face: names are found, load late, open with an example, take few arguments."""

import ast
import inspect
import subprocess
import sys
import tomllib
from dataclasses import fields, is_dataclass
from typing import get_args, get_type_hints

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import private_ensembles

# What belongs together is one argument.
MOST_ARGUMENTS, MOST_FIELDS = 9, 10
# A row of the ledger has as many columns.
ALLOWED = {"papers/ledger/row.py ledger_row"}


def test_a_public_name_is_listed_and_opens_with_an_example():
    assert set(private_ensembles.__all__) <= set(dir(private_ensembles))
    for name in private_ensembles.__all__:
        text = inspect.getdoc(getattr(private_ensembles, name))
        summary, example = text.split("\n\n")[:2]
        assert "\n" not in summary, name
        assert example.startswith(">>> "), name
        assert "ValueError" in text, name  # what it raises


def things():
    """The public classes, and the dataclasses that their fields hold, by name."""
    found = {}
    asked = [getattr(private_ensembles, name) for name in private_ensembles.__all__]
    while asked:
        thing = asked.pop()
        asked += get_args(thing)
        if inspect.isclass(thing) and thing.__module__.startswith("private_ensembles"):
            found[thing.__name__] = thing
            if is_dataclass(thing):
                asked += get_type_hints(thing).values()
    return found


def test_no_public_thing_has_more_than_ten_fields():
    sizes = {name: len(fields(thing)) for name, thing in things().items() if is_dataclass(thing)}
    assert {"Budget", "Ensemble", "Protection", "Wanted", "Rehearsal"} <= set(sizes)
    assert not {name: size for name, size in sizes.items() if size > MOST_FIELDS}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'release_label'"):
        _ = private_ensembles.release_label


def test_importing_the_package_loads_nothing(root):
    code = "import sys, private_ensembles; dir(private_ensembles); print(sorted(sys.modules))"
    given = {"capture_output": True, "text": True, "check": True}
    shown = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(root / "workflow")}, **given
    ).stdout
    for heavy in ("numpy", "scipy", "torch", "pandas", "matplotlib", "snakemake"):
        assert f"'{heavy}'" not in shown


def test_every_extra_that_a_message_names_brings_the_module(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    other_names = {"sklearn": "scikit-learn", "dp_accounting": "dp-accounting", "yaml": "pyyaml"}
    other_names |= {"pydantic_core": "pydantic"}
    for module, extra in private_ensembles.EXTRAS.items():
        brought = map(Requirement, project["optional-dependencies"][extra])
        wanted = canonicalize_name(other_names.get(module, module))
        assert wanted in {canonicalize_name(one.name) for one in brought}, module
    names = {extra for extra in project["optional-dependencies"] if extra not in ("all", "docs")}
    (everything,) = map(Requirement, project["optional-dependencies"]["all"])
    assert everything.extras == names


def _arguments(function: ast.FunctionDef) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named = [argument for argument in named if argument.arg not in ("self", "cls")]
    return len(named) + (arguments.vararg is not None) + (arguments.kwarg is not None)


def test_no_function_takes_ten_arguments(root):
    package = root / "workflow" / "private_ensembles"
    many = {
        f"{path.relative_to(package).as_posix()} {node.name}"
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and _arguments(node) > MOST_ARGUMENTS
    }
    assert many == ALLOWED
