"""PATE's printed numbers: which of ours stand beside them, and what each of ours rests on.

The authors' votes are not to be had, so whatever depends on votes is `not_comparable`: the same
parameters on votes of our own. What printed numbers imply about each other is compared in earnest.
"""

from collections.abc import Mapping

import pandas as pd

from private_ensembles.published import Explanation

Key = tuple[str, ...]
OURS = "Same parameters, votes of our own teachers."
SYNTHETIC = (
    "Same parameters, synthetic votes of Glyph's size: Glyph is private, nothing of it is here."
)
# Where the paper says two things about one quantity.
DISAGREEMENTS: dict[Key, str] = {
    ("table1", "mnist", "confident", "epsilon"): "Table 2 and appendix B.6 print 2.00.",
    ("table2", "mnist", "confident", "epsilon"): "Table 1 prints 1.97.",
    ("table1", "mnist", "confident", "answered"): "Appendix B.6 prints 283 as the expectation.",
    ("appendixB.6", "mnist", "confident", "answered"): "Table 1 prints 286.",
    ("appendixB.6", "mnist", "confident", "epsilon"): "Table 1 prints 1.97.",
    ("table1", "adult", "confident", "epsilon"): "Table 2 prints 1.68.",
    ("table2", "adult", "confident", "epsilon"): "Table 1 prints 1.90.",
    ("table1", "glyph", "confident", "epsilon"): "Table 2 prints 2.07, section 5.3 1.02.",
    ("table2", "glyph", "confident", "epsilon"): "Table 1 prints 2.03, section 5.3 1.02.",
    ("section5.3", "glyph", "confident", "epsilon"): "Table 1 prints 2.03, Table 2 2.07.",
    ("section5.3", "glyph", "confident", "student_accuracy"): "Table 1 prints 75.5.",
    ("table1", "glyph", "confident", "student_accuracy"): "Section 5.3 prints 73.5.",
    ("table1", "glyph", "interactive", "answered"): "Section 5.3 prints 10,422.",
    ("section5.3", "glyph", "interactive", "answered"): "Table 1 prints 4,341.",
    ("section5.3", "glyph", "confident", "unanswered"): (
        "12,000 queries less Table 1's 10,762 answers leave 1,238."
    ),
}


def reproduced_numbers(
    tables: Mapping[str, pd.DataFrame],
) -> tuple[dict[Key, tuple[float, float]], dict[Key, str]]:
    """Gather what was computed: (KEY -> (number, standard deviation or NaN), KEY -> note).

    tables: table1, table2, printed_arithmetic of results/pate/tables, or nothing. A key with a note
    is not comparable. Accuracies are in percent, as printed.
    """
    if not tables:
        return {}, {}
    table1, table2 = tables["table1"], tables["table2"]
    arithmetic = tables["printed_arithmetic"]
    numbers: dict[Key, tuple[float, float]] = {}
    notes: dict[Key, str] = {}

    def add(item, task, row, column, value, sd=float("nan"), *, synthetic=None):
        key = ("pate", item, task, row, column)
        numbers[key] = (float(value), float(sd))
        if synthetic is not None:
            doubt = DISAGREEMENTS.get(key[1:], "")
            notes[key] = f"{SYNTHETIC if synthetic else OURS} {doubt}".strip()

    for cell in table1[~_flags(table1, "stand_in")].to_dict("records"):
        made_up = bool(cell["synthetic"])
        where = cell["task"], cell["aggregator"]
        add("table1", *where, "answered", cell["answered"], cell["answered_sd"], synthetic=made_up)
        add("table1", *where, "epsilon", cell["epsilon"], synthetic=made_up)
        accuracy = 100 * cell["student_accuracy"], 100 * cell["student_accuracy_sd"]
        add("table1", *where, "student_accuracy", *accuracy, synthetic=made_up)
        baseline = 100 * cell["baseline_accuracy"], 100 * cell["baseline_accuracy_sd"]
        here = cell["task"], "baseline", "baseline_accuracy"
        add("table1", *here, *baseline, synthetic=made_up)
        _text_numbers(add, cell, made_up)
    for cell in table2[~_flags(table2, "stand_in")].to_dict("records"):
        for column in ("epsilon", "order", "beta", "smooth_sensitivity"):
            for suffix in ("", "_1", "_2"):
                if f"{column}{suffix}" in cell:
                    where = "table2", cell["task"], cell["aggregator"], f"{column}{suffix}"
                    add(*where, cell[f"{column}{suffix}"], synthetic=bool(cell["synthetic"]))
        if cell["task"] == "mnist" and cell["aggregator"] == "confident":
            where = "appendixB.6", "mnist"
            add(*where, "confident", "answered", cell["answered"], synthetic=False)
            add(*where, "confident", "epsilon", cell["epsilon"], synthetic=False)
            add(*where, "confident", "rdp", cell["rdp"], synthetic=False)
            value = cell["smooth_sensitivity"]
            add(*where, "gnss", "smooth_sensitivity", value, synthetic=False)
    for cell in arithmetic.to_dict("records"):
        add(cell["item"], cell["task"], cell["row"], cell["column"], cell["value"])
    return numbers, notes


def _text_numbers(add, cell: Mapping, made_up: bool) -> None:
    """Add what section 5.3 says in words about Glyph's rows."""
    if cell["task"] != "glyph":
        return
    accuracy = 100 * cell["student_accuracy"]
    where = "section5.3", "glyph"
    if cell["aggregator"] == "confident":
        add(*where, "confident", "epsilon", cell["epsilon"], synthetic=made_up)
        add(*where, "confident", "student_accuracy", accuracy, synthetic=made_up)
        left = cell["asked"] - cell["answered"]
        add(*where, "confident", "unanswered", left, synthetic=made_up)
    elif cell["aggregator"] == "interactive":
        add(*where, "interactive", "epsilon", cell["epsilon"], synthetic=made_up)
        add(*where, "interactive", "answered", cell["answered"], synthetic=made_up)
        add(*where, "interactive", "student_accuracy", accuracy, synthetic=made_up)
        add(*where, "round one", "answered", cell["answered_first"], synthetic=made_up)
        add(*where, "round one", "epsilon", cell["epsilon_first"], synthetic=made_up)


def _flags(table: pd.DataFrame, column: str) -> pd.Series:
    return table[column].map(lambda value: str(value).lower() in ("1", "true", "1.0"))


def reasons(published: pd.DataFrame, tasks: list[str], data: str) -> dict[Key, str]:
    """Say why a printed number of PATE was not reproduced, for those not in `reproduced_numbers`.

    tasks: the tasks that were run.
    """
    found = {}
    for cell in published[published["paper"] == "pate"].to_dict("records"):
        key = tuple(cell[name] for name in ("paper", "item", "dataset", "row", "column"))
        task = cell["dataset"]
        if task == "glyph" and "accuracy" in cell["column"]:
            found[key] = "Glyph's images are private: no student and no baseline can be trained."
        elif task not in tasks and data != "paper":
            found[key] = f"needs {task}: run with --config data=paper"
        elif task not in tasks:
            found[key] = f"the files of {task} were not to be had: put them under data/raw/{task}"
    return found


EXPLANATIONS: dict[Key, Explanation] = {}
