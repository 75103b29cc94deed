"""The page: self-contained, escaped, printed numbers beside ours, what it says of the run."""

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
import yaml
from markupsafe import escape

from private_ensembles.papers.compare.comparison import compare, compare_relations
from private_ensembles.papers.compare.printed import FOLDER, read_published
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.papers.darrm.tables import privacy_loss
from private_ensembles.report import html, index, run_facts

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
VOID = {"meta", "img", "br", "link", "input"}


class Outline(HTMLParser):
    """Collects tags, addresses and text; fails on tags that do not close in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.addresses, self.ids, self.files = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        self.addresses += [attrs[name] for name in ("href", "src") if name in attrs]
        self.files += [attrs["data-href"]] if "data-href" in attrs else []
        self.ids += [attrs["id"]] if "id" in attrs else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    for folder in ("tables", "figures", "privacy"):
        (root / "darrm" / folder).mkdir(parents=True)
    loss = privacy_loss(
        [
            {"name": "mnist", "stand_in": False, "epsilon": 0.0892, "Delta": 1e-4},
            {"name": "digits", "stand_in": True, "epsilon": 0.5, "Delta": 1e-4},
        ],
        K=11,
        m=3,
        queries=[20, 50, 100],
        delta_prime=1e-4,
    )
    loss.to_csv(root / "darrm/tables/table2.csv", index=False)
    (root / "darrm/figures/figure2.png").write_bytes(PNG)
    teachers = {"dataset": "<b>&evil", "stand_in": 1, "quantity": "steps", "value": 160}
    pd.DataFrame([teachers]).to_csv(root / "darrm/privacy/teachers.csv", index=False)
    printed = read_published(FOLDER.glob("*.csv"))
    given = printed, {"darrm": {"table2": loss}}
    parts = [judge(*given, data="embedded") for judge in (compare, compare_relations)]
    fidelity = pd.concat(parts, ignore_index=True)
    fidelity.to_csv(root / "fidelity.csv", index=False)
    return index.build(
        fidelity=root / "fidelity.csv",
        tables=[root / "darrm/tables/table2.csv", root / "darrm/privacy/teachers.csv"],
        figures=[root / "darrm/figures/figure2.png"],
        data="embedded",
    )


@pytest.fixture(scope="module")
def outline(page):
    outline = Outline()
    outline.feed(page)
    assert not outline.open
    return outline


def test_page_needs_no_network(outline):
    for address in outline.addresses:
        assert not address.startswith(("http", "//"))
    for tag, attrs in outline.tags:
        assert tag != "script" or "src" not in attrs
        assert tag != "link" or attrs["href"].startswith("data:")
    policy = next(attrs["content"] for _, attrs in outline.tags if "http-equiv" in attrs)
    assert "default-src 'none'" in policy
    assert "unsafe-inline'; script" in policy  # styles alone: scripts are known by their hash


def test_links_are_quoted_and_anchors_exist(outline):
    anchors = [address[1:] for address in outline.addresses if address.startswith("#")]
    assert anchors
    assert set(anchors) <= set(outline.ids)
    assert "darrm/figures/figure2.pdf" in outline.files
    # Without the script nothing leads out of the page: mailed alone, it has no dead link.
    assert all(address.startswith(("#", "data:")) for address in outline.addresses)


def test_figures_are_inlined_and_described(outline):
    images = [attrs for tag, attrs in outline.tags if tag == "img"]
    assert len(images) == 1
    assert images[0]["src"] == "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert len(images[0]["alt"]) > 40


def test_text_from_files_is_escaped(page):
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;evil" in page


def test_stand_ins_are_marked_where_they_stand(page):
    assert 'digits <span class="standin">stand-in</span>' in page
    assert 'MNIST <span class="standin">' not in page


def test_printed_numbers_stand_beside_ours(page):
    assert "printed ε total" in page
    # Ours and the paper's, in the table and once more in the list of all comparisons.
    assert page.count(">15.044<") == 3
    assert '<td class="number match" data-sort="15.044">15.044 <span class="status match"' in page


def test_statuses_are_explained_and_counted(page):
    assert all(escape(status.meaning) in page for status in STATUSES.values())
    total = len(read_published(FOLDER.glob("darrm_*.csv")))
    # Statements need no run: 54 of 60 match and 6 are explained; so is a claim in words.
    match, explained, inputs = 6 + 54, 1 + 6, 2
    others = total - match - explained - inputs
    assert re.search(rf'class="status match">[^/]*</span> {match} match</span>', page)
    assert re.search(rf'class="status input">[^/]*</span> {inputs} input</span>', page)
    assert re.search(rf'class="status not_run">[^/]*</span> {others} not run</span>', page)
    words = f"69 of {total} printed numbers were compared: 60 match, 7 are explained and 2 repeat "
    words += "a parameter."
    assert words in page


def test_what_was_not_judged_is_told_with_its_command(page):
    chapter = page.partition('<details class="rows" id="unjudged"')[2].partition("</details>")[0]
    why = "needs the images of mnist: run with --config data=paper"
    command = "<code>snakemake --cores all --config data=paper</code>"
    assert re.search(rf"\d+ not run</span>: {why}\. {command}</li>", chapter)
    assert "Heart Failure is private data" in chapter


def test_relations_stand_in_a_table_of_their_own_and_are_counted_apart(page):
    """The numbers' table, their statuses and what a run covers are those of numbers alone."""
    printed = read_published(FOLDER.glob("*.csv"))
    relations = compare_relations(printed, {}, data="embedded")
    assert len(relations) > 30
    folds = re.findall(r"<summary>All (\d+) ([^<]*)</summary>", page)
    assert folds == [
        (str(len(printed)), "printed numbers beside ours"),
        (str(len(relations)), "relations between printed numbers, and between ours"),
    ]
    assert f"of {len(printed)} printed numbers" in page
    mine = (relations["paper"] == "dpbag").sum()
    assert f"of {mine} relations between them were judged: " in page
    assert "relation</td>" not in page


def test_only_items_that_were_made_are_shown(page):
    assert "Table 2 (m = 3): all 6 rows" in page
    assert "Table 9 (" not in page


def test_the_ledger_is_on_the_page_with_its_verdicts_coloured_and_counted(tmp_path, root):
    ledger = root / "docs" / "privacy_ledger.csv"
    (tmp_path / "privacy_ledger.csv").write_bytes(ledger.read_bytes())
    (tmp_path / "audit" / "figures").mkdir(parents=True)
    (tmp_path / "audit" / "figures" / "claimed_exact.png").write_bytes(PNG)
    (tmp_path / "fidelity.csv").write_text(
        "paper,item,dataset,row,column,published,status,note,kind\n"
    )
    page = index.build(
        fidelity=tmp_path / "fidelity.csv",
        tables=[],
        figures=[tmp_path / "audit" / "figures" / "claimed_exact.png"],
        data="embedded",
        ledger=[tmp_path / "privacy_ledger.csv"],
    )
    outline = Outline()
    outline.feed(page)
    assert {"ledger", "audit-claimed_exact"} <= set(outline.ids)
    table = pd.read_csv(ledger)
    for verdict, status in html.VERDICTS.items():
        rows = int((table["verdict"] == verdict).sum())
        cell = f'<td class="{status}" data-sort="{verdict}">'
        assert page.count(cell) == rows > 0
        assert f"{rows} {verdict}</span>" in page
    assert 'data-href="privacy_ledger.csv"' in page
    assert page.index('<div class="chart">') < page.index("What this run shows")


def test_what_is_not_as_in_the_configuration_of_the_workflow_is_a_row(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    assert run_facts.facts(root / "nowhere", config).changed == ""
    changed = run_facts.facts(root / "nowhere", config | {"seed": "<7>", "more": None}).changed
    for words in ("&lt;7&gt;", "(absent)", "null"):
        assert words in changed


def test_origins_count_the_results_of_each_revision(tmp_path):
    for number, revision in enumerate(("abc", "abc", "def")):
        path = tmp_path / "provenance" / "darrm" / f"{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"revision": revision, "versions": {"numpy": "2"}, "processor": "EPYC"}
        path.write_text(json.dumps(record | {"instruction_sets": {"NumPy": "X86_V3"}}))
    (tmp_path / "provenance" / "broken.json").write_text("{")
    found = run_facts.origins(tmp_path)
    everywhere = {"processor": "EPYC", "numpy": "2", "NumPy, instructions": "X86_V3"}
    counted = {name: {value: 3} for name, value in everywhere.items()}
    assert found == {"revision": {"abc": 2, "def": 1}, **counted}
    facts = run_facts.facts(tmp_path, None)
    assert facts.origins == {"revision": "abc (2 results), def (1 results)", **everywhere}


def test_a_page_in_docs_names_the_revisions_of_its_tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = {"a": "1f", "b": "1f", "c": "0e", "d": None}
    for name, revision in made.items():
        record = Path(f"results/provenance/darrm/{name}.csv.json")
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps({"revision": revision}))
    tables = {name: f"results/darrm/{name}.csv" for name in (*made, "unrecorded")}
    assert run_facts.list_revisions([tables["a"], tables["b"], tables["unrecorded"]]) == "1f"
    assert run_facts.list_revisions(tables.values()) == "0e and 1f"
    assert run_facts.list_revisions([tables["d"]]) == ""


def test_times_are_summed_by_rule_and_memory_is_the_log_s(tmp_path):
    folder = tmp_path / "results" / "benchmarks" / "some_rule"
    folder.mkdir(parents=True)
    for name, seconds, memory in (("a", "1.5", "100.2"), ("b", "2.0", "-"), ("c", "NA", "NA")):
        (folder / f"{name}.tsv").write_text(f"s\tmax_rss\n{seconds}\t{memory}\n")
    log = tmp_path / "logs" / "some_rule" / "a.log"
    log.parent.mkdir(parents=True)
    log.write_text("x INFO some_rule finished, peak memory 321 MiB\n")
    (row,) = run_facts.timings(tmp_path / "results").to_dict("records")
    assert row == {
        "rule": "some_rule",
        "jobs": 3,
        "seconds": 3.5,
        "longest": 2.0,
        "peak_mib": 321,
    }


def test_a_folder_without_records_and_benchmarks_has_nothing_to_tell(tmp_path):
    assert run_facts.origins(tmp_path) == {}
    assert run_facts.timings(tmp_path).empty
    facts = run_facts.facts(tmp_path, None)
    assert (facts.changed, facts.origins, facts.jobs) == (None, {}, 0)
