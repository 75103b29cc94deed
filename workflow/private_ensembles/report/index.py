"""The page of results: one self-contained HTML file that opens without a network.

A later part of the project adds its items to ``workflow/report/sections.yaml``, a caption and
perhaps findings beside it; nothing here needs to change. All text from files is escaped. What
differs between two runs by its nature stands in the last section alone, between the marks
`run_facts.VARIES`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.published.statuses import STATUSES
from private_ensembles.report import run_facts, verdict
from private_ensembles.report.beside import beside_printed
from private_ensembles.report.findings import Finding, read_findings
from private_ensembles.report.html import (
    VERDICTS,
    caption_html,
    figure_html,
    file_link,
    format_number,
    html_table,
    status_html,
)
from private_ensembles.report.page import ASSETS, page
from private_ensembles.report.sections import Item, Section, read_sections

_DATA = {
    "embedded": "Run without downloads (<code>data: embedded</code>): accuracies come from "
    "scikit-learn's digits, a <strong>stand-in</strong> that is never compared with the paper. "
    "What needs no data runs at the paper's full scale.",
    "paper": "Run on the paper's data (<code>data: paper</code>).",
}
_MEANINGS = "docs/privacy.md"


@dataclass(frozen=True)
class Results:
    """What the page shows. root: its folder. files: of an item, by paper and stem of the name.

    config: of the run, if it is known.
    """

    root: Path
    files: Mapping[tuple[str, str], Path]
    compared: pd.DataFrame
    captions: Path
    config: Mapping | None


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
    caption, ValueError for findings that cannot be read.
    """
    captions = Path(captions)
    root = Path(fidelity).parent
    compared = pd.read_csv(fidelity, dtype=str, keep_default_na=False)
    paths = map(Path, [*tables, *figures, *teachers])
    files = {(path.relative_to(root).parts[0], path.stem): path for path in paths}
    results = Results(root, files, compared, captions, config)
    findings = read_findings(captions / "findings.yaml", root)
    sections = read_sections(captions)
    body, contents = [], []
    for section in sections:
        parts, links = _section(section, results)
        body += parts
        contents += links
    for path in map(Path, ledger):
        body.append(_ledger(path, results))
        contents.append(_content("ledger", "Privacy ledger"))
    contents += [
        _content("all", "All comparisons"),
        _content("run", "This run: configuration, versions, times"),
    ]
    shown = {paper for paper, _ in files}
    titles = {section.paper: section.title for section in sections}
    return page(
        [
            "<h1>What K teachers’ votes may release, at what privacy cost, and how often the label "
            "is right</h1>",
            f'<p class="lead">{_DATA.get(data, escape(data))}</p>',
            '<section id="fidelity" aria-label="Verdict">',
            verdict.cards(compared, titles, shown),
            "</section>",
            _shown_by_the_run(findings, titles, root),
            f'<nav aria-label="Contents"><h2>Contents</h2><ul>{"".join(contents)}</ul></nav>',
            '<h2 id="reading">How to read this page</h2>',
            caption_html(captions / "fidelity.rst"),
            verdict.legend(),
            f'<p class="note">What a privacy model, an adjacency, a verdict and a mark of release '
            f"mean: {verdict.docs_link(_MEANINGS, root)}.</p>",
            "<p>Click a heading of a table to sort by it.</p>",
            *body,
            '<h2 id="all">All comparisons</h2>',
            f"<details><summary>{len(compared)} printed numbers "
            f"({file_link(Path(fidelity), root)})</summary>",
            html_table(compared, "All printed numbers beside ours", filterable=True),
            "</details>",
            run_facts.section_html(root, config),
        ],
        captions,
    )


def _shown_by_the_run(findings: list[Finding], titles: Mapping[str, str], root: Path) -> str:
    parts = ['<h2 id="findings">What this run shows</h2>']
    for paper in dict.fromkeys(finding.paper for finding in findings):
        name = titles.get(paper, paper).partition(":")[0]
        parts += [f"<h3>{escape(name)}</h3>", verdict.findings_html(findings, paper, root)]
    return "\n".join(parts) if findings else ""


def _content(anchor: str, title: str) -> str:
    return f'<li><a href="#{anchor}">{escape(title)}</a></li>'


def _section(section: Section, results: Results) -> tuple[list[str], list[str]]:
    """Return a paper's part of the page and its lines of the contents; nothing without files."""
    present = [item for item in section.items if (section.paper, item.name) in results.files]
    if not present:
        return [], []
    body = [f'<h2 id="{escape(section.paper)}">{escape(section.title)}</h2>']
    mine = results.compared[results.compared["paper"] == section.paper]
    if len(mine):
        body.append(_by_item(mine, section))
    contents: list[str] = []
    captioned: dict[str, tuple[str, str]] = {}
    for item in present:
        path, title = results.files[section.paper, item.name], item.title
        anchor = escape(f"{section.paper}-{item.name}")
        if path.suffix == ".png":
            pdf = path.with_suffix(".pdf")
            links = f"{file_link(path, results.root)}, {file_link(pdf, results.root)}"
            content = figure_html(path, item.title, item.alt, links)
        else:
            table = pd.read_csv(path)
            if "m" in table and table["m"].nunique() == 1:
                title += f" (m = {format_number(float(table['m'].iloc[0]))})"
            printed = mine[mine["item"] == item.name]
            settings = (results.config or {}).get(section.paper)
            beside = beside_printed(item.name, table, printed, section.paper, settings)
            link = f'<p class="caption">{file_link(path, results.root)}</p>'
            content = html_table(beside, title) + _reasons(table) + link
        contents.append(_content(anchor, title))
        body += [
            f'<section id="{anchor}">',
            f"<h3>{escape(title)}</h3>",
            _caption(item, anchor, title, captioned, results.captions),
            content,
            "</section>",
        ]
    return body, contents


def _caption(item: Item, anchor: str, title: str, seen: dict, folder: Path) -> str:
    """Return the item's caption, or a link to the item of this section that has the same one."""
    if item.caption in seen:
        first, name = seen[item.caption]
        return f'<p class="caption">As for <a href="#{first}">{escape(name)}</a>.</p>'
    seen[item.caption] = anchor, title.partition(":")[0]
    return caption_html(folder / f"{item.caption}.rst")


def _by_item(compared: pd.DataFrame, section: Section) -> str:
    """Count statuses per table and figure of one paper."""
    table = compared.groupby("item", sort=False)["status"].value_counts().unstack()
    table = table.reindex(columns=[s for s in STATUSES if s in table]).fillna(0).astype(int)
    return (
        "<details><summary>Printed numbers by table and figure</summary>"
        + html_table(table.reset_index(), f"Statuses of {section.title}")
        + "</details>"
    )


def _reasons(table: pd.DataFrame) -> str:
    """List why the tightest totals hold, each reason once with the queries that it is for."""
    if "tightest_reason" not in table:
        return ""
    lines = []
    for reason, group in table.groupby("tightest_reason", sort=False):
        queries = ", ".join(map(str, sorted(group["queries"].unique())))
        lines.append(f"<li>Q = {escape(queries)}: {escape(str(reason))}</li>")
    return f'<div class="caption">Why <em>tightest</em> holds:<ul>{"".join(lines)}</ul></div>'


def _ledger(path: Path, results: Results) -> str:
    table = pd.read_csv(path)
    # What it comes to stands where it is seen without scrolling.
    first = ["mechanism", "setting", "verdict", "release"]
    table = table[[*first, *(name for name in table if name not in first)]]
    counts = table["verdict"].value_counts()
    found = (status_html(VERDICTS[v], int(counts.get(v, 0)), v) for v in VERDICTS)
    return "\n".join(
        [
            '<section id="ledger"><h2>Privacy ledger: claimed, proven, exact</h2>',
            f"<p>{len(table)} claims: {', '.join(found)}.</p>",
            caption_html(results.captions / "ledger.rst"),
            html_table(table, "Privacy ledger", filterable=True),
            f'<p class="caption">{file_link(path, results.root)}</p></section>',
        ]
    )
