"""The page of results: one self-contained HTML file that opens without a network.

A new item of a paper goes into `page.yaml` in its folder, with a caption and perhaps a function in
its findings; nothing here needs to change. How the page is laid out, and what it says beside these,
is in ``templates/index.html``. What differs between two runs by its nature is in the last section
only, between the marks `varies` of that template.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from private_ensembles.papers.compare.comparison import NUMBER, RELATION, select_kind
from private_ensembles.report import (
    chapters,
    overview,
    printed_numbers,
    run_facts,
    unjudged,
    verdict,
)
from private_ensembles.report.charts import spent_chart
from private_ensembles.report.findings import read_findings, select_paper_findings
from private_ensembles.report.html import VERDICTS, read_caption
from private_ensembles.report.page import ASSETS, page
from private_ensembles.report.sections import Section, read_sections, short_title

_AUDIT = Section("audit", "Audit: claimed, proven and exact privacy of every mechanism", [])


def build(
    *,
    fidelity: Path | str,
    tables: Iterable[Path | str],
    figures: Iterable[Path | str],
    data: str,
    ledger: Iterable[Path | str] = (),
    config: Mapping | None = None,
) -> str:
    """Return the page as HTML.

    A file's stem names its item, and its folder below that of `fidelity` its paper. Items that
    sections.yaml does not name are left out, and so are sections without files.

    Args:
        fidelity, tables: CSV files.
        figures: PNG files.
        data: The configuration's switch.
        ledger: The privacy ledger (CSV), if there is one.
        config: The run's configuration, to say what is not the default.

    Raises:
        OSError: A file or a caption is missing.
    """
    root = Path(fidelity).parent
    rows = pd.read_csv(fidelity, dtype=str, keep_default_na=False)
    compared, relations = select_kind(rows, NUMBER), select_kind(rows, RELATION)
    paths = map(Path, [*tables, *figures])
    files = {(path.relative_to(root).parts[0], path.name): path for path in paths}
    results = chapters.Results(root, files, compared, config)
    ledgers = list(map(Path, ledger))
    sections = read_sections(ASSETS)
    if ledgers and _AUDIT.paper not in {section.paper for section in sections}:
        sections.append(_AUDIT)
    titles = {section.paper: section.title for section in sections}
    made = [(section, chapters.items(section, results)) for section in sections]
    made = [
        (section, items)
        for section, items in made
        if items or (ledgers and section.paper == _AUDIT.paper)
    ]
    rail = {section.paper: section.name() for section, _ in made}
    rail = {"findings": "Findings"} | rail | {"all": "All numbers", "run": "This run"}
    findings = read_findings(root)
    covered = [paper for paper in compared["paper"].unique() if paper in rail]
    squares = overview.overview(rows, titles)
    return page(
        "index.html",
        "Private ensembles: results",
        rail=rail,
        home=root.name,
        root=root,
        data=data,
        headline=verdict.headline(findings, len(covered)) if covered else "",
        coverage=verdict.coverage(compared) if covered else None,
        squares=squares,
        places=overview.PLACES,
        square_statuses=overview.statuses_of(squares),
        cards=verdict.cards(compared, titles, rail, findings, relations),
        charts=[spent_chart(pd.read_csv(path)) for path in ledgers],
        findings={
            short_title(paper, titles): select_paper_findings(findings, paper)
            for paper in dict.fromkeys(finding.paper for finding in findings)
        },
        chapters=[
            (section, items, chapters.counts(compared, section.paper)) for section, items in made
        ],
        ledgers=[chapters.ledger(path) for path in ledgers],
        unjudged=unjudged.list_reasons(rows, titles, config),
        verdicts=VERDICTS,
        fidelity=Path(fidelity),
        about_numbers=read_caption(ASSETS / "fidelity.rst"),
        printed=printed_numbers.printed_tables(compared, titles),
        every=[
            (
                title,
                len(rows),
                printed_numbers.list_numbers(
                    printed_numbers.sort_in_paper_order(rows), f"All {title}"
                ),
            )
            for title, rows in (
                ("printed numbers beside ours", compared),
                ("relations between printed numbers, and between ours", relations),
            )
            if len(rows)
        ],
        run=run_facts.facts(root, config),
    )
