"""What makes the software citable says the same everywhere, and every file has a licence."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase

import pytest
import yaml

import private_ensembles

pytestmark = pytest.mark.docs

ADDRESS = re.compile(r"https://github\.com/[\w-]+/private-ensembles")


@pytest.fixture(scope="module")
def citation_facts(root):
    """What each file says: CITATION.cff, codemeta.json, .zenodo.json, pyproject.toml."""
    return {
        "cff": yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8")),
        "codemeta": json.loads((root / "codemeta.json").read_text(encoding="utf-8")),
        "zenodo": json.loads((root / ".zenodo.json").read_text(encoding="utf-8")),
        "pyproject": tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))[
            "project"
        ],
    }


def test_all_files_say_the_same(citation_facts, root):
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    cff, codemeta, zenodo, project = citation_facts.values()
    assert {cff["version"], codemeta["version"], zenodo["version"]} == {
        private_ensembles.__version__
    }
    # The newest heading of the changelog has the version and the day, too.
    released = re.search(r"^## (\S+) - (\S+)$", changelog, re.MULTILINE)
    days = {str(cff["date-released"]), codemeta["datePublished"], zenodo["publication_date"]}
    assert released.groups() == (private_ensembles.__version__, *days)
    assert {cff["license"], zenodo["license"], project["license"]} == {"MIT"}
    assert codemeta["license"].endswith("/MIT")
    assert cff["title"] == codemeta["name"] == zenodo["title"]
    assert cff["abstract"].strip() == codemeta["description"] == zenodo["description"]
    assert cff["keywords"] == codemeta["keywords"] == zenodo["keywords"] == project["keywords"]
    names = [cff["authors"][0]["name"], codemeta["author"][0]["name"]]
    names += [zenodo["creators"][0]["name"], project["authors"][0]["name"]]
    assert set(names) == {"the private-ensembles authors"}
    needed = [re.match(r"\w+", name)[0] for name in project["dependencies"]]
    assert codemeta["softwareRequirements"] == needed


def test_one_address_is_named_everywhere(citation_facts, root, tracked_text):
    assert citation_facts["cff"]["repository-code"] == private_ensembles.REPOSITORY
    assert citation_facts["codemeta"]["codeRepository"] == private_ensembles.REPOSITORY
    for name, text in tracked_text.items():
        if not name.startswith("tests/") and name != ".ci/publish_at":
            assert set(ADDRESS.findall(text)) <= {private_ensembles.REPOSITORY}, name


def test_tags_in_docs_are_of_this_version(root):
    text = (root / "docs" / "import.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\bv(\d+\.\d+\.\d+)\b", text)) == {private_ensembles.__version__}


def test_one_command_says_where_the_repository_is(root, tmp_path, tracked_text):
    new = "https://example.org/somebody/private-ensembles"
    for name, text in tracked_text.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copy(root / ".ci" / "publish_at", tmp_path / ".ci" / "publish_at")
    git = ["git", "-C", str(tmp_path)]
    for command in (["init", "-q"], ["add", "-f", "."]):
        subprocess.run([*git, *command], check=True)
    command = [sys.executable, str(tmp_path / ".ci" / "publish_at")]
    done = subprocess.run([*command, new], capture_output=True, text=True, check=True)
    changed = done.stdout.split()
    assert {"README.md", "pyproject.toml", "CITATION.cff", "docs/import.md"} <= set(changed)
    for name in changed:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert private_ensembles.REPOSITORY not in text
        assert new in text or '"somebody/private-ensembles"' in text
    wrong = subprocess.run([*command, "here"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert wrong.stdout.startswith("error: ADDRESS: must be")


def test_papers_cite_what_their_bibliography_has(root):
    entries = re.findall(
        r"^@\w+\{(\w+),", (root / "paper/paper.bib").read_text("utf-8"), re.MULTILINE
    )
    cited = set()
    for name in ("paper", "replication"):
        text = (root / "paper" / f"{name}.md").read_text(encoding="utf-8")
        cited |= set(
            re.findall(r"@(\w+\d{4}|autodp|dpaccounting|opendp|diffprivlib|opacus)\b", text)
        )
    assert cited == set(entries)


@pytest.fixture(scope="module")
def tracked_text(root):
    """The text of every file that is tracked here, by its name, without links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    )
    found = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = root / name
        if path.is_file() and not path.is_symlink() and path.suffix not in (".png", ".pdf", ".csv"):
            try:
                found[name] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return found


def test_every_tracked_file_is_of_a_class_with_a_licence(root):
    done = subprocess.run(
        ["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("no repository of git")
    first = (root / "ATTRIBUTION.md").read_text(encoding="utf-8").split("\n\n")[1]
    cells = [line.split("|")[1] for line in first.splitlines()[2:]]
    patterns = [pattern for cell in cells for pattern in re.findall(r"`([^`]+)`", cell)]

    def fits(path, pattern):
        # A star stands for a name, not for folders.
        same_depth = path.count("/") == pattern.count("/")
        return (pattern.endswith("/") and path.startswith(pattern)) or (
            same_depth and fnmatchcase(path, pattern)
        )

    files = done.stdout.splitlines()
    assert [path for path in files if not any(fits(path, one) for one in patterns)] == []
    # And the table names nothing that is no longer there, but for the commands in its words.
    unused = {one for one in patterns if not any(fits(path, one) for path in files)}
    assert unused == {"publish_docs"}
