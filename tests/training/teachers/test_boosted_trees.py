"""Boosted trees: votes by shard, the same on every run, and one label only."""

import numpy as np
import pytest

from private_ensembles.training.teachers.boosted_trees import (
    cast_shard_votes,
    fit,
    scores,
    sort_for_prediction,
)

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
