"""What it costs in right labels to deal absent ballots out, beside leaving them uncounted.

The same ballots of the profile of config.yaml are used, a third of them absent, and the same noise.
Leaving them uncounted is only a measure: nothing here proves what it would cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

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
# Confident-GNMax's threshold and its noise are these shares of all teachers.
THRESHOLD, SIGMA = 0.6, 0.1


class DrawnBallots(NamedTuple):
    """Ballots of some queries.

    Attributes:
        cast: the votes that were cast, (queries, classes) int.
        full: all votes if nobody were absent, (queries, classes) int.
        labels: true labels, (queries,) int.
    """

    cast: np.ndarray
    full: np.ndarray
    labels: np.ndarray


def draw_ballots(teachers: int, queries: int = QUERIES) -> DrawnBallots:
    """Draw ballots of the profile, of which a third is absent; always the same."""
    query_source, vote_source = np.random.default_rng(0).spawn(2)
    profile = ConsensusProfile(CLASSES, **ASSUMED_PROFILE)
    probabilities, labels = synthetic_queries(profile, queries, query_source)
    present = vote_source.binomial(teachers, 1 - MISSING, queries)
    cast = vote_source.multinomial(present, probabilities)
    return DrawnBallots(
        cast, cast + vote_source.multinomial(teachers - present, probabilities), labels
    )


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Measure expected right labels for each number of teachers and labels and each mechanism."""
    facts = describe_machine("numpy", "scipy")
    rows = []
    for teachers in QUICK[0] if quick else TEACHERS:
        cast, full, truth = draw_ballots(teachers, 200 if quick else QUERIES)
        counts_by_kind = {
            "full": full,
            "uncounted": cast,
            "dealt": deal_absent_ballots(cast, teachers),
        }
        for labels in QUICK[1] if quick else LABELS:
            for name in QUICK[2] if quick else MECHANISMS:
                mechanism = load_mechanism(name)
                task = Task(
                    Ensemble(teachers, CLASSES, absent=True), Budget(EPSILON, DELTA), Wanted(labels)
                )
                noise = mechanism.calibrate(task)
                accuracies = {
                    kind: apply_by_total(
                        mechanism.law.probability_correct, counts, noise, truth
                    ).mean()
                    for kind, counts in counts_by_kind.items()
                }
                case = {"teachers": teachers, "labels": labels, "mechanism": name}
                rows.append(
                    case | accuracies | {"answers_uncounted": np.nan, "answers_dealt": np.nan}
                )
        rows.append(_measure_confident(teachers, counts_by_kind, truth))
    return add_machine(rows, facts)


def apply_by_total(function: Callable, counts: np.ndarray, noise: Parameters, *columns: np.ndarray):
    """Return function(counts, ..., noise) for all rows: a law takes rows of one number of votes.

    Args:
        function: of a law.
        counts: (queries, classes) int, rows with any number of votes.
        noise: of the law.
        *columns: further arrays with a row for each query.
    """
    result = None
    for total in np.unique(counts.sum(axis=1)):
        rows = counts.sum(axis=1) == total
        values = function(counts[rows], *(column[rows] for column in columns), noise)
        result = np.empty((len(counts), *values.shape[1:])) if result is None else result
        result[rows] = values
    return result


def _measure_confident(teachers: int, kinds: dict, truth: np.ndarray) -> dict:
    """Measure Confident-GNMax with one threshold for all: shares answered, and right of these."""
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
    """Return right labels of MECHANISMS[0], %: all vote, or a third is uncounted or dealt out."""
    columns = {
        "teachers": "{teachers}",
        "labels": "{labels}",
        "all vote (%)": "{full:.2f}",
        "a third uncounted (%)": "{uncounted:.2f}",
        "a third dealt out (%)": "{dealt:.2f}",
    }
    shares = ["full", "uncounted", "dealt"]
    rows = data[data["mechanism"] == MECHANISMS[0]]
    return format_table(columns, rows.assign(**100 * rows[shares]))


def format_threshold(data: pd.DataFrame) -> str:
    """Return how many queries Confident-GNMax answers with one threshold, and right ones."""
    columns = {
        "teachers": "{teachers}",
        "answered, uncounted (%)": "{answers_uncounted:.1f}",
        "answered, dealt out (%)": "{answers_dealt:.1f}",
        "right of them, uncounted (%)": "{uncounted:.1f}",
        "right of them, dealt out (%)": "{dealt:.1f}",
    }
    shares = ["answers_uncounted", "answers_dealt", "uncounted", "dealt"]
    rows = data[data["labels"] == 0]
    return format_table(columns, rows.assign(**100 * rows[shares]))


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    other = data[(data["labels"] > 0) & (data["mechanism"] != MECHANISMS[0])]
    lost = 100 * (other["uncounted"] - other["dealt"]).max()
    text = (
        f"Right labels of `{MECHANISMS[0]}` if all teachers vote and if a third of the ballots is "
        "absent, left uncounted (for which no cost is proven) or "
        f"[dealt out](../own-votes.md#absent-voters): expected for {QUERIES:,} queries of "
        f"{CLASSES} classes on the profile of [config.yaml](../../config.yaml), with the noise for "
        f"so many labels at ε = {EPSILON:g} and δ = 10⁻⁵."
    )
    if len(other):
        text += f" Dealing costs `{MECHANISMS[1]}` at most {lost:.2f} points."
    return format_section(
        "Absent ballots",
        "absent",
        text,
        data,
        format_accuracy(data),
        f"Confident-GNMax with a threshold of {THRESHOLD:g} and noise of {SIGMA:g} times the "
        "number of teachers:",
        format_threshold(data),
    )
