"""Mechanisms are put together, not inherited: small interfaces, short chains, no hidden choices."""

import ast
import re
from pathlib import Path

import pytest

import private_ensembles.mechanisms as package

FOLDER = Path(package.__file__).parent
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FOLDER.rglob("*.py")}
CLASSES = {
    node.name: node
    for tree in TREES.values()
    for node in ast.walk(tree)
    if isinstance(node, ast.ClassDef)
}
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def methods(name):
    return [node.name for node in CLASSES[name].body if isinstance(node, FUNCTION)]


def ancestors(name):
    """All classes of the folder that a class derives from, however far up."""
    bases = [ast.unparse(base).rpartition(".")[2] for base in CLASSES[name].bases]
    ours = [base for base in bases if base in CLASSES]
    return {*ours, *(far for base in ours for far in ancestors(base))}


def lines_with(pattern):
    """file:line of every line of the folder in which the pattern is found."""
    return [
        f"{path.relative_to(FOLDER)}:{number}"
        for path in sorted(TREES)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]


@pytest.mark.parametrize("base", ["Law", "Account", "Mechanism"])
def test_a_base_asks_for_twelve_methods_at_most(base):
    assert len(methods(base)) <= 12


def test_no_class_has_more_than_two_ancestors():
    assert {name: sorted(ancestors(name)) for name in CLASSES if len(ancestors(name)) > 2} == {}


def test_a_class_is_named_once():
    nodes = (node for tree in TREES.values() for node in ast.walk(tree))
    named = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    assert sorted(named) == sorted(CLASSES)


def test_no_call_goes_past_the_order_of_methods():
    """SomeClass.method(self, ...) chooses among ancestors by hand."""
    nodes = (node for tree in TREES.values() for node in ast.walk(tree))
    passed_self = [
        ast.unparse(node)
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and [argument.id for argument in node.args[:1] if isinstance(argument, ast.Name)]
        == ["self"]
    ]
    by_a_class = [call for call in passed_self if call.partition("(")[0].split(".")[-2] in CLASSES]
    assert by_a_class == []


def test_a_source_of_noise_is_never_none():
    assert lines_with(r"[Gg]enerator\s*\|\s*None|None\s*\|\s*[\w.]*[Gg]enerator") == []


def test_nothing_is_chosen_by_the_class_of_a_value():
    assert lines_with(r"\bisinstance\(") == []
