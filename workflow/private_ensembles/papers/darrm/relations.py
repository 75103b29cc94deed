"""What DaRRM says of several of its accuracies at once: orders, and how far apart.

Ours are exact expectations over all test images, one for each training of the teachers: two
mechanisms of one training have their teachers in common, so that a difference varies less than
either accuracy. The printed accuracies are of one training, ten draws of the queries each.
"""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from private_ensembles.papers.common.standard_errors import VariancePart, standard_error
from private_ensembles.papers.compare.judging import (
    Estimate,
    Evidence,
    Relation,
    mean_over_runs,
)

# The tables of accuracies have these allowances m.
_TABLES = {"table6": 1, "table1": 3, "table8": 5, "table10": 7}
_OPT, _SUB, _GNMAX = "darrm_opt", "darrm_sub", "gnmax"
_NAMES = {_OPT: "gamma_opt", _SUB: "gamma_sub", _GNMAX: "GNMax"}
_DRAWS = 10
_ONE_TRAINING = "One training of the teachers: no spread of our own to judge by."
# With two classes a guess is right half of the time.
_GUESS = 0.5
# Accuracies are printed with two digits.
_HALF_DIGIT = 0.005
# Section 1.1 says "10%-15% and 30% higher accuracy": the middle of each, and half its width.
_HIGHER = {"mnist": (0.125, 0.025), "fashion-mnist": (0.30, 0.005)}

Weights = dict[tuple[str, str], float]


def relations(evidence: Evidence) -> Iterator[Relation]:
    """Yield the paper's relations."""
    for dataset in _HIGHER:
        yield _claimed_gap(evidence, dataset)
        for item in _TABLES:
            yield _relate_pooled(evidence, item, dataset, _gap(_OPT, _GNMAX, [item]), "above GNMax")
        yield _equality_at_one(evidence, dataset)
        for item in ("table1", "table8", "table10"):
            yield _relate_order(evidence, item, dataset, _OPT, _SUB, [item])
        yield _relate_order(evidence, "section6.2", dataset, _SUB, _GNMAX, list(_TABLES))
        for shown, mechanisms in (("DaRRM", (_OPT, _SUB)), ("GNMax", (_GNMAX,))):
            weights = {(item, name): 1.0 for item in _TABLES for name in mechanisms}
            weights_of_mean = {cell: 1 / len(weights) for cell in weights}
            yield _relate_pooled(
                evidence, "section6.2", dataset, weights_of_mean, f"all tables, {shown}"
            )


def _gap(above: str, below: str, items: list[str]) -> Weights:
    """Return the weights of a mean difference of two mechanisms over tables."""
    gaps = {(item, name): sign for item in items for name, sign in ((above, 1.0), (below, -1.0))}
    return {cell: sign / len(items) for cell, sign in gaps.items()}


def _claimed_gap(evidence: Evidence, dataset: str) -> Relation:
    """Relate section 1.1's claim to our Table 1; the note says what the printed one makes of it."""
    weights = _gap(_OPT, _GNMAX, ["table1"])
    claimed, half = _HIGHER[dataset]
    above, _ = _sum_printed(evidence, dataset, weights)
    below, _ = _sum_printed(evidence, dataset, {("table1", _GNMAX): 1.0})
    percent = 100 * above / below
    note = f"The printed Table 1 has {above:.3g}: {percent:.0f} % more than GNMax's {below:.3g}."
    relation = _relate_pooled(evidence, "section1.1", dataset, weights, "above GNMax in Table 1")
    return relation._replace(published=claimed, half=half, note=note)


def _equality_at_one(evidence: Evidence, dataset: str) -> Relation:
    """Relate the caption of Table 6, at m = 1: "there is not much difference".

    Claimed is none, up to the printed digits, and not as much as Table 1 prints at m = 3. Ours
    are expectations: the draws of queries, by which the printed numbers differ, are not in them.
    """
    relation = _relate_order(evidence, "table6", dataset, _OPT, _SUB, ["table6"])
    at_three, _ = _sum_printed(evidence, dataset, _gap(_OPT, _SUB, ["table1"]))
    note = f"The printed Table 6 has {relation.published:.3g}, by the queries that were drawn."
    return relation._replace(
        kind="pooled",
        row="gamma_opt as good as gamma_sub",
        column="accuracy: by how much",
        published=0.0,
        half=_HALF_DIGIT,
        no_effect=at_three,
        note=note,
    )


def _relate_order(
    evidence: Evidence, item: str, dataset: str, above: str, below: str, items: list[str]
) -> Relation:
    """Relate one mechanism to another that it beats, beyond what trainings differ by."""
    weights = _gap(above, below, items)
    ours, missing = _sum_by_training(evidence, dataset, weights)
    row, column = f"{_NAMES[above]} above {_NAMES[below]}", "accuracy: mean difference"
    printed, _ = _sum_printed(evidence, dataset, weights)
    relation = Relation(
        "order", item, dataset, row, column, printed, None, table=items[0], missing=missing
    )
    if ours is None:
        return relation
    with_runs = partial(mean_over_runs, ours)
    return relation._replace(ours=with_runs(), with_runs=with_runs)


def _relate_pooled(
    evidence: Evidence, item: str, dataset: str, weights: Weights, words: str
) -> Relation:
    """Relate a weighted sum of our accuracies to the printed one, whose training is one more."""
    ours, missing = _sum_by_training(evidence, dataset, weights)
    printed, parts = _sum_printed(evidence, dataset, weights)
    gap = any(weight < 0 for weight in weights.values())
    row = f"gamma_opt {words}" if gap else words
    column = "accuracy: by how much" if gap else "accuracy: mean"
    options = {"table": next(iter(weights))[0], "missing": missing}
    options["no_effect"] = 0.0 if gap else _GUESS
    relation = Relation("pooled", item, dataset, row, column, printed, None, **options)
    if ours is None:
        return relation
    mean, variance = float(ours.mean()), float(ours.var(ddof=1))

    def with_runs(runs: int) -> Estimate:
        between = VariancePart((1 + 1 / runs) * variance, runs - 1)
        return Estimate(mean, *standard_error([*parts, between]))

    return relation._replace(ours=with_runs(len(ours)), with_runs=with_runs)


def _sum_printed(
    evidence: Evidence, dataset: str, weights: Weights
) -> tuple[float, list[VariancePart]]:
    """Return the weighted sum of printed means over queries, and its variance by parts.

    Every accuracy has a part of its own: which draws two of them share is not printed.
    """
    total, parts = 0.0, []
    for (item, name), weight in weights.items():
        cells = evidence.printed_numbers(item)
        cells = cells[(cells["dataset"] == dataset) & (cells["column"] == name)]
        share = weight / len(cells)
        total += share * float(cells["published"].sum())
        parts += [
            VariancePart((share * sd) ** 2 / _DRAWS, _DRAWS - 1) for sd in cells["published_sd"]
        ]
    return total, parts


def _sum_by_training(
    evidence: Evidence, dataset: str, weights: Weights
) -> tuple[pd.Series | None, str]:
    """Return the weighted sum for each of our trainings; None, and why, if they show no spread."""
    total = None
    for (item, name), weight in weights.items():
        table = evidence.table(f"{item}_by_training")
        if table is None:
            return None, ""
        rows = table[(table["dataset"] == dataset) & (table["mechanism"] == name)]
        values = weight * rows.set_index("training_seed")["expected_accuracy"]
        total = values if total is None else total + values
    if total is None or total.empty or total.isna().any():
        return None, ""
    return (total, "") if len(total) > 1 else (None, _ONE_TRAINING)
