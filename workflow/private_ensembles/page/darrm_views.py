"""DaRRM's tables to look at: accuracies and privacy losses of all of them as charts of dots."""

from collections.abc import Mapping

import pandas as pd
from markupsafe import Markup

from private_ensembles.figures import names
from private_ensembles.page.cells import format_bound, format_number
from private_ensembles.page.charts import Mark, Scale, dot_chart, legend
from private_ensembles.page.html import html_table
from private_ensembles.page.page import TEMPLATES
from private_ensembles.page.pivots import by_mechanism
from private_ensembles.published.reproduced import stand_ins

_VIEWS = TEMPLATES.get_template("views.html").module
# Totals of Q labels: what each is called, and its column beside the paper's.
_TOTALS = {
    "epsilon_total": "published",
    "epsilon_total_optimal": "best composition of (ε, δ)",
    "epsilon_total_gnmax": names.mechanism("gnmax"),
    "epsilon_committee": f"{names.mechanism('committee')}, m of them",
    "epsilon_all_teachers": "all teachers published",
    "epsilon_disjoint_shards": "one teacher, disjoint shards",
}


def accuracy(tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame) -> Markup:
    """Return mechanisms by exact accuracy, one chart per number m of labels' worth, and a pivot.

    tables: DaRRM's tables 1, 6, 8 and 10, one value of m each; printed: rows of ``fidelity.csv``.
    """
    every = _together(tables).sort_values("m", kind="stable")
    datasets = list(dict.fromkeys(every["dataset"]))
    low = min(0.5, float(every["expected_accuracy"].min()))
    scale = Scale(low, 1.0, (0.5, 0.6, 0.7, 0.8, 0.9, 1.0), "share of right labels, exact")
    charts = []
    order = list(dict.fromkeys(every["mechanism"]))
    for m, rows in every.groupby("m"):
        marks = [
            _accuracy_mark(row, order, datasets)
            for row in rows.drop_duplicates(["dataset", "mechanism"]).to_dict("records")
        ]
        items = [name for name, table in tables.items() if (table["m"] == m).any()]
        marks += _printed_marks(printed[printed["item"].isin(items)], order, datasets)
        shown = [names.mechanism(name) for name in order]
        charts.append(dot_chart(f"m = {m:g}", shown, marks, scale))
    kinds = {place: names.dataset(name) for place, name in enumerate(datasets[:2])}
    if printed["dataset"].isin(datasets).any():
        kinds[4] = "printed by the paper for Q labels, in its data set's colour"
    rows = every.drop_duplicates(["dataset", "m", "mechanism"])
    headings = [
        f"{names.dataset(name)}, m = {m:g}"
        for name, m in zip(rows["dataset"], rows["m"], strict=True)
    ]
    kept = ["mechanism", "privacy_model", "adjacency"]
    wide = by_mechanism(rows, kept, headings, "expected_accuracy")
    return _VIEWS.accuracy(
        legend(kinds),
        charts,
        len(wide),
        html_table(wide, "Exact accuracy by mechanism", decimals=4),
    )


def privacy(tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame) -> Markup:
    """Return the totals of Q labels by every account, on one logarithmic axis per data set.

    tables: DaRRM's tables 2, 5, 7 and 9; printed: not looked at, as the totals repeat the paper's.
    """
    every = _together(tables).sort_values(["m", "queries"], kind="stable")
    known = {name: words for name, words in _TOTALS.items() if name in every}
    values = every[list(known)].stack()
    scale = Scale(
        10.0**-1 if values.min() >= 0.1 else float(values.min()) * 0.9,
        float(values.max()) * 1.1,
        [tick for tick in (0.01, 0.1, 1, 10, 100) if values.min() * 0.5 <= tick <= values.max()],
        "total ε of Q labels, logarithmic",
        log=True,
    )
    charts = []
    for name, rows in every.groupby("dataset", sort=False):
        marks, lines = [], []
        for place, row in enumerate(rows.to_dict("records")):
            lines.append(f"m = {row['m']:g}, Q = {row['queries']:g}")
            marks += [
                Mark(
                    place,
                    float(row[column]),
                    kind,
                    f"{lines[-1]}, {words}: ε = {format_bound(row[column])}",
                )
                for kind, (column, words) in enumerate(known.items())
            ]
        charts.append(dot_chart(names.dataset(str(name)), lines, marks, scale))
    return _VIEWS.privacy(legend(dict(enumerate(known.values()))), charts)


def _together(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    every = pd.concat(list(tables.values()), ignore_index=True)
    marked = stand_ins(every)
    return every.assign(dataset=every["dataset"].mask(marked, every["dataset"] + " (stand-in)"))


def _accuracy_mark(row: Mapping, order: list[str], datasets: list[str]) -> Mark:
    kind = min(datasets.index(row["dataset"]), 3)
    value = float(row["expected_accuracy"])
    words = f"{names.mechanism(row['mechanism'])}, {names.dataset(row['dataset'])}: {value:.4f}"
    if row["queries"]:
        words += f" at ε = {format_number(row['epsilon'], 4)}, {row['privacy_model']}"
    at = order.index(row["mechanism"]) + _aside(kind, datasets)
    return Mark(at, value, kind, words.replace("_", " "))


def _aside(place: int, datasets: list[str]) -> float:
    """How far a data set's dots stand below the line of their row, so that none hides another."""
    return 0.3 * (place - (min(len(datasets), 4) - 1) / 2)


def _printed_marks(printed: pd.DataFrame, order: list[str], datasets: list[str]) -> list[Mark]:
    """Return what the paper printed, in its data set's colour."""
    marks = []
    rows = printed[printed["column"].isin(order) & printed["dataset"].isin(datasets)]
    for row in rows.to_dict("records"):
        place = datasets.index(row["dataset"])
        at = order.index(row["column"]) + _aside(place, datasets)
        words = (
            f"{names.mechanism(row['column'])}, {names.dataset(row['dataset'])}, {row['row']}: "
            f"{row['published']} printed"
        )
        marks.append(Mark(at, float(row["published"]), 4, words, f"k{place}"))
    return marks
