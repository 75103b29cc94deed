"""Every table and figure of the four papers has a line that says what became of it."""

import re

import pandas as pd
import pytest
import yaml

from private_ensembles.papers.compare.comparison import NUMBER, select_kind
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.run import targets
from private_ensembles.run.check import check

# Tables and figures as the papers number them (DPBag: its supplement).
PRINTED = {"darrm": (10, 10), "pate": (2, 5), "dpbag": (8, 0), "nzc": (2, 2)}
WORDS = ("reproduced", "illustrated", "bounded", "not reproduced")


@pytest.fixture(scope="module")
def sections(root):
    """The sections of docs/findings.md, by heading."""
    _, *found = (root / "docs" / "findings.md").read_text(encoding="utf-8").split("\n## ")
    return dict(section.split("\n", 1) for section in found)


def numbers_in(words):
    """The numbers of "1 to 3" or of "2, 6 to 8"."""
    for part in words.split(", "):
        first, _, last = part.partition(" to ")
        yield from range(int(first), int(last or first) + 1)


@pytest.fixture(scope="module")
def lines(sections):
    """A row for each table and figure: what is linked, or else its own file in the paper's folder.

    Rows of the page hold several: "Tables 5 to 8", "Figures 2, 6 to 10".
    """
    text = sections["Every table and figure of the four papers"]
    cells = [re.split(r"\s*\|\s*", line.strip("| ")) for line in text.splitlines() if "|" in line]
    rows = []
    for paper, items, *here, status in cells[2:]:
        kind, words = re.fullmatch(r"(Table|Figure)s? (.*)", items).groups()
        (linked,) = re.findall(r"\]\(([^)]+)\)", " ".join(here)) or [""]
        for number in numbers_in(words):
            own = f"{paper}/{kind.lower()}{number}.{'png' if kind == 'Figure' else 'csv'}"
            file = own if linked == f"{paper}/README.md" else linked
            rows.append((paper, f"{kind} {number}", file, status))
    return pd.DataFrame(rows, columns=["paper", "item", "here", "status"])


@pytest.fixture(scope="module")
def result_items(root):
    """Files in docs of a run on the papers' data."""
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    config["data"] = "paper"
    found = targets.published_files(check(config))
    return {path.split("/", 1)[1] for paths in found.values() for path in paths}


def test_what_became_of_every_table_and_figure_is_said_once(lines):
    wanted = [
        (paper, f"{kind} {number}")
        for paper, counts in PRINTED.items()
        for kind, count in zip(("Table", "Figure"), counts, strict=True)
        for number in range(1, count + 1)
    ]
    assert sorted(zip(lines["paper"], lines["item"], strict=True)) == sorted(wanted)


def test_what_is_reproduced_is_published_and_made_by_a_run(lines, root, result_items):
    for row in lines.to_dict("records"):
        word = row["status"].split(":")[0]
        assert word in WORDS
        assert bool(row["here"]) == (word != "not reproduced"), row
        assert word == "reproduced" or ":" in row["status"]  # the reason
        if row["here"]:
            assert (root / "docs" / row["here"]).is_file(), row
            paper, name = row["here"].split("/")
            kind = "figures" if name.endswith(".png") else "tables"
            assert f"{paper}/{kind}/{name}" in result_items, row


def test_nothing_that_a_run_makes_of_a_paper_is_called_not_reproduced(lines, result_items):
    """A table or figure of a paper's number that a run makes stands beside that number."""
    for row in lines.to_dict("records"):
        kind, number = row["item"].split()
        name = f"{kind.lower()}{number}.{'png' if kind == 'Figure' else 'csv'}"
        made = f"{row['paper']}/{kind.lower()}s/{name}" in result_items
        assert made == (row["here"] == f"{row['paper']}/{name}"), name


def test_statuses_are_those_of_the_comparison(lines, root):
    compared = select_kind(pd.read_csv(root / "docs" / "fidelity.csv"), NUMBER)
    for row in lines[lines["item"].str.startswith("Table")].to_dict("records"):
        item = row["item"].lower().replace(" ", "")
        mine = compared[(compared["paper"] == row["paper"]) & (compared["item"] == item)]
        found, word = set(mine["status"]), row["status"].split(":")[0]
        if word == "not reproduced":
            assert found == {"not_run"}
        elif word == "bounded":
            assert found == {"bounded", "explained"}
        else:
            assert len(mine) > 0
            assert (found == {"not_run"}) is False
            # What could not be run is named beside the word.
            assert ("not_run" in found) <= (":" in row["status"])
            assert ("bounded" in found) == ("bounded" in row["status"])


def test_a_figure_on_other_data_or_votes_illustrates_and_reproduces_nothing(lines):
    figures = lines[lines["item"].str.startswith("Figure")]
    elsewhere = figures["status"].str.contains("synthetic|in the place of")
    assert elsewhere.sum() == 3
    assert (figures["status"].str.split(":").str[0] == "illustrated").equals(elsewhere)


def test_every_theorem_names_a_test_that_exists(root, sections):
    text = sections["Theorems and lemmas"]
    named = re.findall(r"^\| (?:darrm|pate|dpbag|nzc) \| .* \| `(\S+)::(\w+)` \|$", text, re.M)
    assert named
    for path, test in named:
        assert f"def {test}(" in (root / "tests" / path).read_text(encoding="utf-8"), test


def test_signs_differ():
    assert len({status.sign for status in STATUSES.values()}) == len(STATUSES)


@pytest.mark.parametrize("name", STATUSES)
def test_the_page_and_the_documentation_know_every_status(name, root):
    css = (root / "workflow" / "report" / "page.css").read_text(encoding="utf-8")
    assert all(f"{place}{name} " in css or f"{place}{name}," in css for place in (".bar .", "td."))
    documented = (root / "docs" / "reproduce.md").read_text(encoding="utf-8")
    (meaning,) = re.findall(rf"^\| `{name}` \| (.*) \|$", documented, re.MULTILINE)
    assert re.sub(r"\[(.*?)\]\(.*?\)", r"\1", meaning).startswith(STATUSES[name].meaning)
