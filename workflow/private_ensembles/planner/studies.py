"""The planner's two studies: what the best label is worth, and noise laws at equal totals.

settings: the section ``planner`` of the configuration. Nothing here looks at private votes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from private_ensembles.mechanisms.mechanism import Mechanism, load
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise.secure import check_mode
from private_ensembles.optimal_label.objective import right_weights
from private_ensembles.optimal_label.sorted_histograms import tie_groups
from private_ensembles.planner.study import words

# A label tells at least this share of what two noisy counts tell, in standard deviations of noise,
# once each label tells little: the slope of a threshold at 0 (docs/many-labels.md).
LIMIT = math.sqrt(2 / math.pi)


def best_label(settings: Mapping, meter=None) -> pd.DataFrame:
    """What the best label is worth: over the budget, over the number of labels, at wrong profiles.

    A row per budget, number of labels, mechanism, stated and true accuracy. Teachers are right with
    one probability each and all errors are as likely, so that how often a label is right is known
    without drawing votes. The optimal label is told an accuracy, which may be wrong.

    settings: the section ``planner``, with best_label: one label for each of its epsilons, and each
    of its numbers of labels for the largest of them. Mechanisms are the planner's that answer every
    query from votes at a cost that does not depend on these. Columns: mechanism, name, teachers,
    n_classes, epsilon, delta, labels, stated (NaN of a mechanism that asks for no accuracy),
    accuracy (the true one), parameters and right (Pr[a label is right], exactly). meter: advanced
    once per budget and number of labels.
    """
    options = settings["best_label"]
    size = {"n_teachers": options["teachers"], "n_classes": options["n_classes"]}
    single = [(epsilon, 1) for epsilon in options["epsilons"]]
    several = [(max(options["epsilons"]), labels) for labels in options["labels"] if labels > 1]
    rows = []
    for epsilon, labels in (*single, *several):
        task = Task(epsilon, settings["delta"], labels, labels, **size)
        for mechanism, stated, parameters in _calibrated(settings, task):
            shares = right(mechanism, task, parameters, options["accuracies"])
            rows += [
                {
                    "mechanism": mechanism.name,
                    "name": mechanism.entry.label,
                    "teachers": task.n_teachers,
                    "n_classes": task.n_classes,
                    "epsilon": epsilon,
                    "delta": task.delta,
                    "labels": labels,
                    "stated": stated,
                    "accuracy": accuracy,
                    "parameters": words(parameters),
                    "right": share,
                }
                for accuracy, share in zip(options["accuracies"], shares, strict=True)
            ]
        if meter is not None:
            meter.advance()
    return pd.DataFrame(rows)


def right(
    mechanism: Mechanism, task: Task, parameters: Parameters, accuracies: Sequence[float]
) -> list[float]:
    """Return Pr[a label is right] of teachers who are, each, right with each of `accuracies`."""
    histograms = tie_groups(task.n_teachers, task.n_classes)
    chances = np.empty(len(histograms.sizes))
    chances[histograms.groups] = mechanism.law.distribution(histograms.counts, parameters)
    return [float(right_weights(histograms, accuracy) @ chances) for accuracy in accuracies]


def _calibrated(settings: Mapping, task: Task) -> Iterator[tuple[Mechanism, float, Parameters]]:
    """Mechanisms, what accuracy they are told, and their parameters for the task."""
    for name in settings["mechanisms"]:
        mechanism = load(name)
        if (
            not mechanism.entry.hides_votes
            or mechanism.entry.data_dependent
            or mechanism.refusal(task)
        ):
            continue
        if "accuracy" in mechanism.account.free:
            for stated in settings["best_label"]["accuracies"]:
                yield mechanism, stated, mechanism.calibrate(task, accuracy=stated)
        else:
            yield mechanism, math.nan, mechanism.calibrate(task)


def many_labels(settings: Mapping, meter=None, *, noise: str = "reproducible") -> pd.DataFrame:
    """Noise laws at equal totals: a row per number of labels and mechanism that answers everything.

    Two classes, one lead: how often is a label right if Q of them together cost (epsilon, delta)?
    By the account of the labels, and by the published accounts of the noisy counts.

    settings: the section ``planner``, with many_labels. Columns: mechanism, name, analysis, labels,
    epsilon, delta, teachers, lead, parameters, sigma (GNMax's; NaN elsewhere), right (Pr[a label is
    right] at that lead) and ratio (sigma over that of gnmax_analytic; NaN elsewhere). `limit` is
    what the ratio tends to.
    """
    options = settings["many_labels"]
    teachers, lead = options["teachers"], options["lead"]
    counts = np.array([[(teachers - lead) // 2, (teachers + lead) // 2]])
    rows = []
    for labels in options["labels"]:
        wanted = Task(
            epsilon=options["epsilon"],
            delta=settings["delta"],
            queries=labels,
            labels=labels,
            n_teachers=teachers,
            n_classes=2,
            secure=check_mode(noise) == "secure",
        )
        for name in settings["mechanisms"]:
            mechanism = load(name)
            if not mechanism.entry.hides_votes or mechanism.refusal(wanted):
                continue
            parameters = mechanism.calibrate(wanted)
            outcome = mechanism.law.distribution(counts, parameters, wanted.secure)
            if outcome.sum() < 1 - 1e-6:  # not every query is answered
                continue
            rows.append(
                {
                    "mechanism": name,
                    "name": mechanism.entry.label,
                    "analysis": mechanism.entry.analysis,
                    "labels": labels,
                    "epsilon": wanted.epsilon,
                    "delta": wanted.delta,
                    "teachers": teachers,
                    "lead": lead,
                    "parameters": words(parameters),
                    "sigma": parameters.shown().get("sigma", math.nan),
                    "right": float(outcome[0, 1]),
                }
            )
        if meter is not None:
            meter.advance()
    table = pd.DataFrame(rows)
    noisy_counts = table[table["mechanism"] == "gnmax_analytic"].set_index("labels")["sigma"]
    table["ratio"] = table["sigma"] / table["labels"].map(noisy_counts)
    table["limit"] = LIMIT
    return table
