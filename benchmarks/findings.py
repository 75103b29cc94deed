"""Many findings of one query: binary, tau and powerset voting, by their paper's account and ours.

The mechanisms are those of Private Multi-Winner Voting for Machine Learning (Dziedzic and others,
PoPETs 2023). Each answers the same queries for the same ensemble at the same epsilon and delta.
How many findings and vectors are right is the mean over the noise, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression

from benchmarks.measuring import describe, least, with_machine
from benchmarks.writing import chapter, table
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.pate.data_independent import rho_within
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution
from private_ensembles.votes.findings import few_ones, one_by_one

DELTA = 1e-5
TEACHERS, QUERIES, FINDINGS = 250, 50, 10
# Ones that a ballot may have where their number is limited.
MOST = 2
EPSILONS = (2.0, 8.0)
# Patients of the correlated profile have one of so many patterns of findings.
PATTERNS = 8
RECORDS_OF_A_TEACHER = 40
SEED = 1


@dataclass(frozen=True)
class Ensemble:
    """What teachers say: ballots, (queries, teachers, findings) of 0 and 1, and the truth."""

    ballots: NDArray[np.int64]
    truth: NDArray[np.int64]


def apart(queries: int, teachers: int) -> Ensemble:
    """Findings that have nothing to do with each other; 80 % of the teachers see one."""
    rng = np.random.default_rng(SEED)
    truth = (rng.random((queries, FINDINGS)) < 0.15).astype(np.int64)
    seen = np.where(truth == 1, 0.8, 0.05)[:, None, :]
    return Ensemble((rng.random((queries, teachers, FINDINGS)) < seen).astype(np.int64), truth)


def together(queries: int, teachers: int) -> Ensemble:
    """Patterns of two findings each: a teacher sees the right one or, in 40 %, another one."""
    rng = np.random.default_rng(SEED)
    patterns = np.zeros((PATTERNS, FINDINGS), dtype=np.int64)
    for pattern in patterns:
        pattern[rng.choice(FINDINGS, 2, replace=False)] = 1
    true = rng.integers(PATTERNS, size=queries)
    other = rng.integers(PATTERNS, size=(queries, teachers))
    right = rng.random((queries, teachers)) < 0.6
    return Ensemble(patterns[np.where(right, true[:, None], other)], patterns[true])


def trained(queries: int, teachers: int) -> Ensemble:
    """Logistic regressions, one for each finding, on disjoint shards of scikit-learn's data."""
    data, truth = make_multilabel_classification(
        n_samples=queries + teachers * RECORDS_OF_A_TEACHER,
        n_features=30,
        n_classes=FINDINGS,
        n_labels=2,
        length=60,
        random_state=SEED,
    )
    asked, ballots = data[:queries], np.zeros((queries, teachers, FINDINGS), dtype=np.int64)
    for teacher in range(teachers):
        start = queries + teacher * RECORDS_OF_A_TEACHER
        shard = slice(start, start + RECORDS_OF_A_TEACHER)
        for finding in range(FINDINGS):
            known = truth[shard, finding]
            if known.min() == known.max():  # none of its records has it, or all
                ballots[:, teacher, finding] = known[0]
                continue
            model = LogisticRegression(C=0.05).fit(data[shard], known)
            ballots[:, teacher, finding] = model.predict(asked)
    return Ensemble(ballots, truth[:queries].astype(np.int64))


SOURCES = {"apart": apart, "together": together, "trained": trained}


def of_counts(ensemble: Ensemble, seen: NDArray, spread: float) -> tuple[float, float]:
    """Shares of right findings and vectors if each count of yes has Gaussian noise of `spread`."""
    teachers = ensemble.ballots.shape[1]
    yes = ndtr((seen - teachers / 2) / spread)
    right = np.where(ensemble.truth == 1, yes, 1 - yes)
    return float(right.mean()), float(right.prod(axis=1).mean())


def binary(
    ensemble: Ensemble, epsilon: float, name: str, most: int | None = None
) -> tuple[float, float, float]:
    """GNMax on each finding, yes against no. most: ones that are left of a ballot."""
    queries, teachers, findings = ensemble.ballots.shape
    labels = queries * findings
    size = {"n_teachers": teachers, "n_classes": 2, "findings": findings, "most_ones": most}
    noise = load(name).calibrate(Task(epsilon, DELTA, labels, labels, **size))
    votes = one_by_one(ensemble.ballots)
    votes = votes if most is None else few_ones(votes, findings, most)
    seen = votes.sum(axis=1).reshape(queries, findings)
    # Two counts with noise of sigma each: their difference is twice the count of yes less K.
    spread = noise.sigma / math.sqrt(2)
    return spread, *of_counts(ensemble, seen, spread)


def tau(ensemble: Ensemble, epsilon: float, analysis: str, most: int) -> tuple[float, float, float]:
    """Tau voting: a ballot shorter than sqrt(most), noise on the counts of yes alone.

    Two such ballots are at most sqrt(2 most) apart, so that Q queries cost rho = Q most / sigma^2.
    """
    queries = len(ensemble.ballots)
    spread = math.sqrt(queries * most / rho_within(epsilon, DELTA, analysis))
    length = np.sqrt(ensemble.ballots.sum(axis=2, keepdims=True))
    shrunk = ensemble.ballots * np.minimum(1, math.sqrt(most) / np.maximum(length, 1))
    return spread, *of_counts(ensemble, shrunk.sum(axis=1), spread)


def powerset(ensemble: Ensemble, epsilon: float, name: str) -> tuple[float, float, float]:
    """GNMax with every vector of findings as a class."""
    queries, teachers, findings = ensemble.ballots.shape
    places = 2 ** np.arange(findings)
    classes = 2**findings
    chosen = ensemble.ballots @ places
    counts = np.stack([np.bincount(row, minlength=classes) for row in chosen])
    noise = load(name).calibrate(Task(epsilon, DELTA, queries, queries, teachers, classes))
    chances = gnmax_distribution(counts, noise.sigma)
    vectors = (np.arange(classes)[:, None] // places) % 2
    same = np.stack([(vectors == true).mean(axis=1) for true in ensemble.truth])
    whole = chances[np.arange(queries), ensemble.truth @ places]
    return noise.sigma, float((chances * same).sum(axis=1).mean()), float(whole.mean())


MECHANISMS: dict[str, Callable] = {
    "binary, Rényi": lambda e, eps: binary(e, eps, "gnmax"),
    "binary, labels": lambda e, eps: binary(e, eps, "gnmax_exact"),
    "binary, at most two ones, labels": lambda e, eps: binary(e, eps, "gnmax_exact", MOST),
    "τ voting, Rényi": lambda e, eps: tau(e, eps, "classic", MOST),
    "τ voting, exact": lambda e, eps: tau(e, eps, "exact", MOST),
    "powerset, Rényi": lambda e, eps: powerset(e, eps, "gnmax"),
    "powerset, labels": lambda e, eps: powerset(e, eps, "gnmax_exact"),
}


def without_noise(ensemble: Ensemble) -> dict[str, tuple[float, float]]:
    """Shares of right findings and vectors: of the majority, of one teacher, and of saying no."""
    ballots, truth = ensemble.ballots, ensemble.truth
    majority = (2 * ballots.sum(axis=1) > ballots.shape[1]).astype(np.int64)
    one = ballots == truth[:, None, :]
    return {
        "majority without noise": (
            float((majority == truth).mean()),
            float((majority == truth).all(axis=1).mean()),
        ),
        "one teacher": (float(one.mean()), float(one.all(axis=2).mean())),
        "no to everything": (float((truth == 0).mean()), float((truth == 0).all(axis=1).mean())),
    }


def measure(*, quick: bool = False) -> pd.DataFrame:
    """A row for each ensemble, mechanism and epsilon. quick: small ensembles, at one epsilon."""
    facts = describe("numpy", "scipy", "scikit-learn")
    rows = []
    for source, made in SOURCES.items():
        ensemble = made(*((5, 40) if quick else (QUERIES, TEACHERS)))
        for name, (findings, vectors) in without_noise(ensemble).items():
            rows.append(
                {"source": source, "mechanism": name, "findings": findings, "vectors": vectors}
            )
        for epsilon in EPSILONS[-1:] if quick else EPSILONS:
            for name, shares in MECHANISMS.items():
                timing, found = least(lambda at=epsilon, of=shares, e=ensemble: of(e, at))
                spread, findings, vectors = found
                rows.append(
                    {
                        "source": source,
                        "mechanism": name,
                        "epsilon": epsilon,
                        "noise": spread,
                        "findings": findings,
                        "vectors": vectors,
                        "seconds": timing["seconds"],
                    }
                )
    return with_machine(rows, facts)


def section(data: pd.DataFrame) -> str:
    """The results in Markdown."""
    wide = data.assign(
        budget=["–" if math.isnan(epsilon) else f"{epsilon:g}" for epsilon in data["epsilon"]]
    )
    rows = []
    for (name, budget), part in wide.groupby(["mechanism", "budget"], sort=False):
        row = {"mechanism": name, "budget": budget}
        for one in part.to_dict("records"):
            source = one["source"]
            row[f"{source}_findings"], row[f"{source}_vectors"] = one["findings"], one["vectors"]
        rows.append(row)
    rows.sort(key=lambda row: row["budget"])
    columns = {"mechanism": "{mechanism}", "ε": "{budget}"}
    for source in SOURCES:
        columns[f"{source}: findings"] = f"{{{source}_findings:.3f}}"
        columns[f"{source}: vectors"] = f"{{{source}_vectors:.3f}}"
    return chapter(
        "Many findings of one query",
        "findings",
        f"{QUERIES} queries of {FINDINGS} findings, {TEACHERS} teachers, δ = 10⁻⁵: the share of "
        "findings, and of whole vectors, that are right, in the mean over the noise. *Apart*: "
        "findings are there with a chance of 15 %, whatever the others; 80 % of teachers see one "
        "that is there, 5 % one that is not. *Together*: each query has one of "
        f"{PATTERNS} patterns of two findings, and a teacher says the right pattern or, in 40 %, "
        "any of them. *Trained*: logistic regressions on disjoint shards of "
        f"{RECORDS_OF_A_TEACHER} records of scikit-learn's `make_multilabel_classification` (30 "
        "features, two labels in the mean). *Rényi*: calibrated as the paper does, without looking "
        "at votes; its data-dependent costs are not private and not compared. *Labels* and *exact*:"
        " by the accounts here. *At most two ones*: ballots are cut to the first two, and four "
        "labels of each query are charged. τ voting shortens ballots to √2. What follows from it: "
        "[multi-label.md](../multi-label.md).",
        data,
        table(columns, pd.DataFrame(rows), words=1),
    )
