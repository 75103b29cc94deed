"""The views that items may name: something to look at of an item's tables.

Long tables are turned so that what their rows say stands side by side; DaRRM's accuracies and
privacy losses are charts of dots. All views have the same arguments:

    tables: The item's tables, by name.
    printed: The item's rows of ``fidelity.csv``, as text.
    settings: The section of the run's configuration that is named as the paper; None if it is not
        known.
"""

from collections.abc import Mapping

import pandas as pd
from markupsafe import Markup

from private_ensembles.base.digits import format_number, format_upper_bound
from private_ensembles.labels import display_names
from private_ensembles.papers.compare.reproduced import flag_stand_ins
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.report.charts import (
    Mark,
    Scale,
    dot_chart,
    legend,
)
from private_ensembles.report.html import format_column_value, html_table
from private_ensembles.report.own_page import profile_words
from private_ensembles.report.page import TEMPLATES
from private_ensembles.report.printed_columns import STAR, add_printed_columns, has_stars

_VIEWS = TEMPLATES.get_template("views.html").module
# PATE's Table 2 says these things of one aggregator, by our column. The printed number is beside
# ours if the paper has one.
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
# These columns are totals of Q labels, each with its name in the chart.
_TOTALS = {
    "epsilon_total": "published",
    "epsilon_total_optimal": "best composition of (ε, δ)",
    "epsilon_total_gnmax": display_names.mechanism_label("gnmax"),
    "epsilon_committee": f"{display_names.mechanism_label('committee')}, m of them",
    "epsilon_all_teachers": "all teachers published",
    "epsilon_disjoint_shards": "one teacher, disjoint shards",
}


def planner(
    tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame, settings: Mapping | None = None
) -> Markup:
    """Return expected right labels, mechanism by budget, with a control that ranks them at one.

    One sentence says which mechanisms do not apply.

    Args:
        tables: `planner`, and perhaps `fewer_labels`, over which the control then ranks as well.
        printed: Not used.
        settings: The ensemble that is planned for.
    """
    table = tables["planner"]
    offered = table[table["correct"] > 0]
    if offered.empty:
        return _explain_refusals(table)
    offered = offered.assign(
        mechanism=display_names.short_labels(
            offered["mechanism"], _budget_and_labels_of_rows(offered)
        )
    )
    wide = offered.pivot(index=_KEPT, columns="budget_epsilon", values="correct")
    wide = wide.sort_values(wide.columns[-1], ascending=False, kind="stable")
    wide.columns = [f"ε = {format_number(value)}" for value in wide.columns]
    return _VIEWS.planner(
        wanted=format_number(float(table["wanted"].iloc[0])),
        delta=display_names.format_powers(format_number(float(table["delta"].iloc[0]))),
        whose=_describe_ensemble(settings) if settings else None,
        table=html_table(
            move_to_end(wide.reset_index(), _KEPT[1:]),
            "Expected right labels by mechanism and budget",
            decimals=1,
        ),
        fewer=_pivot_by_labels(tables["fewer_labels"]) if "fewer_labels" in tables else "",
        without=_explain_refusals(table),
    )


def _describe_ensemble(settings: Mapping) -> tuple[str, str]:
    """Return the size of the ensemble that is planned for, and its profile, in words."""
    size = f"{settings['teachers']:,} teachers, {settings['n_classes']:,} classes"
    return size, profile_words(settings["profile"]).replace(" %", "\N{NO-BREAK SPACE}%")


def _pivot_by_labels(fewer: pd.DataFrame) -> Markup:
    """Return the share of right labels, mechanism and budget by number of labels wanted."""
    rows = fewer[fewer["correct"] > 0]
    rows = rows.assign(
        mechanism=display_names.short_labels(rows["mechanism"], _budget_and_labels_of_rows(rows)),
        right=100 * rows["correct"] / rows["wanted"],
    )
    rows = rows.rename(columns={"budget_epsilon": "ε"})
    wide = rows.pivot_table(index=[*_KEPT, "ε"], columns="wanted", values="right", aggfunc="max")
    wide.columns = [f"Q = {format_number(value)}" for value in wide.columns]
    wide = wide.reset_index().sort_values(["ε", wide.columns[-1]], ascending=[True, False])
    wide = move_to_end(
        wide[["mechanism", "ε", *(name for name in wide if name[0] == "Q"), *_KEPT[1:]]], []
    )
    title = "Share of right labels by mechanism, budget and labels wanted"
    return html_table(wide, title, decimals=1)


_KEPT = ["mechanism", "privacy_model", "adjacency"]


def move_to_end(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return a table with these columns at its end."""
    return table[[*(name for name in table if name not in columns), *columns]]


def pivot_by_mechanism(
    table: pd.DataFrame, kept_columns: list[str], headings: list[str], value: str
) -> pd.DataFrame:
    """Return one row per mechanism in the table's order, and a column for each of the headings.

    Args:
        table: A frame with a column `mechanism`.
        kept_columns: `mechanism` first, and then the columns that say more of it, which come last
            in the result.
        headings: The heading of each of the table's rows.
        value: The column whose values are shown.
    """
    order = list(dict.fromkeys(table["mechanism"]))
    wide = table.assign(heading=headings).pivot(index=kept_columns, columns="heading", values=value)
    wide = wide.reindex(columns=list(dict.fromkeys(headings))).reset_index()
    wide = wide.sort_values("mechanism", key=lambda column: column.map(order.index), kind="stable")
    return move_to_end(wide, kept_columns[1:])


def _budget_and_labels_of_rows(rows: pd.DataFrame) -> list[tuple]:
    """Return the budget and the number of labels of each row.

    The planner shows the best proven noise of each mechanism alone, at one budget or another.
    """
    return list(zip(rows["budget_epsilon"], rows["wanted"], strict=True))


def _explain_refusals(table: pd.DataFrame) -> Markup:
    """Return a sentence that says which mechanisms do not apply, and unfolds to say why."""
    if "not_applicable" not in table:
        return Markup()
    rows = table[table["not_applicable"].notna()].drop_duplicates("mechanism")
    reasons = [
        (
            display_names.format_reason(str(reason)),
            group["mechanism"].map(display_names.mechanism_label),
        )
        for reason, group in rows.groupby("not_applicable", sort=False)
    ]
    return _VIEWS.without(reasons, len(rows))


def leads(
    tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame, settings: Mapping | None = None
) -> Markup:
    """Return the largest delta of one NZC label by its lead, for each number of teachers, classes.

    The rules for ties are put together: the largest of them counts.
    """
    (table,) = tables.values()
    rows = []
    for (teachers, classes), group in table.groupby(["teachers", "classes"]):
        row = {"teachers": teachers, "classes": classes}
        kinds = {f"{lead}": group["lead"] == lead for lead in range(3)}
        kinds["3 or more"] = group["lead"] >= 3
        for words, among in kinds.items():
            chosen = group[among]
            worst = float(chosen["delta_most"].max()) if len(chosen) else float("nan")
            row[f"δ, lead {words}"] = 0.0 if worst < _NEVER else worst
        rows.append(row | {"at ε": group["epsilon"].iloc[0]})
    return html_table(pd.DataFrame(rows), "Largest delta of one label by its lead")


def table2(
    tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame, settings: Mapping | None = None
) -> Markup:
    """Return PATE's Table 2 turned: a column for each aggregator, a row for each quantity.

    The printed number is beside ours if the paper has one.
    """
    (table,) = tables.values()
    rows = add_printed_columns("table2", table, printed, "pate").to_dict("records")
    headings = []
    for row in rows:
        task, space, mark = row["task"].partition(" ")
        aggregator = display_names.aggregator_label(row["aggregator"])
        headings.append(f"{display_names.dataset_label(task)}{space}{mark}, {aggregator}")
    quantities = {name: words for name, words in _TABLE2.items() if name in table}
    out = pd.DataFrame({"quantity": list(quantities.values())})
    for heading, row in zip(headings, rows, strict=True):
        out[heading] = [_format_with_printed(row, name) for name in quantities]
    return _VIEWS.table2(html_table(out, "Table 2, turned"), has_stars(out))


def _format_with_printed(row: Mapping, name: str) -> str:
    """Return our number and, in brackets, the printed one and its status."""
    value, words = row[name], row.get(f"printed {name}")
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return ""
    if not words:
        return format_column_value(name, value)
    ours = format_number(value, 4)
    if words.endswith(STAR):
        return f"{ours} ({words})"
    digits, _, status = words.partition(", ")
    return f"{ours} ({digits} {STATUSES[status or 'match'].sign})"


def accuracy(
    tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame, settings: Mapping | None = None
) -> Markup:
    """Return charts of mechanisms by exact accuracy, one for each allowance m, and a pivot.

    Args:
        tables: DaRRM's tables 1, 6, 8 and 10, one value of m each.
        printed: The tables' rows of ``fidelity.csv``.
        settings: Not used.
    """
    rows_of_all = _concatenate_marking_stand_ins(tables).sort_values("m", kind="stable")
    datasets = list(dict.fromkeys(rows_of_all["dataset"]))
    low = min(0.5, float(rows_of_all["expected_accuracy"].min()))
    scale = Scale(low, 1.0, (0.5, 0.6, 0.7, 0.8, 0.9, 1.0), "share of right labels, exact")
    charts = []
    order = list(dict.fromkeys(rows_of_all["mechanism"]))
    for m, rows in rows_of_all.groupby("m"):
        marks = [
            _accuracy_mark(row, order, datasets)
            for row in rows.drop_duplicates(["dataset", "mechanism"]).to_dict("records")
        ]
        items = [name for name, table in tables.items() if (table["m"] == m).any()]
        marks += _printed_marks(printed[printed["item"].isin(items)], order, datasets)
        shown = [display_names.mechanism_label(name) for name in order]
        charts.append(dot_chart(f"m = {m:g}", shown, marks, scale))
    kinds = {kind: display_names.dataset_label(name) for kind, name in enumerate(datasets[:2])}
    if printed["dataset"].isin(datasets).any():
        kinds[4] = "printed by the paper for Q labels, in its data set's colour"
    rows = rows_of_all.drop_duplicates(["dataset", "m", "mechanism"])
    headings = [
        f"{display_names.dataset_label(name)}, m = {m:g}"
        for name, m in zip(rows["dataset"], rows["m"], strict=True)
    ]
    kept = ["mechanism", "privacy_model", "adjacency"]
    wide = pivot_by_mechanism(rows, kept, headings, "expected_accuracy")
    return _VIEWS.accuracy(
        legend(kinds),
        charts,
        len(wide),
        html_table(wide, "Exact accuracy by mechanism", decimals=4),
    )


def privacy(
    tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame, settings: Mapping | None = None
) -> Markup:
    """Return the totals of Q labels by every account, on one logarithmic axis per data set.

    Args:
        tables: DaRRM's tables 2, 5, 7 and 9.
        printed: Not used, because the totals repeat the paper's.
        settings: Not used.
    """
    rows_of_all = _concatenate_marking_stand_ins(tables).sort_values(
        ["m", "queries"], kind="stable"
    )
    totals = {name: words for name, words in _TOTALS.items() if name in rows_of_all}
    values = rows_of_all[list(totals)].stack()
    scale = Scale(
        10.0**-1 if values.min() >= 0.1 else float(values.min()) * 0.9,
        float(values.max()) * 1.1,
        [tick for tick in (0.01, 0.1, 1, 10, 100) if values.min() * 0.5 <= tick <= values.max()],
        "total ε of Q labels, logarithmic",
        log=True,
    )
    charts = []
    for name, rows in rows_of_all.groupby("dataset", sort=False):
        marks, lines = [], []
        for row_number, row in enumerate(rows.to_dict("records")):
            lines.append(f"m = {row['m']:g}, Q = {row['queries']:g}")
            marks += [
                Mark(
                    row_number,
                    float(row[column]),
                    kind,
                    f"{lines[-1]}, {words}: ε = {format_upper_bound(row[column])}",
                )
                for kind, (column, words) in enumerate(totals.items())
            ]
        charts.append(dot_chart(display_names.dataset_label(str(name)), lines, marks, scale))
    return _VIEWS.privacy(legend(dict(enumerate(totals.values()))), charts)


def _concatenate_marking_stand_ins(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    rows = pd.concat(list(tables.values()), ignore_index=True)
    stand_ins = flag_stand_ins(rows)
    return rows.assign(dataset=rows["dataset"].mask(stand_ins, rows["dataset"] + " (stand-in)"))


def _accuracy_mark(row: Mapping, order: list[str], datasets: list[str]) -> Mark:
    kind = min(datasets.index(row["dataset"]), 3)
    value = float(row["expected_accuracy"])
    mechanism = display_names.mechanism_label(row["mechanism"])
    words = f"{mechanism}, {display_names.dataset_label(row['dataset'])}: {value:.4f}"
    if row["queries"]:
        words += f" at ε = {format_number(row['epsilon'], 4)}, {row['privacy_model']}"
    height = order.index(row["mechanism"]) + _vertical_offset(kind, datasets)
    return Mark(height, value, kind, words.replace("_", " "))


def _vertical_offset(position: int, datasets: list[str]) -> float:
    """Return how far a data set's dots are below their row's line, so that none hides another."""
    return 0.3 * (position - (min(len(datasets), 4) - 1) / 2)


def _printed_marks(printed: pd.DataFrame, order: list[str], datasets: list[str]) -> list[Mark]:
    """Return marks of the numbers that the paper printed, in their data sets' colours."""
    marks = []
    rows = printed[printed["column"].isin(order) & printed["dataset"].isin(datasets)]
    for row in rows.to_dict("records"):
        kind = datasets.index(row["dataset"])
        height = order.index(row["column"]) + _vertical_offset(kind, datasets)
        words = (
            f"{display_names.mechanism_label(row['column'])}, "
            f"{display_names.dataset_label(row['dataset'])}, {row['row']}: "
            f"{row['published']} printed"
        )
        marks.append(Mark(height, float(row["published"]), 4, words, f"k{kind}"))
    return marks


VIEWS = {
    "accuracy": accuracy,
    "privacy": privacy,
    "planner": planner,
    "leads": leads,
    "table2": table2,
}
