"""Our tables with the papers' printed numbers, and the status of each, beside our own."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from private_ensembles.published import dpbag as dpbag_published
from private_ensembles.published.comparison import ACCURACY_ITEMS, PRIVACY_ITEMS, stand_ins


def beside_printed(
    name: str, table: pd.DataFrame, printed: pd.DataFrame, paper: str = "darrm"
) -> pd.DataFrame:
    """Return the table with the paper's numbers and the status of each beside our own.

    printed: the item's rows of ``fidelity.csv``, as text. A table of another kind comes back as it
    is, with stand-ins marked.
    """
    lookup = {(cell["dataset"], cell["row"], cell["column"]): cell for cell in _records(printed)}
    out = table.copy()
    if paper in ("pate", "nzc"):
        return _pate_beside_printed(table, lookup)
    if paper == "dpbag":
        out = _dpbag_beside_printed(name, table, lookup)
    # The branches below know DaRRM's tables; other papers number theirs alike.
    name = name if paper == "darrm" else ""
    if name in ACCURACY_ITEMS:
        keys = [(r["dataset"], f"Q={r['queries']}", r["mechanism"]) for r in _records(table)]
        out = table[["dataset", "queries", "mechanism"]].copy()
        out["accuracy (sd)"] = [
            _with_sd(r["accuracy_mean"], r["accuracy_sd"]) for r in _records(table)
        ]
        _add_printed(out, "printed (sd)", keys, lookup)
        out["expected"] = table["expected_accuracy"].map("{:.4f}".format)
        shown = {"stand_in", "m", "accuracy_mean", "accuracy_sd", "expected_accuracy", *out}
        out = out.join(table[[column for column in table if column not in shown]])
    elif name in PRIVACY_ITEMS:
        for column in ("epsilon_total", "delta_total"):
            keys = [(r["dataset"], f"Q={r['queries']}", column) for r in _records(table)]
            at = out.columns.get_loc(column) + 1
            _add_printed(out, f"printed {column}", keys, lookup, at)
        out = out.drop(columns=["stand_in", "m", "tightest_reason"])
        first = ["dataset", "queries", *(c for c in out if "_total" in c and c.count("_") == 1)]
        first += ["tightest", "epsilon_total_optimal", "epsilon_all_teachers"]
        first += ["epsilon_total_gnmax", "epsilon_disjoint_shards"]
        out = out[[*first, *(c for c in out if c not in first)]]
    elif name == "table4":
        for ours, column in (("order_rdp", "lambda"), ("sigma_rdp", "sigma_min")):
            keys = [(r["dataset"], f"m={r['m']}", column) for r in _records(table)]
            _add_printed(out, f"printed {column}", keys, lookup, out.columns.get_loc(ours) + 1)
        out = out.drop(columns=["stand_in", "m"])
    elif name == "table3":
        for column in ("m", "tau", "lambda", "epsilon", "delta"):
            keys = [("simulation", f"M={r['subsamples']}", column) for r in _records(table)]
            _add_printed(out, f"printed {column}", keys, lookup, out.columns.get_loc(column) + 1)
    elif "stand_in" in out:
        out = out.drop(columns="stand_in")
    if "stand_in" in table:
        marks = stand_ins(table).map({True: " (stand-in)", False: ""})
        out["dataset"] = table["dataset"].astype(str) + marks
    return out


def _pate_beside_printed(table: pd.DataFrame, lookup: Mapping) -> pd.DataFrame:
    """Put printed digits behind every column that has some; mark stand-ins and synthetic votes."""
    out = table.copy()
    if "aggregator" not in table:
        return out
    for column in [name for name in table if name in {key[2] for key in lookup}]:
        rows = ["baseline" if column.startswith("baseline") else a for a in table["aggregator"]]
        keys = [(task, row, column) for task, row in zip(table["task"], rows, strict=True)]
        _add_printed(out, f"printed {column}", keys, lookup, out.columns.get_loc(column) + 1)
    for flag, mark in (("stand_in", " (stand-in)"), ("synthetic", " (synthetic)")):
        if flag in out:
            marked = out["task"] + mark
            out["task"] = out["task"].mask(stand_ins(out.assign(stand_in=out[flag])), marked)
            out = out.drop(columns=flag)
    return out


def _dpbag_beside_printed(name: str, table: pd.DataFrame, lookup: Mapping) -> pd.DataFrame:
    """Put printed digits behind the numbers that they were compared with: those of one delta."""
    out = table.copy()
    metrics = dpbag_published.METRICS if name in dpbag_published.ACCURACY_ITEMS else ()
    ours = {f"{metric}_mean": metric for metric in metrics}
    ours |= {"first_exceeding_mean": "labels"} if name in dpbag_published.COUNT_ITEMS else {}
    for column, what in ours.items():
        keys = []
        for row in _records(table):
            place = dpbag_published.printed_place(name, row, what)
            key = (row["dataset"], *place) if place else None
            keys.append(key if _is(lookup.get(key), row[column]) else None)
        # Equal at both deltas (a constant student is): students are compared at the last one.
        keys = [key if key not in keys[at:] else None for at, key in enumerate(keys, start=1)]
        _add_printed(out, f"printed {what}", keys, lookup, out.columns.get_loc(column) + 1)
    return out


def _is(cell: Mapping | None, value: float) -> bool:
    """Whether a row of ``fidelity.csv`` compares this number of ours."""
    return bool(cell and cell["reproduced"]) and math.isclose(
        float(cell["reproduced"]), value, rel_tol=1e-6
    )


def _records(table: pd.DataFrame) -> list[Mapping[str, object]]:
    return table.to_dict("records")


def _with_sd(value: object, sd: object) -> str:
    if sd == "" or sd != sd:
        return f"{float(value):.3f}"
    return f"{float(value):.3f} ({float(sd):.3f})"


def _add_printed(
    out: pd.DataFrame, title: str, keys: Sequence[tuple], lookup: Mapping, at: int | None = None
) -> None:
    """Insert a text column of printed digits and whether ours agree, if any were printed."""
    at = len(out.columns) if at is None else at
    cells = [lookup.get(key) for key in keys]
    if not any(cells):
        return
    digits = [
        "" if c is None else c["published"] + (f" ({c['published_sd']})" * bool(c["published_sd"]))
        for c in cells
    ]
    words = [
        "" if c is None else digit + ("" if c["status"] == "match" else f", {c['status']}")
        for c, digit in zip(cells, digits, strict=True)
    ]
    out.insert(at, title, words)
