"""Tables turned so that they can be read: what the rows of a long one say, side by side."""

from collections.abc import Mapping

import pandas as pd
from markupsafe import Markup

from private_ensembles.figures import names
from private_ensembles.page.beside import beside_printed, has_stars
from private_ensembles.page.cells import format_number, of_column
from private_ensembles.page.html import html_table
from private_ensembles.page.page import TEMPLATES
from private_ensembles.published.statuses import STATUSES

_VIEWS = TEMPLATES.get_template("views.html").module
# What PATE's Table 2 says of one aggregator, by our column, and its name; with the printed number
# beside it if the paper has one.
_TABLE2 = {
    "asked": "queries asked",
    "answered": "answered, expected",
    "data_independent_epsilon": "ε whatever the votes",
    "epsilon": "ε expected of these votes",
    "order": "Rényi order of it",
    "smooth_sensitivity": "smooth sensitivity",
    "sigma_ss": "noise on it (σ ss)",
    "sanitized_epsilon": "sanitised ε, the paper's estimate",
    "sanitized_sd": "its standard deviation",
    "sanitized_epsilon_exact": "sanitised ε at its exact cost",
    "sanitized_upper_exact": "its upper bound, at the stated confidence",
    "release": "may be released",
}
_NEVER = 1e-200  # what rounding leaves open if delta is 0


def planner(tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame) -> Markup:
    """Return expected right labels, mechanism by budget, with a control that ranks them at one.

    tables: the planner's, and perhaps `fewer_labels`, over which the control then ranks as well;
    printed: not looked at. What does not apply is said in one sentence.
    """
    table = tables["planner"]
    offered = table[table["correct"] > 0]
    if offered.empty:
        return _without(table)
    offered = offered.assign(mechanism=names.short(offered["mechanism"], _places(offered)))
    wide = offered.pivot(index=_KEPT, columns="budget_epsilon", values="correct")
    wide = wide.sort_values(wide.columns[-1], ascending=False)
    wide.columns = [f"ε = {format_number(value)}" for value in wide.columns]
    return _VIEWS.planner(
        wanted=format_number(float(table["wanted"].iloc[0])),
        delta=names.powers(format_number(float(table["delta"].iloc[0]))),
        table=html_table(
            last(wide.reset_index(), _KEPT[1:]),
            "Expected right labels by mechanism and budget",
            decimals=1,
        ),
        fewer=_by_labels(tables["fewer_labels"]) if "fewer_labels" in tables else "",
        without=_without(table),
    )


def _by_labels(fewer: pd.DataFrame) -> Markup:
    """Return expected right labels, mechanism and budget by number of labels wanted."""
    rows = fewer[fewer["correct"] > 0]
    rows = rows.assign(mechanism=names.short(rows["mechanism"], _places(rows)))
    rows = rows.rename(columns={"budget_epsilon": "ε"})
    wide = rows.pivot_table(index=[*_KEPT, "ε"], columns="wanted", values="correct", aggfunc="max")
    wide.columns = [f"Q = {format_number(value)}" for value in wide.columns]
    wide = wide.reset_index().sort_values(["ε", wide.columns[-1]], ascending=[True, False])
    wide = last(
        wide[["mechanism", "ε", *(name for name in wide if name[0] == "Q"), *_KEPT[1:]]], []
    )
    title = "Expected right labels by mechanism, budget and labels wanted"
    return html_table(wide, title, decimals=1)


_KEPT = ["mechanism", "privacy_model", "adjacency"]


def last(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return a table with these columns at its end."""
    return table[[*(name for name in table if name not in columns), *columns]]


def by_mechanism(
    table: pd.DataFrame, kept: list[str], headings: list[str], value: str
) -> pd.DataFrame:
    """Return one row per mechanism in the table's order, and a column for each of the headings.

    kept: columns that say more of a mechanism, and itself, which comes first; they come last.
    headings: of the table's rows. value: the column whose values are shown.
    """
    order = list(dict.fromkeys(table["mechanism"]))
    wide = table.assign(heading=headings).pivot(index=kept, columns="heading", values=value)
    wide = wide.reindex(columns=list(dict.fromkeys(headings))).reset_index()
    wide = wide.sort_values("mechanism", key=lambda column: column.map(order.index))
    return last(wide, kept[1:])


def _places(rows: pd.DataFrame) -> list[tuple]:
    """The budget and number of labels of each row.

    The planner shows the best proven noise of each mechanism alone, at one budget or another.
    """
    return list(zip(rows["budget_epsilon"], rows["wanted"], strict=True))


def many_labels(tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame) -> Markup:
    """Return how often a label is right, mechanism by number of labels, with the same control."""
    (table,) = tables.values()
    rows = table[table["right"].notna()].drop_duplicates(["mechanism", "labels"])
    if "analysis" in rows:
        rows = rows[rows["epsilon"] == rows["epsilon"].iloc[0]]
    wide = rows.pivot(index="mechanism", columns="labels", values="right")
    wide = 100 * wide.sort_values(wide.columns[-1], ascending=False)
    wide.columns = [f"Q = {format_number(value)}" for value in wide.columns]
    first = rows.iloc[0]
    return _VIEWS.many_labels(
        epsilon=format_number(first["epsilon"]),
        delta=names.powers(format_number(first["delta"])),
        teachers=format_number(first["teachers"]),
        lead=format_number(first["lead"]),
        table=html_table(
            wide.reset_index(), "Share of right labels by number of labels", decimals=2
        ),
    )


def _without(table: pd.DataFrame) -> Markup:
    """Say which mechanisms do not apply, and why, in one sentence that unfolds."""
    if "not_applicable" not in table:
        return Markup()
    rows = table[table["not_applicable"].notna()].drop_duplicates("mechanism")
    reasons = [
        (names.reason(str(reason)), group["mechanism"].map(names.mechanism))
        for reason, group in rows.groupby("not_applicable", sort=False)
    ]
    return _VIEWS.without(reasons, len(rows))


def equal_budget(tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame) -> Markup:
    """Return the accuracy of answers, mechanism by task, queries and total ε."""
    (table,) = tables.values()
    table = table[table["accuracy"].notna()]
    headings = [
        f"{names.dataset(row['task'])}{' (synthetic)' if row['synthetic'] else ''}"
        f"{' (stand-in)' if row['stand_in'] else ''}, "
        f"Q = {row['queries']:g}, ε = {row['epsilon']:g}"
        for row in table.to_dict("records")
    ]
    wide = by_mechanism(table, [*_KEPT, "release"], headings, "accuracy")
    return html_table(wide, "Accuracy at equal totals", decimals=4)


def leads(tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame) -> Markup:
    """Return the largest delta of one NZC label by its lead, a row per number of teachers, classes.

    The rules for ties are put together: the largest of them counts.
    """
    (table,) = tables.values()
    rows = []
    for (teachers, classes), group in table.groupby(["teachers", "classes"]):
        row = {"teachers": teachers, "classes": classes}
        for words, among in _leads(group["lead"]):
            chosen = group[among]
            worst = float(chosen["delta_most"].max()) if len(chosen) else float("nan")
            row[f"δ, lead {words}"] = 0.0 if worst < _NEVER else worst
        rows.append(row | {"at ε": group["epsilon"].iloc[0]})
    return html_table(pd.DataFrame(rows), "Largest delta of one label by its lead")


def _leads(lead: pd.Series):
    return [(f"{k}", lead == k) for k in range(3)] + [("3 or more", lead >= 3)]


def table2(tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame) -> Markup:
    """Return PATE's Table 2 turned: aggregators side by side, what is known of them in rows.

    The printed number is beside ours if the paper has one.
    """
    (table,) = tables.values()
    rows = beside_printed("table2", table, printed, "pate").to_dict("records")
    headings = []
    for row in rows:
        task, space, mark = row["task"].partition(" ")
        aggregator = names.aggregator(row["aggregator"])
        headings.append(f"{names.dataset(task)}{space}{mark}, {aggregator}")
    known = {name: words for name, words in _TABLE2.items() if name in table}
    out = pd.DataFrame({"quantity": list(known.values())})
    for heading, row in zip(headings, rows, strict=True):
        out[heading] = [_with_printed(row, name) for name in known]
    return _VIEWS.table2(html_table(out, "Table 2, turned"), has_stars(out))


def _with_printed(row: Mapping, name: str) -> str:
    """Return our number and, in brackets, the printed one and what became of it."""
    value, words = row[name], row.get(f"printed {name}")
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return ""
    if not words:
        return of_column(name, value)
    ours = format_number(value, 4)
    digits, _, status = words.partition(", ")
    return f"{ours} ({digits} {STATUSES[status or 'match'].sign})"
