"""Noise laws at equal totals: how often a label is right if many of them share one budget."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from private_ensembles.base.secure import check_mode
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner.planning import describe_parameters
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

# A label tells at least this share of what two noisy counts tell, in standard deviations of noise,
# once each label tells little: the slope of a threshold at 0 (docs/many-labels.md).
LIMIT = math.sqrt(2 / math.pi)


def compare_noise_laws(
    settings: Mapping,
    *,
    mechanisms: Iterable[str],
    delta: float,
    noise: str = "reproducible",
    meter=None,
) -> pd.DataFrame:
    """Compare noise laws at equal totals: a row per number of labels and mechanism.

    Two classes, one lead: how often is a label right if Q of them together cost (epsilon, delta)?
    The total is that of the account of the labels, or of the published accounts of the noisy
    counts. Only mechanisms that answer every query are compared.

    Args:
        settings: teachers, lead, epsilon and numbers of labels.
        mechanisms: by name.
        delta: of all labels together.
        noise: ``secure`` is charged for as the discrete noise that it is.
        meter: is advanced once per number of labels.

    Returns:
        A frame with mechanism, name, analysis, labels, epsilon, delta, teachers, lead, parameters,
        sigma (GNMax's; else NaN), right (Pr[a label is right] at that lead), ratio (sigma over that
        of gnmax_analytic; else NaN) and limit, which the ratio tends to.
    """
    teachers, lead = settings["teachers"], settings["lead"]
    counts = np.array([[(teachers - lead) // 2, (teachers + lead) // 2]])
    rows = []
    for labels in settings["labels"]:
        task = Task(
            Ensemble(teachers, 2),
            Budget(settings["epsilon"], delta),
            Wanted(labels),
            secure=check_mode(noise) == "secure",
        )
        for name in mechanisms:
            mechanism = load_mechanism(name)
            if not mechanism.guarantee.hides_votes or mechanism.refusal(task):
                continue
            parameters = mechanism.calibrate(task)
            outcome = mechanism.law.distribution(counts, parameters, secure=task.secure)
            if outcome.sum() < 1 - 1e-6:  # not every query is answered
                continue
            rows.append(
                {
                    "mechanism": name,
                    "name": mechanism.entry.label,
                    "analysis": mechanism.entry.offer.analysis,
                    "labels": labels,
                    "epsilon": task.budget.epsilon,
                    "delta": task.budget.delta,
                    "teachers": teachers,
                    "lead": lead,
                    "parameters": describe_parameters(parameters),
                    "sigma": parameters.table_values().get("sigma", math.nan),
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
