"""Pages: links lead somewhere, names that they use exist, words and mechanisms are explained."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import private_ensembles
from private_ensembles.labels import registry, release_marks
from private_ensembles.labels.task import ADJACENCIES, PRIVACY_MODELS
from private_ensembles.report.html import VERDICTS

pytestmark = pytest.mark.docs

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / name / "README.md" for name in (".", "results", "studies")]
PAGES += (ROOT / "docs").rglob("*.md")


def headings(path):
    """The anchors of a page's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def bold_beginnings(path):
    """What paragraphs begin with in bold, written like anchors."""
    found = re.findall(r"^\*\*(.*?)\.?\*\*", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-") for words in found}


def test_links_lead_to_files_and_headings():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)]*)\)", text):
            if "://" in target:
                continue
            other = page.parent / target if target else page
            assert other.exists(), (page, target)
            assert not anchor or anchor in headings(other), (page, f"{target}#{anchor}")


# Of a room or a file that the reader is about to make.
_OWN = re.compile(r"toy|randomised_response|NAME|ROOM")


def test_tests_that_pages_name_are_there():
    pages = [*PAGES, ROOT / "CONTRIBUTING.md", *(ROOT / "paper").glob("*.md")]
    named = [
        (page, path)
        for page in pages
        for path in re.findall(r"\btests/[\w/]+(?:\.py)?", page.read_text(encoding="utf-8"))
        if not _OWN.search(path)
    ]
    assert len(named) > 20
    for page, path in named:
        assert (ROOT / path).exists() or list(ROOT.glob(f"{path}*.*")), (page, path)


# What a file may say of a page: its name, and then a heading in quotes or the number of one.
_CITED = re.compile(
    r'((?:docs/)?(?:(?<=docs/)[\w./-]+|README)\.md)`*(?:#([\w-]+)|,?\s+"([^"]+)"|, section (\d+))?'
)


def test_pages_and_headings_that_code_cites_exist():
    folders = ("workflow", "studies", "benchmarks", "examples", "verify")
    files = [path for name in folders for path in (ROOT / name).rglob("*.py")]
    files += [ROOT / name for name in ("config.yaml", "Snakefile", "Dockerfile", "pyproject.toml")]
    files += [*(ROOT / "workflow").rglob("*.smk"), *(ROOT / "profiles").rglob("*.yaml")]
    files += [*(ROOT / "workflow" / "report").glob("*.rst"), *(ROOT / "studies").rglob("*.rst")]
    cited = 0
    for path in files:
        for page, anchor, words, number in _CITED.findall(path.read_text(encoding="utf-8")):
            where = ROOT / page
            assert where.is_file(), (path, page)
            known = headings(where) | bold_beginnings(where)
            assert not anchor or anchor in known, (path, page, anchor)
            words = re.sub(r"[^\w -]", "", " ".join(words.lower().split())).replace(" ", "-")
            assert not words or words in known, (path, page, words)
            assert not number or any(each.startswith(f"{number}-") for each in known), path
            cited += 1
    assert cited > 100


def test_the_proof_that_a_mechanism_names_is_there():
    for entry in registry.ENTRIES:
        page, _, anchor = entry.origin.proof.partition("#")
        assert (ROOT / "docs" / page).is_file(), entry.name
        assert not anchor or anchor in headings(ROOT / "docs" / page), entry.name


def test_every_word_that_tables_say_of_privacy_is_explained():
    text = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
    explained = {term.strip("`") for term in re.findall(r"^\| \*\*(.+?)\*\*", text, re.MULTILINE)}
    needed = {*PRIVACY_MODELS.values(), *ADJACENCIES, *VERDICTS}
    needed |= {release_marks.NOT_FOR_RELEASE, release_marks.FREE_OF_VOTES}
    assert needed <= explained


def test_the_glossary_explains_each_notion_once():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    firsts = re.findall(r"^\| (\*\*.*?) \|", text, re.MULTILINE)
    terms = [
        term
        for cell in firsts
        for words in re.findall(r"\*\*(.+?)\*\*", cell)
        for term in words.split("; ")
    ]
    assert len(terms) > 60
    assert sorted(terms) == sorted(set(terms))
    assert {"adjacency", "neighbours", "status", "verdict"} <= set(terms)


def test_the_glossary_has_every_name_of_every_mechanism():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    accounts = {
        name: f'`"{law}"`, `"{analysis}"`'
        for law, found in registry.analyses_by_law().items()
        for analysis, name in found.items()
    }
    rows = [
        (f"`{entry.name}`", entry.label, accounts.get(entry.name, "")) for entry in registry.ENTRIES
    ]
    table = text.partition("| name | shown as |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| (`\w+`) \| (.+?) \| ?(.*?) ?\|$", table, re.MULTILINE) == rows


def find_object(path):
    """Return the object at a dotted path below the package."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(["private_ensembles", *parts[:length]]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise LookupError(path)


def test_every_name_in_the_table_of_terms_exists(root):
    text = (root / "docs/glossary.md").read_text(encoding="utf-8")
    table = text.split("## Terms of the field", 1)[1].split("\n## ", 1)[0]
    names = re.findall(r"`((?:accounting|audit|labels|papers)\.[\w.]+)`", table)
    assert len(names) >= 20
    for name in names:
        find_object(name)


# A page for those who change the package, and so use its modules.
FOR_CONTRIBUTORS = {"docs/add.md"}


def inner_names(code):
    """What a text of Python names in the package that is not public, as modules or attributes."""
    names = set(re.findall(r"\bprivate_ensembles\.(\w+)", code))
    for listed in re.findall(r"from private_ensembles import (\([^)]*\)|.*)", code):
        names |= set(re.findall(r"(?<!as )\b\w+", listed)) - {"as"}
    return names - set(private_ensembles.__all__) - {"__version__"}


def test_examples_and_pages_use_public_names_alone(root):
    """Findings are about other packages. Pages for contributors show inner modules."""
    pages = [*(root / "docs").rglob("*.md"), root / "README.md", *(root / "examples").glob("*.md")]
    texts = {
        path: "\n".join(
            re.sub(r"(?m)^(>>>|\.\.\.) ?", "", block)
            for block in re.findall(r"(?ms)^ *```py\w*\n(.*?)^ *```", path.read_text("utf-8"))
        )
        for path in pages
    } | {path: path.read_text("utf-8") for path in (root / "examples").glob("*.py")}
    inner = {str(path.relative_to(root)): inner_names(text) for path, text in texts.items()}
    shown = {name for name, names in inner.items() if names}
    assert shown <= FOR_CONTRIBUTORS, {name: inner[name] for name in shown - FOR_CONTRIBUTORS}
    assert sum("private_ensembles" in text for text in texts.values()) > 9


def test_inner_names_are_seen_however_they_are_imported():
    for code, names in (
        ("from private_ensembles.audit import audit_sampler", {"audit"}),
        ("import private_ensembles.audit as audit", {"audit"}),
        ("from private_ensembles import (\n    plan,\n    labels,\n)\nx = 1", {"labels"}),
        ("from private_ensembles import plan\nimport private_ensembles\nplan()", set()),
    ):
        assert inner_names(code) == names, code
