"""The fenced blocks of a page, and how they are run: as printed, one after the other.

A block says what it is. ``sh`` and ``console`` (commands after ``$``, and what they print) are run.
``python`` is run, as doctests if it has prompts. ``text`` below ``sh``, under the same heading, is
what that prints; ``...`` stands for anything. A comment before a block, which no reader sees, says
what is not plain:

    <!-- run: slow -->                      by the slow tests, as what follows from it is
    <!-- run: bare -->                      the same; from here on with Python and pip alone
    <!-- run: elsewhere FILE[::TEST] -->    there
    <!-- run: planned [RULE ...] -->        planned only (snakemake -n), these rules among others
    <!-- not run: REASON -->
    <!-- given: COMMANDS -->                what a reader has already; `votes FILE QUERIES TEACHERS
                                            CLASSES` writes a file of votes
    <!-- file: NAME -->                     the block is what is in a file
"""

import doctest
import os
import re
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import private_ensembles

ROOT = Path(__file__).resolve().parents[1]
PATTERNS = (
    "README.md",
    "CONTRIBUTING.md",
    "config/README.md",
    "results/README.md",
    "studies/README.md",
    "docs/*.md",
)
GENERATED = "Made by the workflow; do not edit."
HOSTED = private_ensembles.REPOSITORY
# Languages of what is read only.
SHOWN = {"yaml", "diff", "text", "mermaid", "json", "csv", "html", "toml"}
RUN = {"sh", "console", "python"}
_MARKS = r"(?P<marks>(?:^ *<!--(?:(?!-->).)*-->\n\s*)*)"
_BLOCK = re.compile(
    _MARKS + r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^ *```$", re.DOTALL | re.MULTILINE
)
_ROW = re.compile(r"^\| `(snakemake [^`]*)`", re.MULTILINE)
_OUTPUT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.DONT_ACCEPT_TRUE_FOR_1
_HOW = ("slow", "bare", "planned", "elsewhere")


@dataclass
class Block:
    """A block; how: slow, bare, planned, elsewhere, not, or empty; more: the words of that mark."""

    place: str
    language: str
    text: str
    how: str = ""
    more: str = ""
    given: str = ""
    file: str = ""
    prints: str | None = None


def pages() -> list[str]:
    """Return the pages that people write, by their paths from the root."""
    paths = [path for pattern in PATTERNS for path in sorted(ROOT.glob(pattern))]
    names = [str(path.relative_to(ROOT)) for path in paths]
    return [name for name in names if GENERATED not in (ROOT / name).read_text(encoding="utf-8")]


def section(page: Path, title: str) -> str:
    """Return what a page says under a heading of the second level."""
    return page.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


def read(text: str, name: str) -> list[Block]:
    """Return the blocks of a page; ValueError, with the line, for one of which nothing is known."""
    blocks, end = [], 0
    for match in _BLOCK.finditer(text):
        place = f"{name}:{text.count(chr(10), 0, match.start('indent')) + 1}"
        body = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
        block = _marked(Block(place, match["language"], body), match["marks"])
        above = blocks[-1] if blocks else None
        if block.language == "text" and not re.search(r"^#", text[end : match.start()], re.M):
            if above and above.language == "sh":
                above.prints = body
        elif block.language not in RUN | SHOWN:
            raise ValueError(f"{place}: a block of {block.language or 'no language'}")
        blocks.append(block)
        end = match.end()
    for match in _ROW.finditer(text):
        place = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
        blocks.append(Block(place, "sh", match[1], "planned"))
    return blocks


def _marked(block: Block, marks: str) -> Block:
    for mark in re.findall(r"<!--\s*(.*?)\s*-->", marks, re.DOTALL):
        kind, _, words = (part.strip() for part in mark.partition(":"))
        if kind == "run" and words.split()[0] in _HOW:
            block.how, _, block.more = words.partition(" ")
        elif kind == "not run" and words:
            block.how, block.more = "not", words
        elif kind == "given":
            block.given = words
        elif kind == "file":
            block.file = words
        elif kind in ("run", "not run"):
            raise ValueError(f"{block.place}: <!-- {mark} --> is no mark of a block")
    return block


def elsewhere(block: Block) -> None:
    """Check that what runs a block elsewhere is there."""
    path, _, test = block.more.partition("::")
    assert (ROOT / (path or "missing")).is_file(), f"{block.place}: {path} is not there"
    assert not test or f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8"), block.place


class Reader:
    """Somebody who types the blocks of one page in a folder; variables: of the shell."""

    def __init__(self, folder: Path, aside: Path, variables: dict[str, str]):
        self.folder, self._aside, self._names = folder, aside, {"__name__": "__main__"}
        self._state = aside / "state.sh"
        env = aside / "environment"
        venv.create(env, symlinks=True)
        library = Path(sysconfig.get_path("purelib", vars={"base": str(env)}))
        installed = sysconfig.get_path("purelib")
        (library / "lock.pth").write_text(f"{installed}\n{ROOT / 'workflow'}\n{ROOT}\n")
        self._given = aside / "given"
        self._given.mkdir()
        python = env / "bin" / "python"
        _write_script(
            env / "bin" / "private-ensembles", python, "private_ensembles.command.main", "main"
        )
        _write_script(self._given / "votes", python, "tests.blocks", "write_votes")
        ours = os.path.dirname(sys.executable)
        path = [str(env / "bin"), ours, variables["PATH"], str(self._given)]
        self._variables = variables | {
            "PATH": os.pathsep.join(path),
            "PWD": str(folder),
            # Nobody hosts it yet: its address stands for this repository.
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{ROOT}.insteadOf",
            "GIT_CONFIG_VALUE_0": HOSTED,
        }

    def follow(self, block: Block, timeout: float) -> None:
        """Do what a block says; AssertionError where it fails or prints something else."""
        if block.given:
            self._check(block, block.given, None, timeout)
        if block.how == "bare":
            self._leave_for_a_bare_machine()
        if block.file:
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            self._check(block, block.text, block.prints, timeout)
        elif block.language == "console":
            for command, prints in re.findall(
                r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE
            ):
                self._check(block, command, prints or None, timeout)
        elif block.language == "python":
            self._python(block)

    def _check(self, block: Block, commands: str, prints: str | None, timeout: float) -> None:
        """Run commands; one whose output is an error as printed has to fail."""
        known = f". {self._state}" if self._state.exists() else ":"
        keep = f'export -p > {self._state}; printf "cd %q\\n" "$PWD" >> {self._state}'
        done = subprocess.run(
            ["bash", "-e", "-c", f"{known}\ntrap '{keep}' EXIT\n{commands}"],
            cwd=self.folder,
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
        )
        said = f"{block.place}: {commands.strip()}\nexit status {done.returncode}\n"
        fails = prints is not None and re.search("^error: ", prints, re.MULTILINE) is not None
        assert (done.returncode != 0) == fails, said + done.stdout[-4000:]
        if prints is not None:
            difference = differs(prints, done.stdout)
            assert not difference, said + difference

    def _leave_for_a_bare_machine(self) -> None:
        env = self._aside / "bare"
        venv.create(env, with_pip=True, symlinks=True)
        self._variables["PATH"] = f"{env / 'bin'}:/usr/local/bin:/usr/bin:/bin:{self._given}"
        self._state.unlink(missing_ok=True)

    def _python(self, block: Block) -> None:
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            if ">>> " not in block.text:
                exec(compile(block.text, block.place, "exec"), self._names)
                return
            parser = doctest.DocTestParser()
            test = parser.get_doctest(block.text, self._names, block.place, block.place, 0)
            said: list[str] = []
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, out=said.append, clear_globs=False)
            self._names = test.globs
            assert not said, "".join(said)
        finally:
            os.chdir(before)


def differs(prints: str, printed: str) -> str:
    """Return how what was printed differs from what a page says, or nothing."""
    checker = doctest.OutputChecker()
    if checker.check_output(prints, printed, _OUTPUT):
        return ""
    return checker.output_difference(doctest.Example("", prints), printed, doctest.REPORT_NDIFF)


def _write_script(script: Path, python: Path, module: str, function: str) -> None:
    """Write a command that calls a function by this Python."""
    script.write_text(
        f"#!{python}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"
    )
    script.chmod(0o755)


def write_votes() -> None:
    """Write votes, a third of them and more for class 0: FILE QUERIES TEACHERS CLASSES."""
    import numpy as np

    path, *sizes = sys.argv[1:]
    queries, teachers, classes = map(int, sizes)
    votes = np.random.default_rng(0).integers(0, classes, (queries, teachers))
    votes *= np.arange(teachers) % 3 > 0
    if path.endswith(".npz"):
        np.savez(path, votes=votes)
    else:
        np.savetxt(path, votes, fmt="%d", delimiter=",")


def run_examples(text: str, name: str) -> int:
    """Run all examples of a page in one process, one after the other; return how many there are."""
    unfenced = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)
    page = doctest.DocTestParser().get_doctest(unfenced, {}, Path(name).name, name, 0)
    said = []
    doctest.DocTestRunner().run(page, out=said.append)
    assert not said, "".join(said)
    return len(page.examples)
