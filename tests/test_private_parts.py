"""Nothing here takes or patches what other libraries keep to themselves.

What the scan sees in the code of workflow/, tests/, benchmarks/ and verify/, without running it:

- an import of a module or a name that starts with an underscore, from a package that is not ours;
- an attribute that starts with an underscore, of a name that is imported from such a package, or of
  anything at all if nothing of ours defines such a name;
- an attribute of a foreign module or class that is set or deleted: by assignment, by `setattr` and
  `delattr`, by those of `monkeypatch`, or by `mock.patch`, also by way of a module of ours
  (`secure.os`) or by the name as a text. `SETTINGS` are set as their libraries document it.

In Snakefiles, which are no Python, it sees every attribute that starts with an underscore. It does
not see what is reached by `getattr`, nor a patch of an object that is not imported by name.
"""

import ast
import functools
import io
import itertools
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("workflow", "studies", "tests", "benchmarks", "verify")
# Documented, whatever their names begin with.
DOCUMENTED = {"os._exit", "_replace", "_asdict", "_fields", "_make"}
SETTINGS = {
    "mp.dps",
    "mpmath.mp.dps",
    "os.environ",
    "sys.argv",
    "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.cudnn.allow_tf32",
}
PATCHES = {"setattr", "delattr", "object", "patch"}


def private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name != "_"


def sources() -> dict[str, ast.Module]:
    """The parsed files of ours, by their paths.

    Not the reproducers of other packages' findings, whose purpose is to look inside them.
    """
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    paths = [path for path in paths if path.parent != ROOT / "benchmarks" / "reproducers"]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in paths}


@functools.cache
def is_foreign(module: str) -> bool:
    name = module.split(".")[0]
    places = (ROOT, ROOT / "workflow", ROOT / "verify")
    ours = any((place / name).is_dir() or (place / f"{name}.py").exists() for place in places)
    return not ours and name != "__future__"


def foreign_imports(nodes: list[ast.AST]) -> Iterator[tuple[ast.stmt, str, str]]:
    """Each import of what is not ours: where, its full name, and the name that it gets here."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if is_foreign(alias.name):
                    yield node, alias.name, (alias.asname or alias.name).split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and is_foreign(node.module):
            for alias in node.names:
                yield node, f"{node.module}.{alias.name}", alias.asname or alias.name


def own_names(nodes: Iterable[ast.AST]) -> set[str]:
    """All names that our code gives to anything, attributes of `self` included."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
    return names


class Scan:
    """What is foreign in one file, and what the file does with it that it should not."""

    def __init__(self, nodes: list[ast.AST], own: set[str], modules: set[str]):
        """own: names of our own. modules: foreign modules' names by which ours may know them."""
        self._nodes, self._own, self._modules = nodes, own, modules
        self._imports = list(foreign_imports(nodes))
        self._names = {here for _, _, here in self._imports}

    def findings(self) -> list[tuple[int, str]]:
        """Line and text of each."""
        found = [(node.lineno, full) for node, full, _ in self._imports if self._hidden(full)]
        for node in self._nodes:
            if isinstance(node, ast.Attribute):
                if private(node.attr) and self._takes(node):
                    found.append((node.lineno, ast.unparse(node)))
                elif not isinstance(node.ctx, ast.Load) and self._sets(node):
                    found.append((node.lineno, f"{ast.unparse(node)} = ..."))
            elif isinstance(node, ast.Call) and self._patches(node):
                found.append((node.lineno, ast.unparse(node)))
        return sorted(found)

    @staticmethod
    def _hidden(full: str) -> bool:
        return any(private(part) for part in full.split("."))

    def _foreign(self, node: ast.expr) -> bool:
        """Whether an expression is a foreign name, or one that a module of ours knows."""
        first, *others = ast.unparse(node).split(".")
        return first in self._names or (first != "self" and bool(self._modules & set(others)))

    def _takes(self, node: ast.Attribute) -> bool:
        if {node.attr, ast.unparse(node)} & DOCUMENTED:
            return False
        return node.attr not in self._own or self._foreign(node.value)

    def _sets(self, node: ast.Attribute) -> bool:
        return self._foreign(node.value) and ast.unparse(node) not in SETTINGS

    def _patches(self, node: ast.Call) -> bool:
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        if name not in PATCHES or not node.args:
            return False
        target = node.args[0]
        if isinstance(target, ast.Constant) and isinstance(target.value, str):
            return is_foreign(target.value) and target.value not in SETTINGS
        return isinstance(target, ast.Name | ast.Attribute) and self._foreign(target)


def scan(trees: dict[str, ast.Module]) -> list[str]:
    """All findings in some files, each with its file and line."""
    # A walk takes longer than a look at what it finds.
    files = {path: list(ast.walk(tree)) for path, tree in trees.items()}
    own = own_names(itertools.chain.from_iterable(files.values()))
    imports = [found for nodes in files.values() for found in foreign_imports(nodes)]
    modules = {full.split(".")[0] for _, full, _ in imports}
    modules |= {here for node, _, here in imports if isinstance(node, ast.Import)}
    modules -= {Path(path).stem for path in trees}
    return [
        f"{path}: {text} (line {line})"
        for path, nodes in files.items()
        for line, text in Scan(nodes, own, modules).findings()
    ]


def test_nothing_private_of_other_libraries_is_taken_and_nothing_of_theirs_patched():
    assert scan(sources()) == []


def test_snakefiles_take_nothing_private():
    paths = [ROOT / "Snakefile", ROOT / "workflow" / "Snakefile", *ROOT.rglob("workflow/**/*.smk")]
    assert len(paths) > 5
    assert [found for path in paths for found in private_in_snakefile(path.read_text())] == []


def private_in_snakefile(text: str) -> list[str]:
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    pairs = itertools.pairwise(tokens)
    return [name.line for dot, name in pairs if dot.string == "." and private(name.string)]


@pytest.mark.parametrize(
    "code",
    [
        "from _pytest.assertion import rewrite",
        "import xdist.scheduler._base",
        "import sys\nframe = sys._getframe(1)",
        "import numpy as np\nnp.linalg.solve = None",
        "def forget(hook):\n    hook._must_rewrite.clear()",
        "import os\ndef test(monkeypatch):\n    monkeypatch.setattr(os, 'fsync', None)",
        "from private_ensembles.base import secure\nimport secrets\n"
        "def test(patch):\n    patch.setattr(secure.secrets, 'randbelow', None)",
        "def test(monkeypatch):\n    monkeypatch.setattr('os.fsync', None)",
        "from unittest import mock\nimport time\nwith mock.patch.object(time, 'sleep'): pass",
    ],
)
def test_the_scan_sees_what_it_says(code):
    assert len(scan({"tests/some.py": ast.parse(code)})) == 1


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    _a = 1\n    def b(self):\n        return self._a",
        "from private_ensembles.papers.darrm.mathematics import ends\n_STRIP = 1\nends._STRIP",
        "from private_ensembles.release import record\nimport os\n"
        "def test(patch):\n    patch.setattr(record, 'os', None)",
        "def test(monkeypatch):\n    monkeypatch.setattr('private_ensembles.base.files.a', None)",
        "import os\nos.environ['A'] = '1'\nos._exit(0)",
    ],
)
def test_the_scan_lets_our_own_names_and_settings_pass(code):
    assert scan({"tests/some.py": ast.parse(code)}) == []


def test_the_scan_sees_snakefiles():
    assert private_in_snakefile("rule all:\n    input: workflow._rules\n") != []
    assert private_in_snakefile("_own = 1\nrule all:\n    input: _own\n") == []
