"""A hash of what a script does: of its code and of every module of this package that it imports.

Snakemake reruns a job when its script is touched, even without a change, and never when a module
that the script imports changes. As a parameter of the rule, this hash does the opposite of both:
comments, docstrings, formatting, checkouts and moved folders leave it, an edit in an imported
module changes it.
"""

import ast
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "private_ensembles"
ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT.parent / "scripts"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_TELLING = (ast.Import, ast.ImportFrom, ast.FunctionDef)  # and constants that are strings


@cache
def _modules() -> dict[str, Path]:
    """Return all modules of the package by dotted name."""
    modules = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        modules[".".join((PACKAGE, *parts))] = path
    return modules


@dataclass(frozen=True)
class _Source:
    """What counts of a file: the modules that it imports itself, and its canonical text."""

    imports: frozenset[str]
    text: bytes


# Read once, and the syntax tree let go: most scripts share most modules, and Snakemake asks for all
# fingerprints whenever it starts, on a cluster once in every job.
@cache
def _source(path: Path) -> _Source:
    telling: list[ast.AST] = []
    text = _canonical(_tree(path), telling)
    if "import_module" not in text:
        telling = [node for node in telling if not isinstance(node, ast.FunctionDef)]
    return _Source(_imported(telling, path), text.encode())


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
    package of which a function imports what is in it by a name made when it runs, after its
    `__name__` or its `__package__` (other than `__getattr__`, whose names are those that others ask
    it for). Imports inside functions count as well.
    """
    return set(_source(Path(path).resolve()).imports)


def _imported(nodes: list[ast.AST], path: Path) -> frozenset[str]:
    """Return what those nodes of a file's tree import that may import anything (`_TELLING`)."""
    modules = _modules()
    imported: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, path)
            imported.add(base)
            for alias in node.names:
                imported |= _named(base, alias.name)
        elif isinstance(node, ast.Constant):
            imported.add(node.value)
        elif node.name != "__getattr__":
            module = next((name for name, file in modules.items() if file == path), "?")
            own = module if path.name == "__init__.py" else module.rpartition(".")[0]
            packages = {"__name__": module, "__package__": own}
            loaded = [f"{packages[start]}." for start in _loads(node)]
            imported.update(name for name in modules if name.startswith(tuple(loaded)))
    imported = {name for name in imported if name in modules}
    return frozenset(imported | {parent for name in imported for parent in _parents(name)})


def _loads(function: ast.FunctionDef) -> set[str]:
    """Return `__name__`, `__package__` if a function has import_module(f"{__name__}.…")."""
    starts = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.JoinedStr):
            called = ast.unparse(node.func).rpartition(".")[2]
            start = ast.unparse(node.args[0].values[0]) if node.args[0].values else ""
            if called == "import_module":
                starts |= {name for name in ("__name__", "__package__") if name in start}
    return starts


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
    if modules[package].name != "__init__.py" or (name != "*" and name in _bound(package)):
        return set()
    return {module for module in modules if module.startswith(f"{package}.")}


@cache
def _bound(package: str) -> frozenset[str]:
    """Return the names that the `__init__` of a package binds when it runs."""
    names = set()
    for node in _tree(_modules()[package]).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.add(part.id)
            if isinstance(part, ast.alias):
                names.add(part.asname or part.name)
    return frozenset(names)


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def closure(script: str | Path, *modules: str) -> list[str]:
    """Return, sorted, all modules of this package that a script imports, directly or not.

    script: a file name in workflow/scripts, or a path. modules: what it imports by a name that a
    parameter gives ("private_ensembles.papers.pate.experiment"). Raises ValueError for an unknown
    one.
    """
    reached: set[str] = set()
    waiting = imports(_path(script))
    for name in modules:
        if name not in _modules():
            raise ValueError(f"module = {name}: must be a module of {PACKAGE}")
        waiting |= {name, *_parents(name)}
    while waiting:
        reached |= waiting
        waiting = set().union(*(_source(_modules()[name]).imports for name in waiting)) - reached
    return sorted(reached)


def fingerprint(script: str | Path, *modules: str, also: Iterable[str] = ()) -> str:
    """Return the hash of a script and its closure: 16 hexadecimal digits.

    modules: as for :func:`closure`. also: names or patterns, relative to the script, of data files
    that are beside the code and count by their bytes. Raises ValueError if the script or a
    module does not exist or a name matches nothing.
    """
    path = _path(script)
    digest = hashlib.sha256(_source(path).text)
    for name in closure(path, *modules):
        digest.update(f"\0{name}\0".encode() + _source(_modules()[name]).text)
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


def _canonical(node, telling: list[ast.AST]) -> str:
    """Write a syntax tree without positions, docstrings and empty fields.

    telling: gets the nodes that may import something. `ast.dump` would do for the text, except for
    the fields that newer Pythons add: results made under one version must not rerun under another.
    """
    if isinstance(node, list):
        return "[" + ",".join([_canonical(each, telling) for each in node]) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    kind = type(node)
    if kind is ast.Load:  # every third node, and nothing in it
        return "Load()"
    if kind in _TELLING or (kind is ast.Constant and isinstance(node.value, str)):
        telling.append(node)
    fields = []
    for name in kind._fields:
        value = getattr(node, name, None)
        if name == "body" and kind in _DOCUMENTED and _is_docstring(value):
            value = value[1:]
        if value is None or value == []:
            if name == "value" and kind is ast.Constant:
                fields.append("value=None")
        elif isinstance(value, str):
            if name != "type_comment":
                fields.append(f"{name}={value!r}")
        elif name != "type_ignores":
            fields.append(f"{name}={_canonical(value, telling)}")
    return f"{kind.__name__}({','.join(fields)})"


def _is_docstring(body: list) -> bool:
    first = body[0] if body else None
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
