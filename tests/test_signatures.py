"""What belongs together is one argument: no function takes ten of them."""

import ast
import re

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
