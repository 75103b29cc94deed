"""What many labels cost: time and memory of a calibration, and how much noise it saves.

`accounting.adaptive.scales.least_scale` finds GNMax's sigma for Q labels, in two classes from the
exact probabilities of a label, in more by nodes of a grid. Beside it is the sigma that the noisy
counts need, Balle and Wang's exact condition, which is the best account known before. Other noise
is found by its mechanism, beside the noise that its labels need by another proof.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import ndtr

from benchmarks.measuring import describe, in_a_process, least, peak, with_machine
from benchmarks.writing import chapter, table
from private_ensembles.accounting.adaptive.account import adaptive_epsilon
from private_ensembles.accounting.adaptive.families import two_classes
from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.adaptive.scales import least_scale
from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.accounting.root import largest
from private_ensembles.mechanisms.accounts.label import label_curve, least_share
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task

EPSILON, DELTA = 2.0, 1e-5
# Classes, teachers and labels. 2 classes are an own, exact family.
LABELS = [(c, 250, q) for q in (10, 100, 1000, 10_000) for c in (2, 10)]
TEACHERS = [(c, k, 100) for c in (2, 10) for k in (11, 51, 1001)]
CLASSES = [(c, 250, 100) for c in (3, 100)]
CASES = TEACHERS + CLASSES + LABELS
QUICK = [(2, 51, 10), (10, 51, 10)]
# Other laws of noise, in ten classes.
LAWS = ("lnmax_exact", "exponential", "permute_and_flip")
OTHERS = [(law, 250, q) for law in LAWS for q in (10, 100, 1000, 10_000)]
OTHERS += [("lnmax_exact", k, 100) for k in (11, 1001)]
QUICK_OTHERS = [(law, 51, 10) for law in LAWS]
# The project's own targets: seconds, MiB, and sigma as a share of the analytic one.
TARGETS = {(2, 250, 1000): (5, 1024, 0.84), (10, 250, 1000): (60, 1024, 0.84)}


def analytic(labels: int) -> float:
    """The sigma at which the noisy counts of all labels keep (EPSILON, DELTA)."""
    mu = largest(lambda mu: float(gaussian_delta(mu, EPSILON)) <= DELTA, 1.0)
    return math.sqrt(2 * labels) / mu


def family(classes: int, teachers: int, scale: float):
    """The neighbouring pairs of one label of GNMax."""
    if classes > 2:
        return GaussianMaximum(scale, teachers, classes)
    margins = (2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))
    return two_classes(ndtr(margins), ndtr(-margins))


def measure_calibration(classes: int, teachers: int, labels: int) -> dict:
    """Seconds and memory of finding sigma; sigma; bounds on epsilon there."""
    counts = analytic(labels)
    find = partial(family, classes, teachers)
    timing, scale = least(lambda: least_scale(find, labels, EPSILON, DELTA, 0.82 * counts))
    memory = peak()
    found = adaptive_epsilon(find(scale), labels, DELTA)
    ends = {"lower": found.lower, "upper": found.upper}
    return timing | {"peak_mib": memory, "scale": scale, "analytic": counts} | ends


def measure_share(law: str, teachers: int, labels: int) -> dict:
    """Seconds and memory of finding a law's noise in ten classes, as a share of another proof's."""
    mechanism = load(law)
    task = Task(EPSILON, DELTA, labels, labels, teachers, 10)
    start = mechanism.account.start.find(mechanism.law, task, labels)

    def calibrate() -> float:
        label_curve.cache_clear()
        return least_share.__wrapped__(mechanism.account, mechanism.law, task, start)

    timing, share = least(calibrate)
    memory = peak()
    found = mechanism.law.pairs(task, mechanism.law.less_noise(start, share))
    bounds = adaptive_epsilon(found, labels, DELTA)
    ends = {"lower": bounds.lower, "upper": bounds.upper}
    return timing | {"peak_mib": memory, "ratio": share} | ends


def measure(*, quick: bool = False) -> pd.DataFrame:
    """All measurements as a tidy frame, a calibration a row. quick: a few small ones."""
    facts = describe("numpy", "scipy")
    rows = []
    for case in QUICK if quick else CASES:
        arguments = dict(zip(("classes", "teachers", "labels"), case, strict=True))
        found = in_a_process(measure_calibration, **arguments)
        ratio = found["scale"] / found["analytic"]
        rows.append({"law": "gnmax_exact", **arguments, **found, "ratio": ratio})
    for case in QUICK_OTHERS if quick else OTHERS:
        arguments = dict(zip(("law", "teachers", "labels"), case, strict=True))
        found = in_a_process(measure_share, **arguments)
        rows.append({**arguments, **found, "classes": 10})
    return with_machine(rows, facts)


def section(data: pd.DataFrame) -> str:
    """The results in Markdown."""
    gaussian = data[data["law"] == "gnmax_exact"]
    others = data[data["law"] != "gnmax_exact"]
    size = {"teachers": "{teachers:,}", "labels": "{labels:,}"}
    found = {
        "ratio": "{ratio:.3f}",
        "ε between": "{lower:.3f} and {upper:.3f}",
        "seconds": "{seconds:.2g}",
        "MiB": "{peak_mib:.0f}",
    }
    scales = {"σ": "{scale:.2f}", "analytic σ": "{analytic:.2f}"}
    targets = []
    for (classes, teachers, labels), (seconds, memory, ratio) in TARGETS.items():
        place = (gaussian["classes"] == classes) & (gaussian["teachers"] == teachers)
        for row in gaussian[place & (gaussian["labels"] == labels)].itertuples():
            kept = row.seconds <= seconds and row.peak_mib < memory and row.ratio <= ratio
            targets.append(
                f"- {classes} classes, {teachers} teachers, {labels:,} labels: {seconds} s, "
                f"{memory} MiB, ratio {ratio}: {'kept' if kept else 'MISSED'}"
            )
    blocks = [table({"classes": "{classes}"} | size | scales | found, gaussian)]
    if len(others):
        blocks += [
            "Other laws, ten classes. The ratio is that of the noise to what the labels need by "
            "the best of the other proofs: composition of noisy counts for LNMax, of bounded range "
            "for the exponential mechanism, of pure labels for permute-and-flip. If it is above 1, "
            "that other proof is the better one.",
            table({"mechanism": "{law}"} | size | found, others, words=1),
        ]
    return chapter(
        "What many labels cost",
        "many_labels",
        "The σ that `accounting.adaptive.scales.least_scale` finds for GNMax at "
        f"({EPSILON:g}, {DELTA:g}), beside the σ that the noisy counts need (analytic). Memory is "
        "the whole process, with NumPy and SciPy. ε is what σ costs, between a lower and an upper "
        "bound. In more than two classes the upper bound holds for any number of them, so the gap "
        "is wider: an adversary gains nothing from classes that have no votes. Theorems: "
        "[many-labels.md](../many-labels.md).",
        data,
        *blocks,
        "\n".join(["Targets:", "", *targets]),
    )
