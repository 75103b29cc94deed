"""What tests would notice: small changes of the code at random, and whether a test fails.

python -m benchmarks.calls calls.jsonl                         first: which test calls what
python -m benchmarks.mutants calls.jsonl mutants.jsonl         try 400, or go on where it stopped
python -m benchmarks.mutants calls.jsonl mutants.jsonl --seconds 20    by the quickest tests only
python -m benchmarks.mutants calls.jsonl mutants.jsonl --again      those that survived, once more
python -m benchmarks.mutants calls.jsonl mutants.jsonl --number 0   only say what the file holds

A mutant is one change in one of the packages whose code carries claims of privacy: an operator, a
comparison, a constant, or a statement left out. Only tests that call the changed function are run,
those of its module first and then the quickest, since no other can notice. A change outside every
function, or in one that runs while tests are loaded, is tried on the tests that call any function
of its file and on those of its module. A mutant is killed when a test fails or does not end in
time. Each mutant is one line of JSON.

No file is changed: each mutant has a process of its own, which loads the changed text instead.
"""

from __future__ import annotations

import argparse
import ast
import collections
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import math
import os
import random
import resource
import select
import signal
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from benchmarks import calls

ROOT = calls.ROOT
PACKAGE = calls.PACKAGE
CLAIMING = ("accounting", "audit", "darrm", "mechanisms", "noise", "pate")
WARM = ("hypothesis", "matplotlib.figure", "pandas", "scipy.optimize", "scipy.stats", "torch")
PATIENCE = 10.0, 2.0  # seconds of CPU for a test: so many, and so often what its file has taken
AT_MOST = 1800  # seconds by the clock for all tests of a mutant
MEMORY = 16 << 30  # bytes of address space of each process: a mutant may ask for everything
# Rewriting asserts would load a module whose docstrings are tested from the disk.
HOW = ("--assert=plain", *calls.IN_ONE_PROCESS)
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
DROPPED = (ast.Assign, ast.AugAssign, ast.Expr, ast.Raise, ast.Return)
# What is not run, or only when a module is loaded.
SILENT = ("annotation", "returns", "type_params", "decorator_list")


@dataclass(frozen=True)
class Mutant:
    """One change: `before`, at bytes `start` to `end` of a file, becomes `after`."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    end: int

    def apply(self, source: bytes) -> bytes:
        """Return the changed source; ValueError where it is another source."""
        if source[self.start : self.end].decode() != self.before:
            raise ValueError(f"{self.file}: is not the file in which line {self.line} was changed")
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants(file: str, source: bytes) -> list[Mutant]:
    """Return every mutant of one file, in the order of its text."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, kind, after in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        before = source[start:end].decode()
        found.append(Mutant(file, node.lineno, kind, before, after, start, end))
    return sorted(found, key=lambda one: (one.start, one.end, one.kind, one.after))


def _changes(tree: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield what may be changed below a node: the node, the kind, and the new text."""
    for name, value in ast.iter_fields(tree):
        if name in SILENT:
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr | ast.Import):
                continue
            yield from _of(node)
            yield from _changes(node)


def _of(node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield the changes of one node itself."""
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        swapped = OPERATORS[type(node.op)]()
        text = ast.unparse(_with(node, op=swapped))
        yield node, "operator", text if isinstance(node, ast.AugAssign) else f"({text})"
    elif isinstance(node, ast.UnaryOp):
        yield node, "operator", f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            ops = [*node.ops[:i], COMPARISONS[type(operator)](), *node.ops[i + 1 :]]
            yield node, "comparison", f"({ast.unparse(_with(node, ops=ops))})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, "constant", repr(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        larger = node.value + 1
        yield node, "constant", repr(larger if larger != node.value else 2 * node.value)
    if isinstance(node, DROPPED) and not _is_text(node):
        yield node, "dropped line", "pass"


def _with(node: ast.AST, **fields) -> ast.AST:
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def _is_text(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    return isinstance(node, ast.Expr) and isinstance(value, ast.Constant)


def drawn(root: Path, number: int, seed: int) -> list[Mutant]:
    """Draw mutants at random without replacement, each of all equally likely."""
    every = []
    for package in CLAIMING:
        for path in sorted((root / PACKAGE / package).rglob("*.py")):
            every += mutants(path.relative_to(root).as_posix(), path.read_bytes())
    return random.Random(seed).sample(every, number)


def place(source: bytes, mutant: Mutant) -> str | None:
    """Return the qualified name of the function in which a mutant is; None outside of all."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def inside(node: ast.AST, prefix: str, found: str | None) -> str | None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt):
                continue
            start = starts[child.lineno - 1] + child.col_offset
            end = starts[child.end_lineno - 1] + child.end_col_offset
            if not (start <= mutant.start and mutant.end <= end):
                continue
            if isinstance(child, ast.ClassDef):
                return inside(child, f"{prefix}{child.name}.", found)
            if isinstance(child, ast.FunctionDef):
                name = f"{prefix}{child.name}"
                return inside(child, f"{name}.<locals>.", name)
            return inside(child, prefix, found)
        return found

    return inside(ast.parse(source), "", None)


def noticing(
    root: Path, mutant: Mutant, known: dict[str, dict], seconds: float = math.inf
) -> list[str]:
    """Return the tests that can notice a mutant: its module's own first, then the quickest.

    seconds: of those that take longer, leave out the slowest, and of others rather than its own.
    """
    file = Path(mutant.file).relative_to(PACKAGE)
    name = place((root / mutant.file).read_bytes(), mutant)
    own = f"tests/{file.parent.as_posix()}/test_{file.name}"
    called = f"{file.as_posix()}:{name}"
    if name is None or _called_at_loading(mutant.file, name, known):
        of_file, own_tests = f"{file.as_posix()}:", own
        if not (root / own).is_file():  # of a package itself: all tests of its room
            own_tests = str(Path(own).parent)
        found = [
            one
            for one in known.values()
            if _file(one).startswith(own_tests) or any(c.startswith(of_file) for c in one["calls"])
        ]
    else:
        found = [one for one in known.values() if called in one["calls"]]
    found = [one for one in found if one["test"] != calls.LOADING]
    found.sort(key=lambda one: one["seconds"] * (1 if _file(one) == own else 5))
    taken = itertools.accumulate(one["seconds"] for one in found)
    found = [one for one, until in zip(found, taken, strict=True) if until <= seconds]
    # What a file prepares is prepared once only if its tests stay together.
    together: dict[str, float] = {}
    for one in found:
        together[_file(one)] = together.get(_file(one), 0) + one["seconds"]
    found.sort(
        key=lambda one: (_file(one) != own, together[_file(one)], _file(one), one["seconds"])
    )
    return [one["test"] for one in found]


def _file(one: dict) -> str:
    return one["test"].split("::")[0]


class Changed(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Loads one module from a changed text, in place of the one on the disk."""

    def __init__(self, path: Path, text: bytes):
        names = path.with_suffix("").parts
        start = len(names) - 1 - names[::-1].index("private_ensembles")
        super().__init__(".".join(names[start:]).removesuffix(".__init__"), str(path))
        self._text = text

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def get_code(self, fullname):
        return compile(self._text, self.path, "exec", dont_inherit=True)


class Session:
    """A plugin of pytest that loads all tests once, and tries each mutant in a fork of that."""

    def __init__(self, root: Path, known: dict[str, dict], work: Callable[[Session], None]):
        self._root, self._known, self._work = root, known, work
        self._seconds: dict[str, float] = {}
        for one in known.values():
            self._seconds[_file(one)] = self._seconds.get(_file(one), 0) + one["seconds"]
        self._failed = False

    def pytest_runtestloop(self, session):
        """Do the work in place of running all tests."""
        self._items = {item.nodeid: item for item in session.items}
        self._functions = collections.defaultdict(list)
        for one in gc.get_objects():
            if type(one) is types.FunctionType:
                self._functions[one.__code__.co_filename, one.__code__.co_qualname].append(one)
        self._work(self)
        return True

    def pytest_runtest_logreport(self, report):
        self._failed |= report.failed

    def attempt(self, mutant: Mutant | None, tests: list[str]) -> str | None:
        """Run tests with a mutant until one fails; returns what killed it, None if all pass."""
        if not tests:
            return None
        with tempfile.TemporaryDirectory() as place:
            notes, output = Path(place) / "test", Path(place) / "output"
            if not (process := os.fork()):
                try:
                    status = self._run(mutant, tests, notes, output)
                except BaseException as error:
                    output.write_text(repr(error))
                    status = pytest.ExitCode.INTERNAL_ERROR
                os._exit(status)
            watched = os.pidfd_open(process)
            try:
                select.select([watched], [], [], AT_MOST)
            finally:
                os.kill(process, signal.SIGKILL)  # nothing happens to one that has ended
                os.close(watched)
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            test = notes.read_text(encoding="utf-8") if notes.exists() else "loading the tests"
            if status == pytest.ExitCode.OK:
                return None
            if status < 0:
                ended = {-signal.SIGPROF: "time is up", -signal.SIGKILL: "time is up"}
                return f"{ended.get(status, 'the process dies')}: {test}"
            if status in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
                raise RuntimeError(output.read_text(errors="replace")[-2000:])
            return test

    def _run(self, mutant: Mutant | None, tests: list[str], notes: Path, output: Path) -> int:
        """Run tests in this process, which ends with it."""
        sink = os.open(output, os.O_WRONLY | os.O_CREAT)
        for stream in (1, 2):
            os.dup2(sink, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        if mutant and not self._replace(mutant):
            return self._load_anew(mutant, tests, notes)
        items = [self._items[test] for test in tests]
        for item, following in zip(items, [*items[1:], None], strict=True):
            self.watch(item, notes)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return pytest.ExitCode.TESTS_FAILED
        return pytest.ExitCode.OK

    def watch(self, item: pytest.Item, notes: Path) -> None:
        """Write down which test runs, and end the process if it takes too long."""
        notes.write_text(item.nodeid, encoding="utf-8")
        base, times = PATIENCE
        seconds = base + times * self._seconds[item.nodeid.split("::")[0]]
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def _replace(self, mutant: Mutant) -> bool:
        """Give a loaded function its changed code; False where loading is what a change changes."""
        path = self._root / mutant.file
        source = path.read_bytes()
        name = place(source, mutant)
        if name is None or _called_at_loading(mutant.file, name, self._known):
            return False
        outermost = name.split(".<locals>")[0]
        before, after = (
            _code(compile(text, path, "exec", dont_inherit=True), outermost)
            for text in (source, mutant.apply(source))
        )
        functions = self._functions[str(path), outermost]
        # A default is no part of the code.
        if not functions or before == after or before.co_freevars != after.co_freevars:
            return False
        for function in functions:
            function.__code__ = after
        return True

    def _load_anew(self, mutant: Mutant, tests: list[str], notes: Path) -> int:
        """Load the package and the tests once more, with the mutant, and run them."""
        signal.setitimer(signal.ITIMER_PROF, 20 * PATIENCE[0])
        for name in list(sys.modules):
            if name.split(".")[0] in ("private_ensembles", "tests"):
                del sys.modules[name]
        path = self._root / mutant.file
        sys.meta_path.insert(0, Changed(path, mutant.apply(path.read_bytes())))
        return pytest.main(["-x", *HOW, *_files(tests)], plugins=[Chosen(self, tests, notes)])


class Chosen:
    """A plugin of pytest that runs some tests in an order."""

    def __init__(self, session: Session, tests: list[str], notes: Path):
        self._session, self._tests, self._notes = session, tests, notes

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        of_name = {item.nodeid: item for item in items}
        items[:] = [of_name[test] for test in self._tests if test in of_name]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._session.watch(item, self._notes)


def _called_at_loading(file: str, name: str, known: dict[str, dict]) -> bool:
    called = f"{Path(file).relative_to(PACKAGE).as_posix()}:{name}"
    return called in known.get(calls.LOADING, {"calls": ()})["calls"]


def _code(code: types.CodeType, name: str) -> types.CodeType:
    """The code of a function in that of a module."""
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            if one.co_qualname == name:
                return one
            if name.startswith(f"{one.co_qualname}."):
                return _code(one, name)
    raise LookupError(name)


def _files(tests: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(test.split("::")[0] for test in tests))


def survey(
    root: Path,
    recorded: Path,
    results: Path,
    number: int,
    seed: int,
    again: bool = False,
    seconds: float = math.inf,
) -> list[dict]:
    """Judge the mutants that a file of results does not hold yet, and return all of them.

    again: those that survived, too. seconds: as `noticing`. Raises ValueError where the file is of
    another seed or other code, RuntimeError where a test that killed a mutant fails without any.
    """
    found = {}
    if results.exists():
        lines = results.read_text(encoding="utf-8").splitlines()
        found = {_identity(one): one for one in map(json.loads, lines)}
    chosen = drawn(root, number, seed) if number else []
    if chosen and found.keys() - {_identity(asdict(mutant)) for mutant in chosen}:
        raise ValueError(f"{results}: holds mutants of another seed or of other code")
    known = calls.known(recorded)

    def judge(session: Session) -> None:
        for mutant in chosen:
            before = found.get(_identity(asdict(mutant)))
            if before and (before["verdict"] == "killed" or not again):
                continue
            started, tests = time.monotonic(), noticing(root, mutant, known, seconds)
            by = session.attempt(mutant, tests)
            judged = {
                **asdict(mutant),
                "verdict": "killed" if by else "survived",
                "by": by,
                "tests": len(tests),
                "seconds": round(time.monotonic() - started, 1),
            }
            found[_identity(judged)] = judged
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(judged, ensure_ascii=False) + "\n")
        killers = {(one["by"] or "").split(": ")[-1] for one in found.values()} & known.keys()
        if failing := session.attempt(None, sorted(killers)):
            unfounded.append(failing)

    unfounded: list[str] = []
    if chosen:
        os.chdir(root)
        files = _files(test for test in known if test != calls.LOADING)
        status = pytest.main(["-s", *HOW, *files], plugins=[Session(root, known, judge)])
        if unfounded:
            raise RuntimeError(f"fails without a mutant: {unfounded[0]}")
        if status != pytest.ExitCode.OK:
            raise RuntimeError(f"pytest ended with {status!r}")
    return list(found.values())


def _identity(mutant: dict) -> tuple:
    return mutant["file"], mutant["start"], mutant["end"], mutant["after"]


def summary(judged: list[dict]) -> str:
    """Return how many were killed, of each package and kind, and who survived."""
    lines = [_share("all", judged)]
    for package in CLAIMING:
        of_it = [one for one in judged if one["file"].startswith(f"{PACKAGE}/{package}/")]
        lines.append(_share(package, of_it))
    for kind in sorted({one["kind"] for one in judged}):
        lines.append(_share(kind, [one for one in judged if one["kind"] == kind]))
    lines += [
        f"survived {one['file']}:{one['line']}: {one['before']} -> {one['after']}"
        for one in judged
        if one["verdict"] == "survived"
    ]
    return "\n".join(lines)


def _share(name: str, judged: list[dict]) -> str:
    killed = sum(one["verdict"] == "killed" for one in judged)
    return f"{name}: {killed} of {len(judged)} killed"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("calls", type=Path, help="what benchmarks/calls.py has written")
    parser.add_argument("results", type=Path, help="file of the results, a line each")
    parser.add_argument("--number", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="try those that survived once more")
    text = "of tests for each mutant: the quickest, its module's own rather than others"
    parser.add_argument("--seconds", type=float, default=math.inf, help=text)
    options = parser.parse_args()
    for name in WARM:
        importlib.import_module(name)
    where = ROOT, options.calls.resolve(), options.results.resolve()
    how = options.number, options.seed, options.again, options.seconds
    print(summary(survey(*where, *how)))


if __name__ == "__main__":
    main()
