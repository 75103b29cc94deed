"""NZC's tables, from claims, labels and students; columns are only ever added."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from private_ensembles.audit.verdicts import verdict
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE

_CLAIMS = (
    "claimed_epsilon",
    "claimed_epsilon_inverse_scale",
    "independent_moments",
    "proven_epsilon",
    "true_epsilon",
)
_RULES = ("first", "last", "random")


def summarise_students(
    privacy: pd.DataFrame,
    labels: pd.DataFrame,
    students: pd.DataFrame,
    tasks: Mapping[str, Mapping[str, object]],
) -> pd.DataFrame:
    """Summarise students and what their labels cost: Table 1 of NZC.

    Args:
        privacy: rows of results/nzc/privacy (task, aggregator, quantity, value).
        labels: rows of results/nzc/labels.
        students: rows of results/nzc/students.
        tasks: stand_in, K and few, by name.

    Returns:
        One row per task and aggregator. claimed_epsilon is what the paper says: data-dependent for
        LNMax, Theorem 4 with gamma read as a scale for NZC. true_epsilon is the audit's, of one NZC
        label; proven_epsilon holds for LNMax on all data sets. Accuracies are fractions; their sd
        is over training seeds, NaN for one seed.
    """
    quantities = privacy.set_index(["task", "aggregator", "quantity"])["value"]
    rows = []
    for cell in labels.to_dict("records"):
        task, name = cell["task"], cell["aggregator"]
        row = {"task": task, "stand_in": tasks[task]["stand_in"], "aggregator": name}
        row["teachers"], row["queries"] = cell["teachers"], cell["asked"]
        for key in _CLAIMS:
            row[key] = quantities.get((task, name, key), np.nan)
        # Clean labels have no claim, though NZC releases exactly these; nor has the truth.
        claimed = _none_if_nan(row["claimed_epsilon"])
        proven = _none_if_nan(row["proven_epsilon"])
        true = _none_if_nan(row["true_epsilon"])
        row["verdict"] = "" if claimed is None else verdict(claimed, proven, true)
        row["label_accuracy"] = cell["correct"] / cell["asked"]
        trained = students[(students["task"] == task) & (students["aggregator"] == name)]
        row["student_accuracy"] = trained["accuracy"].mean()
        row["student_accuracy_sd"] = trained["accuracy"].std()
        row["student_seeds"] = len(trained)
        row["evaluated"] = int(trained["evaluated"].iloc[0])
        rows.append(row)
    return pd.DataFrame(rows).assign(release=NOT_FOR_RELEASE)


def _none_if_nan(epsilon: float) -> float | None:
    """Return None for an epsilon that a table does not have, and any other as it is."""
    return None if np.isnan(epsilon) else epsilon


def label_accuracy(
    privacy: pd.DataFrame, tasks: Mapping[str, Mapping[str, object]]
) -> pd.DataFrame:
    """Return the labels' expected accuracies, of the large ensemble on its whole pool: Table 2.

    Args:
        privacy: rows of results/nzc/privacy.
        tasks: stand_in, K and few, by name.

    Returns:
        Rows lnmax, nzc and clean of each task. accuracy_first, _last and _random are by rule for
        ties, of which there are `tied` queries: only these can make NZC's labels differ from clean
        ones. unprotected counts the queries with a lead of at most 2, on which one vote can change
        an NZC label.
    """
    quantities = privacy.set_index(["task", "aggregator", "quantity"])["value"]
    rows = []
    for task, facts in tasks.items():
        values = quantities[task, "nzc"]
        for name in ("lnmax", "nzc", "clean"):
            key = "label_accuracy" if name == "nzc" else f"label_accuracy_{name}"
            row = {"task": task, "stand_in": facts["stand_in"], "aggregator": name}
            row["teachers"], row["label_accuracy"] = facts["K"], values[key]
            if name == "nzc":
                for rule in _RULES:
                    row[f"accuracy_{rule}"] = values[f"label_accuracy_{rule}"]
                row["tied"] = int(values["tied"])
                row["unprotected"] = int(values["unprotected"])
                row["verdict"] = verdict(values["claimed_epsilon"], None, values["true_epsilon"])
            rows.append(row | {"release": NOT_FOR_RELEASE})
    return pd.DataFrame(rows)
