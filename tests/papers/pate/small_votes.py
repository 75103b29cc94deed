"""Small votes and settings of PATE's experiments, and what is bought and accounted of them."""

import copy
import math

import numpy as np
import pandas as pd

from private_ensembles.labels.votes import Votes
from private_ensembles.papers.pate.experiment import account_votes, release_labels
from private_ensembles.papers.pate.orders import order_grid

K, POOL, CLASSES, DELTA = 50, 120, 4, 1e-3
NOISE = {"threshold": 30.0, "sigma1": 15.0, "sigma2": 6.0}
SETTINGS = {
    "pool": POOL,
    "delta": DELTA,
    "confident": {"queries": 60, **NOISE},
    "lnmax": {"scale": 3.0, "queries": [20, 40]},
    "printed": None,
    "draws": 2,
    "orders": {"order_max": 6, "order_step": 0.5},
    "two_rounds": None,
    "answer_cap": None,
}
ORDERS = order_grid(SETTINGS["orders"])
CHECKS = {
    "moderate": {"threshold": 30, "sigma1": 10},
    "aggressive": {"threshold": 45, "sigma1": 10},
}


def votes(seed=0, queries=POOL):
    """Counts (queries, CLASSES) of K teachers and labels: from unanimous to undecided."""
    source = np.random.default_rng(seed)
    labels = source.integers(CLASSES, size=queries)
    right = source.beta(4, 1, queries)
    chances = np.full((queries, CLASSES), 1.0) * ((1 - right) / (CLASSES - 1))[:, None]
    chances[np.arange(queries), labels] = right
    counts = source.multinomial(K, chances)
    counts[0] = K * np.eye(CLASSES, dtype=int)[labels[0]]
    return counts, labels


COUNTS, LABELS = votes()


def accounted(counts=COUNTS, labels=LABELS, task="digits", seed=0, noise="reproducible", **changes):
    inputs, settings = {"votes": Votes(CLASSES, labels, counts=counts)}, copy.deepcopy(SETTINGS)
    rows = account_votes(inputs, settings | changes, name=task, seed=seed, noise=noise)
    return pd.DataFrame(rows)


def quantities(table, aggregator, draw=0):
    part = table[(table["aggregator"] == aggregator) & (table["draw"] == draw)]
    assert not part["quantity"].duplicated().any()
    return dict(zip(part["quantity"], part["value"], strict=True))


def converted(total, delta=DELTA, orders=ORDERS):
    """PATE's Theorem 5 at the best order."""
    return min(
        cost + math.log(1 / delta) / (order - 1) for cost, order in zip(total, orders, strict=True)
    )


def bought(task="digits", seed=0, noise="reproducible", **changes):
    inputs = {"votes": Votes(CLASSES, LABELS, counts=COUNTS)}
    return release_labels(inputs, SETTINGS | changes, name=task, seed=seed, noise=noise)
