"""What many labels cost: time and memory of a calibration, and how much noise it saves.

GNMax's sigma for Q labels by three accounts: that of the labels themselves, which is timed, and
two that were there before it. One charges for the noisy counts, by Balle and Wang's exact
condition. The other charges for labels, too, by the worst Rényi divergence of one of them (Chadha
and co-authors 2024). So it can be said how much of the noise that is saved comes from charging
labels at all, and how much from the account.
"""

from __future__ import annotations

import pandas as pd

from benchmarks.label_renyi import renyi_sigma
from benchmarks.measuring import (
    add_machine,
    describe_machine,
    peak_memory,
    run_in_process,
    time_call,
)
from benchmarks.writing import format_section, format_table
from private_ensembles import label_epsilon, noise_scale
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

EPSILON, DELTA = 2.0, 1e-5
# A case is epsilon, classes, teachers and labels. Two classes have exact dominating pairs of their
# own. What is least by Rényi divergence in the first three cases: tests/benchmarks.
DOCUMENTED = [(1.0, 2, 51, 20), (1.0, 2, 251, 100), (2.0, 2, 51, 100)]
TEACHERS = [(EPSILON, c, k, 100) for c, k in ((2, 11), (2, 1001), (10, 11), (10, 51), (10, 1001))]
CLASSES = [(EPSILON, c, 250, 100) for c in (3, 100)]
LABELS = [(EPSILON, c, 250, q) for q in (10, 100, 1000, 10_000) for c in (2, 10)]
CASES = DOCUMENTED + TEACHERS + CLASSES + LABELS
QUICK = [(1.0, 2, 51, 20), (EPSILON, 10, 51, 10)]
SHOWN = [  # on the page
    *DOCUMENTED,
    *((EPSILON, 10, k, q) for k, q in ((11, 100), (250, 10), (250, 1000), (250, 10_000))),
    *QUICK,
]
# The project's own targets: seconds, MiB, and sigma as a share of what the counts need.
TARGETS = {
    (EPSILON, 2, 250, 1000): (5, 1024, 0.84),
    (EPSILON, 10, 250, 1000): (60, 1024, 0.84),
}


def measure_calibration(epsilon: float, classes: int, teachers: int, labels: int) -> dict:
    """Measure time and memory of finding sigma; sigma by three accounts; bounds on epsilon."""
    size = {"delta": DELTA, "labels": labels, "teachers": teachers, "classes": classes}
    timing, scale = time_call(lambda: noise_scale("gnmax", epsilon=epsilon, **size))
    memory = peak_memory()
    other_scales = {
        "analytic": noise_scale("gnmax", epsilon=epsilon, **size, analysis="analytic"),
        "label_rdp": renyi_sigma(
            Task(Ensemble(teachers, classes), Budget(epsilon, DELTA), Wanted(labels))
        ),
    }
    bounds = label_epsilon("gnmax", scale, **size)
    ends = {"lower": bounds.lower, "upper": bounds.upper}
    return timing | {"peak_mib": memory, "scale": scale} | other_scales | ends


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return all measurements as a tidy frame, a calibration a row. quick: a few small ones."""
    facts = describe_machine("numpy", "scipy")
    rows = []
    for case in QUICK if quick else CASES:
        arguments = dict(zip(("epsilon", "classes", "teachers", "labels"), case, strict=True))
        measured = run_in_process(measure_calibration, **arguments)
        rows.append({**arguments, **measured, **shares_saved(measured)})
    return add_machine(rows, facts)


def shares_saved(found: dict) -> dict:
    """Return how much less noise than the counts and than Rényi divergences need, and whose gain.

    Args:
        found: `scale`, and the scales by the two accounts before ours.

    Returns:
        ratio: the scale's share of what the counts need. charging: the share of the saved noise
        that is saved by charging labels at all, which the account before ours does as well.
        account: the share of what that account needs that ours saves.
    """
    scale, counts, renyi = found["scale"], found["analytic"], found["label_rdp"]
    return {
        "ratio": scale / counts,
        "charging": (counts - renyi) / (counts - scale),
        "account": 1 - scale / renyi,
    }


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    columns = {
        "ε": "{epsilon:g}",
        "classes": "{classes}",
        "teachers": "{teachers}",
        "labels": "{labels:,}",
        "σ, counts": "{analytic:.2f}",
        "σ, Rényi": "{label_rdp:.2f}",
        "σ, ours": "{scale:.2f}",
        "% less than counts": "{less:.1f}",
        "% less than Rényi": "{rest:.1f}",
        "ε at least": "{lower:.3f}",
        "seconds": "{seconds:.2g}",
    }
    targets = []
    for (epsilon, classes, teachers, labels), (seconds, memory, ratio) in TARGETS.items():
        is_case = (data["classes"] == classes) & (data["teachers"] == teachers)
        is_case &= (data["labels"] == labels) & (data["epsilon"] == epsilon)
        for row in data[is_case].itertuples():
            is_kept = row.seconds <= seconds and row.peak_mib < memory and row.ratio <= ratio
            targets.append(
                f"in {classes} classes {seconds} s, {memory} MiB and σ {ratio} times that of the "
                f"counts ({'kept' if is_kept else 'MISSED'})"
            )
    cases = data[["epsilon", "classes", "teachers", "labels"]].itertuples(index=False, name=None)
    shown = data[[case in SHOWN for case in cases]]
    percent = {"less": 100 * (1 - shown["ratio"]), "rest": 100 * shown["account"]}
    return format_section(
        "What many labels cost",
        "many_labels",
        f"GNMax's σ at δ = {DELTA:g} by three accounts: of the noisy counts (Balle and Wang 2018), "
        "of labels by their worst Rényi divergence (Chadha and co-authors 2024; to 0.05 % above "
        "the least), and of labels by [this package's account](../many-labels.md), whose seconds "
        "these are. Its σ costs at most the budget and at least the last ε: further apart in more "
        "than two classes, as the upper bound holds for any number of them.",
        data,
        format_table(columns, shown.assign(**percent)),
        f"Targets for 250 teachers and 1,000 labels: {'; '.join(targets) or 'not measured'}.",
    )
