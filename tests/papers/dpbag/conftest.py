"""Small votes that tests of DPBag's experiment and of its tables share."""

import numpy as np
import pytest

from private_ensembles.papers.dpbag.experiment import account_labels, cast_votes, split_thirds
from private_ensembles.training.data.prepare import load_breast_cancer
from tests.bagged import bagged  # noqa: F401

BUDGET = {"epsilon": [1, 5], "delta": 1e-5, "delta_of_counts": 1e-3, "noise": 2, "order_max": 80}
BUDGET |= {"queries_per_label": 4}
LOGISTIC = {"C": 1.0, "tolerance": 1e-6, "intercept": "penalised"}
TREES = {"rounds": 10, "learning_rate": 0.1, "leaves": 4, "records_per_leaf": 3}
PATH = ("dpbag", "x", 0)


@pytest.fixture(scope="module")
def records():
    return load_breast_cancer(
        "breast-cancer", n_train=379, n_test=190, generator=np.random.default_rng(0)
    )


@pytest.fixture(scope="module")
def thirds(records):
    return split_thirds(records, "data", 0, 0)


@pytest.fixture(scope="module")
def accounts(thirds):
    found = {}
    for n in (10, 20):
        options = {"n": n, "partitions": range(4), "n_queries": 60, "seed": 0, "path": PATH}
        votes = cast_votes(thirds, "logistic", LOGISTIC, **options)
        found[n] = account_labels(votes, BUDGET, [2, 4])
    return found
