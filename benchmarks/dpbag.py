"""DPBag: batched logistic regressions against scikit-learn, and the personalised accounting.

Seconds are processor time on one thread. scikit-learn fits a sample of the shards, one by one as
DPBag's public code does, and its time is that of the sample times the number of fits.
"""

from __future__ import annotations

import resource
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks import machine
from private_ensembles.datasets.adult import load_adult
from private_ensembles.datasets.partitions import draw_partitions, shard_of_record
from private_ensembles.dpbag.personalised import running_costs
from private_ensembles.papers.dpbag.experiment import Thirds, split_thirds
from private_ensembles.teachers.logistic import fit_shards
from private_ensembles.votes.bagged import BaggedVotes, pack

GRID = tuple((n, k) for n in (50, 100, 250) for k in (10, 50, 100))
SAMPLE = 100  # shards that scikit-learn fits at each (n, k)
DENSE = 128  # records and queries of the dense accounting
FOLDERS = ("../shared/data/adult", "data/raw/adult")


def measure(*, quick: bool = False, full: bool = False) -> pd.DataFrame:
    """All measurements as a tidy frame: part (fits, accounting, dense), n, k and the rest."""
    thirds, source = records()
    facts = machine.describe("numpy", "scipy", "scikit-learn") | {"records": source}
    grid = GRID[:1] if quick else GRID
    rows = [{"part": "fits", **fits(thirds, n, k)} for n, k in grid]
    n, k, size = (50, 10, 1000) if quick else (250, 100, len(thirds.teachers[1]))
    rows.append({"part": "accounting", **accounting(n, k, size)})
    rows.append({"part": "dense", **dense(n, k, size)})
    data = pd.DataFrame(rows)
    machine.attach(data, facts)
    return data


def records() -> tuple[Thirds, str]:
    """UCI Adult in thirds where its files are at hand, else random records of its shape."""
    root = Path(__file__).resolve().parents[1]
    for folder in (root / name for name in FOLDERS):
        if (folder / "adult.data").is_file():
            adult = load_adult("adult", folder / "adult.data", folder / "adult.test")
            return split_thirds(adult, "data", 0, 0), "UCI Adult"
    generator = np.random.default_rng(0)
    widths = (9, 16, 7, 15, 6, 5, 2, 42)
    parts = [np.eye(w)[generator.choice(w, 32560, p=_skewed(w))] for w in widths]
    features = np.hstack([generator.random((32560, 6)), *parts])
    chance = 1 / (1 + np.exp(-(features @ generator.normal(0, 0.7, 108) - 1)))
    labels = (generator.random(32560) < chance).astype(np.uint8)
    halves = [(features[part], labels[part]) for part in (slice(16280), slice(16280, None))]
    return Thirds(*halves, halves[1]), "drawn at random, of UCI Adult's shape"


def _skewed(width: int) -> np.ndarray:
    weights = 1 / np.arange(1, width + 1) ** 1.5
    return weights / weights.sum()


def _seconds(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def fits(thirds: Thirds, n: int, k: int) -> dict:
    """All n * k fits at once, a sample by scikit-learn, and both against the exact optimum."""
    features, labels = thirds.teachers
    shards = draw_partitions(len(labels), n, range(k), 0, "benchmark").reshape(n * k, -1)
    ours, teachers = _seconds(lambda: fit_shards(features, labels, shards, thirds.queries[0]))
    sample = np.linspace(0, n * k - 1, min(SAMPLE, n * k)).astype(int)
    sample = sample[np.isfinite(teachers.intercepts[sample])]

    def one_by_one():
        return [LogisticRegression().fit(features[s], labels[s]) for s in shards[sample]]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at its default tolerance it may say it has not converged
        theirs, models = _seconds(one_by_one)
    exact = np.array([_optimum(features[s], labels[s]) for s in shards[sample]])
    found = np.hstack([teachers.coefficients[sample], teachers.intercepts[sample][:, None]])
    other = np.array([np.append(model.coef_[0], model.intercept_) for model in models])
    theirs *= n * k / len(sample)
    return {
        "n": n,
        "k": k,
        "fits": n * k,
        "seconds": ours,
        "sklearn_seconds": theirs,
        "ratio": theirs / ours,
        "largest_error": np.abs(found - exact).max(),
        "sklearn_largest_error": np.abs(other - exact).max(),
        "proven_distance": teachers.distance.max(),
        "constant_teachers": int(np.isinf(teachers.intercepts).sum()),
    }


def _optimum(features, labels):
    """One fit by dense Newton steps down to rounding."""
    extended = np.hstack([features, np.ones((len(features), 1))])
    penalty = np.diag([1.0] * features.shape[1] + [0.0])
    theta = np.zeros(len(penalty))
    for _ in range(25):
        p = 0.5 * np.tanh(0.5 * extended @ theta) + 0.5
        gradient = penalty @ theta + extended.T @ (p - labels)
        theta -= np.linalg.solve(penalty + (extended.T * (p * (1 - p))) @ extended, gradient)
    return theta


def _bagged(n: int, k: int, size: int, queries: int) -> BaggedVotes:
    generator = np.random.default_rng(0)
    chance = generator.random(queries) ** 3
    bits = [pack(generator.random((n, queries), np.float32) < chance) for _ in range(k)]
    shards = shard_of_record(draw_partitions(size, n, range(k), 0, "benchmark"), size)
    return BaggedVotes(np.stack(bits), shards, queries)


def accounting(n: int, k: int, size: int) -> dict:
    """Personal costs of `size` records at `size` queries, for three numbers of partitions."""
    votes = _bagged(n, k, size, size)
    sizes = sorted({max(1, k // 10), max(1, k // 2), k})
    seconds, _ = _seconds(lambda: running_costs(votes, sizes))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"n": n, "k": k, "size": size, "seconds": seconds, "memory_mib": peak}


def dense(n: int, k: int, size: int) -> dict:
    """One product of a records x partitions x shards array with the votes, as if at full size.

    Measured on DENSE records and queries, and multiplied: the products are in proportion.
    """
    small = min(DENSE, size)
    votes = _bagged(n, k, size, small)
    held = np.zeros((small, k, n))
    shards = votes.shards[:, :small].T
    np.put_along_axis(held, np.maximum(shards, 0)[:, :, None], (shards >= 0)[:, :, None], axis=2)
    cast = np.stack([votes.votes(i) for i in range(k)]).astype(float)
    seconds, ones = _seconds(lambda: np.einsum("upt,ptx->ux", held, cast, optimize=True))
    largest = (np.maximum(ones, (shards >= 0).sum(axis=1)[:, None] - ones) ** 2).sum(axis=1).max()
    few = BaggedVotes(votes.bits, votes.shards[:, :small], small)
    assert running_costs(few, [k])[0, -1] == largest
    return {
        "n": n,
        "k": k,
        "size": size,
        "seconds": seconds * (size / small) ** 2,
        "memory_mib": 8 * size * k * n / 2**20,
    }


def page(data: pd.DataFrame) -> str:
    """The results as a page in Markdown."""
    facts = machine.attached(data)
    lines = [
        "# Benchmark: DPBag",
        "",
        "Made by `python benchmarks/run.py dpbag --write-docs`; numbers behind it: "
        "[dpbag.csv](dpbag.csv). Seconds are processor time on one thread.",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
        "## n · k logistic regressions",
        "",
        f"scikit-learn's time is that of its default fit on {SAMPLE} of the shards, one by one, "
        "scaled to all n · k. Errors are the largest distance of a coefficient of those shards "
        "from the optimum, which dense Newton steps give.",
        "",
        "| n | k | fits | seconds | scikit-learn (s) | times faster | largest error "
        "| scikit-learn's | proven bound |",
        "|" + " ---: |" * 9,
    ]
    for row in data[data["part"] == "fits"].to_dict("records"):
        lines.append(
            f"| {row['n']} | {row['k']} | {int(row['fits']):,} | {row['seconds']:.3g} | "
            f"{row['sklearn_seconds']:.3g} | {row['ratio']:.1f} | {row['largest_error']:.1e} | "
            f"{row['sklearn_largest_error']:.1e} | {row['proven_distance']:.1e} |"
        )
    ours, theirs = (data[data["part"] == part].iloc[0] for part in ("accounting", "dense"))
    size = int(ours["size"])
    return "\n".join(
        [
            *lines,
            "",
            f"## Personalised accounting: {size:,} records, {size:,} queries, n = {ours['n']}, "
            f"k = {ours['k']}",
            "",
            f"{ours['seconds']:.3g} s, for three numbers of partitions at once; the process's "
            f"largest memory is {ours['memory_mib']:.0f} MiB, the fits above included. As one "
            "product of an array of records × partitions × shards with the votes it would take "
            f"{theirs['seconds']:,.0f} s, **extrapolated** from {DENSE} × {DENSE}, and "
            f"{theirs['memory_mib'] / 1024:.1f} GiB for that array alone.",
            "",
        ]
    )
