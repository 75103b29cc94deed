"""Our tables with the papers' printed numbers, and the status of each, beside our own."""

import math
import re
from collections.abc import Mapping

import pandas as pd

from private_ensembles.papers.compare import declarations
from private_ensembles.papers.compare.printed import key_of
from private_ensembles.papers.compare.reproduced import flag_stand_ins, place_numbers

# The star is behind printed digits that are compared with another number than ours beside them.
# Their status would be taken for that of ours, so it is left out.
STAR = "*"


def has_stars(shown: pd.DataFrame) -> bool:
    """Return whether a printed number in such a table has a star."""
    texts = (text for name in shown for text in shown[name] if isinstance(text, str))
    return any(re.search(rf"\d\{STAR}", text) for text in texts)


def add_printed_columns(
    name: str,
    table: pd.DataFrame,
    printed: pd.DataFrame,
    paper: str = "darrm",
    settings: Mapping | None = None,
) -> pd.DataFrame:
    """Return a table with the paper's numbers and the status of each beside our own.

    A table that is compared with nothing comes back as it is. Others come back with stand-ins and
    synthetic votes marked.

    Args:
        name: The table's name.
        table: Our numbers.
        printed: The item's rows of ``fidelity.csv``, as text.
        paper: The paper's name.
        settings: The paper's section of the configuration.
    """
    declared = declarations.load_paper(paper)
    if name not in declared.tables():
        return table
    lookup = {key_of(cell): cell for cell in printed.to_dict("records")}
    # A column of ours and a title lead to the texts of the new column's rows.
    columns: dict[tuple[str, str], list[str]] = {}
    for placed in place_numbers(declared, name, table, settings or {}):
        cell, number = lookup.get(placed.key), placed.number
        # A printed number belongs beside what it claims to be, not beside what explains it.
        is_claim = placed.declaration.explains is None
        if cell is not None and is_claim and number.shown and number.value in table:
            title = number.title or f"printed {placed.column.split()[0]}"
            words = columns.setdefault((number.value, title), [""] * len(table))
            words[placed.position] = _format_printed_and_status(cell, placed.ours.value)
    out = _mark_stand_ins(table)
    for (ours, title), words in columns.items():
        out.insert(out.columns.get_loc(ours) + 1, title, words)
    if "m" in out and out["m"].nunique() == 1:
        out = out.drop(columns="m")  # the title says it
    if "expected_accuracy" in out:
        return _merge_accuracy_columns(out)
    return _reorder_loss_columns(out) if "tightest" in out else out


def _format_printed_and_status(cell: Mapping[str, str], ours: float) -> str:
    """Return the printed digits and the status, or a star if ours is not the number compared."""
    digits = cell["published"]
    if cell["published_sd"]:
        digits += f" ({cell['published_sd']})"
    if cell["reproduced"] and not math.isclose(float(cell["reproduced"]), ours, rel_tol=1e-9):
        return digits + STAR
    return digits if cell["status"] == "match" else f"{digits}, {cell['status']}"


def _mark_stand_ins(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with stand-ins and synthetic votes marked behind the data set's name."""
    out = table.copy()
    name = "dataset" if "dataset" in table else "task"
    for flag, mark in (("stand_in", " (stand-in)"), ("synthetic", " (synthetic)")):
        if flag in out:
            marked = flag_stand_ins(out.assign(stand_in=out[flag]))
            out[name] = out[name].astype(str).mask(marked, out[name].astype(str) + mark)
            out = out.drop(columns=flag)
    return out


def _merge_accuracy_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with mean and standard deviation in one column, as the paper prints them."""
    spread = zip(table["accuracy_mean"], table["accuracy_sd"], strict=True)
    out = table.drop(columns=["accuracy_mean", "accuracy_sd", "expected_accuracy"])
    first = ["dataset", "queries", "mechanism", "accuracy (sd)"]
    first += [column for column in out if column.startswith("printed")]
    out["accuracy (sd)"] = [_format_mean_sd(mean, sd) for mean, sd in spread]
    out["expected"] = table["expected_accuracy"].map("{:.4f}".format)
    first.append("expected")
    return out[[*first, *(column for column in out if column not in first)]]


def _reorder_loss_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the printed and the tightest totals where they need no scrolling."""
    out = table.drop(columns="tightest_reason")
    first = ["dataset", "queries", *(c for c in out if "_total" in c and c.count("_") == 1)]
    first += ["tightest", "epsilon_total_optimal", "epsilon_all_teachers"]
    first += ["epsilon_total_gnmax", "epsilon_disjoint_shards"]
    return out[[*first, *(column for column in out if column not in first)]]


def _format_mean_sd(value: float, sd: float) -> str:
    return f"{value:.3f}" if pd.isna(sd) else f"{value:.3f} ({sd:.3f})"
