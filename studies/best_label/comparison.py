"""What the best label is worth: over the budget, over the number of labels, at wrong profiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.account import PrivacyCurve, privacy_curve
from private_ensembles.accounting.adaptive_composition.dominating_pairs import NeighbourPairs
from private_ensembles.accounting.adaptive_composition.scales import (
    grid_fineness,
    least_scale_of_curves,
    share_of_scale,
)
from private_ensembles.accounting.label_composition import largest_label_epsilon
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner.planning import describe_parameters
from private_ensembles.labels.task import Task
from studies.best_label.best_label import BestLabel, best_label
from studies.best_label.objective import correct_label_weights
from studies.best_label.sorted_histograms import list_moves, tie_groups

# The table calls it so, as it is no mechanism of the registry.
NAME, LABEL = "optimal_label", "Optimal label"
# A search for what each of several labels may cost does not start below this share of noise.
_LEAST_SHARE = 0.4


def compare(
    settings: Mapping, *, mechanisms: Iterable[str], delta: float, meter=None
) -> pd.DataFrame:
    """Compare the best label with mechanisms that answer every query.

    Teachers are right with one probability each and all errors are as likely, so that how often a
    label is right is known without drawing votes. The best label is optimised for a stated
    accuracy, which may be wrong.

    Args:
        settings: teachers, n_classes, accuracies, epsilons of one label each, and numbers of labels
            for the largest of them.
        mechanisms: by name.
        delta: of all labels together.
        meter: is advanced once per budget and number of labels.

    Returns:
        A row per budget, number of labels, mechanism, stated and true accuracy: mechanism, name,
        teachers, n_classes, epsilon, delta, labels, stated (NaN of a mechanism that has no
        accuracy), accuracy (the true one), parameters and right (Pr[a label is right], exactly).
    """
    accuracies = settings["accuracies"]
    size = {"n_teachers": settings["teachers"], "n_classes": settings["n_classes"]}
    single = [(epsilon, 1) for epsilon in settings["epsilons"]]
    several = [(max(settings["epsilons"]), labels) for labels in settings["labels"] if labels > 1]
    histograms = tie_groups(**size)
    weights = {accuracy: correct_label_weights(histograms, accuracy) for accuracy in accuracies}
    rows = []
    for epsilon, labels in (*single, *several):
        task = Task.from_dict(
            {"epsilon": epsilon, "delta": delta, "queries": labels, "labels": labels, **size}
        )
        labels_of_task = [*_mechanism_labels(mechanisms, task), *_best_labels(accuracies, task)]
        for facts, probabilities in labels_of_task:
            rows += [
                {
                    "mechanism": facts["mechanism"],
                    "name": facts["name"],
                    "teachers": task.ensemble.teachers,
                    "n_classes": task.ensemble.classes,
                    "epsilon": epsilon,
                    "delta": task.budget.delta,
                    "labels": labels,
                    "stated": facts["stated"],
                    "accuracy": accuracy,
                    "parameters": facts["parameters"],
                    "right": float(weights_of_accuracy @ probabilities),
                }
                for accuracy, weights_of_accuracy in weights.items()
            ]
        if meter is not None:
            meter.advance()
    return pd.DataFrame(rows)


def _mechanism_labels(
    mechanisms: Iterable[str], task: Task
) -> Iterator[tuple[dict, NDArray[np.float64]]]:
    """Yield facts of mechanisms, and Pr[each class of a tie group] of their labels, (groups,)."""
    histograms = tie_groups(task.ensemble.teachers, task.ensemble.classes)
    for name in mechanisms:
        mechanism = load_mechanism(name)
        entry = mechanism.entry
        if (
            not entry.guarantee.hides_votes
            or entry.guarantee.data_dependent
            or mechanism.refusal(task)
        ):
            continue
        parameters = mechanism.calibrate(task)
        probabilities = np.empty(len(histograms.sizes))
        probabilities[histograms.groups] = mechanism.law.distribution(histograms.counts, parameters)
        facts = {"mechanism": name, "name": entry.label, "stated": math.nan}
        yield facts | {"parameters": describe_parameters(parameters)}, probabilities


def _best_labels(
    accuracies: Iterable[float], task: Task
) -> Iterator[tuple[dict, NDArray[np.float64]]]:
    """Yield the same of the best label, for each stated accuracy."""
    for stated in accuracies:
        label = calibrate_best_label(task, stated)
        cost = f"label_epsilon = {label.epsilon:.4g}, label_delta = {label.delta:.4g}"
        description = f"{cost}, labels = {task.wanted.labels}, accuracy = {stated:.4g}"
        facts = {"mechanism": NAME, "name": LABEL, "stated": stated}
        yield facts | {"parameters": description}, label.probabilities


def calibrate_best_label(task: Task, accuracy: float) -> BestLabel:
    """Return the best label of which as many as the task wants keep its budget together.

    One label spends all of epsilon and delta. Several spend no delta each, and are charged together
    for all that a changed vote does to them (docs/many-labels.md): the epsilon of each is the
    largest that keeps the total.
    """
    size = task.ensemble.teachers, task.ensemble.classes
    if task.wanted.labels == 1:
        return best_label(*size, task.budget.epsilon, task.budget.delta, accuracy=accuracy)
    label_epsilon = largest_label_epsilon(
        task.budget.epsilon, task.wanted.labels, task.budget.delta
    )

    def label(share: float) -> BestLabel:
        return best_label(*size, label_epsilon / share, accuracy=accuracy)

    def curve_of(share: float, fineness: float) -> PrivacyCurve:
        wanted = task.wanted.labels, task.budget.epsilon, task.budget.delta
        return privacy_curve(
            neighbouring_pairs(label(share)), *wanted, fineness=fineness, lower=False
        )

    start = share_of_scale(
        neighbouring_pairs(label(1)), task.wanted.labels, task.budget.epsilon, task.budget.delta
    )
    share = least_scale_of_curves(
        curve_of,
        task.wanted.labels,
        task.budget.epsilon,
        task.budget.delta,
        min(max(start, _LEAST_SHARE), 1.0),
        fineness=grid_fineness(task.ensemble.classes, task.wanted.labels),
    )
    return label(min(share, 1.0))


def neighbouring_pairs(label: BestLabel) -> NeighbourPairs:
    """Return what all changes of one vote do to a label, up to the names of the classes."""
    histograms, probabilities = label.histograms, label.probabilities
    moves = list_moves(histograms.n_teachers, histograms.n_classes)
    first, second = moves.pairs.T
    before, after = probabilities[moves.placed[first]], probabilities[moves.placed[second]]
    return NeighbourPairs(before, after, 2.0**-52, 1e-300)
