"""NZC's printed numbers: which of ours stand beside them, and what each of ours rests on.

The authors' votes and students are not to be had, so accuracies and data-dependent costs are
`not_comparable`. What Theorem 4 gives, and the sizes of the data, are compared in earnest.
"""

from collections.abc import Mapping

import pandas as pd

from private_ensembles.published.comparison import stand_ins

Key = tuple[str, ...]
OURS = "Same parameters, votes and students of our own."
# What else must be said where a number stands.
DOUBTS: dict[str, str] = {
    "claimed_epsilon_above": "Printed as a lower bound, '> '.",
    "nzc": "NZC's privacy claim is false (docs/nzc.md).",
}
# What printed numbers say about each other; tests/published/test_nzc.py derives each from them.
_COPIED = (
    "PATE's Table 1 prints this very number for its own votes; NZC says that it trained teachers "
    "of its own."
)
_TIES = (
    "Printed {count} labels of {pool:,} away from `clean`: with c = 1e100 both are the plurality, "
    "so that ties alone can differ, of which these votes had {count} or more."
)
_TRAINING = (
    "A student that sees each label {fewer} times, in place of config.yaml's 15, is right as often "
    "as printed (docs/nzc.md)."
)
_NOISE = (
    "Students of labels that can differ at ties only (`clean`) are printed {gap} points away: so "
    "much is training."
)
REMARKS: dict[Key, str] = {
    **{
        ("table1", task, f"lnmax-{queries}", "claimed_epsilon"): _COPIED
        for task, queries in (("mnist", 100), ("mnist", 1000), ("svhn", 500), ("svhn", 1000))
    },
    ("table2", "mnist", "nzc", "label_accuracy"): _TIES.format(count=3, pool=9000),
    ("table2", "svhn", "nzc", "label_accuracy"): _TIES.format(count=2, pool=10000),
    ("table1", "mnist", "lnmax-100", "student_accuracy"): _TRAINING.format(fewer=10),
    ("table1", "mnist", "lnmax-1000", "student_accuracy"): _TRAINING.format(fewer=4),
    ("table1", "mnist", "nzc", "student_accuracy"): _NOISE.format(gap="0.6"),
    ("table1", "mnist", "nzc-few", "student_accuracy"): _NOISE.format(gap="0.3"),
}


def reproduced_numbers(
    tables: Mapping[str, pd.DataFrame], facts: Mapping[str, Mapping[str, int]]
) -> tuple[dict[Key, tuple[float, float]], dict[Key, str]]:
    """Gather what was computed: (KEY -> (number, standard deviation or NaN), KEY -> note).

    tables: table1 and table2 of results/nzc/tables, where they were made. facts: by task that was
    run, n_train, n_test and pool. A key with a note is not comparable. Accuracies in percent.
    """
    numbers: dict[Key, tuple[float, float]] = {}
    notes: dict[Key, str] = {}

    def add(item, task, row, column, value, sd=float("nan"), *, ours=False):
        key = ("nzc", item, task, row, column)
        numbers[key] = (float(value), float(sd))
        if ours:
            said = (
                DOUBTS.get(column),
                DOUBTS.get(row.partition("-")[0]),
                REMARKS.get((item, task, row, column)),
            )
            notes[key] = " ".join(filter(None, [OURS, *said]))

    for cell in _of_the_paper(tables, "table1"):
        task, name = cell["task"], cell["aggregator"]
        row = _as_printed(name)
        accuracy = 100 * cell["student_accuracy"], 100 * cell["student_accuracy_sd"]
        add("table1", task, row, "student_accuracy", *accuracy, ours=True)
        add("table1", task, row, "answered", cell["queries"])
        claimed = cell["claimed_epsilon"]
        of_votes = name.startswith("lnmax")
        add("table1", task, row, "claimed_epsilon", claimed, ours=of_votes)
        add("table1", task, row, "claimed_epsilon_above", claimed, ours=of_votes)
    for cell in _of_the_paper(tables, "table2"):
        value = 100 * cell["label_accuracy"]
        add("table2", cell["task"], cell["aggregator"], "label_accuracy", value, ours=True)
    for task, sizes in facts.items():
        add("section5.1", task, "data", "n_train_thousands", sizes["n_train"] / 1000)
        add("section5.1", task, "data", "student_images", sizes["n_test"])
        add("section5.1", task, "data", "pool", sizes["pool"])
        add("section5.1", task, "data", "evaluated", sizes["n_test"] - sizes["pool"])
    return numbers, notes


def reasons(
    published: pd.DataFrame, facts: Mapping[str, Mapping[str, int]], data: str
) -> dict[Key, str]:
    """Say, by KEY, why a number of NZC was not run."""
    found = {}
    for cell in published[published["paper"] == "nzc"].to_dict("records"):
        task = cell["dataset"]
        if task in facts:
            continue
        key = tuple(cell[name] for name in ("paper", "item", "dataset", "row", "column"))
        if data != "paper":
            found[key] = f"needs the images of {task}: run with --config data=paper"
        else:
            found[key] = f"the files of {task} were not to be had: put them under data/raw/{task}"
    return found


def _as_printed(aggregator: str) -> str:
    """Table 1 calls the small ensemble '5 teachers only'; names here carry its size."""
    name, _, size = aggregator.partition("-")
    return f"{name}-few" if name in ("nzc", "clean") and size else aggregator


def _of_the_paper(tables: Mapping[str, pd.DataFrame], item: str) -> list[Mapping]:
    if item not in tables:
        return []
    table = tables[item]
    return table[~stand_ins(table)].to_dict("records")
