"""DPBag's tables: what students achieve, how many labels a budget buys, and what they truly cost.

Every function takes data frames or plain values and returns a data frame; columns are only added,
never renamed. epsilon in nats, metrics as fractions.
"""

import math
from collections.abc import Iterable
from itertools import product

import pandas as pd

from private_ensembles.papers.common.standard_errors import (
    StandardError,
    VariancePart,
    standard_error,
)
from private_ensembles.papers.dpbag.mathematics.budget import data_independent_count
from private_ensembles.papers.dpbag.mathematics.label_loss import plain_epsilon, plain_label_count

# These are measured of a student.
METRICS = ("accuracy", "auroc", "auprc")
_PLAIN = "(epsilon, delta)-DP for everyone"
# A number in these tables promises this much; it is shown beside it.
GUARANTEES = {
    "dpbag": (
        "personalised (epsilon, delta), weaker than DP: each record's cost, and when to stop, "
        "depend on the data; plain_epsilon holds for everyone after as many labels"
    ),
    "dpbag_minus": _PLAIN,
    "saa": _PLAIN,
    "npb": "none",
}
# One record is in one shard of each partition; the shards are cut from permutations.
_MODEL = {"privacy_model": "disjoint_shards", "adjacency": "replace_one"}
# The authors' code of May 2019 makes a printed number from as many splits (`Iterations` of its
# main.py), with one draw of the noise each.
_PRINTED_SPLITS = 10
_ACCURACY_KEY = ["dataset", "stand_in", "model", "method", "n", "k", "epsilon", "delta"]
_LABEL_KEY = ["dataset", "stand_in", "model", "n", "k", "accounting", "epsilon", "delta"]


def student_accuracy(students: pd.DataFrame) -> pd.DataFrame:
    """Summarise students over splits of the data and draws of the noise: Tables 5 and 7.

    The result has one row per _ACCURACY_KEY with

    labels, label_accuracy       means of the number of labels and the share of right ones
    plain_epsilon                largest of the splits: what as many labels cost everyone
    <metric>_mean, <metric>_sd   over all splits and draws (n - 1; missing for one)
    <metric>_sd_splits           of the means of each split
    <metric>_error, _freedom     standard error of the difference to a printed mean and its degrees
                                 of freedom (`error_of_difference`); missing for one split
    splits, draws                how many; draws of all splits together
    privacy_model, adjacency, guarantee    what epsilon and delta promise

    Args:
        students: rows of ``results/dpbag/students/*/*.csv``.

    Raises:
        ValueError: columns are missing, or a metric is outside [0, 1].
    """
    _require(students, [*_ACCURACY_KEY, "seed", "labels", "plain_epsilon", *METRICS], "students")
    for metric in METRICS:
        if not (students[metric].isna() | students[metric].between(0, 1)).all():
            raise ValueError(f"students: {metric} must be in [0, 1]")
    rows = []
    for key, group in students.groupby(_ACCURACY_KEY, sort=False, dropna=False):
        row = dict(zip(_ACCURACY_KEY, key, strict=True))
        for name in ("labels", "label_accuracy"):
            row[name] = group[name].mean()
        row["plain_epsilon"] = group["plain_epsilon"].max()
        for metric in METRICS:
            row[f"{metric}_mean"] = group[metric].mean()
            row[f"{metric}_sd"] = group[metric].std()
            by_split = group.groupby("seed")[metric]
            row[f"{metric}_sd_splits"] = by_split.mean().std()
            row[f"{metric}_error"], row[f"{metric}_freedom"] = error_of_difference(by_split)
        row["splits"], row["draws"] = group["seed"].nunique(), len(group)
        rows.append(row | _MODEL | {"guarantee": GUARANTEES[row["method"]]})
    return pd.DataFrame(rows)


def students_by_split(students: pd.DataFrame) -> pd.DataFrame:
    """Return what each student achieved, for differences of students on the same split.

    Args:
        students: as `student_accuracy` takes them.

    Returns:
        The columns _ACCURACY_KEY, seed (the split), draw (of the noise) and METRICS.

    Raises:
        ValueError: columns are missing.
    """
    columns = [*_ACCURACY_KEY, "seed", "draw", *METRICS]
    _require(students, columns, "students")
    return students[columns]


def counts_by_split(counts: pd.DataFrame) -> pd.DataFrame:
    """Return how many labels a budget buys on each split, for differences on the same split.

    Args:
        counts: as `label_counts` takes them.

    Returns:
        The columns _LABEL_KEY, seed (the split), releasable and first_exceeding, NaN if a split's
        queries end first.

    Raises:
        ValueError: columns are missing.
    """
    columns = [*_LABEL_KEY, "seed", "releasable", "first_exceeding"]
    _require(counts, columns, "counts")
    return counts[columns]


def label_counts(counts: pd.DataFrame, affordable: pd.DataFrame) -> pd.DataFrame:
    """Summarise how many labels a budget buys over splits of the data: Tables 6 and 8.

    The result has one row per _LABEL_KEY with

    releasable_mean, _sd         most labels within the budget; missing if the accounting is
                                 `conjectured`, which releases nothing
    first_exceeding_mean, _sd    the first number beyond it, which the paper prints; missing if
                                 a split's queries end first
    first_exceeding_error, _freedom    standard error of the difference to a printed mean and its
                                 degrees of freedom (`error_of_difference`); missing for one split
    gain                         releasable_mean over the data-independent releasable
    rms_m                        of the record that the labels cost most, mean over splits
    plain_epsilon                largest of the splits: what as many labels cost everyone
    plain_labels                 labels that are (epsilon, delta)-DP for everyone, by exact
                                 composition, whatever the votes
    splits, privacy_model, adjacency, release

    Args:
        counts: rows of ``results/dpbag/privacy/*/*.csv``.
        affordable: the frame of `affordable_labels`.

    Raises:
        ValueError: columns are missing.
    """
    _require(counts, [*_LABEL_KEY, "seed", "releasable", "first_exceeding"], "counts")
    plain = affordable.set_index(["n", "epsilon", "delta"])
    rows = []
    for key, group in counts.groupby(_LABEL_KEY, sort=False):
        row = dict(zip(_LABEL_KEY, key, strict=True))
        limits = plain.loc[(row["n"], row["epsilon"], row["delta"])]
        for name in ("releasable", "first_exceeding"):
            is_complete = group[name].notna().all()
            row[f"{name}_mean"] = group[name].mean() if is_complete else None
            row[f"{name}_sd"] = group[name].std() if is_complete else None
        by_split = group.groupby("seed")["first_exceeding"]
        error = error_of_difference(by_split) if is_complete else (None, None)
        row["first_exceeding_error"], row["first_exceeding_freedom"] = error
        independent = limits["data_independent"]
        has_gain = independent and row["releasable_mean"] is not None
        row["gain"] = row["releasable_mean"] / independent if has_gain else None
        row["rms_m"] = group["rms_m"].mean()
        row["plain_epsilon"] = group["plain_epsilon"].max()
        row["plain_labels"] = int(limits["plain"])
        row["splits"] = group["seed"].nunique()
        rows.append(row | _MODEL | {"release": group["release"].iloc[0]})
    return pd.DataFrame(rows).sort_values(
        ["dataset", "model", "accounting", "n", "k", "delta", "epsilon"], kind="stable"
    )


def error_of_difference(by_split, splits: int | None = None) -> StandardError:
    """Return the standard error of our mean less a mean of ten other splits, one draw each.

    A draw has the variance v + w: v of the splits, w of the noise. The means of our splits have the
    variance V = v + w / d, their mean V / S, and the printed mean
    (v + w) / 10 = (V + (1 - 1 / d) w) / 10. V and w are estimated from ours, with S - 1 and
    S (d - 1) degrees of freedom: what is printed is taken to vary as ours does.

    Args:
        by_split: pandas groups of one column by split, as many draws d in each of S splits.
        splits: How many splits there are to be, with the spread of these; S unless it is given.

    Returns:
        The error with its degrees of freedom, NaN for groups of one split.

    >>> draws = pd.DataFrame({"split": [0, 0, 1, 1], "x": [1.0, 3.0, 5.0, 7.0]})
    >>> size, freedom = error_of_difference(draws.groupby("split")["x"])
    >>> round(size**2, 9)  # 8 / 2 + (8 + 2 / 2) / 10, with 1 and 2 degrees of freedom
    4.9
    >>> round(freedom, 4)
    1.0419
    """
    draws = by_split.size().mean()
    if by_split.ngroups == 1:
        return StandardError(math.nan, math.nan)
    splits = by_split.ngroups if splits is None else splits
    between = (1 / splits + 1 / _PRINTED_SPLITS) * by_split.mean().var()
    parts = [VariancePart(between, splits - 1)]
    if draws > 1:
        within = by_split.var().mean()
        parts.append(VariancePart((1 - 1 / draws) * within / _PRINTED_SPLITS, splits * (draws - 1)))
    return standard_error(parts)


def affordable_labels(
    shards: Iterable[int],
    epsilons: Iterable[float],
    deltas: Iterable[float],
    *,
    noise: float,
    order_max: int,
) -> pd.DataFrame:
    """Return how many labels everyone's budget buys, whatever the data: SAA, DPBag-, and exactly.

    Args:
        shards: numbers n of shards.
        epsilons: the budgets.
        deltas: their deltas.
        noise: lambda times the number of shards.
        order_max: the largest order of the moments.

    Returns:
        A frame with n, noise (lambda), epsilon, delta, data_independent (most labels within the
        budget by the papers' moments accountant), first_exceeding (one more, as the papers print),
        plain (most labels by the whole loss) and plain_epsilon (what data_independent labels cost
        exactly). Nothing in it is private.
    """
    rows = []
    for n, delta, epsilon in product(shards, deltas, epsilons):
        scale = noise / n
        count = data_independent_count(epsilon, scale, delta, order_max)
        rows.append(
            {
                "n": n,
                "noise": scale,
                "epsilon": epsilon,
                "delta": delta,
                "data_independent": count.releasable,
                "first_exceeding": count.published,
                "plain": plain_label_count(epsilon, scale, delta),
                "plain_epsilon": plain_epsilon(count.releasable, scale, delta),
            }
        )
    return pd.DataFrame(rows)


def _require(frame: pd.DataFrame, columns: Iterable[str], name: str) -> None:
    missing = [column for column in columns if column not in frame]
    if missing:
        raise ValueError(f"{name}: lacks the columns {', '.join(missing)}")
