"""docs/surprises.md: each finding has its row, each row a finding or a test that exists."""

import os
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs

ROOT = Path(__file__).resolve().parents[1]
FINDINGS = sorted((ROOT / "findings").glob("*.sh"))


def read_rows():
    """The cells of each row of the table, without its header."""
    text = (ROOT / "docs" / "surprises.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in rows if row[0] not in ("---", "package and version")]


def list_proofs():
    """What the last cells name: scripts of findings, and tests."""
    return [name for row in read_rows() for name in re.findall(r"`([^`]+)`", row[-1])]


def test_every_row_says_all_and_names_what_fails_if_it_changes():
    rows = read_rows()
    assert len(rows) > 30
    for row in rows:
        assert len(row) == 3, row
        assert all(row), row
        assert re.fullmatch(r"`[^`]+`(, `[^`]+`)*", row[-1]), row
        assert re.search(r"\d", row[0]), f"{row[0]}: which version?"


def test_every_finding_has_one_row():
    named = sorted(name for name in list_proofs() if name.startswith("findings/"))
    assert named == [f"findings/{path.name}" for path in FINDINGS]


def test_every_test_that_a_row_names_exists():
    named = [name for name in list_proofs() if not name.startswith("findings/")]
    assert named
    for name in named:
        path, _, function = name.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not function or f"def {function}(" in text, name


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.stem)
def test_a_finding_says_what_was_guessed_and_seen_and_runs_alone(path):
    text = path.read_text(encoding="utf-8")
    head = text[: text.index("set -euo pipefail")]
    for words in ("Best guess before the run:", "Seen: ", "# Fails if "):
        assert words in " ".join(head.splitlines()), words
    assert re.search(r"^# Seen \d{4}-\d\d-\d\d, Python 3\.\d+, \S+==\d", head, re.MULTILINE)
    versions = set(re.findall(r"[\w.-]+(?:\[\w+\])?==[\d.]+", head))
    installed = text[len(head) :]
    for version in versions:
        name, _, number = version.partition("==")
        assert re.search(rf"{re.escape(name)}(\[\w+\])?=={re.escape(number)}", installed), version
    assert "mktemp -d" in installed
    assert 'echo "skipped: ' in installed
    assert "private_ensembles" not in text
    assert os.access(path, os.X_OK)
