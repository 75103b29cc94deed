"""The certificate of one release, which `private-ensembles verify` checks without this package.

It says what was released, by which plan and when, and proves what that costs, by the theorem that
fits the mechanism. Where nothing is proven, it says why. Format and theorems: docs/certificates.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from private_ensembles.accounting.adaptive.families import (
    Dominating,
    largest_spread,
    pure_pair,
)
from private_ensembles.accounting.adaptive.hockey_sticks import excesses
from private_ensembles.accounting.discrete_gaussian import Moves, fine_distance
from private_ensembles.accounting.discrete_gaussian import delta as discrete_delta
from private_ensembles.accounting.rounding import above
from private_ensembles.audit.histograms import both_counts
from private_ensembles.configuration.naming import at_most
from private_ensembles.darrm.certificate_file import exactly, privacy, stated
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.mechanisms.accounts.label import LabelAccount
from private_ensembles.mechanisms.accounts.thresholds import CheckedLabels
from private_ensembles.mechanisms.laws.committee import Members
from private_ensembles.mechanisms.laws.gamma import NoisyMajority
from private_ensembles.mechanisms.laws.ladder import LeakyLabel
from private_ensembles.mechanisms.laws.majority import Answers
from private_ensembles.mechanisms.laws.selection import SelectionRate
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.release import label_certificate
from private_ensembles.release.label_certificate import Noise, OnCells, panel_error
from private_ensembles.release.release_plan import ReleasePlan

# Of coins there is one for each number of votes, and each is written down.
MOST_COINS = 5000
# Of noise on whole numbers of a smaller scale, the law of a sum has no closed form.
_LEAST_SCALE = 2.0
# The verifier accepts a certificate that proves an epsilon larger than the stated one by so much.
_NEARLY = 1.02


class NoCertificate(Exception):
    """Why there is no certificate of a plan, in words."""


@dataclass(frozen=True)
class Proof:
    """What is proven of a plan: a certificate, and points of the curve that go with it.

    body: JSON that the verifier reads. curve: each an epsilon and what delta is at most there, in
    floats that are rounded up; the verifier is asked about the claim alone.
    """

    body: dict
    curve: tuple[tuple[float, float], ...] = ()


def prove(plan: ReleasePlan, epsilon: float | None = None) -> Proof:
    """Return what proves that a plan keeps its budget.

    epsilon: what is stated of it, if that is less than its budget. The certificate's ``epsilon``
    and ``delta`` are what is proven: the plan's, or an epsilon that is a little larger, since the
    verifier's grid is coarse. Raises NoCertificate, which says why, if there is none.
    """
    if epsilon is not None and epsilon < plan.task.budget.epsilon:
        plan = replace(
            plan, task=replace(plan.task, budget=replace(plan.task.budget, epsilon=epsilon))
        )
    proof = _prove(plan)
    found = proven(proof.body)[0]
    if not found <= _NEARLY * plan.task.budget.epsilon:
        raise NoCertificate(f"the verifier's grid proves no less than epsilon = {at_most(found)}")
    return proof


def _prove(plan: ReleasePlan) -> Proof:
    task, parameters = plan.task, plan.parameters
    if not task.secure:
        raise NoCertificate("the noise of a rehearsal can be computed from its seed")
    task, parameters = plan.mechanism.as_charged(task, parameters)
    plan = replace(plan, task=task, parameters=parameters)  # of the labels that can change
    if task.protection.reach > 1:
        raise NoCertificate("the verifier knows votes that go from one class to one other only")
    account = plan.mechanism.account
    if isinstance(parameters, Members):
        return Proof(_of_responses(plan, parameters.members))
    if isinstance(parameters, Answers):
        return Proof(_of_responses(plan, 1))
    if isinstance(parameters, NoisyMajority):
        return Proof(_of_gamma(plan))
    if isinstance(account, LabelAccount):
        return _of_labels(plan)
    if isinstance(account, CheckedLabels):
        return _of_thresholds_and_labels(plan)
    if plan.mechanism.law.coins and task.ensemble.classes == 2 and plan.labels == 1:
        return Proof(_of_one_label(plan))
    return _of_counts(plan.parameters.moves, task.budget.epsilon, task.budget.delta)


def proven(body: dict) -> tuple[float, float]:
    """Return the epsilon and delta that a certificate states."""
    epsilon = body["epsilon"]
    if body["kind"] == "gamma_privacy":
        return float.fromhex(body["m"]) * float.fromhex(epsilon), float.fromhex(body["delta"])
    return float.fromhex(epsilon), float.fromhex(body["delta"])


def proof_or_reason(plan: ReleasePlan, epsilon: float | None = None) -> Proof:
    """Return what is proven, as `prove` does, or a body that says why nothing is."""
    try:
        return prove(plan, epsilon)
    except NoCertificate as reason:
        why = str(reason)
    except ArithmeticError:  # of a budget far beyond any use
        why = "its numbers are beyond what floats hold"
    return Proof({"kind": "none", "theorem": "none", "why": why})


def of_release(
    plan: ReleasePlan, proof: Proof, *, time: str, labels_sha256: str, epsilon: float
) -> str:
    """Return the file of a release's certificate, as JSON text: a function of these alone.

    proof: what is proven of the plan. time: of the charge. labels_sha256: of labels.csv, which is
    to lie beside the file. epsilon: what is stated, at the plan's delta.
    """
    facts = {
        "time": time,
        "labels_sha256": labels_sha256,
        "mechanism": plan.name,
        "epsilon": exactly(epsilon),
        "delta": exactly(plan.task.budget.delta),
        "terms": plan.text(),
    }
    return json.dumps({"release": facts, "certificates": [proof.body]}) + "\n"


def _of_responses(plan: ReleasePlan, members: int) -> dict:
    """Teachers that are private themselves: so many of them are together what was released."""
    task, cost = plan.task, plan.task.teacher_cost()
    law = {"name": "response", "epsilon": exactly(cost.epsilon), "delta": exactly(cost.delta)}
    if members == 1:
        # At its very epsilon no rounding can tell whether a teacher costs more than delta.
        claim = {"epsilon": exactly(above(cost.epsilon, 64)), "delta": exactly(cost.delta)}
        return stated("label", "hockey_stick", law=law, **claim)
    claim = {"epsilon": exactly(task.budget.epsilon), "delta": exactly(task.budget.delta)}
    return _of_costs(law, members, claim)


def _of_costs(law: dict, labels: int, claim: dict) -> dict:
    """Labels of which only the cost is known; a step of the grid is its epsilon."""
    grid = {"step": law["epsilon"], "reach": 1}
    return stated("total", "loss_distribution", law=law, labels=labels, **grid, **claim)


def _of_gamma(plan: ReleasePlan) -> dict:
    """DaRRM: all teachers together if there is no noise, else the certificate of gamma."""
    task, parameters = plan.task, plan.parameters
    if parameters.m == task.ensemble.teachers and parameters.gamma is None:
        return _of_responses(plan, task.ensemble.teachers)
    cost = task.teacher_cost()
    problem = PrivacyProblem(
        task.ensemble.teachers, parameters.m, cost.epsilon, cost.delta, task.budget.delta
    )
    return privacy(problem, plan.mechanism.law.gamma(parameters))


def _of_counts(moves: tuple[Moves, ...], epsilon: float, delta: float) -> Proof:
    """Noise on whole numbers: of one kind of counts, or of thresholds and counts."""
    if not moves:
        raise NoCertificate("no theorem of the verifier covers this noise")
    if min(move.sigma for move in moves) < _LEAST_SCALE:
        raise NoCertificate(f"the noise has a scale below {_LEAST_SCALE:g} votes")
    if len({move.sigma for move in moves}) > 1:
        counts = [(move.counts, move.sigma, _deltas(move)) for move in moves]
        body, _, curve = label_certificate.adaptive(None, 0, delta, epsilon, counts)
        return Proof(body, tuple(curve))
    rows = [{"times": sum(move.counts for move in moves), "scale": exactly(moves[0].sigma)}]
    claim = {"epsilon": exactly(epsilon), "delta": exactly(delta)}
    curve = [(float(at), discrete_delta(float(at), moves)) for at in np.linspace(0, epsilon, 25)]
    return Proof(stated("total", "discrete_counts", counts=rows, **claim), tuple(curve))


def _deltas(move: Moves) -> Callable:
    """Upper bounds on delta at epsilons of noisy counts, as sticks at any real numbers."""
    return np.vectorize(lambda at: discrete_delta(float(at), [move]), otypes=[float])


def _of_one_label(plan: ReleasePlan) -> dict:
    """One label of two classes that is a coin."""
    claim = {"epsilon": exactly(plan.task.budget.epsilon), "delta": exactly(plan.task.budget.delta)}
    return stated("label", "hockey_stick", law=_coins(plan, plan.parameters), **claim)


def _of_labels(plan: ReleasePlan) -> Proof:
    """Labels that are charged together for what they release."""
    task, parameters = plan.task, plan.parameters
    if task.ensemble.classes == 2 and plan.labels == 1:
        return Proof(_of_one_label(plan))
    selects = task.ensemble.classes > 2 and isinstance(parameters, SelectionRate)
    if selects and (plan.labels == 1 or plan.mechanism.law.dominating is pure_pair):
        return Proof(_composed(plan, 2 * parameters.used_rate, 0.0))
    noise = _noise(plan, parameters)
    body, epsilon, curve = label_certificate.adaptive(
        noise, plan.labels, task.budget.delta, task.budget.epsilon
    )
    if isinstance(parameters, LeakyLabel) and not epsilon <= task.budget.epsilon:
        return Proof(_composed(plan, parameters.label_epsilon, parameters.label_delta))
    if not body:
        raise NoCertificate("the verifier's grid proves nothing at this delta")
    return Proof(body, tuple(curve))


def _composed(plan: ReleasePlan, each: float, leak: float) -> dict:
    """Composition of labels of which no more is known than what each costs."""
    law = {"name": "response", "epsilon": exactly(each), "delta": exactly(leak)}
    claim = {"epsilon": exactly(plan.task.budget.epsilon), "delta": exactly(plan.task.budget.delta)}
    return _of_costs(law, plan.labels, claim)


def _of_thresholds_and_labels(plan: ReleasePlan) -> Proof:
    """Thresholds by their noisy counts, labels by what they release."""
    task, noise = plan.task, plan.parameters
    if noise.sigma1 < _LEAST_SCALE:
        raise NoCertificate(f"the noise of thresholds has a scale below {_LEAST_SCALE:g} votes")
    counts = [(noise.queries, noise.sigma1, _deltas(Moves(noise.queries, noise.sigma1)))]
    of_label = _noise(plan, noise.of_label, plan.mechanism.law.law)
    body, _, curve = label_certificate.adaptive(
        of_label, plan.labels, task.budget.delta, task.budget.epsilon, counts
    )
    if not body:
        raise NoCertificate("the verifier's grid proves nothing at this delta")
    return Proof(body, tuple(curve))


def _noise(plan: ReleasePlan, noise: Parameters, law=None) -> Noise:
    """Noise as the verifier has it: GNMax's cells, a range of losses, or coins of two classes."""
    task = plan.task
    law = plan.mechanism.law if law is None else law
    family = law.pairs(task, noise)
    spread = largest_spread(family)
    if isinstance(family, Dominating):
        range_ = exactly(2 * noise.used_rate)
        stated_law = {"name": "bounded_range", "range": range_, "cells": len(family.first)}
        first = np.concatenate([family.first, family.second])
        second = np.concatenate([family.second, family.first])
        curves = partial(excesses, first, second)
        return Noise(stated_law, curves, spread, (2, len(family.first)))
    if task.ensemble.classes > 2 or not law.coins:
        return _cells(plan, float(noise.sigma), spread)
    coins = _coins(plan, noise, law)
    ones = np.array(
        [float.fromhex(p) if label else 1 - float.fromhex(p) for label, p in coins["rows"]]
    )
    zeros = np.array(
        [1 - float.fromhex(p) if label else float.fromhex(p) for label, p in coins["rows"]]
    )
    table = np.stack([zeros, ones], axis=1)
    fewer, more = table[:-1], table[1:]
    first, second = np.concatenate([fewer, more]), np.concatenate([more, fewer])
    curves = partial(excesses, first, second)
    return Noise(coins, curves, spread, (2, len(fewer)))


def _cells(plan: ReleasePlan, sigma: float, spread: float) -> Noise:
    """The largest of counts with Gaussian noise on the fine lattice."""
    task = plan.task
    family = OnCells(sigma, task.ensemble.teachers, task.ensemble.classes)
    leads, middles, _ = family._nodes()
    panels = 2
    while (
        panel_error(panels, middles.size) > 1e-3 * task.budget.delta / plan.labels and panels < 16
    ):
        panels *= 2
    law = {
        "name": "gaussian_maximum",
        "scale": exactly(sigma),
        "teachers": task.ensemble.teachers,
        "classes": task.ensemble.classes,
        "cells": 10,
        "panels": panels,
        "lattice": "fine",
    }
    error = 4 * panel_error(panels, middles.size) + 1e-15
    apart = fine_distance(sigma, task.ensemble.classes) * 1.3 + 1e-30
    shape = (leads.size, middles.size)
    return Noise(law, family.excesses, spread, shape, apart, error)


def _coins(plan: ReleasePlan, noise: Parameters, law=None) -> dict:
    """The very coins that are flipped: for each number of votes, the less likely label's float."""
    K = plan.task.ensemble.teachers
    if K > MOST_COINS:
        raise NoCertificate(f"it would list a coin for each number of votes, of {K:,} votes")
    law = plan.mechanism.law if law is None else law
    table = law.distribution(both_counts(K), noise)
    rows = [
        [int(row.argmin() if row[0] != row[1] else 1), exactly(float(row.min()))] for row in table
    ]
    return {"name": "coins", "rows": rows}
