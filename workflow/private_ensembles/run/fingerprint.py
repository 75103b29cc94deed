"""A hash of what a script does: of its code and of every module of ours that it imports.

Snakemake reruns a job when its script is touched, even without a change, and never when a module
that the script imports changes. As a parameter of the rule, this hash does the opposite of both:
comments, docstrings, formatting, checkouts and moved folders leave it, an edit in an imported
module changes it.
"""

import ast
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = "private_ensembles"
ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT.parent / "scripts"
# The studies' modules, which their scripts import beside the package.
STUDIES = ROOT.parents[1] / "studies"
# What a portable run adds to the fingerprints of its rules.
PORTABLE = "-portable"
# A script computes the same whatever a package exports by `__getattr__`, and whatever its version.
_EXPORT_NAMES = {"__version__", "__all__", "_PUBLIC"}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def _modules() -> dict[str, Path]:
    """Return all modules of the package, and of the studies, by dotted name."""
    modules = {}
    for folder in (ROOT, STUDIES):
        for path in sorted(folder.rglob("*.py")):
            name = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
            modules[name.removesuffix(".__init__")] = path
    return modules


@dataclass(frozen=True)
class _Source:
    """What the code of a file is, and which modules it may use.

    Attributes:
        digest: The hash of its code.
        imports: The modules of ours that it imports.
        named: The modules with an object that it names by a text.
        loads: Whether it loads modules by such names.
        filled: The modules that fit a text with one gap, such as
            "private_ensembles.papers.{paper}.relations".
    """

    digest: bytes
    imports: frozenset[str]
    named: frozenset[str]
    loads: bool
    filled: frozenset[str]


# Each file is read once: most scripts share most modules, and Snakemake asks for all at its start.
@cache
def _source(path: Path) -> _Source:
    """Return what a file does, without comments, docstrings and layout.

    `ast.dump` is not used, because it takes twice as long and writes the same code in other words
    on other Pythons, where it may leave out what is empty or usual.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    except FileNotFoundError:
        raise ValueError(f"script = {path}: must be an existing file") from None
    if path.name == "__init__.py":
        tree.body = [statement for statement in tree.body if not _is_export(statement)]
    names: set[str] = set()
    texts: set[str] = set()
    filled: set[str] = set()
    pieces: list[str] = []
    waiting: list[Any] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            pieces.append(f"[{len(part)}]")
            waiting += part
            continue
        if not isinstance(part, ast.AST):
            pieces.append(repr(part))
            if isinstance(part, str) and "." in part:
                texts.add(f"{PACKAGE}.{part.rpartition('.')[0]}")
            continue
        if isinstance(part, _DOCUMENTED) and ast.get_docstring(part, clean=False) is not None:
            del part.body[0]
        elif isinstance(part, ast.Import):
            names.update(alias.name for alias in part.names)
        elif isinstance(part, ast.ImportFrom):
            if part.level or part.names[0].name == "*":
                raise ValueError(f"{path}, line {part.lineno}: must import a module by its name")
            names.update(f"{part.module}.{alias.name}" for alias in part.names)
            names.add(part.module)
        elif isinstance(part, ast.JoinedStr):
            filled |= _fill(part)
        pieces.append(type(part).__name__)
        for field in part._fields:
            value = getattr(part, field, None)
            # The field ctx is left out: where a name stands shows whether it is read or written.
            if value is not None and value != [] and field != "ctx":
                pieces.append(field)
                waiting.append(value)
    text = "\n".join(pieces)
    return _Source(
        hashlib.sha256(text.encode()).digest(),
        frozenset(_add_parent_packages(names) & _modules().keys()),
        frozenset(_add_parent_packages(texts & _modules().keys())),
        "import_module" in text and path.name != "__init__.py",
        frozenset(_add_parent_packages(filled) & _modules().keys()),
    )


def _fill(text: ast.JoinedStr) -> set[str]:
    """Return the modules that fit a text with one gap, which is a word between two dots."""
    match text.values:
        case [ast.Constant(before), ast.FormattedValue(), ast.Constant(after)]:
            pattern = re.compile(rf"{re.escape(before)}(?<=\.)\w+(?=\.){re.escape(after)}")
            return set(filter(pattern.fullmatch, _modules()))
    return set()


def _list_used_modules(source: _Source) -> frozenset[str]:
    """Return the modules that a file imports, and those that it loads by name.

    What it loads is named by itself or by a module that it imports. The registry of mechanisms
    names laws and accounts, and `labels.mechanism` loads them: code that reads the registry alone
    does not depend on them.
    """
    used = source.imports | source.filled
    if not source.loads:
        return used
    named = (_source(_modules()[name]).named for name in source.imports)
    return used.union(source.named, *named)


def _is_export(statement: ast.stmt) -> bool:
    """Return whether a statement only says what a package exports, or its version."""
    return isinstance(statement, ast.Assign) and all(
        isinstance(target, ast.Name) and target.id in _EXPORT_NAMES for target in statement.targets
    )


def _add_parent_packages(names: Iterable[str]) -> set[str]:
    """Return modules and the packages around them, whose `__init__` an import of them runs."""
    split_names = (name.split(".") for name in names)
    return {".".join(parts[:end]) for parts in split_names for end in range(1, len(parts) + 1)}


def closure(script: str | Path, *modules: str) -> list[str]:
    """Return, sorted, all modules of this package that a script imports, directly or not.

    Imports inside functions count. A module that calls `import_module` counts with all modules that
    it or what it imports names by the path of an object, and one that names modules by a text with
    one gap, such as a paper's name, with all that fit. In the script itself such a text does not
    count, because its rule knows what the gap is filled with. What a package's `__getattr__` would
    load does not count either: import that by its module.

    Args:
        script: A file in workflow/scripts ("darrm/optimize_gamma.py"), or a path.
        *modules: What it imports by a name that a parameter gives
            ("private_ensembles.papers.pate.experiment").

    Raises:
        ValueError: A module is unknown, or a file has a relative import or one of `*`.
    """
    for name in modules:
        if name not in _modules():
            raise ValueError(f"module = {name}: must be a module of {PACKAGE}")
    reached: set[str] = set()
    waiting = _list_used_modules(
        replace(_source(_path(script)), filled=frozenset())
    ) | _add_parent_packages(modules)
    while waiting:
        reached |= waiting
        waiting = (
            set().union(*(_list_used_modules(_source(_modules()[name])) for name in waiting))
            - reached
        )
    return sorted(reached)


def fingerprint(script: str | Path, *modules: str, data_files: Iterable[str] = ()) -> str:
    """Return the hash of a script and its closure: 16 hexadecimal digits.

    Args:
        script: As for :func:`closure`.
        *modules: As for :func:`closure`.
        data_files: Names or patterns, relative to workflow/, of data files that lie beside the code
            and count by their bytes.

    Raises:
        ValueError: The script or a module does not exist, or a pattern matches nothing.
    """
    path = _path(script)
    digest = hashlib.sha256(_source(path).digest)
    for name in closure(path, *modules):
        digest.update(f"\0{name}\0".encode() + _source(_modules()[name]).digest)
    for pattern in data_files:
        files = sorted(SCRIPTS.parent.glob(pattern))
        if not files:
            raise ValueError(f"data_files = {pattern!r}: must match a file in {SCRIPTS.parent}")
        for file in files:
            digest.update(f"\0{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _path(script: str | Path) -> Path:
    return (SCRIPTS / script).resolve()
