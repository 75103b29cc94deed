"""The package's face: names are found, load late, open with an example, take few arguments."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from dataclasses import fields, is_dataclass
from typing import get_args, get_type_hints

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import private_ensembles

MOST_ARGUMENTS, MOST_FIELDS = 9, 10


@pytest.mark.parametrize("name", private_ensembles.__all__)
def test_a_name_is_listed_and_opens_with_an_example(name):
    assert name in dir(private_ensembles)
    found = getattr(private_ensembles, name)
    assert callable(found)
    text = inspect.getdoc(found)
    summary, example = text.split("\n\n")[:2]
    assert "\n" not in summary
    assert example.startswith(">>> ")
    assert "ValueError" in text  # what it raises


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


def test_no_public_call_takes_more_than_nine_arguments():
    """A function's; a class's own and its methods', without the self that they are called on."""
    calls = {name: getattr(private_ensembles, name) for name in private_ensembles.__all__}
    for name, thing in things().items():
        methods = (key for key in vars(thing) if not key.startswith("_"))
        calls |= {f"{name}.{key}": getattr(thing, key) for key in methods} | {name: thing}
    taken = {
        name: [key for key in inspect.signature(call).parameters if key != "self"]
        for name, call in calls.items()
        if callable(call)
    }
    assert {"plan", "Session", "Session.create", "Session.release"} <= set(taken)
    assert not {name: keys for name, keys in taken.items() if len(keys) > MOST_ARGUMENTS}


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


def test_a_module_of_nobody_is_named_as_it_always_is():
    with pytest.raises(ModuleNotFoundError) as failed:
        import pandas_of_nobody  # noqa: F401
    assert private_ensembles.missing_extra(failed.value) == "No module named 'pandas_of_nobody'"


MOST = 9
# A row of the ledger has as many columns.
ALLOWED = {"papers/ledger/row.py ledger_row"}


def _arguments(function: ast.FunctionDef) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named = [argument for argument in named if argument.arg not in ("self", "cls")]
    return len(named) + (arguments.vararg is not None) + (arguments.kwarg is not None)


def test_an_adjacency_is_of_records(root):
    """The audit looks at votes and speaks of neighbours; plans and teachers, of an adjacency."""
    package = root / "workflow" / "private_ensembles"
    named = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.arg) and node.arg == "adjacency")
        or (isinstance(node, ast.Name) and node.id == "adjacency")
    }
    looks = re.compile(r"audit/(?!api)|.*/mathematics/")
    assert [name for name in named if looks.match(name)] == []
    rooms = {name.partition("/")[0] for name in named}
    assert {"labels", "training", "papers", "release"} <= rooms


def test_no_function_takes_ten_arguments(root):
    package = root / "workflow" / "private_ensembles"
    many = {
        f"{path.relative_to(package).as_posix()} {node.name}"
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and _arguments(node) > MOST
    }
    assert many == ALLOWED
