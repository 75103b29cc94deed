"""Every block of commands on a page runs as printed, and prints what the page says."""

import shlex
import shutil

import pytest

from . import blocks
from .conftest import users_environment

pytestmark = pytest.mark.docs

PAGES = {name: (blocks.ROOT / name).read_text(encoding="utf-8") for name in blocks.pages()}
# What of the repository is no part of the workflow, and pages name.
BESIDE = ("docs", "examples", "verify", "README.md", "LICENSE", "MANIFEST.in")


def runs(name, slow):
    """The page's blocks that are run here: all in turn, or those alone that are quick."""
    try:
        found = blocks.read(PAGES[name], name)
    except ValueError:
        return []  # and a test fails
    skipped = {"elsewhere", "not"} | (set() if slow else {"slow", "bare"})
    return [block for block in found if block.how not in skipped]


HEAVY = [name for name in PAGES if len(runs(name, True)) > len(runs(name, False))]
QUICK = [name for name in PAGES if any(b.language not in blocks.SHOWN for b in runs(name, False))]


@pytest.fixture
def reader(tmp_path, copy_workflow):
    folder = copy_workflow(tmp_path / "private-ensembles")
    for name in BESIDE:
        source = blocks.ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, folder / name)
    return blocks.Reader(folder, tmp_path, users_environment())


def follow(reader, planned, page, timeout):
    for block in page:
        if block.how != "planned":
            reader.follow(block, timeout)
            continue
        for command in block.text.splitlines():
            program, *arguments = shlex.split(command, comments=True)
            assert program == "snakemake", block.place
            assert set(block.more.split()) <= set(planned(reader.folder, *arguments)), block.place


@pytest.mark.parametrize("name", QUICK)
def test_blocks_run_as_printed(name, reader, planned):
    follow(reader, planned, runs(name, slow=False), timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAVY)
def test_heavy_blocks_run_as_printed(name, reader, planned):
    follow(reader, planned, runs(name, slow=True), timeout=3600)


@pytest.mark.parametrize("name", PAGES)
def test_every_block_says_what_it_is_and_where_it_is_run(name):
    for block in blocks.read(PAGES[name], name):
        if block.how == "elsewhere":
            blocks.elsewhere(block)


def page_of(*lines):
    return blocks.read("\n".join(["# A page", "", *lines, ""]), "page.md")


@pytest.fixture
def typed(tmp_path):
    """What becomes of a page: its blocks, one after the other."""
    reader = blocks.Reader(tmp_path, tmp_path, users_environment())

    def follow_all(*lines):
        for block in page_of(*lines):
            reader.follow(block, timeout=60)

    return follow_all


def test_a_block_that_prints_what_the_page_says_passes(typed):
    typed(
        "```sh",
        "echo 0.25 by 7f3a",
        "```",
        "",
        "which prints:",
        "",
        "```text",
        "0.25 by ...",
        "```",
    )


def test_a_block_that_prints_another_number_fails(typed):
    with pytest.raises(AssertionError, match=r"page.md:3(.|\n)*0\.25"):
        typed("```sh", "echo 0.25", "```", "", "```text", "0.26", "```")
    with pytest.raises(AssertionError, match=r"0\.25"):
        typed("```console", "$ true", "$ echo 0.25", "0.26", "```")


def test_a_command_of_two_lines_is_one(typed):
    typed("```console", "$ echo 0.25 \\", "    by 7f3a", "0.25 by 7f3a", "```")


def test_a_command_that_fails_does_so_only_where_the_page_says_it(typed):
    with pytest.raises(AssertionError, match="exit status 3"):
        typed("```sh", "exit 3", "```")
    error = "echo error: votes.csv: empty >&2; exit 2"
    typed("```sh", error, "```", "", "```text", "error: votes.csv: empty", "```")
    with pytest.raises(AssertionError, match="exit status 0"):
        typed("```sh", "echo error: x", "```", "", "```text", "error: x", "```")


def test_where_a_reader_went_and_what_was_given_and_written_stays(typed):
    typed(
        "<!-- given: mkdir there; votes there/votes.csv 2 3 2 -->",
        "```sh",
        "cd there && export ANSWER=42",
        "```",
        "<!-- file: mine.txt -->",
        "```yaml",
        "a: 1",
        "```",
        "```console",
        "$ wc -l < votes.csv",
        "2",
        "$ cat ../mine.txt; echo $ANSWER",
        "a: 1",
        "42",
        "```",
    )


def test_python_on_a_page_is_run_and_compared(typed):
    typed("```python", "x = 1", "```", "```python", ">>> x + 1", "2", "```")
    with pytest.raises(AssertionError, match="Got"):
        typed("```python", ">>> 1 + 1", "3", "```")
    with pytest.raises(ZeroDivisionError):
        typed("```python", "1 / 0", "```")


def test_a_block_of_no_language_or_with_an_unknown_mark_is_refused():
    with pytest.raises(ValueError, match=r"page.md:3: a block of no language"):
        page_of("```", "snakemake", "```")
    for mark in ("run: sometimes", "not run:", "run: tests/x.py"):
        with pytest.raises(ValueError, match="is no mark of a block"):
            page_of(f"<!-- {mark} -->", "```sh", "true", "```")


def test_a_place_that_is_gone_is_refused():
    for place in ("tests/gone.py", "tests/test_blocks.py::test_gone"):
        (block,) = page_of(f"<!-- run: elsewhere {place} -->", "```sh", "true", "```")
        with pytest.raises(AssertionError):
            blocks.elsewhere(block)


def test_commands_in_the_first_column_of_a_table_are_planned():
    (block,) = page_of("| `snakemake darrm` (or `pate`) | tables |")
    assert (block.text, block.how) == ("snakemake darrm", "planned")
