"""docs/privacy.md says what every privacy number means, once; all other pages point there."""

import re
from pathlib import Path

import pytest

from private_ensembles.audit import verdicts
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.task import ADJACENCIES, PRIVACY_MODELS
from private_ensembles.votes import marks

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "workflow" / "report"
MEANINGS = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
# | **term** | meaning |
ROW = re.compile(r"^\| \*\*(.+?)\*\*.*? \| (.*) \|$", re.MULTILINE)
# So many words in a row that another page has as well are a definition written twice.
SHINGLE = 8


def term(words):
    return words.strip("`")


def pages():
    """Every page, caption and text that a reader sees but privacy.md, by name."""
    found = [ROOT / "README.md", ROOT / "results" / "README.md", *REPORT.glob("*.rst")]
    found += [REPORT / "sections.yaml", *(ROOT / "docs").glob("*.md")]
    for name in ("page", "figures"):
        found += (ROOT / "workflow" / "private_ensembles" / name).glob("*.py")
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in found
        if path.name != "privacy.md"
    }


def plain(text):
    return re.sub(r"[^\w ]", "", " ".join(text.lower().split())).split()


def test_every_term_is_explained_once():
    tables = [ROW.findall(part) for part in MEANINGS.split("\n## ")]
    terms = [{term(word) for word, _ in rows} for rows in tables]
    assert sum(len(found) for found in terms) == sum(len(rows) for rows in tables)
    # A claim is proven, and a verdict says so: one word, one thing, in two tables.
    known = set().union(*terms)
    assert sum(len(found) for found in terms) == len(known) + 1
    needed = {"claimed", "proven", "exact", "data-dependent", "estimate", "expectation"}
    needed |= PRIVACY_MODELS | ADJACENCIES | set(verdicts.VERDICTS)
    needed |= {marks.NOT_FOR_RELEASE, marks.SANITIZED, marks.FREE, "for release", "public"}
    assert needed <= known
    for greek in ("**Δ**", "**δ**"):
        assert MEANINGS.count(greek) == 1


def test_no_other_page_explains_a_term_again():
    shingles = {}
    for word, meaning in ROW.findall(MEANINGS):
        words = plain(meaning)
        for place in range(len(words) - SHINGLE + 1):
            shingles[" ".join(words[place : place + SHINGLE])] = word
    found = set()
    for name, text in pages().items():
        words = plain(text)
        for place in range(len(words) - SHINGLE + 1):
            if (some := " ".join(words[place : place + SHINGLE])) in shingles:
                found.add((name, shingles[some]))
        # A row of a table, or a code word with a colon, that explains one anew.
        for word in PRIVACY_MODELS | ADJACENCIES:
            pattern = rf"^\| `{word}` \||`{word}`:|<code>{word}</code>:"
            if re.search(pattern, text, re.MULTILINE):
                found.add((name, word))
    assert found == set()


@pytest.mark.parametrize("name", ["README.md", "docs/audit.md", "docs/pate.md", "docs/README.md"])
def test_pages_about_privacy_point_to_the_page_of_meanings(name):
    assert re.search(r"\]\((docs/)?privacy\.md", (ROOT / name).read_text(encoding="utf-8"))


def slugs(path):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def named():
    """Pages that captions and mechanisms name, each with an anchor or none."""
    for path in REPORT.glob("*.rst"):
        for page in re.findall(r"``(docs/[\w.-]+\.md)``", path.read_text(encoding="utf-8")):
            yield path.name, page, ""
    for entry in registry.ENTRIES:
        page, _, anchor = entry.proof.partition("#")
        yield entry.name, f"docs/{page}", anchor


def test_pages_that_captions_and_mechanisms_name_exist():
    for who, page, anchor in named():
        assert (ROOT / page).is_file(), (who, page)
        assert not anchor or anchor in slugs(ROOT / page), (who, page, anchor)


def test_links_of_results_and_published_pages_lead_somewhere():
    """Those of README and docs/*.md are looked at in tests/workflow/test_guides.py."""
    for page in [ROOT / "results" / "README.md", *(ROOT / "docs").glob("*/*.md")]:
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)]*)\)", text):
            if target and "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"
                assert not anchor or anchor in slugs(page.parent / target), f"{page}: {anchor}"
