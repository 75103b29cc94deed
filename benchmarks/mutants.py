"""What tests would notice: small changes of the code at random, and whether a test fails.

python benchmarks/mutants.py mutants.jsonl --number 400       try 400, or go on where it stopped
python benchmarks/mutants.py mutants.jsonl --stages 1         by each module's own tests only
python benchmarks/mutants.py mutants.jsonl --number 0         only say what the file holds

A mutant is one change in one of the packages whose code carries claims of privacy: an operator, a
comparison, a constant, or a statement left out. It is killed when a test fails or does not end in
time. The tests of its module come first, then those of its package, all others outside
tests/workflow, and tests/workflow. Each mutant is one line of JSON.
"""

import argparse
import ast
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "workflow/private_ensembles"
CLAIMING = ("accounting", "audit", "darrm", "mechanisms", "noise", "pate")
LEFT_OUT = (".git", ".snakemake", "__pycache__", ".venv", "venv", ".ci", "results", "data")
SECONDS = (600, 1200, 3600, 3600)  # of each stage, after which a mutant counts as killed
MEMORY = 16 << 30  # bytes of address space of each process: a mutant may ask for everything
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
        yield node, "constant", repr(node.value + 1)
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


def stages(root: Path, file: str) -> list[list[str]]:
    """Return pytest's arguments of each stage for a mutant of a file; earlier ones are left out."""
    module = Path(file).relative_to(PACKAGE)
    folder = Path("tests") / module.parts[0]
    own = Path("tests") / module.parent / f"test_{module.name}"
    # The mechanisms have their tests together.
    first = own if (root / own).is_file() else own.parent
    left_out = ["--ignore", "tests/workflow", "--ignore", str(folder)]
    return [
        ["-n0", str(first)],
        [str(folder)],
        ["tests", *left_out],
        ["tests/workflow"],
    ]


def run(root: Path, arguments: list[str], seconds: float) -> str | None:
    """Run tests until one fails; returns its name, "time is up", or None if all pass."""
    # No bytecode: a change within a second of the last one might go unseen.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider"]
    process = subprocess.Popen(
        [*command, *arguments],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=_limit_memory,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "time is up"
    if process.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return None
    if process.returncode == pytest.ExitCode.USAGE_ERROR:
        raise RuntimeError(f"pytest {' '.join(arguments)}: {output[-2000:]}")
    lines = [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return lines[0].split(" - ")[0] if lines else "tests could not be run"


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def judge(root: Path, mutant: Mutant, stages_run: int) -> dict:
    """Return a mutant with its verdict, and what killed it at which stage after how long."""
    path, started = root / mutant.file, time.monotonic()
    source = path.read_bytes()
    path.write_bytes(mutant.apply(source))
    try:
        for stage, arguments in enumerate(stages(root, mutant.file)[:stages_run], 1):
            if by := run(root, arguments, SECONDS[stage - 1]):
                break
    finally:
        path.write_bytes(source)
    seconds = round(time.monotonic() - started, 1)
    verdict = "killed" if by else "survived"
    return {**asdict(mutant), "verdict": verdict, "stage": stage, "by": by, "seconds": seconds}


def survey(root: Path, results: Path, number: int, seed: int, stages_run: int) -> list[dict]:
    """Judge the mutants that a file of results does not hold yet, and return all of them.

    A mutant that survived fewer stages than are run now is judged again. Raises ValueError where
    the file is of another seed or other code.
    """
    known = []
    if results.exists():
        known = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    found = {_identity(one): one for one in known}
    chosen = drawn(root, number, seed) if number else []
    if chosen and len(known) <= number and found.keys() - {_identity(asdict(m)) for m in chosen}:
        raise ValueError(f"{results}: holds mutants of another seed or of other code")
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "copy"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for mutant in chosen:
            before = found.get(_identity(asdict(mutant)))
            if before and (before["verdict"] == "killed" or before["stage"] >= stages_run):
                continue
            judged = judge(copy, mutant, stages_run)
            found[_identity(judged)] = judged
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(judged, ensure_ascii=False) + "\n")
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
    parser.add_argument("results", type=Path, help="file of the results, a line each")
    parser.add_argument("--number", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stages", type=int, default=4, choices=(1, 2, 3, 4))
    options = parser.parse_args()
    judged = survey(ROOT, options.results, options.number, options.seed, options.stages)
    print(summary(judged))


if __name__ == "__main__":
    main()
