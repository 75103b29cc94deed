"""How many labels are right: the planner's best mechanism, by teachers, labels and epsilon.

This is what `private-ensembles plan` says for the profile of config.yaml, as many queries as labels
and ten classes. README shows the table.
"""

from __future__ import annotations

import pandas as pd

from benchmarks.measuring import describe, least, with_machine
from benchmarks.writing import chapter
from private_ensembles import Budget, Ensemble, plan
from private_ensembles.labels.planner.defaults import PROFILE

CLASSES, DELTA = 10, 1e-5
TEACHERS, LABELS, EPSILONS = (25, 50, 100, 250), (20, 100, 1000), (1.0, 2.0, 4.0)
QUICK = ((25,), (20,), (4.0,))


def one_teacher() -> float:
    """How often one teacher alone is right on the profile: the mean of its two distributions."""
    easy, hard = (a / (a + b) for a, b in (PROFILE["easy"], PROFILE["hard"]))
    share = PROFILE["easy_share"]
    return share * easy + (1 - share) * hard


def best(teachers: int, labels: int, epsilon: float) -> dict:
    """The best mechanism and how many of so many labels it has right."""
    first, *_ = plan(Ensemble(teachers, CLASSES), Budget(epsilon, DELTA), labels)
    return {"mechanism": first.mechanism, "right": first.correct, "share": first.correct / labels}


def measure(*, quick: bool = False) -> pd.DataFrame:
    """A plan for each number of teachers and labels and each epsilon. quick: one of them."""
    facts = describe("numpy", "scipy")
    rows = []
    for teachers in QUICK[0] if quick else TEACHERS:
        for labels in QUICK[1] if quick else LABELS:
            for epsilon in QUICK[2] if quick else EPSILONS:
                case = {"teachers": teachers, "labels": labels, "epsilon": epsilon}
                timing, found = least(lambda given=case: best(**given))
                rows.append(case | found | {"seconds": timing["seconds"]})
    return with_machine(rows, facts)


def shown(data: pd.DataFrame) -> str:
    """The table in Markdown: right labels in per cent, bold where one teacher alone has fewer."""
    head = ["labels", "ε", *(f"{count} teachers" for count in sorted(set(data["teachers"])))]
    lines = [head, ["---:"] * len(head)]
    for (labels, epsilon), part in data.groupby(["labels", "epsilon"]):
        shares = part.sort_values("teachers")["share"]
        cells = [
            f"**{100 * share:.0f} %**" if share > one_teacher() else f"{100 * share:.0f} %"
            for share in shares
        ]
        lines.append([f"{labels:,}", f"{epsilon:g}", *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(data: pd.DataFrame) -> str:
    """The results in Markdown."""
    return chapter(
        "Right labels for a budget",
        "right_labels",
        "What `private-ensembles plan` expects of the best mechanism, by the number of teachers, "
        f"labels and ε of all labels together, at δ = 10⁻⁵ and with {CLASSES} classes: the share "
        "of labels that are right on the profile of [config.yaml](../../config.yaml). There one "
        f"teacher alone is right on {100 * one_teacher():.0f} % of the queries, and a guess on "
        f"{100 / CLASSES:.0f} %. **Bold**: more than one teacher alone. Shares are "
        "means over 500 queries of the profile or more, and off by a point or two.",
        data,
        shown(data),
    )
