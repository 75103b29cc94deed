"""All printed numbers beside ours: in one list, and in the papers' own tables."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from private_ensembles.base.digits import format_number
from private_ensembles.labels import display_names
from private_ensembles.report.html import Cell, html_table
from private_ensembles.report.page import pieces
from private_ensembles.report.sections import short_title

# A list has a paper's parts in this order.
_PARTS = ("section", "table", "figure", "appendix")
# These tables' rows are our columns.
_TURNED = {("darrm", "table3")}
# Each of two rounds has a line of its own; a paper says of some numbers only what they are above.
_ROUND = re.compile(r"_(?:1|2|above)$")


def sort_in_paper_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of ``fidelity.csv`` with each paper's items in its order: table2 before table10.

    Rows of one item keep their order, which is the paper's.
    """
    papers = (*rows["paper"].unique(),)
    keys = [
        (papers.index(paper), *_sort_key(item))
        for paper, item in zip(rows["paper"], rows["item"], strict=True)
    ]
    return rows.iloc[sorted(range(len(rows)), key=keys.__getitem__)]


def _sort_key(item: str) -> tuple:
    part = re.match("[a-z]*", item)[0]
    order = _PARTS.index(part) if part in _PARTS else len(_PARTS)
    return order, part, [int(number) for number in re.findall(r"\d+", item)]


def list_numbers(rows: pd.DataFrame, title: str) -> Markup:
    """Return rows of ``fidelity.csv`` as one table, what is printed and ours in sight.

    Each row has its `row_anchor`. One column says which number it is, because five would leave no
    room for what became of it.
    """
    positions = [name_position(row) for row in rows.to_dict("records")]
    ours = rows.rename(columns={"reproduced": "ours", "reproduced_sd": "ours_sd"})
    shown = ["published", "ours", "published_sd", "ours_sd", "tolerance", "note", "status"]
    table = ours[shown].copy()
    table.insert(0, "where", positions)
    return html_table(table, title, filterable=True, anchors=[*map(row_anchor, rows.index)])


def name_position(row: Mapping[str, str]) -> str:
    """Return in words which number a row of ``fidelity.csv`` is about."""
    return (
        f"{row['paper']} {row['item']}, {display_names.dataset_label(row['dataset'])}: "
        f"{display_names.format_row_name(row['row'])}, "
        f"{display_names.format_row_name(row['column'])}"
    )


def row_anchor(index: object) -> str:
    """Return the anchor of a row of ``fidelity.csv`` in the lists of all numbers.

    >>> row_anchor(7)
    'row-7'
    """
    return f"row-{index}"


class PrintedTables(NamedTuple):
    """A paper's tables as it prints them, by their names."""

    paper: str
    title: str
    tables: Mapping[str, Markup]


class Layout(NamedTuple):
    """A table as a paper prints it: its columns, and by row and column the numbers of a cell."""

    columns: list[str]
    rows: Mapping[str, Mapping[str, list[Mapping]]]


def printed_tables(compared: pd.DataFrame, titles: Mapping[str, str]) -> list[PrintedTables]:
    """Return the tables of each paper, with its rows and columns, and our numbers in the cells.

    Args:
        compared: The printed numbers of ``fidelity.csv`` as text.
        titles: The papers' titles on the page.
    """
    papers = []
    for name in compared["paper"].unique():
        paper = str(name)
        layouts = lay_out_tables(compared, paper)
        named = {f"Table {item.removeprefix('table')}": layouts[item] for item in layouts}
        tables = {name: _printed_table(name, layout) for name, layout in named.items()}
        if tables:
            papers.append(PrintedTables(paper, short_title(paper, titles), tables))
    return papers


def lay_out_tables(compared: pd.DataFrame, paper: str) -> dict[str, Layout]:
    """Return a paper's tables as it prints them, by their names ("table10") and in their order.

    Args:
        compared: The printed numbers of ``fidelity.csv`` as text.
        paper: The paper's name.
    """
    rows = sort_in_paper_order(compared[compared["paper"] == paper])
    return {
        str(item): _lay_out(among)
        for item, among in rows.groupby("item", sort=False)
        if str(item).startswith("table")
    }


def _lay_out(rows: pd.DataFrame) -> Layout:
    """Return one table of a paper from its numbers, in the order in which they are printed."""
    paper, item = rows.iloc[0][["paper", "item"]]
    several = rows["dataset"].nunique() > 1
    cells: dict[str, dict[str, list[Mapping]]] = {}
    columns: dict[str, None] = {}
    for dataset, among in rows.groupby("dataset", sort=False):
        for number in among.to_dict("records"):
            row, column = display_names.format_row_name(number["row"]), _heading(number["column"])
            if (paper, item) in _TURNED:
                row, column = column, row
            columns[column] = None
            row = f"{display_names.dataset_label(str(dataset))}, {row}" if several else row
            cells.setdefault(row, {}).setdefault(column, []).append(number)
    return Layout([*columns], cells)


def _printed_table(name: str, layout: Layout) -> Markup:
    headings = [Cell("row"), *(Cell(column, {"class": "number"}) for column in layout.columns)]
    body = [
        [Cell(row), *(_cell(cells.get(column, [])) for column in layout.columns)]
        for row, cells in layout.rows.items()
    ]
    return pieces.table(f"{name} as printed, and ours", headings, body)


def describe_number(number: Mapping[str, str]) -> tuple[str, str]:
    """Return a printed number as the paper has it, and ours; each of them is text.

    Args:
        number: A row of ``fidelity.csv``; "" stands for ours if there is none.

    >>> describe_number(
    ...     {"column": "labels_above", "published": "9", "published_sd": "", "reproduced": "8.5"}
    ... )
    ('> 9', '8.5')
    """
    above = "> " if number["column"].endswith("_above") else ""
    spread = f" ({number['published_sd']})" if number["published_sd"] else ""
    ours = format_number(float(number["reproduced"])) if number["reproduced"] else ""
    return f"{above}{number['published']}{spread}", ours


def _heading(column: str) -> str:
    bare = _ROUND.sub("", column)
    words = display_names.format_row_name(bare)
    return (display_names.column_heading(bare) if words == bare else words).replace(
        "epsilon=", "ε\xa0=\xa0"
    )


def _cell(numbers: list[Mapping]) -> Cell:
    """Return the printed number, its status and ours; two rounds are below each other.

    If the rounds have different statuses, the cell has no colour: it would be wrong for one.
    """
    if not numbers:
        return Cell("")
    lines = []
    for number in numbers:
        printed, ours = describe_number(number)
        lines.append(Markup("{} {} {}").format(printed, pieces.sign(number["status"]), ours))
    statuses = {number["status"] for number in numbers}
    kind = f"number {statuses.pop()}" if len(statuses) == 1 else "number"
    sort = numbers[0]["published"]
    return Cell(Markup("<br>").join(lines), {"class": kind, "data-sort": sort})
