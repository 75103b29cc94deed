"""A paper's chapter of the page: views and figures come before long tables, which are folded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from private_ensembles.base.digits import format_number
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.report.html import (
    VERDICTS,
    Caption,
    Picture,
    html_table,
    read_caption,
    read_picture,
)
from private_ensembles.report.page import ASSETS
from private_ensembles.report.printed_columns import add_printed_columns, has_stars
from private_ensembles.report.sections import Item, Section
from private_ensembles.report.views import VIEWS

# A table of at most so many rows needs no field to filter them.
_SHORT = 10


@dataclass(frozen=True)
class Results:
    """The results that the page shows.

    Attributes:
        root: The page's folder.
        files: The paths by paper and name, such as ("nzc", "table1.csv").
        compared: The printed numbers of ``fidelity.csv`` as text.
        config: The run's configuration, if it is known.
    """

    root: Path
    files: Mapping[tuple[str, str], Path]
    compared: pd.DataFrame
    config: Mapping | None


@dataclass(frozen=True)
class Rows:
    """A table of an item, folded.

    Attributes:
        anchor: Its anchor; empty if the item's own leads to it.
        words: What its fold says.
        counts: How many of its numbers have which status.
        table: The table as HTML.
        starred: Whether some printed numbers are not compared with ours beside them.
        reasons: The queries for which the tightest totals hold, by the reason.
        path: Its CSV file.
    """

    anchor: str
    words: str
    counts: Mapping[str, int]
    table: Markup
    starred: bool
    reasons: Mapping[str, str]
    path: Path


@dataclass(frozen=True)
class ShownItem:
    """An item as the page lays it out (``index.html``), with what the run made of it.

    Attributes:
        same_as: The anchor and title of the item of this section that has the same caption.
        closed: Whether there is nothing to look at before it is opened.
        drawn: The PNG file of its figure, if it has one.
    """

    item: Item
    anchor: str
    title: str
    caption: Caption | None
    same_as: tuple[str, str] | None
    closed: bool
    view: Markup | None
    picture: Picture | None
    drawn: Path | None
    tables: Sequence[Rows]

    @property
    def counts(self) -> dict[str, int]:
        """How many printed numbers of its tables have which status."""
        return {
            status: sum(rows.counts.get(status, 0) for rows in self.tables)
            for status in STATUSES
            if any(status in rows.counts for rows in self.tables)
        }


def items(section: Section, results: Results) -> list[ShownItem]:
    """Return the items of a paper's section that the run made."""
    printed = results.compared[results.compared["paper"] == section.paper]
    shown = []
    first_with: dict[str, tuple[str, str]] = {}
    for item in section.items:
        names = [(section.paper, name) for name in item.files()]
        files = [results.files[name] for name in names if name in results.files]
        if not files:
            continue
        anchor, title = f"{section.paper}-{item.name}", item.title
        tables = {path: pd.read_csv(path) for path in files if path.suffix == ".csv"}
        by_name = {path.stem: table for path, table in tables.items()}
        if list(by_name) == [item.name]:
            title += _m_suffix(by_name[item.name])
        view = None
        if item.view and tables:
            settings = (results.config or {}).get(section.paper)
            view = VIEWS[item.view](by_name, printed[printed["item"].isin(list(by_name))], settings)
        drawn = next((path for path in files if path.suffix == ".png"), None)
        same_as = first_with.get(item.caption)
        first_with.setdefault(item.caption, (anchor, title.partition(":")[0]))
        shown_item = ShownItem(
            item=item,
            anchor=anchor,
            title=title,
            caption=None if same_as else read_caption(ASSETS / f"{item.caption}.rst"),
            same_as=same_as,
            closed=not item.view and (item.fold or not item.alt),
            view=view,
            picture=read_picture(drawn) if drawn else None,
            drawn=drawn,
            tables=[
                _show_table(item, path, table, section, results) for path, table in tables.items()
            ],
        )
        shown.append(shown_item)
    return shown


def counts(compared: pd.DataFrame, paper: str) -> dict[str, int]:
    """Return how many of a paper's numbers have which status; empty without printed numbers."""
    number = compared.loc[compared["paper"] == paper, "status"].value_counts()
    return {status: int(number[status]) for status in STATUSES if status in number}


def _show_table(
    item: Item, path: Path, table: pd.DataFrame, section: Section, results: Results
) -> Rows:
    """Return a table of an item, with the printed numbers beside ours."""
    stem = path.stem
    of_paper = results.compared[results.compared["paper"] == section.paper]
    printed = of_paper[of_paper["item"] == stem]
    settings = (results.config or {}).get(section.paper)
    shown = add_printed_columns(stem, table, printed, section.paper, settings)
    is_items_own = stem == item.name
    title = item.title if is_items_own else _table_title(stem) + _m_suffix(table)
    rows = "the row" if len(shown) == 1 else f"all {len(shown)} rows"
    return Rows(
        anchor="" if is_items_own else f"{section.paper}-{stem}",
        words=rows.capitalize() if is_items_own else f"{title}: {rows}",
        counts=counts(printed, section.paper),
        table=html_table(shown, title, filterable=len(shown) > _SHORT),
        starred=has_stars(shown),
        reasons=_queries_by_reason(table),
        path=path,
    )


def _table_title(stem: str) -> str:
    """Return the name of a table: table10 is Table 10, fewer_labels Fewer labels."""
    number = stem.removeprefix("table")
    return f"Table {number}" if number != stem else stem.replace("_", " ").capitalize()


def _m_suffix(table: pd.DataFrame) -> str:
    if "m" in table and table["m"].nunique() == 1:
        return f" (m = {format_number(float(table['m'].iloc[0]))})"
    return ""


def _queries_by_reason(table: pd.DataFrame) -> dict[str, str]:
    """Return the queries for which the tightest totals hold, by the reason."""
    if "tightest_reason" not in table:
        return {}
    return {
        str(reason): ", ".join(map(str, sorted(group["queries"].unique())))
        for reason, group in table.groupby("tightest_reason", sort=False)
    }


@dataclass(frozen=True)
class Ledger:
    """The privacy ledger: how many claims there are, with which verdict, and all of them."""

    claims: int
    verdicts: Mapping[str, int]
    table: Markup
    caption: Caption
    path: Path


def ledger(path: Path) -> Ledger:
    """Return the privacy ledger of a CSV file with the number of claims by verdict."""
    table = pd.read_csv(path)
    # Verdict and release come first, where they are seen without scrolling.
    first = ["mechanism", "setting", "verdict", "release"]
    table = table[[*first, *(name for name in table if name not in first)]]
    number = table["verdict"].value_counts()
    return Ledger(
        claims=len(table),
        verdicts={verdict: int(number.get(verdict, 0)) for verdict in VERDICTS},
        table=html_table(table, "Privacy ledger", filterable=True),
        caption=read_caption(ASSETS / "ledger.rst"),
        path=path,
    )
