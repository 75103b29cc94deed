"""Teachers whose intercept is free vote on the main run's shards, and their labels are counted."""

import math

import numpy as np
import pandas as pd
import pytest

from private_ensembles.papers.dpbag.experiment import cast_votes
from private_ensembles.papers.dpbag.mathematics.conjectured_counts import first_exceeding
from studies.intercept import free_intercept
from tests.papers.dpbag.conftest import BUDGET, LOGISTIC, PATH


def test_labels_are_counted_as_equation_3_has_them(thirds):
    given = {"n": 5, "seed": 3, "path": PATH}
    done = []
    rows = free_intercept.count_labels(
        thirds,
        LOGISTIC,
        BUDGET,
        sizes=[1, 2],
        **given,
        progress=lambda *counts: done.append(counts),
    )
    assert done == [(5, 10), (10, 10)]
    votes, penalised = (
        cast_votes(
            thirds,
            "logistic",
            LOGISTIC | {"intercept": intercept},
            partitions=range(2),
            n_queries=189,
            **given,
        )
        for intercept in ("free", "penalised")
    )
    assert (votes.count_ones() != penalised.count_ones()).any()
    np.testing.assert_array_equal(votes.shards, penalised.shards)
    found = first_exceeding(votes, [1, 2], BUDGET["epsilon"], 2 / 5, 1e-3, 80)
    assert [(row["k"], row["epsilon"]) for row in rows] == [(1, 1), (1, 5), (2, 1), (2, 5)]
    assert [row["first_exceeding"] for row in rows] == found.ravel().tolist()
    assert {row["delta"] for row in rows} == {1e-3}


def test_the_table_has_means_over_splits():
    row = {"dataset": "d", "stand_in": True, "n": 20, "epsilon": 1.0, "delta": 1e-3}
    counts = [(5, (30, 34)), (7, (30, None))]
    rows = [
        row | {"k": k, "seed": seed, "first_exceeding": labels}
        for k, both in counts
        for seed, labels in enumerate(both)
    ]
    table = free_intercept.summarise_counts(pd.DataFrame(rows)).set_index("k")
    assert table.loc[5, "first_exceeding_mean"] == 32
    assert table.loc[5, "first_exceeding_sd"] == pytest.approx(math.sqrt(8))
    assert table.loc[5, "first_exceeding_error"] == pytest.approx(math.sqrt(8 / 2 + 8 / 10))
    assert math.isnan(table.loc[7, "first_exceeding_mean"])  # a split's queries end first
    assert set(table["release"].str.startswith("not for release")) == {True}
    assert set(table["splits"]) == {2}
    assert set(table["solver"]) == {"lbfgs"}
