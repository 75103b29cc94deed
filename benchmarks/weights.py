"""Which weights of teachers give the most right labels: shards of unequal size, one budget.

Teachers are one-against-rest logistic regressions of this package on shards of scikit-learn's
digits, whose sizes differ by a factor of 24. Half of the records that no teacher saw stand for
public data, on which accuracies are measured; the other half is labelled. The noise is that of
GNMax by the account of labels, for the largest weight, so that all weightings have one epsilon.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.measuring import describe, with_machine
from benchmarks.writing import chapter
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.release import individual
from private_ensembles.release.release_plan import ReleasePlan
from private_ensembles.teachers.logistic import fit_shards
from private_ensembles.votes.ballots import counted, of_weights

CLASSES, LABELS, DELTA, ROUNDS = 10, 50, 1e-5, 3
# Records of each shard, 1,398 of 1,797 in all.
SIZES = (5,) * 12 + (10,) * 10 + (20,) * 10 + (40,) * 7 + (80,) * 5 + (119,) * 3
EPSILONS = (2.0, 4.0, 8.0, 16.0, 64.0)
WEIGHTINGS = ("all one", "size", "size, at most 4", "root of size", "log-odds")
QUICK = ((8.0,), 1, (20, 40, 80))
# Weights are whole numbers up to this many times the least, so that they keep their proportions.
FINEST = 24


def digits(round_: int) -> tuple[NDArray, NDArray]:
    """scikit-learn's digits in an order of its own for each round: features (n, 64), labels."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.default_rng(round_).permutation(len(data.target))
    return data.data[order] / 16.0, data.target[order]


def votes_of_round(round_: int, sizes=SIZES) -> tuple[NDArray, NDArray]:
    """Votes of a round on records that no teacher saw, (queries, teachers), and labels."""
    features, labels = digits(round_)
    used = sum(sizes)
    queries = features[used:]
    votes, start = np.empty((len(queries), len(sizes)), np.int64), 0
    for teacher, size in enumerate(sizes):
        shard = np.arange(start, start + size)[None]
        start += size
        scores = np.empty((len(queries), CLASSES))
        for digit in range(CLASSES):
            of_digit = fit_shards(features, labels == digit, shard, queries[:200])
            constant = of_digit.intercepts[0]
            scores[:, digit] = np.clip(constant, -1e9, 1e9) + queries @ of_digit.coefficients[0]
        votes[:, teacher] = scores.argmax(axis=1)
    return votes, labels[used:]


def weights_by(name: str, sizes, accuracies: NDArray) -> NDArray[np.int64]:
    """Whole weights of the teachers. accuracies: measured on public records, (teachers,)."""
    sizes = np.asarray(sizes, dtype=float)
    if name == "all one":
        return np.ones(sizes.size, dtype=np.int64)
    if name == "size":
        return scaled(sizes)
    if name == "size, at most 4":
        return scaled(np.minimum(sizes, 4 * sizes.min()))
    if name == "root of size":
        return scaled(np.sqrt(sizes))
    # Of independent teachers whose errors are spread alike, the weights of the likeliest label.
    share = np.clip(accuracies, 1 / CLASSES + 0.01, 0.99)
    return scaled(np.log((CLASSES - 1) * share / (1 - share)))


def scaled(weights: NDArray) -> NDArray[np.int64]:
    """Whole numbers in about these proportions, from 1 on, the largest FINEST at most."""
    unit = max(weights.min(), weights.max() / FINEST)
    return np.maximum(1, np.rint(weights / unit)).astype(np.int64)


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Expected share of right labels for each weighting and epsilon, and epsilons by weight.

    A row for each round, weighting and epsilon: right, without noise (`plurality`), the largest
    weight, and the epsilon of the least (`least`).
    """
    facts = describe("numpy", "scipy", "scikit-learn")
    epsilons, rounds, sizes = QUICK if quick else (EPSILONS, ROUNDS, SIZES)
    gnmax, rows = load("gnmax_exact"), []
    for round_ in range(rounds):
        votes, truth = votes_of_round(round_, sizes)
        public = np.arange(len(truth)) % 2 == 0
        accuracies = (votes[public] == truth[public, None]).mean(axis=0)
        # Teachers of one size have one accuracy: of a few records each would be noise.
        of_size = {size: accuracies[np.equal(sizes, size)].mean() for size in set(sizes)}
        accuracies = np.array([of_size[size] for size in sizes])
        asked, wanted = votes[~public], truth[~public]
        for name in WEIGHTINGS:
            weights = weights_by(name, sizes, accuracies)
            counts = counted(asked, CLASSES, weights)
            known = of_weights(weights, len(sizes))
            size = {"n_teachers": len(sizes), "n_classes": CLASSES}
            if known:
                counts = counts // (int(weights.sum()) // known["n_votes"])
            else:
                counts = counted(asked, CLASSES)
            for epsilon in epsilons:
                task = Task(epsilon, DELTA, LABELS, LABELS, **size, **known)
                noise = gnmax.calibrate(task)
                right = gnmax.law.right(counts, wanted, noise).mean()
                own = epsilon
                if known and round_ == 0:
                    plan = ReleasePlan(task, "gnmax_exact", noise, 0.0, 0, "")
                    own = min(individual.by_weight(plan).values())
                rows.append(
                    {"round": round_, "weighting": name, "epsilon": epsilon, "right": right}
                    | {"plurality": (counts.argmax(axis=1) == wanted).mean()}
                    | {"largest": task.ballot, "teachers": len(sizes), "least": own}
                    | {"smallest_right": of_size[min(sizes)], "largest_right": of_size[max(sizes)]}
                )
    return with_machine(rows, facts)


def shown(data: pd.DataFrame) -> str:
    """Right labels in per cent, and in brackets the least weight's epsilon, in Markdown."""
    epsilons = sorted(set(data["epsilon"]))
    head = ["weights", "largest", *(f"ε = {epsilon:g}" for epsilon in epsilons), "no noise"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name in dict.fromkeys(data["weighting"]):
        part = data[data["weighting"] == name]
        cells = []
        for epsilon in epsilons:
            at = part[part["epsilon"] == epsilon]
            own = at["least"].iloc[0]
            beside = "" if own == epsilon else f" ({own:.2g})"
            cells.append(f"{100 * at['right'].mean():.1f}{beside}")
        low, high = part["largest"].min(), part["largest"].max()
        largest = f"{low}" if low == high else f"{low} to {high}"
        lines.append([name, largest, *cells, f"{100 * part['plurality'].mean():.1f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(data: pd.DataFrame) -> str:
    """The results in Markdown."""
    least, most = data["smallest_right"].mean(), data["largest_right"].mean()
    return chapter(
        "Weights of teachers",
        "weights",
        f"Right labels in per cent, of {LABELS} labels at ε for the largest weight and δ = 10⁻⁵, "
        "by GNMax charged for its labels; in brackets the ε of the teachers of the least weight. "
        f"{data['teachers'].iloc[0]} teachers on shards of scikit-learn's digits; those of the "
        f"smallest shards are right {100 * least:.0f} %, those of the largest {100 * most:.0f} % "
        f"of the time. Means over {data['round'].nunique()} draws of the shards. What it means: "
        "[ballots.md](../ballots.md#how-to-choose-weights).",
        data,
        shown(data),
    )
