"""Certificates of labels and totals that `verify/verify.py` checks without this package.

They state what a mechanism's label costs, by its noise if that has a closed form, else by a table
of its probabilities; that a claim does not hold, if it does not; and what several labels cost
together. Format and theorems: docs/certificates.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from private_ensembles.accounting.adaptive.account import adaptive_epsilon
from private_ensembles.accounting.budgets import pld_epsilon, total_budgets
from private_ensembles.accounting.composition import general
from private_ensembles.audit.labels import OnCounts
from private_ensembles.darrm.certificate_file import exactly, privacy, stated
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.ledger.ledger import Calibration
from private_ensembles.ledger.totals import POINTS as CURVE_POINTS
from private_ensembles.ledger.totals import largest_loss
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.mechanism import Mechanism, load
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.mechanisms.task import Task
from private_ensembles.papers.darrm.one_label import terms

# Labels whose induction the verifier repeats in seconds, and the grid's points per loss. The claim
# is raised by as much as its chords cost more than the package's.
FEW_LABELS, FEW_TEACHERS, POINTS, CHORDS = 100, 15, 8, 5e-3
# Of a label's loss the grid covers this many standard deviations.
_REACH = 12
# Of these no label loses more than two votes' worth for each that moves, which is all to cover.
_PURE = ("laplace", "exponential", "permute_and_flip")


def certificates_of_budgets(
    settings: Mapping[str, Calibration], queries: list[int], delta_prime: float
) -> dict[str, list]:
    """Return what is proven of every mechanism on vote counts, at every budget.

    settings: by budget, as `ledger.setting` gives them. queries, delta_prime: as in `totals`.
    Returns ``certificates``, and ``about``: the budgets and mechanisms that each of them speaks of.
    """
    about: list[list[str]] = []
    proven: list[dict] = []

    def add(subject: str, bodies: list[dict]) -> None:
        for body in bodies:
            if body not in proven:
                about.append([])
                proven.append(body)
            names = about[proven.index(body)]
            if subject not in names:
                names.append(subject)

    for budget, calibration in settings.items():
        for mechanism in map(load, registry.of_one_label()):
            task = terms(mechanism.entry, calibration.budget)
            parameters = calibration.parameters[mechanism.name]
            subject = f"{budget}: {mechanism.name}"
            if not mechanism.entry.hides_votes:
                add(subject, of_teachers(mechanism, task, parameters))
                continue
            audited = mechanism.law.audited(task, parameters)
            law = law_of(mechanism, task, parameters, audited)
            add(subject, of_one_label(task, audited, law))
            for labels in queries:
                delta = general(task.epsilon, task.delta, labels, delta_prime).delta
                add(f"{budget}: any", [of_the_claim(task, labels, delta)])
                add(subject, together(task, audited, law, labels, delta))
    return {"certificates": proven, "about": about}


def of_teachers(mechanism: Mechanism, task: Task, parameters: Parameters) -> list[dict]:
    """The claim of one label of private teachers, by gamma or by composing a committee.

    One teacher's own cost is the accountant's, which is not certified
    here: a majority of teachers that costs no more has no certificate.
    """
    epsilon, Delta = task.teacher_epsilon, task.teacher_Delta
    if "shared_data" not in mechanism.entry.privacy_models:
        return []
    if mechanism.entry.costs_once:
        return [of_responses(epsilon, Delta, parameters.members, task.epsilon, task.delta)]
    problem = PrivacyProblem(task.n_teachers, parameters.m, epsilon, Delta, task.delta)
    return [privacy(problem, mechanism.law.gamma(parameters))]


def law_of(mechanism: Mechanism, task: Task, parameters: Parameters, audited: OnCounts) -> dict:
    """How likely each label is: named noise and its scale, or a table of bounds."""
    named = None if task.secure else mechanism.law.closed_form(parameters)
    if named is not None:
        return named_law(*named, task.n_teachers)
    error = Fraction(audited.errors["relative_error"])
    spare = Fraction(audited.errors["absolute_error"])

    def bounds(p: float) -> list[str]:
        p = Fraction(float(p))
        ends = max(Fraction(0), p - error * p - spare), p + error * p + spare
        return [_dyadic(ends[0], math.floor), _dyadic(ends[1], math.ceil)]

    rows = [[bounds(p) for p in row] for row in audited.matrix]
    votes = {"histograms": audited.inputs.tolist(), "moved": _moved(audited)}
    return {"name": "table", "rows": rows, "pairs": audited.pairs.tolist(), **votes}


def _moved(audited: OnCounts) -> int:
    """How many votes change together between two neighbours."""
    first, second = audited.pairs[0]
    return int(np.abs(audited.inputs[first] - audited.inputs[second]).max())


def of_one_label(task: Task, audited: OnCounts, law: dict) -> list[dict]:
    """The claim, or that it does not hold; and the exact epsilon at the same delta.

    The audit's epsilons hold for every probability within its errors, as the verifier's are.
    """
    exact, least = audited.worst(task.delta).epsilon, audited.at_least(task.delta)
    bodies = []
    if exact <= task.epsilon:
        bodies.append(of_label("hockey_stick", law, task.epsilon, task.delta))
    elif least > task.epsilon:
        bodies.append(of_label("counterexample", law, task.epsilon, task.delta))
    if math.isfinite(exact) and exact != task.epsilon:
        bodies.append(of_label("hockey_stick", law, exact, task.delta))
    return bodies


def of_the_claim(task: Task, labels: int, delta: float) -> dict:
    """What several labels cost of which only the claim is known."""
    epsilon = total_budgets(task.epsilon, task.delta, labels, delta)["optimal"]
    return of_responses(task.epsilon, task.delta, labels, epsilon, delta)


def of_responses(
    label_epsilon: float, label_delta: float, labels: int, epsilon: float, delta: float
) -> dict:
    """Certify that labels with this cost each are (epsilon, delta)-DP: losses are known exactly."""
    law = {"name": "response", "epsilon": exactly(label_epsilon), "delta": exactly(label_delta)}
    grid = {"step": exactly(label_epsilon), "reach": 1, "below": labels, "above": labels}
    claim = {"epsilon": exactly(epsilon), "delta": exactly(delta)}
    return stated("total", "loss_distribution", law=law, labels=labels, **grid, **claim)


def together(task: Task, audited: OnCounts, law: dict, labels: int, delta: float) -> list[dict]:
    """What several labels with this noise cost, of few teachers.

    The verifier repeats the whole induction, or for more labels the composition of the pair that
    dominates them, in integers.
    """
    if task.n_teachers > FEW_TEACHERS:
        return []
    few, pairs = labels <= FEW_LABELS, audited.label_pairs()
    if few:
        epsilon = adaptive_epsilon(pairs, labels, delta).upper
    else:
        end = largest_loss(audited.curve)
        epsilon = pld_epsilon(
            audited.curve, labels, delta, largest_epsilon=end, interval=end / CURVE_POINTS
        )
    if not math.isfinite(epsilon):
        return []
    spread = _spread(*pairs.pairs())
    claimed = epsilon * (1 + CHORDS) + spread / POINTS
    theorem = "backward_induction" if few else "loss_distribution"
    return [of_losses(theorem, law, spread, labels, claimed, delta)]


def of_losses(
    theorem: str, law: dict, spread: float, labels: int, epsilon: float, delta: float
) -> dict:
    """Certify that labels of this law are (epsilon, delta)-DP, on a grid that suits their loss.

    spread: standard deviation of one label's loss, about.
    """
    step, width = spread / POINTS, spread * math.sqrt(labels)
    reach = _REACH * POINTS
    if law["name"] in _PURE:
        reach = min(reach, math.ceil(2 * law["moved"] / Fraction(law["scale"]) / step) + 1)
    grid = {
        "step": exactly(step),
        "reach": reach,
        "below": math.ceil((epsilon + min(3 * width, math.log(1 / delta) + 5)) / step),
        "above": math.ceil((epsilon + 3 * width) / step),
    }
    claim = {"epsilon": exactly(epsilon), "delta": exactly(delta)}
    return stated("total", theorem, law=law, labels=labels, **grid, **claim)


def named_law(name: str, scale: float | Fraction, n_teachers: int, moved: int = 1) -> dict:
    """Noise with a closed form, by which `moved` of the teachers' votes change together."""
    scale = Fraction(scale)
    ratio = f"{scale.numerator}/{scale.denominator}"
    return {"name": name, "teachers": n_teachers, "moved": moved, "scale": ratio}


def of_label(theorem: str, law: dict, epsilon: float, delta: float) -> dict:
    claim = {"epsilon": exactly(epsilon), "delta": exactly(delta)}
    return stated("label", theorem, law=law, **claim)


def _spread(first: np.ndarray, second: np.ndarray) -> float:
    """The largest root mean square of a label's loss."""
    both = (first > 0) & (second > 0)
    losses = np.log(np.where(both, second, 1.0) / np.where(both, first, 1.0))
    return float(np.sqrt((first * losses**2).sum(axis=1).max()))


def _dyadic(x: Fraction, direction: Callable[[Fraction], int]) -> str:
    """x rounded to a multiple of 2^-200."""
    return f"{direction(x * 2**200)}/{2**200}"
