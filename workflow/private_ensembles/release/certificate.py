"""The certificate of one release, which `private-ensembles verify` checks without this package.

It says what was released, by which plan and when, and proves what that costs, by the theorem that
fits the mechanism. Where nothing is proven, it says why. Format and theorems: docs/certificates.md.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.account import grid_of
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    PessimisticPairs,
    max_loss_deviation,
    pure_pair,
)
from private_ensembles.accounting.adaptive_composition.hockey_sticks import hockey_stick_divergences
from private_ensembles.accounting.adaptive_composition.scales import grid_fineness
from private_ensembles.accounting.certificate_format import build_certificate, write_hexadecimal
from private_ensembles.accounting.discrete_gaussian import (
    DiscreteGaussianCounts,
)
from private_ensembles.accounting.discrete_gaussian import delta as discrete_delta
from private_ensembles.audit.histograms import both_counts
from private_ensembles.base.parameter_names import write_upper_bound
from private_ensembles.base.rounding import round_float_up
from private_ensembles.labels.accounts.label import LabelAccount
from private_ensembles.labels.accounts.thresholds import CheckedLabels
from private_ensembles.labels.laws.checked import CheckedNoise, ThresholdedLaw
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.laws.ladder import LeakyLabel
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.laws.selection import Selection, SelectionRate
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.task import Budget, Task
from private_ensembles.papers.darrm.committee_law import Members
from private_ensembles.papers.darrm.law import DarrmLaw, NoisyMajority
from private_ensembles.papers.darrm.majority import Answers
from private_ensembles.papers.darrm.mathematics.certificate_file import certify_privacy
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from private_ensembles.release import label_certificate, verifier
from private_ensembles.release.label_certificate import Noise, VerifierGaussianMaximum, panel_error
from private_ensembles.release.release_plan import ReleasePlan

# A certificate lists a coin for each number of votes, so there may not be more votes than this.
MOST_COINS = 5000


class NoCertificate(Exception):
    """Why there is no certificate of a plan, in words."""


@dataclass(frozen=True)
class Proof:
    """What is proven of a plan: a certificate, and points of the privacy curve that go with it.

    Attributes:
        body: JSON that the verifier reads.
        curve: Pairs of an epsilon and what delta is at most there, in floats that are rounded up.
            The verifier checks the claim alone, not these.
    """

    body: dict
    curve: tuple[tuple[float, float], ...] = ()


def prove(plan: ReleasePlan, epsilon: float | None = None) -> Proof:
    """Return what proves that a plan keeps its budget; the verifier has accepted it.

    This takes as long as the verifier does: up to a minute for a thousand labels of ten classes.

    Args:
        plan: What may be released, and with which noise.
        epsilon: The cost that is stated of it, if that is less than its budget.

    Raises:
        NoCertificate: If there is no proof; it says why.
    """
    stated_plan, budget = plan, plan.task.budget
    if epsilon is not None and epsilon < budget.epsilon:
        budget = replace(budget, epsilon=epsilon)
        stated_plan = replace(plan, task=replace(plan.task, budget=budget))
    reason = f"the verifier's grid does not prove epsilon = {write_upper_bound(budget.epsilon)}"
    for proof in _proofs(stated_plan):
        refusal = _refusal(plan, proof.body, budget)
        if refusal is None:
            return proof
        reason = f"the verifier does not prove it: {refusal}"
    raise NoCertificate(reason)


def _refusal(plan: ReleasePlan, body: dict, budget: Budget) -> str | None:
    """Return why the verifier does not accept a certificate of a plan, or None if it does."""
    checker = verifier.load()
    checker.steps.restart()
    claim = tuple(
        checker.number(write_hexadecimal(number)) for number in (budget.epsilon, budget.delta)
    )
    try:
        word, line = checker.check_claim("", body, checker.Plan(plan.to_json()), claim)
    except (ValueError, NotImplementedError) as refusal:
        return str(refusal)
    return None if word == "holds" else line.removeprefix(": ")


def _proofs(plan: ReleasePlan) -> Iterator[Proof]:
    """Yield what may prove the budget of a plan; each takes longer to check than the one before."""
    task, parameters = plan.task, plan.parameters
    if not task.secure:
        raise NoCertificate("the noise of a rehearsal can be computed from its seed")
    task, parameters = plan.mechanism.charged_task_and_noise(task, parameters)
    plan = replace(plan, task=task, parameters=parameters)  # only labels that can change count
    if task.protection.reach > 1:
        raise NoCertificate("the verifier knows votes that go from one class to one other only")
    account = plan.mechanism.account
    if isinstance(parameters, Members):
        yield Proof(_prove_private_teachers(plan, parameters.members))
    elif isinstance(parameters, Answers):
        yield Proof(_prove_private_teachers(plan, 1))
    elif isinstance(parameters, NoisyMajority):
        yield Proof(_prove_gamma(plan, parameters))
    elif isinstance(account, LabelAccount):
        yield from _prove_labels(plan)
    elif isinstance(account, CheckedLabels):
        yield from _prove_thresholds_and_labels(plan)
    elif (
        plan.mechanism.law.draws_exact_bernoulli and task.ensemble.classes == 2 and plan.labels == 1
    ):
        yield Proof(_prove_one_label(plan))
    else:
        yield _prove_noisy_counts(parameters.discrete_gaussian_counts, task)


def prove_or_explain(plan: ReleasePlan, epsilon: float | None = None) -> Proof:
    """Return what is proven, as `prove` does, or a body that says why nothing is."""
    try:
        return prove(plan, epsilon)
    except NoCertificate as reason:
        why = str(reason)
    except ArithmeticError:  # the budget is far beyond any use
        why = "its numbers are beyond what floats hold"
    return Proof({"kind": "none", "theorem": "none", "why": why})


def render_certificate(
    plan: ReleasePlan, proof: Proof, *, time: str, labels_sha256: str, epsilon: float
) -> str:
    """Return the file of a release's certificate as JSON text, a function of the arguments alone.

    Args:
        plan: What may be released, and with which noise.
        proof: What is proven of the plan.
        time: When the labels were charged.
        labels_sha256: The hash of labels.csv, which is to lie beside the file.
        epsilon: The stated cost, at the plan's delta.
    """
    facts = {
        "time": time,
        "labels_sha256": labels_sha256,
        "mechanism": plan.name,
        "epsilon": write_hexadecimal(epsilon),
        "delta": write_hexadecimal(plan.task.budget.delta),
        "terms": plan.to_json(),
    }
    return json.dumps({"release": facts, "certificates": [proof.body]}) + "\n"


def _prove_private_teachers(plan: ReleasePlan, members: int) -> dict:
    """Return the certificate of teachers that are private themselves.

    members: of so many teachers together the labels are a function.
    """
    task, cost = plan.task, plan.task.teacher_cost()
    law = {
        "name": "response",
        "epsilon": write_hexadecimal(cost.epsilon),
        "delta": write_hexadecimal(cost.delta),
    }
    if members == 1:
        return build_certificate("label", "hockey_stick", law=law, **_claim(task))
    return _prove_by_composition(law, members, _claim(task))


def _claim(task: Task) -> dict:
    return {
        "epsilon": write_hexadecimal(task.budget.epsilon),
        "delta": write_hexadecimal(task.budget.delta),
    }


def _prove_by_composition(law: dict, labels: int, claim: dict) -> dict:
    """Return the certificate of labels of which only the cost is known; it is the grid's step."""
    grid = {"step": law["epsilon"], "reach": 1}
    return build_certificate("total", "loss_distribution", law=law, labels=labels, **grid, **claim)


def _prove_gamma(plan: ReleasePlan, parameters: NoisyMajority) -> dict:
    """Return the certificate of DaRRM's gamma, or of the teachers of whom a label is a function.

    Without noise those are all teachers; by subsampling, m of them.
    """
    task, law = plan.task, plan.mechanism.law
    assert isinstance(law, DarrmLaw)  # no other law has these parameters
    subsampled = plan.name == "darrm_sub" or parameters.m == task.ensemble.teachers
    if subsampled and parameters.gamma is None:
        return _prove_private_teachers(plan, int(parameters.m))
    cost = task.teacher_cost()
    problem = PrivacyProblem(
        task.ensemble.teachers, parameters.m, cost.epsilon, cost.delta, task.budget.delta
    )
    return certify_privacy(problem, law.gamma(parameters))


def _prove_noisy_counts(count_groups: tuple[DiscreteGaussianCounts, ...], task: Task) -> Proof:
    """Return the proof for noise in whole numbers on counts, or on thresholds and counts."""
    if not count_groups:
        raise NoCertificate("no theorem of the verifier covers this noise")
    times: Counter = Counter()
    for group in count_groups:
        times[write_hexadecimal(group.sigma)] += group.counts
    rows = [{"times": number, "scale": scale} for scale, number in times.items()]
    epsilons = np.linspace(0, task.budget.epsilon, 25)
    curve = [(float(eps), discrete_delta(float(eps), count_groups)) for eps in epsilons]
    return Proof(
        build_certificate("total", "discrete_counts", counts=rows, **_claim(task)), tuple(curve)
    )


def _deltas(counts: DiscreteGaussianCounts) -> Callable[[NDArray], NDArray]:
    """Return a function that bounds the delta of noisy counts above at any real epsilons."""
    return np.vectorize(lambda epsilon: discrete_delta(float(epsilon), [counts]), otypes=[float])


def _prove_one_label(plan: ReleasePlan) -> dict:
    """Return the certificate of one label of two classes that is drawn by an exact coin."""
    law = _coins(plan, plan.parameters)
    return build_certificate("label", "hockey_stick", law=law, **_claim(plan.task))


def _prove_labels(plan: ReleasePlan) -> Iterator[Proof]:
    """Yield proofs for labels that are charged together for what they release."""
    task, parameters = plan.task, plan.parameters
    if task.ensemble.classes == 2 and plan.labels == 1:
        yield Proof(_prove_one_label(plan))
        return
    # The noise was perhaps found by composing what each label costs.
    if isinstance(parameters, LeakyLabel):
        yield Proof(_prove_composed_labels(plan, parameters.label_epsilon, parameters.label_delta))
    elif isinstance(parameters, SelectionRate):
        law = plan.mechanism.law
        assert isinstance(law, Selection)  # no other law has a rate
        drawn = law.rate(task.ensemble.classes, parameters)
        yield Proof(_prove_composed_labels(plan, 2 * drawn, 0.0))
        pure = plan.labels == 1 or law.pairs_for_loss is pure_pair
        if task.ensemble.classes > 2 and pure:
            return  # nothing else is known of these labels
    noise = _noise(plan, parameters)
    budget = task.budget
    proofs = label_certificate.certify_adaptive_labels(
        noise, plan.labels, budget.delta, budget.epsilon
    )
    for body, curve in proofs:
        yield Proof(body, tuple(curve))


def _prove_composed_labels(plan: ReleasePlan, label_epsilon: float, label_delta: float) -> dict:
    """Return the certificate of labels that compose, each known by its cost alone."""
    law = {
        "name": "response",
        "epsilon": write_hexadecimal(label_epsilon),
        "delta": write_hexadecimal(label_delta),
    }
    return _prove_by_composition(law, plan.labels, _claim(plan.task))


def _prove_thresholds_and_labels(plan: ReleasePlan) -> Iterator[Proof]:
    """Yield proofs that charge thresholds for their noisy counts, labels for what they release."""
    noise, law, budget = plan.parameters, plan.mechanism.law, plan.task.budget
    assert isinstance(noise, CheckedNoise)  # CheckedLabels is an account of this noise and law
    assert isinstance(law, ThresholdedLaw)
    counts = [
        (noise.queries, noise.sigma1, _deltas(DiscreteGaussianCounts(noise.queries, noise.sigma1)))
    ]
    label_noise = _noise(plan, noise.label_noise, law.law)
    proofs = label_certificate.certify_adaptive_labels(
        label_noise, plan.labels, budget.delta, budget.epsilon, counts
    )
    for body, curve in proofs:
        yield Proof(body, tuple(curve))


def _noise(plan: ReleasePlan, noise: Parameters, law: Law | None = None) -> Noise:
    """Return noise as the verifier has it: GNMax's cells, a range of losses, or coins.

    law: of the labels, if it is not the plan's own.
    """
    task, labels = plan.task, plan.labels
    law = plan.mechanism.law if law is None else law
    pairs = law.dominating_pairs(task, noise)
    deviation = max_loss_deviation(pairs)
    total_deviation = deviation * math.sqrt(labels)
    fineness = grid_fineness(task.ensemble.classes, labels)
    budget = task.budget
    step = grid_of(deviation, labels, total_deviation, budget.epsilon, budget.delta, fineness).step
    if isinstance(pairs, PessimisticPairs):
        assert isinstance(law, Selection)  # no other law has such pairs
        assert isinstance(noise, SelectionRate)
        loss_range = write_hexadecimal(2 * law.rate(task.ensemble.classes, noise))
        stated_law = {"name": "bounded_range", "range": loss_range, "cells": len(pairs.first)}
        first = np.concatenate([pairs.first, pairs.second])
        second = np.concatenate([pairs.second, pairs.first])
        curves = partial(hockey_stick_divergences, first, second)
        return Noise(stated_law, curves, deviation, step, (2, len(pairs.first)))
    if task.ensemble.classes > 2:
        assert isinstance(noise, GaussianNoise)  # the other laws are above
        return _gaussian_maximum_noise(plan, float(noise.sigma), deviation, step)
    coins = _coins(plan, noise, law)
    ones = np.array(
        [float.fromhex(p) if label else 1 - float.fromhex(p) for label, p in coins["rows"]]
    )
    zeros = np.array(
        [1 - float.fromhex(p) if label else float.fromhex(p) for label, p in coins["rows"]]
    )
    table = np.stack([zeros, ones], axis=1)
    one_fewer, one_more = table[:-1], table[1:]  # a vote moves between neighbouring rows
    first = np.concatenate([one_fewer, one_more])
    second = np.concatenate([one_more, one_fewer])
    curves = partial(hockey_stick_divergences, first, second)
    if not law.draws_exact_bernoulli:  # labels of continuous noise, near the floats of their coins
        assert isinstance(noise, GaussianNoise)
        sigma = Fraction(float(noise.sigma))
        distance = float(verifier.load().coin_total_variation(coins["rows"], sigma))
        total_variation = float(round_float_up(distance))
        coins["apart"] = write_hexadecimal(total_variation)
        curves = partial(
            label_certificate.perturbed_hockey_stick_divergences, first, second, total_variation
        )
    return Noise(coins, curves, deviation, step, (2, len(one_fewer)))


def _gaussian_maximum_noise(
    plan: ReleasePlan, sigma: float, deviation: float, step: float
) -> Noise:
    """Return the noise of GNMax's labels: the largest of counts with continuous noise."""
    task = plan.task
    pairs = VerifierGaussianMaximum(sigma, task.ensemble.teachers, task.ensemble.classes)
    leads, middles, _ = pairs._grid_points()
    # Boole's rule is made so fine that its error is a small part of the delta of each label.
    max_error = 1e-3 * task.budget.delta / plan.labels / (1 + math.exp(task.budget.epsilon))
    panels = 2
    while panel_error(panels, middles.size) > max_error and panels < 64:
        panels *= 2
    law = {
        "name": "gaussian_maximum",
        "scale": write_hexadecimal(sigma),
        "teachers": task.ensemble.teachers,
        "classes": task.ensemble.classes,
        "leads": "votes" if pairs.has_grid_point_per_vote else "cells",
        "cells": 10,
        "panels": panels,
        "lattice": "none",
    }
    error = 4 * panel_error(panels, middles.size) + 1e-17
    shape = (leads.size, middles.size)
    return Noise(law, pairs.hockey_stick_divergences, deviation, step, shape, error)


def _coins(plan: ReleasePlan, noise: Parameters, law: Law | None = None) -> dict:
    """Return the very coins that are flipped: for each number of votes, the less likely label."""
    K = plan.task.ensemble.teachers
    if K > MOST_COINS:
        raise NoCertificate(f"it would list a coin for each number of votes, of {K:,} votes")
    law = plan.mechanism.law if law is None else law
    table = law.distribution(both_counts(K), noise)
    rows = [
        [int(row.argmin() if row[0] != row[1] else 1), write_hexadecimal(float(row.min()))]
        for row in table
    ]
    return {"name": "coins", "rows": rows}
