"""PATE's tables, from accounts, released labels and students; columns are only ever added."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from private_ensembles.labels.release_marks import FREE_OF_VOTES, NOT_FOR_RELEASE

# A row of Table 1 has these quantities of an account.
_PRIVACY = (
    "epsilon",
    "epsilon_improved",
    "data_independent_epsilon",
    "exact_data_independent_epsilon",
    # These exist for two rounds alone.
    "answered_first",
    "epsilon_first",
)


def summarise_students(
    privacy: pd.DataFrame,
    labels: pd.DataFrame,
    trained: pd.DataFrame,
    baselines: pd.DataFrame,
    tasks: Mapping[str, Mapping[str, object]],
) -> pd.DataFrame:
    """Summarise utility and privacy: Table 1 of PATE, one row per task and aggregator.

    Args:
        privacy: rows of results/pate/privacy (task, aggregator, draw, quantity, value).
        labels: rows of results/pate/labels (task, aggregator, answered, correct: those of the
            labels actually bought).
        trained: rows of results/pate/students (accuracy, correct, evaluated), empty if no task has
            a student.
        baselines: rows of results/pate/baselines, likewise.
        tasks: stand_in, synthetic and K, by name.

    Returns:
        Accuracies are fractions, epsilon in nats. `answered`, the privacy quantities and their sd
        are over draws of the queries, student_accuracy and its sd over training seeds.
    """
    account = _mean_and_sd(privacy)
    rows = []
    for (task, aggregator), quantities in account.items():
        facts = tasks[task]
        row = {"task": task, "stand_in": facts["stand_in"], "synthetic": facts["synthetic"]}
        row["teachers"], row["aggregator"] = facts["K"], aggregator
        row["asked"] = quantities["asked"][0]
        row["answered"], row["answered_sd"] = quantities["answered"]
        for name in _PRIVACY:
            row[name] = quantities.get(name, (np.nan,))[0]
        bought = _select_rows(labels, task, aggregator)[["correct", "answered"]].sum()
        any_answer = bought["answered"] > 0
        row["label_accuracy"] = bought["correct"] / bought["answered"] if any_answer else np.nan
        row |= _summarise_accuracy("student", _select_rows(trained, task, aggregator))
        row |= _summarise_accuracy("baseline", _select_rows(baselines, task))
        rows.append(row | {"release": NOT_FOR_RELEASE})
    return pd.DataFrame(rows)


def sanitized_privacy(
    privacy: pd.DataFrame, tasks: Mapping[str, Mapping[str, object]]
) -> pd.DataFrame:
    """Summarise what a confident aggregator costs and what may be published: Table 2 of PATE.

    Args:
        privacy: rows of results/pate/privacy.
        tasks: stand_in, synthetic and K, by name.

    Returns:
        One row per task with every quantity's mean over draws. The column `release` says that
        data-dependent ones among them are private.
    """
    rows = []
    for (task, aggregator), quantities in _mean_and_sd(privacy).items():
        if aggregator.startswith("lnmax"):
            continue
        facts = tasks[task]
        row = {"task": task, "stand_in": facts["stand_in"], "synthetic": facts["synthetic"]}
        row["aggregator"] = aggregator
        means = {name: mean for name, (mean, _) in quantities.items()}
        rows.append(row | means | {"release": NOT_FOR_RELEASE})
    return pd.DataFrame(rows)


def _mean_and_sd(privacy: pd.DataFrame) -> dict[tuple[str, str], dict[str, tuple[float, float]]]:
    """Return mean and sd over draws (NaN for one) of every quantity, by task and aggregator."""
    marks = (NOT_FOR_RELEASE, FREE_OF_VOTES)
    if wrong := set(privacy["release"]) - set(marks):
        raise ValueError(f"privacy: release = {wrong.pop()!r}: must be one of {', '.join(marks)}")
    statistics: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    grouped = privacy.groupby(["task", "aggregator", "quantity"], sort=False)["value"]
    for (task, aggregator, quantity), values in grouped:
        statistics.setdefault((task, aggregator), {})[quantity] = (values.mean(), values.std())
    return statistics


def _select_rows(frame: pd.DataFrame, task: str, aggregator: str | None = None) -> pd.DataFrame:
    if frame.empty:
        return frame
    chosen = frame["task"] == task
    return frame[chosen if aggregator is None else chosen & (frame["aggregator"] == aggregator)]


def _summarise_accuracy(role: str, rows: pd.DataFrame) -> dict[str, float]:
    """Return mean and sd of an accuracy, right answers and evaluated examples per seed."""
    rows = rows.reindex(columns=["accuracy", "correct", "evaluated"])
    return {
        f"{role}_accuracy": rows["accuracy"].mean(),
        f"{role}_accuracy_sd": rows["accuracy"].std(),
        f"{role}_correct": rows["correct"].mean(),
        f"{role}_evaluated": rows["evaluated"].iloc[0] if len(rows) else np.nan,
        f"{role}_seeds": len(rows),
    }
