"""Every mechanism on the same votes at the same total budget: how often is a label right?

Each of `mechanisms` spends all of (epsilon, delta) on Q labels at its default parameters, by an
analysis that is free of the votes. PATE's own rows spend data-dependent budgets, which no other
mechanism can be given.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from private_ensembles.base.secure import check_mode
from private_ensembles.labels.mechanism import load_all_mechanisms
from private_ensembles.labels.planner.planning import describe_parameters
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.papers.pate.experiment import draw_queries


def compare(
    counts: np.ndarray,
    labels: np.ndarray,
    settings: Mapping,
    *,
    task: str,
    seed: int,
    noise: str = "reproducible",
) -> pd.DataFrame:
    """Return the expected accuracy of labels by every mechanism, for every total epsilon of a task.

    Mechanisms that do not apply, or whose privacy is not that of noise on the votes, have no row.
    The queries are those that PATE's students ask (draw 0).

    Args:
        counts: the pool's, (pool, classes) int.
        labels: the pool's true ones, (pool,).
        settings: pool, delta, queries (list), epsilon (list).
        task: its name.
        seed: the run's seed.
        noise: ``secure`` is accounted for as the discrete noise that it is.

    Returns:
        A frame with task, queries, epsilon, delta, mechanism, parameters, privacy_model, adjacency,
        answers (expected), accuracy (expected, of the answers) and release.
    """
    rows = []
    for queries in settings["queries"]:
        chosen_queries = draw_queries(settings["pool"], queries, seed, task, 0)
        for epsilon in settings["epsilon"]:
            label_task = Task(
                Ensemble(int(counts[0].sum()), counts.shape[1]),
                Budget(epsilon, settings["delta"]),
                Wanted(queries),
                secure=check_mode(noise) == "secure",
            )
            for name, mechanism in load_all_mechanisms().items():
                if mechanism.refusal(label_task) or not mechanism.guarantee.hides_votes:
                    continue
                parameters = mechanism.calibrate(label_task)
                answers, correct = mechanism.law.expected_answers(
                    counts[chosen_queries], labels[chosen_queries], label_task, parameters
                )
                rows.append(
                    {
                        "task": task,
                        "queries": queries,
                        "epsilon": epsilon,
                        "delta": label_task.budget.delta,
                        "mechanism": name,
                        "parameters": describe_parameters(parameters),
                        "privacy_model": label_task.protection.privacy_model,
                        "adjacency": label_task.protection.adjacency,
                        "answers": answers,
                        "accuracy": correct / answers if answers else np.nan,
                        "release": NOT_FOR_RELEASE,
                    }
                )
    return pd.DataFrame(rows)
