"""DPBag's experiment: splits, bagged votes, what labels cost, their law, and students."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from private_ensembles.papers.dpbag import students as bagging_students
from private_ensembles.papers.dpbag.experiment import (
    account_labels,
    cast_votes,
    deltas_of,
    queries_needed,
    split_thirds,
)
from private_ensembles.papers.dpbag.law import LAW, BaggingNoise, release
from private_ensembles.papers.dpbag.mathematics.budget import affordable_cost
from private_ensembles.papers.dpbag.mathematics.label_loss import ones_probability
from private_ensembles.papers.dpbag.students import student_metrics, train_students
from private_ensembles.papers.dpbag.tables import METRICS
from private_ensembles.papers.dpbag.votes import (
    BaggedVotes,
    join_partitions,
    pack_votes,
    read_votes,
    write_votes,
)
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


@pytest.mark.parametrize(("intercept", "solver"), [("penalised", "liblinear"), ("free", "lbfgs")])
def test_votes_of_a_shard_are_those_of_scikit_learn(thirds, intercept, solver):
    """liblinear is the solver of the authors' code of May 2019, lbfgs that of April 2020."""
    training = LOGISTIC | {"intercept": intercept}
    options = {"n": 5, "partitions": range(2), "n_queries": 50, "seed": 3, "path": PATH}
    done = []
    votes = cast_votes(
        thirds, "logistic", training, **options, progress=lambda *counts: done.append(counts)
    )
    assert done == [(5, 10), (10, 10)]
    shards = draw_partitions(189, 5, range(2), 3, *PATH, "partition")
    features, labels = thirds.teachers
    for partition in range(2):
        for number, shard in enumerate(shards[partition]):
            fit = LogisticRegression(solver=solver, tol=1e-10, max_iter=10_000)
            fit.fit(features[shard], labels[shard])
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
    fewer = BUDGET | {"queries_per_label": 1.5}
    assert queries_needed(fewer, 20, 10_000) == int(np.ceil(1.5 * limit)) + 1
    assert deltas_of(BUDGET | {"delta": 1e-3}) == [1e-3]


def test_a_budget_that_outlasts_the_queries_asked_is_refused(thirds):
    few = BUDGET | {"queries_per_label": 1.0}
    options = {"n": 20, "partitions": range(4), "seed": 0, "path": PATH}
    needed = queries_needed(few, 20, len(thirds.queries[1]))
    votes = cast_votes(thirds, "logistic", LOGISTIC, n_queries=needed, **options)
    with pytest.raises(ValueError, match=f"a budget buys labels for all {needed} queries"):
        account_labels(votes, few, [4])
    # Where there are no more queries, a budget may outlast them.
    votes = cast_votes(thirds, "logistic", LOGISTIC, n_queries=needed - 5, **options)
    rows, _ = account_labels(votes, few, [4])
    assert any(row["first_exceeding"] is None for row in rows)


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


# Votes and their files ----------------------------------------------------------------------------


def test_bits_are_the_votes(bagged):
    votes, cast = bagged(3, 4, 10, 21)
    for partition in range(3):
        np.testing.assert_array_equal(votes.unpack_votes(partition), cast[partition])
        np.testing.assert_array_equal(
            votes.unpack_votes(partition, 3, 17), cast[partition][:, 3:17]
        )
    np.testing.assert_array_equal(votes.count_ones(), cast.sum(axis=1))


def test_files_of_consecutive_partitions_join_to_the_whole(bagged, tmp_path):
    votes, _ = bagged(5, 4, 10, 21)
    parts = []
    for first, last in ((2, 5), (0, 2)):
        part = BaggedVotes(votes.bits[first:last], votes.shards[first:last], 21, first, {"a": 1})
        write_votes(tmp_path / f"{first}.npz", part)
        parts.append(read_votes(tmp_path / f"{first}.npz"))
    joined = join_partitions(parts)
    np.testing.assert_array_equal(joined.bits, votes.bits)
    np.testing.assert_array_equal(joined.shards, votes.shards)
    assert joined.provenance == {"a": 1}
    with pytest.raises(ValueError, match="partition 2: must be there, and once"):
        join_partitions([parts[1], BaggedVotes(votes.bits[:1], votes.shards[:1], 21, 4)])


def test_parts_that_do_not_fit_are_refused(bagged):
    votes, _ = bagged(2, 4, 10, 21)
    other, _ = bagged(2, 5, 10, 21)
    later = BaggedVotes(other.bits, other.shards, 21, 2)
    with pytest.raises(ValueError, match="parts: must be at least one"):
        join_partitions([])
    with pytest.raises(ValueError, match="the same shards, queries and records"):
        join_partitions([votes, later])
    with pytest.raises(ValueError, match="the same queries"):
        join_partitions([votes, BaggedVotes(votes.bits, votes.shards, 20, 2)])
    with pytest.raises(ValueError, match="partition 2: must be there"):
        join_partitions([votes, BaggedVotes(votes.bits, votes.shards, 21, 1)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bits": np.zeros((2, 3), np.uint8)}, "bits is uint8"),
        ({"bits": np.zeros((2, 3, 1), np.int64)}, "bits is int64"),
        ({"n_queries": 9}, "n_queries = 9: must be what 1 bytes a teacher hold"),
        ({"n_queries": 0}, "n_queries = 0"),
        ({"shards": np.zeros((1, 4), int)}, r"must be int \(2, records\)"),
        ({"shards": np.full((2, 4), 3)}, "shards: must be -1 to 2"),
        ({"shards": np.full((2, 4), -2)}, "shards: must be -1 to 2"),
        ({"first": -1}, "first = -1: must be an integer >= 0"),
    ],
)
def test_what_is_no_bagging_is_refused(change, message):
    given = {"bits": np.zeros((2, 3, 1), np.uint8), "shards": np.zeros((2, 4), int)}
    with pytest.raises(ValueError, match=message):
        BaggedVotes(**({"n_queries": 5} | given | change))


def test_files_that_are_damaged_or_something_else_are_refused_by_name(bagged, tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, bits=np.zeros((1, 1, 1), np.uint8))
    with pytest.raises(ValueError, match=r"x.npz: lacks shards, n_queries, first, provenance"):
        read_votes(path)
    votes, _ = bagged(1, 2, 4, 5)
    arrays = {"bits": votes.bits, "shards": votes.shards, "provenance": np.array("{}")}
    np.savez(path, **arrays, n_queries=np.array([5]), first=np.array(0))
    with pytest.raises(ValueError, match=r"x.npz: n_queries, first: must be one integer each"):
        read_votes(path)
    with pytest.raises(ValueError, match="votes: must be 0 or 1"):
        pack_votes(np.array([0, 2]))


# Labels -------------------------------------------------------------------------------------------


def test_the_same_generator_gives_the_same_labels_and_prefixes():
    ones = np.arange(30)
    labels = release(ones, 10, 4, 0.4, np.random.default_rng(3))
    np.testing.assert_array_equal(labels, release(ones, 10, 4, 0.4, np.random.default_rng(3)))
    prefix = release(ones[:11], 10, 4, 0.4, np.random.default_rng(3))
    np.testing.assert_array_equal(labels[:11], prefix)


@pytest.mark.parametrize(
    ("ones", "noise", "message"),
    [
        ([41], 0.4, "ones: must be one list of 0 to k"),
        ([-1], 0.4, "ones: must be one list"),
        ([], 0.4, "ones: must be one list"),
        ([1], 0, "noise = 0: must be a finite number > 0"),
    ],
)
def test_bad_votes_and_noise_are_refused(ones, noise, message):
    with pytest.raises(ValueError, match=message):
        release(ones, 10, 4, noise, np.random.default_rng(0))


@pytest.mark.parametrize(("n", "k", "rate"), [(10, 4, 0.4), (5, 1, 1.5)])
def test_a_label_s_distribution_is_the_closed_form_at_the_averaged_votes(n, k, rate):
    ones = np.arange(n * k + 1)
    counts = np.stack([n * k - ones, ones], axis=1)
    chances = LAW.distribution(counts, BaggingNoise(n, k, rate))
    np.testing.assert_allclose(chances[:, 1], ones_probability(2 * ones / k - n, rate), rtol=1e-12)
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-12)


def test_votes_of_three_classes_have_no_distribution():
    """A record may move all its votes to a class that had few of them, which no m(x; u) bounds."""
    with pytest.raises(ValueError, match="counts of 3 classes: the law is for two only"):
        LAW.distribution(np.array([[30, 6, 4]]), BaggingNoise(10, 4, 0.4))
    assert LAW.distribution(np.array([[34, 6]]), BaggingNoise(10, 4, 0.4)).shape == (1, 2)


# Students -----------------------------------------------------------------------------------------


def test_students_are_all_methods_at_their_own_numbers_of_labels(thirds, accounts):
    settings = {"draws": 2, "noise": 2}
    progress = []
    rows = train_students(
        thirds, "logistic", LOGISTIC, settings, accounts, 0, PATH, progress=progress.append
    )
    assert [row["method"] for row in rows].count("npb") == 1
    assert len(rows) == 1 + 2 * (2 * 4 + 2 * 2 * (4 + 4))  # n x (SAA, then k x draws x budgets)
    assert len(progress) == 2 * 3
    for row in rows[1:]:
        counts, _ = accounts[row["n"]]
        accounting = "personalised" if row["method"] == "dpbag" else "data_independent"
        (count,) = [
            c["releasable"]
            for c in counts
            if c["accounting"] == accounting
            and (c["epsilon"], c["delta"]) == (row["epsilon"], row["delta"])
            and (c["k"] == row["k"] or accounting == "data_independent")
        ]
        assert row["labels"] == min(count, 60)
        for metric in METRICS:
            assert np.isnan(row[metric]) == (count == 0)
    assert rows[0]["accuracy"] > 0.9
    # As files hold them: rows without a releasable number make floats of all others.
    written = {
        n: (
            pd.read_csv(StringIO(pd.DataFrame(counts).to_csv(index=False))).to_dict("records"),
            more,
        )
        for n, (counts, more) in accounts.items()
    }
    assert any(np.isnan(c["releasable"]) for counts, _ in written.values() for c in counts)
    again = train_students(thirds, "logistic", LOGISTIC, settings, written, 0, PATH)
    for one, other in zip(again, rows, strict=True):
        for name, value in other.items():
            assert one[name] == value or one[name] == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(("model", "training"), [("logistic", LOGISTIC), ("boosted_trees", TREES)])
def test_metrics_do_not_depend_on_the_order_of_test_records(thirds, model, training):
    (row,) = train_students(thirds, model, training, {"draws": 1, "noise": 2}, {}, 0, PATH)
    features, labels = thirds.teachers
    metrics = student_metrics(features, labels, thirds.test, model, training)
    assert {name: row[name] for name in METRICS} == metrics


def test_a_student_of_one_class_or_none_is_no_failure(thirds):
    features, truth = thirds.queries
    same = np.ones(8, np.uint8)
    for model, training in (("logistic", LOGISTIC), ("boosted_trees", TREES)):
        metrics = student_metrics(features[:8], same, thirds.test, model, training)
        prevalence = float(thirds.test[1].mean())
        expected = {"accuracy": prevalence, "auroc": 0.5, "auprc": prevalence}
        assert metrics == pytest.approx(expected)
        none = student_metrics(features[:0], same[:0], thirds.test, model, training)
        assert np.isnan(list(none.values())).all()
        good = student_metrics(features, truth, thirds.test, model, training)
        assert good["auroc"] > 0.9
    assert set(metrics) == set(bagging_students.METRICS)


def test_noise_of_labels_has_the_scale_that_is_charged():
    """Of 10 shards in 4 partitions each vote counts a quarter."""
    ones, drawn = np.full(4000, 21), np.random.default_rng(3).laplace(size=(4000, 2))
    expected = (np.array([10 - 21 / 4, 21 / 4]) + drawn / 0.4).argmax(axis=1)
    found = release(ones, 10, 4, 0.4, np.random.default_rng(3))
    np.testing.assert_array_equal(found, expected)
