"""The page of results: one self-contained HTML file that opens without a network.

A later part of the project adds its items to ``workflow/report/sections.yaml`` and a caption, and
perhaps a function to `findings`; nothing here needs to change. All text from files is escaped. What
differs between two runs by its nature is in the last section only, between the marks
`run_facts.VARIES`.
"""

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.page import chapters, headline, run_facts, verdict
from private_ensembles.page.findings import Finding, read_findings
from private_ensembles.page.html import file_name, folded_caption, html_table
from private_ensembles.page.page import ASSETS, page
from private_ensembles.page.sections import Section, read_sections
from private_ensembles.page.spent_chart import spent_chart
from private_ensembles.published.comparison import NUMBER, RELATION, of_kind

_DATA = {
    "embedded": "Run without downloads (<code>data: embedded</code>): accuracies come from "
    "scikit-learn's digits, a <strong>stand-in</strong> that is never compared with the paper. "
    "What needs no data runs at the paper's full scale.",
    "paper": "Run on the papers' own data (<code>data: paper</code>).",
}
_ALL = "snakemake --cores all --config data=paper"
_MEANINGS = "docs/privacy.md"
_AUDIT = Section("audit", "Audit: claimed, proven and exact privacy of every mechanism", [])


def build(
    *,
    fidelity: Path | str,
    tables: Iterable[Path | str],
    figures: Iterable[Path | str],
    teachers: Iterable[Path | str],
    data: str,
    ledger: Iterable[Path | str] = (),
    config: Mapping | None = None,
    captions: Path | str = ASSETS,
) -> str:
    """Return the page as HTML.

    fidelity, tables, teachers: CSV files; figures: PNG files; an item's stem names it, its parent
    folders its paper. Items that sections.yaml does not name are left out, sections without files
    as well. data: the configuration's switch. ledger: the privacy ledger (CSV), if there is one.
    config: of the run, to say what is not the default. Raises OSError for a missing file or
    caption.
    """
    captions = Path(captions)
    root = Path(fidelity).parent
    rows = pd.read_csv(fidelity, dtype=str, keep_default_na=False)
    compared, relations = of_kind(rows, NUMBER), of_kind(rows, RELATION)
    paths = map(Path, [*tables, *figures, *teachers])
    files = {(path.relative_to(root).parts[0], path.name): path for path in paths}
    results = chapters.Results(root, files, compared, captions, config)
    findings = read_findings(root)
    sections = read_sections(captions)
    ledgers = list(map(Path, ledger))
    if ledgers and _AUDIT.paper not in {section.paper for section in sections}:
        sections.append(_AUDIT)
    rail = {"findings": "Findings"}
    body = []
    for section in sections:
        parts = chapters.items(section, results)
        if section.paper == _AUDIT.paper:
            parts += [chapters.ledger(path, results) for path in ledgers]
        if parts:
            chips = chapters.counts(compared, section.paper)
            body.append(chapters.chapter(section.paper, section.title, parts, chips))
            rail[section.paper] = section.name()
    rail |= {"all": "All numbers", "run": "This run"}
    titles = {section.paper: section.title for section in sections}
    return page(
        [
            "<h1>What K teachers’ votes may release, at what privacy cost, and how often the label "
            "is right</h1>",
            _first_screen(results, relations, findings, titles, set(rail), data, ledgers),
            _shown_by_the_run(findings, titles, root),
            *body,
            _all_numbers(results, relations, Path(fidelity)),
            chapters.chapter("run", "This run", [run_facts.section_html(root, config)]),
        ],
        captions,
        rail=rail,
        home=root.name,
    )


def _first_screen(
    results: chapters.Results,
    relations: pd.DataFrame,
    findings: list[Finding],
    titles: Mapping[str, str],
    shown: set[str],
    data: str,
    ledgers: list[Path],
) -> str:
    papers = [paper for paper in results.compared["paper"].unique() if paper in shown]
    parts = [
        '<section id="fidelity" aria-label="Verdict">',
        f'<p class="headline">{headline.sentence(findings, len(papers))}</p>' if papers else "",
        f'<p class="lead">{_DATA.get(data, escape(data))}</p>',
        verdict.coverage(results.compared, _ALL if data != "paper" else "") if papers else "",
        verdict.cards(results.compared, titles, shown, findings, relations),
    ]
    parts += [spent_chart(pd.read_csv(path)) for path in ledgers]
    return "\n".join([*parts, "</section>"])


def _shown_by_the_run(findings: list[Finding], titles: Mapping[str, str], root: Path) -> str:
    parts = ['<div class="columns">']
    for paper in dict.fromkeys(finding.paper for finding in findings):
        name = titles.get(paper, paper).partition(":")[0]
        parts.append(
            f"<section><h3>{escape(name)}</h3>"
            f"{verdict.findings_html(findings, paper, root)}</section>"
        )
    if not findings:
        parts = ["<div><p>This run did not make the tables from which the findings are read.</p>"]
    return chapters.chapter("findings", "What this run shows", [*parts, "</div>"])


def _all_numbers(results: chapters.Results, relations: pd.DataFrame, fidelity: Path) -> str:
    root = results.root
    folds = [
        f'<details class="rows"><summary>All {len(rows)} {what}</summary>'
        f"{html_table(rows.drop(columns='kind', errors='ignore'), f'All {what}', filterable=True)}"
        f'<p class="source">{file_name(fidelity, root)}</p></details>'
        for rows, what in (
            (results.compared, "printed numbers beside ours"),
            (relations, "relations between printed numbers, and between ours"),
        )
        if len(rows)
    ]
    return chapters.chapter(
        "all",
        "All printed numbers",
        [
            folded_caption(results.captions / "fidelity.rst"),
            verdict.legend(),
            '<p class="note">What a privacy model, an adjacency, a verdict and a mark of release '
            f"mean: {verdict.docs_link(_MEANINGS, root)}. Click a heading of a table to sort by it."
            "</p>",
            *folds,
        ],
    )
