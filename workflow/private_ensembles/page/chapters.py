"""A paper's chapter of the page: it folds, and has something to look at before long tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.page.beside import beside_printed, note_on_stars
from private_ensembles.page.cells import VERDICTS, format_number, status_html
from private_ensembles.page.html import figure_html, file_name, folded_caption, html_table
from private_ensembles.page.sections import Item, Section
from private_ensembles.page.views import VIEWS
from private_ensembles.published.statuses import STATUSES

# A table of no more rows than these needs no field to filter them.
_SHORT = 10


@dataclass(frozen=True)
class Results:
    """What the page shows. root: its folder. files: by paper and name, as ("nzc", "table1.csv").

    config: of the run, if it is known.
    """

    root: Path
    files: Mapping[tuple[str, str], Path]
    compared: pd.DataFrame
    captions: Path
    config: Mapping | None


def chapter(anchor: str, title: str, parts: list[str], chips: str = "") -> str:
    """Return a part of the page that folds; parts: HTML; chips: what is seen of it folded."""
    body = "\n".join(parts)
    return (
        f'<details class="chapter" id="{escape(anchor)}" open><summary>'
        f"<h2>{escape(title)}{_permalink(anchor, title)}</h2>"
        f" {chips}</summary>\n{body}\n"
        '<p class="back"><a href="#top">Back to the top</a></p></details>'
    )


def heading(anchor: str, title: str, chapter: str = "", name: str = "") -> str:
    """Return a heading with a link to itself and, before it, one back to its chapter."""
    back = f'<a class="of" href="#{escape(chapter)}">{escape(name)}</a> ' if chapter else ""
    words = escape(title).replace(" = ", "&nbsp;=&nbsp;")
    return f"<h3>{back}{words}{_permalink(anchor, title)}</h3>"


def _permalink(anchor: str, title: str) -> str:
    """Return a link to a heading, which never stands alone on a line."""
    return (
        f'&nbsp;<a class="permalink" href="#{escape(anchor)}" '
        f'aria-label="Link to {escape(title)}">#</a>'
    )


def items(section: Section, results: Results) -> list[str]:
    """Return the items of a paper that the run made, as HTML; nothing without files."""
    parts = []
    seen: dict[str, tuple[str, str]] = {}
    for item in section.items:
        names = [(section.paper, name) for name in item.files()]
        files = [results.files[name] for name in names if name in results.files]
        if files:
            parts.append(_item(item, files, section, results, seen))
    return ['<div class="items">', *parts, "</div>"] if parts else []


def counts(compared: pd.DataFrame, paper: str) -> str:
    """Return a paper's numbers of each status as signs, or nothing without printed numbers."""
    verdicts = compared.loc[compared["paper"] == paper, "status"].value_counts()
    chips = [
        status_html(status, int(verdicts[status])) for status in STATUSES if status in verdicts
    ]
    return f'<span class="chips">{" ".join(chips)}</span>' if chips else ""


def _item(item: Item, files: list[Path], section: Section, results: Results, seen: dict) -> str:
    anchor = f"{section.paper}-{item.name}"
    title = item.title
    tables = {path.stem: pd.read_csv(path) for path in files if path.suffix == ".csv"}
    if list(tables) == [item.name]:
        title += _only_m(tables[item.name])
    caption = _caption(item, anchor, title, seen, results.captions)
    parts = [] if _closed(item) else [caption]
    printed = results.compared[results.compared["paper"] == section.paper]
    if item.view and tables:
        mine = printed[printed["item"].isin(list(tables))]
        parts.append(VIEWS[item.view](tables, mine))
    inside = caption if _closed(item) else ""
    folds = []
    for path in files:
        if path.suffix == ".csv":
            folds.append(_table(item, tables[path.stem], path, section, results, inside))
        else:
            folds.append(_figure(item, path, results.root, inside))
    parts += ['<div class="folds">', *folds, "</div>"]
    return "\n".join(
        [
            f'<section id="{escape(anchor)}"{" class=slim" if _closed(item) else ""}>',
            heading(anchor, title, section.paper, section.name()),
            *parts,
            "</section>",
        ]
    )


def _closed(item: Item) -> bool:
    """Tell whether nothing of an item is to look at before it is opened."""
    return not item.view and (item.fold or not item.alt)


def _figure(item: Item, path: Path, root: Path, caption: str) -> str:
    links = f"{file_name(path, root)}, {file_name(path.with_suffix('.pdf'), root)}"
    drawn = caption + figure_html(path, item.title, item.alt, links)
    return f"<details><summary>Show the figure</summary>{drawn}</details>" if item.fold else drawn


def _table(
    item: Item,
    table: pd.DataFrame,
    path: Path,
    section: Section,
    results: Results,
    caption: str,
) -> str:
    """Return a table beside the printed numbers, folded, with its caption if it has its own."""
    stem = path.stem
    of_paper = results.compared[results.compared["paper"] == section.paper]
    printed = of_paper[of_paper["item"] == stem]
    settings = (results.config or {}).get(section.paper)
    shown = beside_printed(stem, table, printed, section.paper, settings)
    own = stem == item.name
    title = item.title if own else _number(stem) + _only_m(table)
    rows = "the row" if len(shown) == 1 else f"all {len(shown)} rows"
    anchor = "" if own else f' id="{escape(f"{section.paper}-{stem}")}"'
    words = rows.capitalize() if own else f"{title}: {rows}"
    return (
        f'<details class="rows"{anchor}><summary>{escape(words)} {counts(printed, section.paper)}'
        f"</summary>{caption}{html_table(shown, title, filterable=len(shown) > _SHORT)}"
        f"{note_on_stars(shown)}{_reasons(table)}"
        f'<p class="source">{file_name(path, results.root)}</p></details>'
    )


def _number(stem: str) -> str:
    """Return the name of a table: table10 is Table 10, fewer_labels Fewer labels."""
    number = stem.removeprefix("table")
    return f"Table {number}" if number != stem else stem.replace("_", " ").capitalize()


def _only_m(table: pd.DataFrame) -> str:
    if "m" in table and table["m"].nunique() == 1:
        return f" (m = {format_number(float(table['m'].iloc[0]))})"
    return ""


def _caption(item: Item, anchor: str, title: str, seen: dict, folder: Path) -> str:
    """Return the item's caption, or a link to the item of this section that has the same one."""
    if item.caption in seen:
        first, name = seen[item.caption]
        return f'<p class="caption">As for <a href="#{first}">{escape(name)}</a>.</p>'
    seen[item.caption] = anchor, title.partition(":")[0]
    return folded_caption(folder / f"{item.caption}.rst")


def _reasons(table: pd.DataFrame) -> str:
    """List why the tightest totals hold, each reason once with the queries that it is for."""
    if "tightest_reason" not in table:
        return ""
    lines = []
    for reason, group in table.groupby("tightest_reason", sort=False):
        queries = ", ".join(map(str, sorted(group["queries"].unique())))
        lines.append(f"<li>Q = {escape(queries)}: {escape(str(reason))}</li>")
    return f'<div class="caption">Why <em>tightest</em> holds:<ul>{"".join(lines)}</ul></div>'


def ledger(path: Path, results: Results) -> str:
    """Return the privacy ledger with what it comes to first; path: its CSV file."""
    table = pd.read_csv(path)
    # What it comes to is where it is seen without scrolling.
    first = ["mechanism", "setting", "verdict", "release"]
    table = table[[*first, *(name for name in table if name not in first)]]
    number = table["verdict"].value_counts()
    chips = (status_html(VERDICTS[v], int(number.get(v, 0)), v) for v in VERDICTS)
    return "\n".join(
        [
            '<section id="ledger">',
            heading("ledger", "Privacy ledger: claimed, proven, exact", "audit", "Audit"),
            f"<p>{len(table)} claims: {', '.join(chips)}.</p>",
            folded_caption(results.captions / "ledger.rst"),
            f'<details class="rows"><summary>All {len(table)} claims</summary>',
            html_table(table, "Privacy ledger", filterable=True),
            f'<p class="source">{file_name(path, results.root)}</p></details></section>',
        ]
    )
