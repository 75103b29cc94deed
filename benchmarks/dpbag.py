"""DPBag: batched logistic regressions against scikit-learn, and the personalised accounting.

Seconds are processor time on one thread. scikit-learn fits a sample of the shards, one by one as
DPBag's public code does, and its time is that of the sample times the number of fits.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.measuring import ROOT, add_machine, describe_machine, peak_memory, time_call
from benchmarks.writing import format_section, format_table
from private_ensembles.papers.dpbag.experiment import Thirds, split_thirds
from private_ensembles.papers.dpbag.mathematics.personalised import running_costs
from private_ensembles.papers.dpbag.votes import BaggedVotes, pack_votes
from private_ensembles.training.data.adult import load_adult
from private_ensembles.training.data.shards import draw_partitions, shard_of_record
from private_ensembles.training.teachers.logistic import fit_shards

GRID = tuple((n, k) for n in (50, 100, 250) for k in (10, 50, 100))
SAMPLE = 100  # shards that scikit-learn fits at each (n, k)
FOLDERS = ("../shared/data/adult", "data/raw/adult")


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return all measurements as a tidy frame: part (fits, accounting), n, k and the rest."""
    thirds, source = load_records()
    facts = describe_machine("numpy", "scipy", "scikit-learn") | {"records": source}
    grid = GRID[:1] if quick else GRID
    rows = [{"part": "fits", **measure_fits(thirds, n, k)} for n, k in grid]
    n, k, size = (50, 10, 1000) if quick else (250, 100, len(thirds.teachers[1]))
    rows.append({"part": "accounting", **measure_accounting(n, k, size)})
    return add_machine(rows, facts)


def load_records() -> tuple[Thirds, str]:
    """Load UCI Adult in thirds if its files are at hand, else random records of its shape."""
    for folder in (ROOT / name for name in FOLDERS):
        if (folder / "adult.data").is_file():
            adult = load_adult("adult", folder / "adult.data", folder / "adult.test")
            return split_thirds(adult, "data", 0, 0), "UCI Adult"
    generator = np.random.default_rng(0)
    widths = (9, 16, 7, 15, 6, 5, 2, 42)
    parts = [np.eye(width)[generator.choice(width, 32560, p=_skewed(width))] for width in widths]
    features = np.hstack([generator.random((32560, 6)), *parts])
    probability = 1 / (1 + np.exp(-(features @ generator.normal(0, 0.7, 108) - 1)))
    labels = (generator.random(32560) < probability).astype(np.uint8)
    halves = [(features[part], labels[part]) for part in (slice(16280), slice(16280, None))]
    return Thirds(*halves, halves[1]), "drawn at random, of UCI Adult's shape"


def _skewed(width: int) -> np.ndarray:
    weights = 1 / np.arange(1, width + 1) ** 1.5
    return weights / weights.sum()


def measure_fits(thirds: Thirds, n: int, k: int) -> dict:
    """Measure all n * k fits at once, a sample by scikit-learn, and both against the optimum."""
    features, labels = thirds.teachers
    shards = draw_partitions(len(labels), n, range(k), 0, "benchmark").reshape(n * k, -1)
    ours, teachers = time_call(lambda: fit_shards(features, labels, shards, thirds.queries[0]))
    sample = np.linspace(0, n * k - 1, min(SAMPLE, n * k)).astype(int)
    sample = sample[np.isfinite(teachers.intercepts[sample])]

    def one_by_one():
        return [
            LogisticRegression().fit(features[shard], labels[shard]) for shard in shards[sample]
        ]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at its default tolerance it may say it has not converged
        theirs, models = time_call(one_by_one)
    exact = np.array([_fit_exactly(features[shard], labels[shard]) for shard in shards[sample]])
    our_fits = np.hstack([teachers.coefficients[sample], teachers.intercepts[sample][:, None]])
    their_fits = np.array([np.append(model.coef_[0], model.intercept_) for model in models])
    sklearn_seconds = theirs["seconds"] * n * k / len(sample)
    return {
        "n": n,
        "k": k,
        "fits": n * k,
        "seconds": ours["seconds"],
        "sklearn_seconds": sklearn_seconds,
        "ratio": sklearn_seconds / ours["seconds"],
        "largest_error": np.abs(our_fits - exact).max(),
        "sklearn_largest_error": np.abs(their_fits - exact).max(),
        "proven_distance": teachers.distance_bound.max(),
    }


def _fit_exactly(features, labels):
    """Return one fit by dense Newton steps down to rounding."""
    extended = np.hstack([features, np.ones((len(features), 1))])
    penalty = np.diag([1.0] * features.shape[1] + [0.0])
    theta = np.zeros(len(penalty))
    for _ in range(25):
        p = 0.5 * np.tanh(0.5 * extended @ theta) + 0.5
        gradient = penalty @ theta + extended.T @ (p - labels)
        theta -= np.linalg.solve(penalty + (extended.T * (p * (1 - p))) @ extended, gradient)
    return theta


def _draw_bagged_votes(n: int, k: int, size: int, queries: int) -> BaggedVotes:
    generator = np.random.default_rng(0)
    probability = generator.random(queries) ** 3
    packed_votes = [
        pack_votes(generator.random((n, queries), np.float32) < probability) for _ in range(k)
    ]
    shards = shard_of_record(draw_partitions(size, n, range(k), 0, "benchmark"), size)
    return BaggedVotes(np.stack(packed_votes), shards, queries)


def measure_accounting(n: int, k: int, size: int) -> dict:
    """Measure personal costs of `size` records at `size` queries, for three values of k."""
    votes = _draw_bagged_votes(n, k, size, size)
    sizes = sorted({max(1, k // 10), max(1, k // 2), k})
    timing, _ = time_call(lambda: running_costs(votes, sizes))
    return {"n": n, "k": k, "size": size, "memory_mib": peak_memory()} | timing


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    columns = {
        "n": "{n:g}",
        "k": "{k:g}",
        "seconds": "{seconds:.3g}",
        "scikit-learn (s)": "{sklearn_seconds:.3g}",
        "times faster": "{ratio:.1f}",
        "largest error": "{largest_error:.1e}",
        "scikit-learn's": "{sklearn_largest_error:.1e}",
    }
    ours, fits = data[data["part"] == "accounting"].iloc[0], data[data["part"] == "fits"]
    size = f"{ours['size']:,.0f}"
    return format_section(
        "DPBag's teachers and accounting",
        "dpbag",
        "Fitting the teachers of k partitions into n shards. scikit-learn's seconds are scaled "
        f"from {SAMPLE} of the shards, one by one. Errors are the largest distance of a "
        "coefficient from the optimum; ours are "
        f"proven to be at most {data['proven_distance'].max():.1e}.",
        data,
        format_table(columns, fits[fits["k"].isin([fits["k"].min(), fits["k"].max()])]),
        f"**Personalised accounting** of {size} records at {size} queries, n = {ours['n']:g}, k = "
        f"{ours['k']:g} and two smaller k: {ours['seconds']:.3g} s and, with the fits above, "
        f"{ours['memory_mib']:.0f} MiB (targets: 15 s and 8 GiB).",
    )
