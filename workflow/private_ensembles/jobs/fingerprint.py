"""A hash of what a script does: of its code and of every module of this package that it imports.

Snakemake reruns a job when its script is touched, even without a change, and never when a module
that the script imports changes. As a parameter of the rule, this hash does the opposite of both:
comments, docstrings, formatting, checkouts and moved folders leave it, an edit in an imported
module changes it.
"""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = "private_ensembles"
ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT.parent / "scripts"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def _modules() -> dict[str, Path]:
    """Return all modules of the package by dotted name."""
    modules = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        modules[".".join((PACKAGE, *parts))] = path
    return modules


@cache
def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    except FileNotFoundError:
        raise ValueError(f"script = {path}: must be an existing file") from None


def imports(path: Path | str) -> set[str]:
    """Return the modules of this package that the file at `path` imports itself.

    Importing a module runs the `__init__` of the packages around it, so these count. A name that a
    package neither defines nor holds as a module may be loaded by its `__getattr__`: then all of
    that package counts. So do modules named by a string, which `importlib` may import, and all of a
    package with a function that imports what lies beside it by a name made when it runs (other
    than `__getattr__`, whose names are those that others ask it for). Imports inside functions
    count as well.
    """
    path = Path(path).resolve()
    return set(_imported(_tree(path), path))


# Cached by the tree, of which there is one for each file: most scripts share most modules, and
# Snakemake asks for all fingerprints whenever it starts, on a cluster once in every job.
@cache
def _imported(tree: ast.Module, path: Path) -> frozenset[str]:
    modules = _modules()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, path)
            found.add(base)
            for alias in node.names:
                found |= _named(base, alias.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.FunctionDef) and node.name != "__getattr__" and _loads(node):
            package = next((name for name, file in modules.items() if file == path), "?")
            found.update(name for name in modules if name.startswith(f"{package}."))
    found = {name for name in found if name in modules}
    return frozenset(found | {parent for name in found for parent in _parents(name)})


def _loads(function: ast.FunctionDef) -> bool:
    """Tell whether a function calls import_module(f"{__name__}.…")."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.JoinedStr):
            called = ast.unparse(node.func).rpartition(".")[2]
            start = ast.unparse(node.args[0].values[0]) if node.args[0].values else ""
            if called == "import_module" and "__name__" in start:
                return True
    return False


def _absolute(node: ast.ImportFrom, path: Path) -> str:
    if not node.level:
        return node.module or ""
    name = next((name for name, file in _modules().items() if file == path), "")
    parts = name.split(".")
    drop = node.level - (path.name == "__init__.py")
    base = parts[: len(parts) - drop]
    return ".".join([*base, *([node.module] if node.module else [])])


def _named(package: str, name: str) -> set[str]:
    """Return the modules that `from package import name` may load beyond the package itself."""
    modules = _modules()
    if package not in modules:
        return set()
    if f"{package}.{name}" in modules:
        return {f"{package}.{name}"}
    if modules[package].name != "__init__.py" or (name != "*" and _defines(package, name)):
        return set()
    return {module for module in modules if module.startswith(f"{package}.")}


def _defines(package: str, name: str) -> bool:
    """Tell whether the `__init__` of a package binds `name` when it runs."""
    for node in _tree(_modules()[package]).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return True
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id == name:
                return True
            if isinstance(part, ast.alias) and (part.asname or part.name) == name:
                return True
    return False


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def closure(script: str | Path, *modules: str) -> list[str]:
    """Return, sorted, all modules of this package that a script imports, directly or not.

    script: a file name in workflow/scripts, or a path. modules: what it imports by a name that a
    parameter gives ("private_ensembles.experiments.pate"). Raises ValueError for an unknown one.
    """
    found: set[str] = set()
    waiting = imports(_path(script))
    for name in modules:
        if name not in _modules():
            raise ValueError(f"module = {name}: must be a module of {PACKAGE}")
        waiting |= {name, *_parents(name)}
    while waiting:
        found |= waiting
        waiting = set().union(*(imports(_modules()[name]) for name in waiting)) - found
    return sorted(found)


def fingerprint(script: str | Path, *modules: str, also: Iterable[str] = ()) -> str:
    """Return the hash of a script and its closure: 16 hexadecimal digits.

    modules: as for :func:`closure`. also: names or patterns, relative to the script, of data files
    that lie beside the code and count by their bytes. Raises ValueError where the script or a
    module does not exist or a name matches nothing.
    """
    path = _path(script)
    digest = hashlib.sha256(_text(_tree(path)))
    for name in closure(path, *modules):
        digest.update(f"\0{name}\0".encode() + _text(_tree(_modules()[name])))
    for each in also:
        folder, pattern = (path.parent / each).parent, Path(each).name
        files = sorted(folder.resolve().glob(pattern))
        if not files:
            raise ValueError(f"also = {each!r}: must match a file beside {path}")
        for file in files:
            digest.update(f"\0{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _path(script: str | Path) -> Path:
    return (SCRIPTS / script).resolve()


@cache
def _text(tree: ast.Module) -> bytes:
    return _canonical(tree).encode()


def _canonical(node) -> str:
    """Write a syntax tree without positions, docstrings and empty fields.

    `ast.dump` would do but for the fields that newer Pythons add: results made under one version
    must not rerun under another.
    """
    if isinstance(node, list):
        return "[" + ",".join(map(_canonical, node)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, _DOCUMENTED) and _is_docstring(value):
            value = value[1:]
        if value is None and isinstance(node, ast.Constant):
            fields.append("value=None" if name == "value" else "")
        elif value is not None and value != [] and name not in ("type_comment", "type_ignores"):
            fields.append(f"{name}={_canonical(value)}")
    return f"{type(node).__name__}({','.join(filter(None, fields))})"


def _is_docstring(body: list) -> bool:
    first = body[0] if body else None
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
