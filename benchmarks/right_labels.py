"""How many labels are right: the planner's best mechanism, by teachers, classes, labels, epsilon.

This is what `private-ensembles plan` says for the profile of config.yaml and as many queries as
labels. README shows the rows of one epsilon, and the page of benchmarks of the others the fewest
and the most labels.
"""

from __future__ import annotations

import itertools

import pandas as pd

from benchmarks.measuring import add_machine, describe_machine, time_call
from benchmarks.writing import format_section
from private_ensembles import Budget, Ensemble, plan
from private_ensembles.labels.planner.defaults import ASSUMED_PROFILE

DELTA, IN_README = 1e-5, 2.0
TEACHERS, CLASSES = (25, 50, 100, 250), (2, 10)
LABELS, EPSILONS = (20, 100, 1000), (1.0, 2.0, 4.0)


def teacher_accuracy() -> float:
    """Return how often one teacher alone is right: the mean of the profile's distributions."""
    easy, hard = (a / (a + b) for a, b in (ASSUMED_PROFILE["easy"], ASSUMED_PROFILE["hard"]))
    share = ASSUMED_PROFILE["easy_share"]
    return share * easy + (1 - share) * hard


def measure_best_plan(teachers: int, classes: int, labels: int, epsilon: float) -> dict:
    """Return the best mechanism and how many of so many labels it has right."""
    first, *_ = plan(Ensemble(teachers, classes), Budget(epsilon, DELTA), labels)
    return {"mechanism": first.mechanism, "right": first.correct, "share": first.correct / labels}


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Measure a plan for each number of teachers, classes, labels, and each epsilon. quick: one."""
    facts = describe_machine("numpy", "scipy")
    rows = []
    cases = list(itertools.product(TEACHERS, CLASSES, LABELS, EPSILONS))
    for teachers, classes, labels, epsilon in cases[:1] if quick else cases:
        case = {"teachers": teachers, "classes": classes, "labels": labels, "epsilon": epsilon}
        timing, best = time_call(lambda sizes=case: measure_best_plan(**sizes))
        rows.append(case | best | {"seconds": timing["seconds"]})
    return add_machine(rows, facts)


def format_shares(data: pd.DataFrame) -> str:
    """Return right labels in per cent, in Markdown, bold if one teacher alone has fewer."""
    head = [
        "classes",
        "labels",
        "ε",
        *(f"{count} teachers" for count in sorted(set(data["teachers"]))),
    ]
    lines = [head, ["---:"] * len(head)]
    for (classes, labels, epsilon), part in data.groupby(["classes", "labels", "epsilon"]):
        shares = part.sort_values("teachers")["share"]
        cells = [
            f"**{100 * share:.0f} %**" if share > teacher_accuracy() else f"{100 * share:.0f} %"
            for share in shares
        ]
        lines.append([str(classes), f"{labels:,}", f"{epsilon:g}", *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    ends = data["labels"].isin([data["labels"].min(), data["labels"].max()])
    return format_section(
        "Right labels for a budget",
        "right_labels",
        "The share of labels that `private-ensembles plan` expects to be right by the best "
        "mechanism, on the profile of [config.yaml](../../config.yaml) and give or take a point or "
        "two; ε is that of all labels together, at δ = 10⁻⁵. **Bold**: more than the "
        f"{100 * teacher_accuracy():.0f} % of one teacher alone. "
        f"ε = {IN_README:g} is in the [README](../../README.md).",
        data,
        format_shares(data[ends & (data["epsilon"] != IN_README)]),
    )
