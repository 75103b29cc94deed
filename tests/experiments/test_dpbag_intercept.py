"""Teachers with a penalised intercept: the objective's own minimiser votes, labels are counted."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from private_ensembles.datasets.partitions import draw_partitions
from private_ensembles.dpbag.conjectured_counts import first_exceeding
from private_ensembles.experiments import dpbag_intercept as intercept
from private_ensembles.experiments.dpbag import cast_votes

from .conftest import BUDGET, LOGISTIC, PATH

OPTIONS = {"n": 5, "partitions": range(2), "n_queries": 60, "seed": 3, "path": PATH}


def minimiser(features, labels):
    """The weights and intercept that minimise the penalised objective, by another method."""
    signs = 2.0 * labels - 1

    def objective(theta):
        margins = signs * (features @ theta[:-1] + theta[-1])
        share = signs / (1 + np.exp(margins))
        gradient = theta - np.append(features.T @ share, share.sum())
        return theta @ theta / 2 + np.logaddexp(0, -margins).sum(), gradient

    start = np.zeros(features.shape[1] + 1)
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-9})
    return found.x


def test_votes_are_those_of_the_penalised_minimiser(thirds):
    done = []
    votes = intercept.cast_votes(thirds, C=1.0, **OPTIONS, progress=done.append)
    assert done == [1, 2]
    features, labels = thirds.teachers
    queries = thirds.queries[0][:60]
    for partition, part in enumerate(draw_partitions(189, 5, range(2), 3, *PATH, "partition")):
        for number, shard in enumerate(part):
            theta = minimiser(features[shard], labels[shard])
            margins = queries @ theta[:-1] + theta[-1]
            clear = np.abs(margins) > 1e-2  # liblinear stops early
            assert clear.mean() > 0.9
            mine = votes.votes(partition)[number]
            np.testing.assert_array_equal(mine[clear], (margins > 0)[clear])


def test_shards_are_those_of_the_free_intercept_which_votes_otherwise(thirds):
    penalised = intercept.cast_votes(thirds, C=1.0, **OPTIONS)
    free = cast_votes(thirds, "logistic", LOGISTIC, **OPTIONS)
    np.testing.assert_array_equal(penalised.shards, free.shards)
    assert (penalised.ones() != free.ones()).any()


def test_a_shard_of_one_label_is_a_constant_teacher():
    features, queries = np.eye(3), np.ones((4, 3))
    teachers = [intercept._fit(features, np.full(3, label), 1.0) for label in (0, 1)]
    assert intercept._votes(teachers, queries).tolist() == [[False] * 4, [True] * 4]


def test_labels_are_counted_as_equation_3_has_them(thirds):
    given = {"n": 5, "seed": 3, "path": PATH, "C": 1.0}
    rows = intercept.counts(thirds, BUDGET, sizes=[1, 2], **given)
    votes = intercept.cast_votes(thirds, **{**OPTIONS, "n_queries": 189}, C=1.0)
    found = first_exceeding(votes, [1, 2], BUDGET["epsilon"], 2 / 5, 1e-3, 80)
    assert [(row["k"], row["epsilon"]) for row in rows] == [(1, 1), (1, 5), (2, 1), (2, 5)]
    asked = 2 * 4  # twice what SAA buys
    for row, labels in zip(rows, found.ravel().tolist(), strict=True):
        assert row["first_exceeding"] == (labels if labels <= asked else None)
        assert row["delta"] == 1e-3


def test_the_table_has_means_over_splits():
    row = {"dataset": "d", "stand_in": True, "n": 20, "epsilon": 1.0, "delta": 1e-3}
    counts = [(5, (30, 34)), (7, (30, None))]
    rows = [
        row | {"k": k, "seed": seed, "first_exceeding": labels}
        for k, both in counts
        for seed, labels in enumerate(both)
    ]
    table = intercept.table(pd.DataFrame(rows)).set_index("k")
    assert table.loc[5, "first_exceeding_mean"] == 32
    assert table.loc[5, "first_exceeding_sd"] == pytest.approx(math.sqrt(8))
    assert table.loc[5, "first_exceeding_error"] == pytest.approx(math.sqrt(8 / 2 + 8 / 5))
    assert math.isnan(table.loc[7, "first_exceeding_mean"])  # a split's queries end first
    assert set(table["release"].str.startswith("not for release")) == {True}
    assert set(table["splits"]) == {2}
