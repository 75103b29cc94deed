"""How many labels are right: the planner's best mechanism, by teachers, labels and epsilon.

This is what `private-ensembles plan` says for the profile of config.yaml, as many queries as labels
and ten classes. README shows the table.
"""

from __future__ import annotations

import pandas as pd

from benchmarks.measuring import add_machine, describe_machine, time_call
from benchmarks.writing import format_section
from private_ensembles import Budget, Ensemble, plan
from private_ensembles.labels.planner.defaults import ASSUMED_PROFILE

CLASSES, DELTA = 10, 1e-5
TEACHERS, LABELS, EPSILONS = (25, 50, 100, 250), (20, 100, 1000), (1.0, 2.0, 4.0)
QUICK = ((25,), (20,), (4.0,))


def teacher_accuracy() -> float:
    """Return how often one teacher alone is right: the mean of the profile's distributions."""
    easy, hard = (a / (a + b) for a, b in (ASSUMED_PROFILE["easy"], ASSUMED_PROFILE["hard"]))
    share = ASSUMED_PROFILE["easy_share"]
    return share * easy + (1 - share) * hard


def measure_best_plan(teachers: int, labels: int, epsilon: float) -> dict:
    """Return the best mechanism and how many of so many labels it has right."""
    first, *_ = plan(Ensemble(teachers, CLASSES), Budget(epsilon, DELTA), labels)
    return {"mechanism": first.mechanism, "right": first.correct, "share": first.correct / labels}


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Measure a plan for each number of teachers and labels and each epsilon. quick: one."""
    facts = describe_machine("numpy", "scipy")
    rows = []
    for teachers in QUICK[0] if quick else TEACHERS:
        for labels in QUICK[1] if quick else LABELS:
            for epsilon in QUICK[2] if quick else EPSILONS:
                case = {"teachers": teachers, "labels": labels, "epsilon": epsilon}
                timing, best = time_call(lambda sizes=case: measure_best_plan(**sizes))
                rows.append(case | best | {"seconds": timing["seconds"]})
    return add_machine(rows, facts)


def format_shares(data: pd.DataFrame) -> str:
    """Return right labels in per cent, in Markdown, bold if one teacher alone has fewer."""
    head = ["labels", "ε", *(f"{count} teachers" for count in sorted(set(data["teachers"])))]
    lines = [head, ["---:"] * len(head)]
    for (labels, epsilon), part in data.groupby(["labels", "epsilon"]):
        shares = part.sort_values("teachers")["share"]
        cells = [
            f"**{100 * share:.0f} %**" if share > teacher_accuracy() else f"{100 * share:.0f} %"
            for share in shares
        ]
        lines.append([f"{labels:,}", f"{epsilon:g}", *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    return format_section(
        "Right labels for a budget",
        "right_labels",
        "What `private-ensembles plan` expects of the best mechanism, by the number of teachers, "
        f"labels and ε of all labels together, at δ = 10⁻⁵ and with {CLASSES} classes: the share "
        "of labels that are right on the profile of [config.yaml](../../config.yaml). There one "
        f"teacher alone is right on {100 * teacher_accuracy():.0f} % of the queries, and a guess "
        f"on {100 / CLASSES:.0f} %. **Bold**: more than one teacher alone. Shares are "
        "means over 500 queries of the profile or more, and off by a point or two.",
        data,
        format_shares(data),
    )
