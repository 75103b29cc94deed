"""Certificates of labels and totals that `verify/verify.py` checks without this package.

What a mechanism's label costs, with its noise where that has a closed form, else with a table of
its probabilities; that a claim does not hold, where it does not; and what several labels cost
together. Format and theorems: docs/certificates.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from private_ensembles import mechanisms
from private_ensembles.accounting.adaptive import adaptive_epsilon
from private_ensembles.accounting.budgets import total_budgets
from private_ensembles.accounting.composition import general
from private_ensembles.darrm.certificate_file import exactly
from private_ensembles.experiments.ledger import Given
from private_ensembles.mechanisms.families.audited import OnCounts
from private_ensembles.mechanisms.families.base import Mechanism, Parameters
from private_ensembles.mechanisms.families.task import Task

# Labels whose induction the verifier repeats in seconds, and the grid's points per loss. The claim
# is raised by what its chords cost more than the package's.
FEW_LABELS, FEW_TEACHERS, POINTS, CHORDS = 20, 15, 16, 5e-3


def certificates(
    settings: Mapping[str, Given], queries: list[int], delta_prime: float
) -> dict[str, list]:
    """Return what is proven of every mechanism on vote counts, at every budget.

    settings: by budget, as `ledger.setting` gives them. queries, delta_prime: as in `totals`.
    Returns ``certificates``, and ``about``: of which budget and mechanism each of them speaks.
    Private teachers have no histograms to list and are left out (docs/certificates.md).
    """
    about, found = [], []

    def add(subject: str, bodies: list[dict]) -> None:
        for body in bodies:
            if body not in found:  # the same noise, or the same claim, by another name
                about.append(subject)
                found.append(body)

    for budget, given in settings.items():
        for mechanism in mechanisms.of_one_label():
            if not mechanism.hides_votes:
                continue
            task, parameters = mechanism.terms(given.budget), given.parameters[mechanism.name]
            audited = mechanism.audited(task, parameters)
            law = law_of(mechanism, task, parameters, audited)
            subject = f"{budget}: {mechanism.name}"
            add(subject, of_one_label(task, audited, law))
            for labels in queries:
                delta = general(task.epsilon, task.delta, labels, delta_prime).delta
                add(f"{budget}: any", [of_the_claim(task, labels, delta)])
                add(subject, together(task, audited, law, labels, delta))
    return {"certificates": found, "about": about}


def law_of(mechanism: Mechanism, task: Task, parameters: Parameters, audited: OnCounts) -> dict:
    """How likely each label is: named noise and its scale, or a table of bounds."""
    named = None if task.secure else mechanism.law(parameters)
    if named is not None:
        name, scale = named
        return {"name": name, "teachers": task.n_teachers, "scale": _ratio(Fraction(scale))}
    error = Fraction(audited.errors["relative_error"])
    spare = Fraction(audited.errors["absolute_error"])

    def bounds(p: float) -> list[str]:
        p = Fraction(float(p))
        ends = max(Fraction(0), p - error * p - spare), p + error * p + spare
        return [_dyadic(ends[0], math.floor), _dyadic(ends[1], math.ceil)]

    rows = [[bounds(p) for p in row] for row in audited.matrix]
    return {"name": "table", "rows": rows, "pairs": audited.pairs.tolist()}


def of_one_label(task: Task, audited: OnCounts, law: dict) -> list[dict]:
    """The claim, or that it does not hold; and the exact epsilon at the same delta.

    The audit's epsilons hold for every probability within its errors, as the verifier's are.
    """
    exact, least = audited.worst(task.delta).epsilon, audited.at_least(task.delta)
    found = []
    if exact <= task.epsilon:
        found.append(_label("hockey_stick", law, task.epsilon, task.delta))
    elif least > task.epsilon:
        found.append(_label("counterexample", law, task.epsilon, task.delta))
    if math.isfinite(exact) and exact != task.epsilon:
        found.append(_label("hockey_stick", law, exact, task.delta))
    return found


def of_the_claim(task: Task, labels: int, delta: float) -> dict:
    """What several labels cost of which only the claim is known."""
    return {
        "kind": "total",
        "theorem": "optimal_homogeneous",
        "labels": labels,
        "label_epsilon": exactly(task.epsilon),
        "label_delta": exactly(task.delta),
        "epsilon": exactly(total_budgets(task.epsilon, task.delta, labels, delta)["optimal"]),
        "delta": exactly(delta),
    }


def together(task: Task, audited: OnCounts, law: dict, labels: int, delta: float) -> list[dict]:
    """What several labels with this noise cost, of few labels and teachers.

    The verifier repeats the whole induction, in fractions.
    """
    if labels > FEW_LABELS or task.n_teachers > FEW_TEACHERS:
        return []
    pairs = audited.label_pairs()
    epsilon = adaptive_epsilon(pairs, labels, delta).upper
    if not math.isfinite(epsilon):
        return []
    spread = _spread(*pairs.pairs())
    step, width = spread / POINTS, spread * math.sqrt(labels)
    epsilon = epsilon * (1 + CHORDS) + step
    body = {
        "kind": "total",
        "theorem": "backward_induction",
        "law": law,
        "labels": labels,
        "epsilon": exactly(epsilon),
        "delta": exactly(delta),
        "step": exactly(step),
        "below": math.ceil(min(6 * width, math.log(1 / delta) + 5) / step),
        "above": math.ceil((epsilon + 3 * width) / step),
    }
    return [body]


def _label(theorem: str, law: dict, epsilon: float, delta: float) -> dict:
    claim = {"epsilon": exactly(epsilon), "delta": exactly(delta)}
    return {"kind": "label", "theorem": theorem, "law": law, **claim}


def _spread(first: np.ndarray, second: np.ndarray) -> float:
    """The largest root mean square of a label's loss."""
    both = (first > 0) & (second > 0)
    losses = np.log(np.where(both, second, 1.0) / np.where(both, first, 1.0))
    return float(np.sqrt((first * losses**2).sum(axis=1).max()))


def _dyadic(x: Fraction, direction: Callable[[Fraction], int]) -> str:
    """x rounded to a multiple of 2^-200."""
    return f"{direction(x * 2**200)}/{2**200}"


def _ratio(x: Fraction) -> str:
    return f"{x.numerator}/{x.denominator}"
