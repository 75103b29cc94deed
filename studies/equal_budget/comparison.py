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
    """Expected accuracy of Q labels by every mechanism, for every Q and total epsilon of a task.

    counts, labels: the pool's, (pool, C) and (pool,). settings: pool, delta, queries (list),
    epsilon (list). The queries are those that PATE's students ask (draw 0). Columns: task, queries,
    epsilon, delta, mechanism, parameters, privacy_model, adjacency, answers (expected), accuracy
    (expected, of the answers), release. Mechanisms that do not apply, or whose privacy is not that
    of noise on the votes, have no row. noise: `secure` is accounted for as the discrete noise that
    it is.
    """
    rows = []
    for queries in settings["queries"]:
        asked = draw_queries(settings["pool"], queries, seed, task, 0)
        for epsilon in settings["epsilon"]:
            wanted = Task(
                Ensemble(int(counts[0].sum()), counts.shape[1]),
                Budget(epsilon, settings["delta"]),
                Wanted(queries),
                secure=check_mode(noise) == "secure",
            )
            for name, mechanism in load_all_mechanisms().items():
                if mechanism.refusal(wanted) or not mechanism.guarantee.hides_votes:
                    continue
                parameters = mechanism.calibrate(wanted)
                answers, correct = mechanism.law.expected_answers(
                    counts[asked], labels[asked], wanted, parameters
                )
                rows.append(
                    {
                        "task": task,
                        "queries": queries,
                        "epsilon": epsilon,
                        "delta": wanted.budget.delta,
                        "mechanism": name,
                        "parameters": describe_parameters(parameters),
                        "privacy_model": wanted.protection.privacy_model,
                        "adjacency": wanted.protection.adjacency,
                        "answers": answers,
                        "accuracy": correct / answers if answers else np.nan,
                        "release": NOT_FOR_RELEASE,
                    }
                )
    return pd.DataFrame(rows)
