"""Forests and boosted trees: a teacher sees its shard alone, votes are classes and repeat."""

import math

import lightgbm
import numpy as np
import pytest

from private_ensembles.training.teachers.boosted_trees import (
    cast_shard_votes,
    fit,
    scores,
    sort_for_prediction,
)
from private_ensembles.training.teachers.forest import cast_forest_votes

PARAMETERS = {"n_estimators": 5, "max_features": 0.5, "min_samples_leaf": 1, "bootstrap": False}


@pytest.fixture
def table():
    """60 records of three features; the label is whether the first one is above 0.5."""
    draw = np.random.default_rng(0)
    features = draw.random((60, 3), np.float32)
    return features, (features[:, 0] > 0.5).astype(np.uint8), np.arange(60).reshape(4, 15)


def cast(features, labels, shards, queries, **changes):
    arguments = {"n_classes": 2, "parameters": PARAMETERS, "seed": 0, "path": ("t", 0)} | changes
    return cast_forest_votes(features, labels, shards, queries, **arguments)


def test_forests_learn_and_vote_for_classes(table):
    features, labels, shards = table
    queries = np.random.default_rng(1).random((200, 3), np.float32)
    votes = cast(features, labels, shards, queries)
    assert votes.shape == (200, 4)
    assert votes.dtype == np.uint8
    assert (votes == (queries[:, :1] > 0.5)).mean() > 0.8
    assert (cast(features, labels, shards, queries) == votes).all()
    assert (cast(features, labels, shards, queries, seed=1) != votes).any()
    assert (cast(features, labels, shards, queries, path=("t", 1)) != votes).any()


def test_a_teacher_depends_on_its_own_shard_and_stream_alone(table):
    features, labels, shards = table
    votes = cast(features, labels, shards, features)
    other = features.copy()
    other[shards[2]] = other[shards[2]][::-1]
    changed = cast(other, labels, shards, features)
    assert (changed[:, [0, 1, 3]] == votes[:, [0, 1, 3]]).all()
    assert (changed[:, 2] != votes[:, 2]).any()
    assert (cast(features, labels, shards[:2], features) == votes[:, :2]).all()


def test_a_shard_of_one_class_makes_a_constant_teacher(table):
    features, labels, _ = table
    shards = [np.flatnonzero(labels == 1)[:9], np.flatnonzero(labels == 0)[:9]]
    votes = cast(features, labels, shards, features)
    assert votes.tolist() == [[1, 0]] * 60


def test_classes_keep_their_numbers_where_a_shard_lacks_one(table):
    features, labels, shards = table
    votes = cast(features, labels + 1, shards, features, n_classes=3)
    assert set(np.unique(votes)) == {1, 2}


def test_progress_ends_with_the_last_forest(table):
    lines = []
    cast(*table, table[0], progress=lines.append)
    assert lines[-1].startswith("4 forests in ")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"n_trees": 3}, "n_trees"), (PARAMETERS | {"n_estimators": 0}, "n_estimators")],
)
def test_what_scikit_learn_refuses_is_told_in_one_line(table, parameters, message):
    with pytest.raises(ValueError, match=f"forest 1 of 4: .*{message}") as error:
        cast(*table, table[0], parameters=parameters)
    assert "\n" not in str(error.value)


SETTINGS = {"rounds": 20, "learning_rate": 0.1, "leaves": 7, "records_per_leaf": 5}


@pytest.fixture(scope="module")
def records():
    generator = np.random.default_rng(0)
    features = generator.random((300, 4))
    return features, ((features[:, 0] > 0.5) ^ (features[:, 1] > 0.7)).astype(np.uint8)


def test_trees_learn_what_no_line_separates(records):
    features, labels = records
    model = fit(features[:200], labels[:200], SETTINGS)
    predicted = scores(model, features[200:]) > 0.5
    assert (predicted == labels[200:]).mean() > 0.85


def test_votes_are_those_of_a_model_for_each_shard_and_repeat(records):
    features, labels = records
    shards = np.random.default_rng(1).permutation(300).reshape(3, 100)
    done = []
    votes = cast_shard_votes(features, labels, shards, features, SETTINGS, done.append)
    assert done == [1, 2, 3]
    assert votes.dtype == np.uint8
    alone = scores(fit(features[shards[1]], labels[shards[1]], SETTINGS), features) > 0.5
    np.testing.assert_array_equal(votes[1], alone)
    np.testing.assert_array_equal(
        votes, cast_shard_votes(features, labels, shards, features, SETTINGS)
    )
    backwards = cast_shard_votes(features, labels, shards, features[::-1], SETTINGS)
    np.testing.assert_array_equal(votes, backwards[:, ::-1])


def test_scores_are_lightgbms_of_dense_records_in_any_order(records):
    features, labels = records
    features = np.where(features < 0.4, 0, features)
    model = fit(features[:200], labels[:200], SETTINGS)
    queries, order = sort_for_prediction(features)
    assert queries.nnz < features.size
    assert (np.diff(order) != 1).any()
    dense = model.predict(np.asarray(features, np.float32))
    assert len(set(dense)) > 20
    np.testing.assert_array_equal(scores(model, features), dense)
    np.testing.assert_array_equal(scores(model, queries), dense[order])
    assert scores(None, queries, 1).tolist() == [1] * 300


def test_a_shard_with_one_label_votes_for_it(records):
    features, labels = records
    shards = np.stack([np.flatnonzero(labels == c)[:30] for c in (0, 1)])
    votes = cast_shard_votes(features, labels, shards, features, SETTINGS)
    assert votes.mean(axis=1).tolist() == [0, 1]


def test_thresholds_between_neighbours_of_single_precision_part_them():
    values = np.full(40, np.float32(0.1))
    values[20:] = np.nextafter(values[0], np.float32(1))
    labels = np.arange(40) >= 20
    model = fit(values[:, None], labels.astype(np.uint8), SETTINGS)
    assert len(set(scores(model, values[:, None]))) == 2


@pytest.mark.parametrize("classes", [(1, 2), (0.2, 0.8), (20260101, 20260102), (0, math.nan)])
def test_labels_that_lightgbm_would_make_one_class_of_are_refused(classes):
    """It takes all labels above 0 for 1, so nothing is learnt, and says nothing."""
    features = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
    labels = np.where(features[:, 0] > 0, *classes[::-1])
    settings = {"rounds": 10, "learning_rate": 0.1, "leaves": 4, "records_per_leaf": 5}
    with pytest.raises(ValueError, match=r"labels: .*: must be 0 or 1"):
        fit(features, labels, settings)
    data = lightgbm.Dataset(features, labels.astype(np.float32), params={"verbosity": -1})
    model = lightgbm.Booster({"objective": "binary", "verbosity": -1}, data)
    for _ in range(10):
        model.update()
    assert np.ptp(model.predict(features)) < 1e-6
