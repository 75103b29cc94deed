"""Zero is a number: nowhere is it taken for "not given".

`labels or queries` gives all queries to who asks for 0 labels, and `if max_grad_norm` clips nothing
for a norm of 0. What may be left out is compared with None.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = [*(ROOT / "workflow").rglob("*.py"), *(ROOT / "verify").glob("*.py")]
NUMBERS = {"int", "float", "types.Count"}


def _may_be_left_out(kind: ast.expr | None, default: ast.expr | None) -> bool:
    """Tell whether an annotation, or an annotation with its default, allows None or a number."""
    if kind is None:
        return False
    words = {word.strip() for word in ast.unparse(kind).split("|")}
    left_out = default is not None and "LEFT_OUT" in ast.unparse(default)
    return bool(words & NUMBERS) and ("None" in words or left_out)


def _optional_numbers(function: ast.FunctionDef) -> set[str]:
    arguments = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    return {one.arg for one in arguments if _may_be_left_out(one.annotation, None)}


def _optional_fields(trees: list[ast.Module]) -> set[str]:
    fields = (
        field
        for tree in trees
        for kind in ast.walk(tree)
        if isinstance(kind, ast.ClassDef)
        for field in kind.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    )
    return {field.target.id for field in fields if _may_be_left_out(field.annotation, field.value)}


def _asked_for_truth(node: ast.AST) -> list[ast.expr]:
    """The expressions that Python takes for true or false at this node."""
    if isinstance(node, ast.BoolOp):
        return node.values[:-1]
    if isinstance(node, ast.IfExp | ast.If | ast.While):
        return [node.test]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    return []


def _mistaken(tree: ast.Module, fields: set[str]) -> list[tuple[int, str]]:
    found = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            numbers = _optional_numbers(function)
            for node in ast.walk(function):
                for asked in _asked_for_truth(node):
                    named = isinstance(asked, ast.Name) and asked.id in numbers
                    held = isinstance(asked, ast.Attribute) and asked.attr in fields
                    if named or held:
                        found.append((asked.lineno, ast.unparse(asked)))
    return found


def test_a_number_that_may_be_left_out_is_compared_with_none():
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
    fields = _optional_fields(list(trees.values()))
    assert len(fields) > 10
    mistaken = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path, tree in trees.items()
        for line, text in _mistaken(tree, fields)
    ]
    assert sorted(set(mistaken)) == []


def test_the_mistake_is_noticed():
    text = (
        "def f(labels: int | None, rate: float):\n    return labels or 3 if rate else not labels\n"
    )
    assert _mistaken(ast.parse(text), set()) == [(2, "labels"), (2, "labels")]
    text = """class A:
    draws: types.Count = about("", LEFT_OUT)

    def f(self):
        return self.draws or 1
"""
    tree = ast.parse(text)
    assert _mistaken(tree, _optional_fields([tree])) == [(5, "self.draws")]
