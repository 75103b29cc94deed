"""What belongs together is one argument: no function takes ten of them."""

import ast

MOST = 9
# Public functions take a task's numbers by name, as their page has them (docs/api.md). A session
# hands them on to its plan; a row of the ledger has as many columns. What somebody states of a
# file is said in one call.
ALLOWED = {
    "api/planning.py plan",
    "api/releasing.py release_labels",
    "ledger/row.py ledger_row",
    "release/session.py create",
    "release/session_plan.py made",
    "votes/foreign.py read_own_votes",
}


def _arguments(function: ast.FunctionDef) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return len(named) + (arguments.vararg is not None) + (arguments.kwarg is not None)


def test_an_adjacency_is_of_records(root):
    """The audit looks at votes and speaks of neighbours; plans and teachers, of an adjacency."""
    package = root / "workflow" / "private_ensembles"
    named = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.arg) and node.arg == "adjacency")
        or (isinstance(node, ast.Name) and node.id == "adjacency")
    }
    assert named.isdisjoint({"audit", "darrm", "nzc", "pate", "dpbag", "votes"})
    assert {"mechanisms", "teachers", "ledger", "release"} <= named


def test_no_function_takes_ten_arguments(root):
    package = root / "workflow" / "private_ensembles"
    many = {
        f"{path.relative_to(package).as_posix()} {node.name}"
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and _arguments(node) > MOST
    }
    assert many <= ALLOWED
