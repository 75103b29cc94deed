"""PATE's aggregators at the noise that its configuration gives: parameters, and printed totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.labels.accounts import given_noise, thresholds
from private_ensembles.labels.accounts.account import Account
from private_ensembles.labels.laws import laplace
from private_ensembles.labels.laws.checked import CheckedNoise, student_disagreement
from private_ensembles.labels.laws.laplace import LaplaceNoise
from private_ensembles.labels.mechanism import Mechanism, load_mechanism
from private_ensembles.labels.noisy_counts import exact_data_independent_epsilon
from private_ensembles.labels.parameters import Parameters

# These aggregators' noise is given by the configuration, in its order; the values account for it.
ACCOUNTS: dict[str, Account] = {
    "lnmax": given_noise.laplace,
    "gnmax": given_noise.gaussian,
    "confident_gnmax": thresholds.given,
    "interactive_gnmax": thresholds.given,
}


def aggregators() -> list[Mechanism]:
    """Return the mechanisms whose noise the configuration gives, in its order."""
    return [load_mechanism(name) for name in ACCOUNTS]


def configured_parameters(
    mechanism: Mechanism, noise: Mapping, n_classes: int
) -> Parameters | None:
    """Return the parameters that a task of PATE gives a mechanism; None if it gives none.

    GNMax takes Confident-GNMax's labels alone; with two classes the budgets' rows say it all.
    Interactive-GNMax has a student's score for two classes.

    Args:
        mechanism: any mechanism of the registry.
        noise: a task's sections, and student_score.
        n_classes: the classes of the task.
    """
    entry, confident = mechanism.entry, noise["confident"]
    if mechanism.name not in ACCOUNTS:
        return None
    if mechanism.law is laplace.LAW:
        return LaplaceNoise(noise["lnmax"]["scale"])
    if not entry.check:
        return None if n_classes == 2 else mechanism.law.noise_at_scale(confident["sigma2"])
    checked = CheckedNoise(confident["threshold"], confident["sigma1"], confident["sigma2"])
    if mechanism.law.consensus is not student_disagreement:
        return checked
    return replace(checked, score=noise["student_score"]) if n_classes == 2 else None


def printed_releases(mechanism: Mechanism, task: Mapping) -> dict[str, list[Parameters]]:
    """Return what is released if every query is answered, by row of PATE's Table 1.

    Args:
        mechanism: any mechanism of the registry.
        task: a task's sections. Interactive-GNMax has two rounds, which can be left out.
    """
    entry = mechanism.entry
    if mechanism.name not in ACCOUNTS or not (entry.check or mechanism.law is laplace.LAW):
        return {}
    if mechanism.law is laplace.LAW:
        scale = task["lnmax"]["scale"]
        return {f"lnmax-{n}": [LaplaceNoise(scale, n)] for n in task["lnmax"]["queries"]}
    if mechanism.law.consensus is not student_disagreement:
        return {"confident": [_answered_round(task["confident"])]}
    rounds = task.get("two_rounds")
    if not rounds:
        return {}
    return {"interactive": [_answered_round(rounds["first"]), _answered_round(rounds["second"])]}


def _answered_round(noise: Mapping) -> CheckedNoise:
    """Return a round in which every query is answered; no threshold is known, and none matters."""
    queries = noise["queries"]
    return CheckedNoise(0, noise["sigma1"], noise["sigma2"], queries, queries)


def printed_totals(mechanism: Mechanism, task: Mapping) -> dict[str, tuple[int, float]]:
    """Return queries and proven total epsilon of a task, by row of PATE's Table 1.

    Every query is taken to be answered.

    Args:
        mechanism: any mechanism of the registry.
        task: a task's sections, and delta.
    """
    totals = {}
    for row, rounds in printed_releases(mechanism, task).items():
        queries = sum(noise.labels for noise in rounds)
        if mechanism.entry.check:
            rho = sum(
                noise.queries * (1 / (2 * noise.sigma1**2) + 1 / noise.sigma2**2)
                for noise in rounds
            )
            epsilon = exact_data_independent_epsilon(rho, task["delta"])
        else:
            pure = 2 / rounds[0].scale
            epsilon = optimal_composition(pure, 0.0, queries, task["delta"]).epsilon
        totals[row] = queries, epsilon
    return totals
