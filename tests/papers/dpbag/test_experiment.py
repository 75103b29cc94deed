"""DPBag's experiment: splits, bagged votes of either model, and what labels cost."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from private_ensembles.papers.dpbag.experiment import (
    cast_votes,
    deltas_of,
    queries_needed,
    split_thirds,
)
from private_ensembles.papers.dpbag.mathematics.budget import affordable_cost
from private_ensembles.training.data.prepare import load_breast_cancer
from private_ensembles.training.data.shards import draw_partitions
from tests.papers.dpbag.conftest import BUDGET, LOGISTIC, PATH, TREES


def test_thirds_are_all_records_once_and_scaled(records, thirds):
    sizes = [len(part[1]) for part in (thirds.teachers, thirds.queries, thirds.test)]
    assert sizes == [189, 189, 191]
    features = np.concatenate([part[0] for part in (thirds.teachers, thirds.queries, thirds.test)])
    assert features.min() == 0
    assert features.max() == 1
    assert len(np.unique(features, axis=0)) == 569
    assert sum(part[1].sum() for part in (thirds.teachers, thirds.queries, thirds.test)) == 357
    again = split_thirds(records, "data", 0, 0)
    np.testing.assert_array_equal(thirds.teachers[0], again.teachers[0])
    other = split_thirds(records, "data", 0, 1)
    assert not np.array_equal(thirds.teachers[1], other.teachers[1])
    public = split_thirds(records, "public", 0, 0)
    np.testing.assert_array_equal(public.teachers[1], thirds.teachers[1])
    assert not np.array_equal(public.teachers[0], thirds.teachers[0])


def test_votes_of_a_shard_are_those_of_scikit_learn(thirds):
    options = {"n": 5, "partitions": range(2), "n_queries": 50, "seed": 3, "path": PATH}
    done = []
    votes = cast_votes(
        thirds, "logistic", LOGISTIC, **options, progress=lambda *counts: done.append(counts)
    )
    assert done == [(5, 10), (10, 10)]
    shards = draw_partitions(189, 5, range(2), 3, *PATH, "partition")
    features, labels = thirds.teachers
    for partition in range(2):
        for number, shard in enumerate(shards[partition]):
            fit = LogisticRegression(tol=1e-10, max_iter=10_000).fit(features[shard], labels[shard])
            expected = fit.predict(thirds.queries[0][:50])
            np.testing.assert_array_equal(votes.unpack_votes(partition)[number], expected)


@pytest.mark.parametrize(("model", "training"), [("logistic", LOGISTIC), ("boosted_trees", TREES)])
def test_partitions_of_a_later_job_are_those_of_one_job(thirds, model, training):
    options = {"n": 6, "n_queries": 20, "seed": 0, "path": PATH}
    whole = cast_votes(thirds, model, training, partitions=range(3), **options)
    later = cast_votes(thirds, model, training, partitions=[2], **options)
    assert later.first == 2
    np.testing.assert_array_equal(whole.bits[2:], later.bits)
    np.testing.assert_array_equal(whole.shards[2:], later.shards)


def test_accounts_hold_both_deltas_and_what_holds_for_everyone(accounts):
    rows, arrays = accounts[20]
    assert arrays["k"].tolist() == [1, 2, 4]
    assert arrays["ones"].shape == arrays["running"].shape == (3, 60)
    np.testing.assert_array_equal(arrays["running"][0], np.arange(1, 61))
    conjectured = [row for row in rows if row["accounting"] == "conjectured"]
    rows = [row for row in rows if row["accounting"] != "conjectured"]
    assert len(rows) == 2 * 2 * (1 + 2)
    free = {(r["epsilon"], r["delta"]): r for r in rows if r["accounting"] == "data_independent"}
    assert {delta for _, delta in free} == {1e-5, 1e-3}
    for row in rows:
        assert row["releasable"] >= free[row["epsilon"], row["delta"]]["releasable"]
        assert 0 <= row["plain_epsilon"] < row["epsilon"]
        assert row["release"].startswith("public" if row["k"] == 1 else "not for release")
        if row["releasable"]:
            assert 0.5 <= row["rms_m"] <= 1
    stated = {(r["k"], r["epsilon"], r["delta"]): r["first_exceeding"] for r in rows}
    assert [(row["k"], row["epsilon"]) for row in conjectured] == [(2, 1), (2, 5), (4, 1), (4, 5)]
    for row in conjectured:
        assert row["releasable"] is None
        assert row["release"].startswith("not for release")
        printed = row["first_exceeding"] or 61
        assert printed >= stated[row["k"], row["epsilon"], row["delta"]]
        assert row["delta"] == 1e-3


def test_queries_are_as_many_as_any_votes_can_need():
    limit = affordable_cost(5, 2 / 20, 1e-3, 80)
    assert queries_needed(BUDGET, 20, 10_000) == int(np.ceil(4 * limit)) + 1
    assert queries_needed(BUDGET, 20, 60) == 60
    assert deltas_of(BUDGET | {"delta": 1e-3}) == [1e-3]


def test_what_the_experiment_cannot_use_is_refused(records, thirds):
    with pytest.raises(ValueError, match="scaling = 'none': must be one of data, public"):
        split_thirds(records, "none", 0, 0)
    options = {"partitions": range(1), "n_queries": 5, "seed": 0, "path": PATH}
    with pytest.raises(ValueError, match="model = 'svm': must be one of logistic, boosted_trees"):
        cast_votes(thirds, "svm", {}, n=5, **options)
    with pytest.raises(ValueError, match="n_shards = 190: must be at least 1 and at most the 189"):
        cast_votes(thirds, "logistic", LOGISTIC, n=190, **options)
    with pytest.raises(ValueError, match="n_train = 300, n_test = 1: must be positive and add up"):
        load_breast_cancer("x", n_train=300, n_test=1, generator=np.random.default_rng(0))
