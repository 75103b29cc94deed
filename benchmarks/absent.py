"""What it costs in right labels to deal absent ballots out, beside leaving them uncounted.

The same ballots of the profile of config.yaml, a third of them absent, and the same noise. Leaving
them uncounted is only a measure: nothing here proves what it would cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.measuring import add_machine, describe_machine
from benchmarks.writing import format_section, format_table
from private_ensembles.labels.ballots import deal_absent_ballots
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.planner.defaults import ASSUMED_PROFILE
from private_ensembles.labels.profile import ConsensusProfile, synthetic_queries
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

CLASSES, EPSILON, DELTA, MISSING = 10, 4.0, 1e-5, 1 / 3
TEACHERS, LABELS, MECHANISMS = (11, 50, 250), (1, 20), ("gnmax_exact", "permute_and_flip")
QUERIES = 2000
QUICK = ((11,), (1,), ("gnmax_exact",))
# Of all teachers: what the plurality must reach, by Confident-GNMax; and of its noise.
THRESHOLD, SIGMA = 0.6, 0.1


def draw_ballots(
    teachers: int, queries: int = QUERIES
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The votes that were cast, (queries, classes), all votes if nobody were absent, and labels."""
    queries_of, votes_of = np.random.default_rng(0).spawn(2)
    profile = ConsensusProfile(CLASSES, **ASSUMED_PROFILE)
    probabilities, labels = synthetic_queries(profile, queries, queries_of)
    cast = votes_of.binomial(teachers, 1 - MISSING, queries)
    there = votes_of.multinomial(cast, probabilities)
    return there, there + votes_of.multinomial(teachers - cast, probabilities), labels


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Expected right labels for each number of teachers and labels and each mechanism."""
    facts = describe_machine("numpy", "scipy")
    rows = []
    for teachers in QUICK[0] if quick else TEACHERS:
        there, full, truth = draw_ballots(teachers, 200 if quick else QUERIES)
        kinds = {"full": full, "uncounted": there, "dealt": deal_absent_ballots(there, teachers)}
        for labels in QUICK[1] if quick else LABELS:
            for name in QUICK[2] if quick else MECHANISMS:
                mechanism = load_mechanism(name)
                task = Task(
                    Ensemble(teachers, CLASSES, absent=True), Budget(EPSILON, DELTA), Wanted(labels)
                )
                noise = mechanism.calibrate(task)
                right = {
                    kind: apply_by_total(
                        mechanism.law.probability_correct, counts, noise, truth
                    ).mean()
                    for kind, counts in kinds.items()
                }
                case = {"teachers": teachers, "labels": labels, "mechanism": name}
                rows.append(case | right | {"answers_uncounted": np.nan, "answers_dealt": np.nan})
        rows.append(_measure_confident(teachers, kinds, truth))
    return add_machine(rows, facts)


def apply_by_total(function: Callable, counts: np.ndarray, noise: Parameters, *columns: np.ndarray):
    """Return of(counts, ..., noise) for all rows: a law takes rows of one number of votes."""
    found = None
    for total in np.unique(counts.sum(axis=1)):
        rows = counts.sum(axis=1) == total
        part = function(counts[rows], *(column[rows] for column in columns), noise)
        found = np.empty((len(counts), *part.shape[1:])) if found is None else found
        found[rows] = part
    return found


def _measure_confident(teachers: int, kinds: dict, truth: np.ndarray) -> dict:
    """Confident-GNMax with one threshold for all: shares of queries answered, and right of them."""
    mechanism = load_mechanism("confident_gnmax")
    task = Task(Ensemble(teachers, CLASSES, absent=True), Budget(EPSILON, DELTA), Wanted(1))
    sizes = {"threshold": THRESHOLD * teachers, "sigma1": SIGMA * teachers}
    noise = replace(mechanism.calibrate(task), **sizes, sigma2=SIGMA * teachers)
    row = {"teachers": teachers, "labels": 0, "mechanism": "confident_gnmax"}
    for kind, counts in kinds.items():
        answers = 1 - apply_by_total(mechanism.law.outcome_distribution, counts, noise)[:, 0]
        right = apply_by_total(mechanism.law.probability_correct, counts, noise, truth)
        row[kind] = right.sum() / answers.sum()
        if kind != "full":
            row[f"answers_{kind}"] = answers.mean()
    return row


def format_accuracy(data: pd.DataFrame) -> str:
    """Right labels in per cent: if all vote, and a third is missing, uncounted or dealt out."""
    columns = {
        "mechanism": "{mechanism}",
        "teachers": "{teachers}",
        "noise for": "{labels} labels",
        "all vote": "{full:.2%}",
        "a third missing, uncounted": "{uncounted:.2%}",
        "dealt out": "{dealt:.2%}",
    }
    rows = data[data["labels"] > 0]
    return (
        format_table(columns, rows, words=1).replace("%", " %").replace("| 1 labels", "| 1 label")
    )


def format_threshold(data: pd.DataFrame) -> str:
    """Confident-GNMax with one threshold: how many queries are answered, and right of them."""
    columns = {
        "teachers": "{teachers}",
        "answered, uncounted": "{answers_uncounted:.1%}",
        "answered, dealt out": "{answers_dealt:.1%}",
        "right of them, uncounted": "{uncounted:.1%}",
        "right of them, dealt out": "{dealt:.1%}",
    }
    return format_table(columns, data[data["labels"] == 0]).replace("%", " %")


def section(data: pd.DataFrame) -> str:
    """The results in Markdown."""
    return format_section(
        "Absent ballots",
        "absent",
        "Expected right labels on the profile of [config.yaml](../../config.yaml), "
        f"{CLASSES} classes, {QUERIES:,} queries, with the noise for ε = {EPSILON:g} at "
        "δ = 10⁻⁵: if all teachers vote, and if a third of the same ballots is absent. These are "
        "left uncounted, of which no account is given, or dealt out to the classes "
        "([ballots.md](../ballots.md#absent-voters)). Last, Confident-GNMax with a threshold of "
        f"{THRESHOLD:g} and noise of {SIGMA:g} times the number of teachers.",
        data,
        format_accuracy(data),
        format_threshold(data),
    )
