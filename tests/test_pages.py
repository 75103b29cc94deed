"""Links of all pages lead somewhere, and docs/privacy.md explains every word of the tables."""

import re
from pathlib import Path

import pytest

from private_ensembles.audit import verdicts
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.task import ADJACENCIES, PRIVACY_MODELS
from private_ensembles.votes import marks

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "results" / "README.md", *(ROOT / "docs").rglob("*.md")]
CAPTIONS = sorted((ROOT / "workflow" / "report").glob("*.rst"))


def headings(path):
    """The anchors of a page's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)]*)\)", text):
        if "://" in target:
            continue
        other = page.parent / target if target else page
        assert other.exists(), target
        assert not anchor or anchor in headings(other), f"{target}#{anchor}"


@pytest.mark.parametrize("caption", CAPTIONS, ids=lambda caption: caption.name)
def test_pages_that_a_caption_names_exist(caption):
    for name in re.findall(r"``(docs/[\w.-]+\.md)``", caption.read_text(encoding="utf-8")):
        assert (ROOT / name).is_file(), name


@pytest.mark.parametrize("entry", registry.ENTRIES, ids=lambda entry: entry.name)
def test_the_proof_that_a_mechanism_names_is_there(entry):
    page, _, anchor = entry.proof.partition("#")
    assert not anchor or anchor in headings(ROOT / "docs" / page)
    assert (ROOT / "docs" / page).is_file()


def test_every_word_that_tables_say_of_privacy_is_explained():
    text = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
    explained = {term.strip("`") for term in re.findall(r"^\| \*\*(.+?)\*\*", text, re.MULTILINE)}
    needed = PRIVACY_MODELS | ADJACENCIES | set(verdicts.VERDICTS)
    needed |= {marks.NOT_FOR_RELEASE, marks.SANITIZED, marks.FREE}
    assert needed <= explained
