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
CAPTIONS = sorted([*(ROOT / "workflow/report").glob("*.rst"), *(ROOT / "studies").rglob("*.rst")])


def headings(path):
    """The anchors of a page's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def bold_beginnings(path):
    """What paragraphs begin with in bold, written like anchors."""
    found = re.findall(r"^\*\*(.*?)\.?\*\*", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-") for words in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)]*)\)", text):
        if "://" in target:
            continue
        other = page.parent / target if target else page
        assert other.exists(), target
        assert not anchor or anchor in headings(other), f"{target}#{anchor}"


@pytest.mark.parametrize("caption", CAPTIONS, ids=lambda caption: str(caption.relative_to(ROOT)))
def test_pages_that_a_caption_names_exist(caption):
    for name in re.findall(r"``(docs/[\w.-]+\.md)``", caption.read_text(encoding="utf-8")):
        assert (ROOT / name).is_file(), name


# What a file may say of a page: its name, and then a heading in quotes or the number of one.
_CITED = re.compile(
    r'((?:docs/)?(?:(?<=docs/)[\w./-]+|README)\.md)`*(?:#([\w-]+)|,?\s+"([^"]+)"|, section (\d+))?'
)


def test_pages_and_headings_that_code_cites_exist():
    folders = ("workflow", "studies", "benchmarks", "examples", "verify")
    files = [path for name in folders for path in (ROOT / name).rglob("*.py")]
    files += [ROOT / name for name in ("config.yaml", "Snakefile", "Dockerfile", "pyproject.toml")]
    files += [*(ROOT / "workflow").rglob("*.smk"), *(ROOT / "profiles").rglob("*.yaml")]
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


def test_no_file_cites_a_page_that_does_not_ship():
    ours = [ROOT / "README.md", ROOT / "config.yaml", *(ROOT / "docs").rglob("*.md")]
    for folder in ("workflow", "studies", "tests", "benchmarks", "examples", "verify"):
        ours += (ROOT / folder).rglob("*.py")
    for path in ours:
        found = re.search(r"\bDESIG[N]\b|\bSTYL[E]\.md", path.read_text(encoding="utf-8"))
        assert found is None, (path, found)


@pytest.mark.parametrize("entry", registry.ENTRIES, ids=lambda entry: entry.name)
def test_the_proof_that_a_mechanism_names_is_there(entry):
    page, _, anchor = entry.origin.proof.partition("#")
    assert not anchor or anchor in headings(ROOT / "docs" / page)
    assert (ROOT / "docs" / page).is_file()


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


# Who takes the choice of the mechanism, or of its account, from the planner, and the words by which
# it is said why: the most right labels come from the planner's own choice.
REASONS = {
    "docs/tutorial.md": "so that every case gets a label",
    "docs/from-other-accountants.md": "for its bound without votes",
    "private_ensembles/labels/noise_scale.py": "charged for the noisy counts",
}
_FORCED = re.compile(r"--mechanism[ =](?!NAME)\w+|\bmechanisms?=[\[(\"'].*|analysis=\"(?!label).*")


def proposals():
    """What anybody may copy: pages, examples, the configuration, helps and docstrings."""
    for pattern in ("*.md", "config/*.md", "studies/*.md", "docs/*.md", "examples/*.py"):
        for path in ROOT.glob(pattern):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    yield "config.yaml", (ROOT / "config.yaml").read_text(encoding="utf-8")
    for path in (ROOT / "workflow" / "private_ensembles").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        examples = re.findall(r"^ *(?:>>>|\.\.\.) .*$", text, re.MULTILINE)
        command = text if path.parent.name == "command" else ""
        yield str(path.relative_to(ROOT / "workflow")), "\n".join([*examples, command])


def test_what_is_proposed_leaves_the_mechanism_to_the_planner_or_says_why_not():
    forced = {
        name: text for name, text in proposals() if name != "CHANGELOG.md" and _FORCED.search(text)
    }
    assert forced.keys() == REASONS.keys(), {n: _FORCED.findall(t) for n, t in forced.items()}
    for name, reason in REASONS.items():
        assert forced[name].count(reason) == len(_FORCED.findall(forced[name])), (name, reason)


# What a message or a page once said, and nobody would say.
NEVER_SAID = (
    "few pass it, by their noise",
    "stated but for",
    "alike likely",
    "of ballots that may be absent the profile",
    "errors on or above the curve",
    "whoever suspects something",
    "drawn by lot, would keep it",
    "if they are as good as these",
    "as their process ended",
    "likewise; default",
    "holds whatever decided on each",
    "whose probabilities are those that the account is of",
)


def test_nobody_is_told_what_nobody_would_say():
    files = [ROOT / "config.yaml", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for folder in ("workflow", "studies", "examples"):
        files += [
            path for kind in ("py", "yaml", "smk") for path in (ROOT / folder).rglob(f"*.{kind}")
        ]
    assert len(files) > 300
    for path in files:
        text = re.sub(r"\W+", " ", path.read_text(encoding="utf-8"))
        for phrase in NEVER_SAID:
            assert re.sub(r"\W+", " ", phrase) not in text, (path, phrase)


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


def test_a_name_that_does_not_exist_is_noticed():
    with pytest.raises(AttributeError):
        find_object("accounting.trade_off.no_such")


# Pages for those who change the package, and so use its modules.
FOR_CONTRIBUTORS = {
    "docs/add-a-figure.md",
    "docs/add-a-mechanism.md",
    "docs/add-a-paper.md",
    "docs/add-a-vote-file-format.md",
}


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
    assert sum("private_ensembles" in text for text in texts.values()) > 12


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from private_ensembles.audit import audit_sampler", {"audit"}),
        ("import private_ensembles.audit as audit", {"audit"}),
        ("from private_ensembles import plan, audit", {"audit"}),
        ("from private_ensembles import (\n    plan,\n    labels,\n)\nx = 1", {"labels"}),
        ("from private_ensembles import plan\nimport private_ensembles\nplan()", set()),
    ],
)
def test_inner_names_are_seen_however_they_are_imported(code, names):
    assert inner_names(code) == names
