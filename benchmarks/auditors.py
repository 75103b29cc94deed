"""Auditors side by side: the exact one, and three that only see draws, on sound and unsound labels.

Every mechanism of the project that the exact audit can list is tried, and its twin with half the
noise, at the two inputs at which the exact audit finds the most loss: all auditors know which those
are, and a tester that has to look for them does worse. Each says how large epsilon is at least, and
raises an alarm if that is above what is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.measuring import add_machine, describe_machine, time_call
from benchmarks.writing import format_section, format_table
from private_ensembles.audit import epsilon_lower_bound
from private_ensembles.audit.audited_labels import AuditedLabel
from private_ensembles.audit.sampler import clopper_pearson
from private_ensembles.base.root_search import bisect
from private_ensembles.base.streams import generator
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_all_mechanisms
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.papers.darrm.mathematics import optimize_gamma
from private_ensembles.papers.darrm.one_label import make_label_task
from private_ensembles.papers.dpbag.law import BaggingNoise
from private_ensembles.papers.ledger.ledger import calibrate_budget
from private_ensembles.papers.nzc.law import ImmutableNoise
from private_ensembles.papers.pate.configured_noise import configured_parameters

# This is one label of DaRRM's Table 1, and the noise of aggregators for as many teachers.
BUDGET = {"K": 11, "m": 3, "epsilon": 0.0892, "Delta": 1e-4}
NOISE = {"lnmax": {"scale": 4}, "confident": {"threshold": 8, "sigma1": 4, "sigma2": 3}}
NOISE["student_score"] = 0.7
# A budget says nothing of these mechanisms: DPBag's, and NZC's own constants.
OWN = {
    "dpbag": (
        Task(Ensemble(28, 2), Budget(1.0, 1e-3), Wanted(1)),
        BaggingNoise(n_shards=7, k=4, rate=0.4),
    ),
    "nzc": (Task(Ensemble(11, 2), Budget(1.0, 1e-3), Wanted(1)), ImmutableNoise()),
}
# Delta is above every leak, so that no epsilon is infinite.
DELTA = 1e-3
CLASSES = (2, 3)
DRAWS = (10_000, 100_000, 1_000_000)
CONFIDENCE = 0.999
# DP-Sniper's event is so likely on the second input.
_EVENT = 0.01


class Subject(NamedTuple):
    """A mechanism on so many classes, or its twin, which has half the noise."""

    name: str
    n_classes: int
    twin: bool
    claimed: float
    audited: AuditedLabel


class Pair(NamedTuple):
    """Two inputs, the outcomes that there are, and the draws that may be made on each."""

    draw: Callable
    first: NDArray
    second: NDArray
    names: tuple[int, ...]
    runs: int

    def count_outcomes(self, runs: int, generator: np.random.Generator) -> tuple[NDArray, NDArray]:
        """Count how often each outcome comes out on either input, (outcomes,) each."""
        draws_by_input = (
            self.draw(inputs, runs, generator) for inputs in (self.first, self.second)
        )
        counts = [
            np.array([np.sum(draws == name) for name in self.names]) for draws in draws_by_input
        ]
        return counts[0], counts[1]


def bound_by_events(pair: Pair, generator: np.random.Generator) -> float:
    """Bound epsilon from below by the project's own auditor.

    It uses Clopper and Pearson's bounds of every outcome and its complement.
    """
    return epsilon_lower_bound(
        pair.draw,
        pair.first,
        pair.second,
        DELTA,
        labels=pair.names,
        runs=pair.runs,
        generator=generator,
        confidence=CONFIDENCE,
    ).value


def bound_by_histogram(pair: Pair, generator: np.random.Generator) -> float:
    """Bound epsilon from below by the hockey-stick divergence of both histograms, less its error.

    No event's frequency is off by more than t with probability 2^L e^(-2 n t^2), L outcomes, n
    draws (Bretagnolle, Huber and Carol).

    References:
        Gilbert and McMillan (2018); dp-auditorium's histogram tester.
    """
    error = (1 - CONFIDENCE) / 4
    deviation = math.sqrt((len(pair.names) * math.log(2) - math.log(error)) / (2 * pair.runs))
    first, second = (counts / pair.runs for counts in pair.count_outcomes(pair.runs, generator))

    def least(epsilon: float) -> float:
        growth = math.exp(epsilon)
        divergence = max(
            np.maximum(a - growth * b, 0).sum() for a, b in ((first, second), (second, first))
        )
        return divergence - (1 + growth) * deviation - DELTA

    if least(0.0) <= 0:
        return 0.0
    return bisect(lambda epsilon: least(epsilon) > 0, 50.0, 0.0)


def bound_by_sniper(pair: Pair, generator: np.random.Generator) -> float:
    """Bound epsilon from below by DP-Sniper, in both directions.

    Half of the draws train a classifier that says which input an outcome is from: with finitely
    many outcomes that is the quotient of their frequencies. The event holds the outcomes that tell
    most, up to a probability of 0.01 on the other input, the last of them by lot. The other half
    bounds its probabilities.

    References:
        Bichsel, Steffen, Bogunovic and Vechev (2021).
    """
    half = pair.runs // 2
    trained, tested = pair.count_outcomes(half, generator), pair.count_outcomes(half, generator)
    best = 0.0
    for a, b in ((0, 1), (1, 0)):
        scores = (trained[a] + 0.5) / (trained[a] + trained[b] + 1)
        order = np.argsort(-scores, kind="stable")
        share, remaining = np.zeros(len(order)), _EVENT
        for outcome in order:
            probability = (trained[b][outcome] + 0.5) / half
            share[outcome] = min(1.0, remaining / probability)
            remaining = max(0.0, remaining - probability)
        hits = [generator.binomial(counts, share).sum() for counts in (tested[a], tested[b])]
        error = (1 - CONFIDENCE) / 4
        low, high = (
            clopper_pearson(hits[0], half, error)[0],
            clopper_pearson(hits[1], half, error)[1],
        )
        if low > DELTA:
            best = max(best, math.log((low - DELTA) / high))
    return best


AUDITORS = {
    "events": bound_by_events,
    "histogram": bound_by_histogram,
    "DP-Sniper": bound_by_sniper,
}


def list_subjects(classes: tuple[int, ...] = CLASSES) -> Iterator[Subject]:
    """Yield every mechanism whose exact epsilon says something, and its twin."""
    calibrated = calibrate_budget(BUDGET, optimize_gamma(*BUDGET.values()).gamma)
    cost = BUDGET["m"] * BUDGET["epsilon"], DELTA
    for mechanism in load_all_mechanisms().values():
        for n_classes in classes:
            task = Task(Ensemble(BUDGET["K"], n_classes), Budget(*cost), Wanted(1))
            if n_classes == 2 and mechanism.name in calibrated.parameters:
                task, parameters = (
                    make_label_task(mechanism.entry, calibrated.budget),
                    calibrated.parameters[mechanism.name],
                )
            elif mechanism.name in OWN:
                if n_classes > 2:
                    continue
                task, parameters = OWN[mechanism.name]
            elif mechanism.name in registry.offered_mechanisms() and not mechanism.refusal(task):
                parameters = mechanism.calibrate(task)
            else:
                parameters = configured_parameters(mechanism, NOISE, n_classes)
            if parameters is None or mechanism.law.build_audit(task, parameters).assumes_claim:
                continue
            audited = mechanism.law.build_audit(task, parameters)
            # The claim is as tight as can be, the exact value, unless it is false.
            claimed = audited.worst_inputs(DELTA).epsilon
            if not mechanism.guarantee.holds:
                claimed = mechanism.cost(task, parameters).claimed
            yield Subject(mechanism.name, n_classes, False, claimed, audited)
            twin = mechanism.law.build_audit(task, mechanism.law.scale_noise(parameters, 0.5))
            yield Subject(mechanism.name, n_classes, True, claimed, twin)


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Measure each subject, auditor and number of draws. quick: few draws."""
    machine = describe_machine("numpy", "scipy")
    rows = []
    for subject in list_subjects():
        facts = {name: getattr(subject, name) for name in ("name", "n_classes", "twin", "claimed")}
        timing, worst = time_call(partial(subject.audited.worst_inputs, DELTA))
        exact = {"exact": worst.epsilon, "exact_seconds": timing["seconds"]}
        for draws in DRAWS[:1] if quick else DRAWS:
            inputs = worst.first, worst.second, subject.audited.names, draws
            pair = Pair(subject.audited.draw, *inputs)
            for auditor, bound in AUDITORS.items():
                stream = generator(0, "auditors", subject.name, subject.n_classes, auditor, draws)
                timing, bound_found = time_call(partial(bound, pair, stream))
                result = {"auditor": auditor, "draws": draws, "bound": bound_found}
                rows.append(facts | exact | result | {"seconds": timing["seconds"]})
    data = add_machine(rows, machine)
    return data.assign(alarm=data["bound"] > data["claimed"] * (1 + 1e-9))


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    unsound = data["exact"] > data["claimed"] * (1 + 1e-6)
    facts = data.drop_duplicates(["name", "n_classes", "twin"])
    broken, twins = unsound[facts.index], facts["twin"].astype(bool)
    outcomes = data.assign(
        alarm=data["alarm"].astype(bool),
        sound=~unsound,
        unsound=unsound,
        share=(data["bound"] / data["exact"]).where(data["twin"].astype(bool)),
    )
    outcomes["false_alarm"] = outcomes["alarm"] & outcomes["sound"]
    outcomes["missed"] = ~outcomes["alarm"] & outcomes["unsound"]
    columns_counted = ["false_alarm", "sound", "missed", "unsound"]
    groups = outcomes.groupby(["auditor", "draws"], sort=False)
    summary = (
        groups[columns_counted].sum().join(groups[["share", "seconds"]].median()).reset_index()
    )
    ends = summary["draws"].isin([summary["draws"].min(), summary["draws"].max()])
    columns = {
        "auditor": "{auditor}",
        "draws": "{draws:,}",
        "false alarms": "{false_alarm} of {sound}",
        "violations missed": "{missed} of {unsound}",
        "bound, share of exact": "{share:.2f}",
        "seconds": "{seconds:.2g}",
    }
    return format_section(
        "Auditors side by side",
        "auditors",
        "One label of every mechanism that the [exact audit](../audit.md) can list "
        f"({BUDGET['K']} teachers, {' and '.join(map(str, CLASSES))} classes), and of its twin "
        f"with half the noise, at δ = {DELTA:g}; claimed of both is the exact ε of the sound one. "
        f"The exact audit takes {facts['exact_seconds'].median():.2g} s (median) and finds more "
        f"than the claim for {(broken & twins).sum()} of {twins.sum()} twins and "
        f"{(broken & ~twins).sum()} of {(~twins).sum()} others (NZC, whose own claim is false). "
        "The auditors below see only draws, of the two inputs that it found; a lower bound on ε "
        f"above the claim, at confidence {CONFIDENCE:g}, is an alarm. "
        "*Events* is the project's own. *Histogram* (the hockey-stick of both histograms, as in "
        "dp-auditorium, less its deviation) and *DP-Sniper* (Bichsel et al. 2021) were written "
        "from the papers.",
        data,
        format_table(columns, summary[ends], words=1),
        "Sampling needs no table of probabilities, so it can look at an implementation as it runs. "
        "But it has to be told the inputs, its bound is too low, it never sees an event that is "
        "rare on both sides, and it cannot prove privacy.",
    )
