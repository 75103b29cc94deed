"""Boosted trees: votes by shard, the same on every run, and one label only."""

import numpy as np
import pytest

from private_ensembles.teachers.boosted_trees import fit, log_odds, scores, shard_votes

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
    votes = shard_votes(features, labels, shards, features, SETTINGS, done.append)
    assert done == [1, 2, 3]
    assert votes.dtype == np.uint8
    alone = scores(fit(features[shards[1]], labels[shards[1]], SETTINGS), features) > 0.5
    np.testing.assert_array_equal(votes[1], alone)
    np.testing.assert_array_equal(votes, shard_votes(features, labels, shards, features, SETTINGS))


@pytest.mark.parametrize(
    ("settings", "smallest", "largest"),
    [
        (SETTINGS, 2, 7),
        # more leaves than one byte counts
        ({"rounds": 3, "learning_rate": 0.3, "leaves": 300, "records_per_leaf": 1}, 257, 300),
        # and of some trees only: the last ones find little left to split
        ({"rounds": 40, "learning_rate": 0.9, "leaves": 300, "records_per_leaf": 2}, 257, 300),
        # a single leaf, because no split leaves 1,001 of 2,000 records on either side
        ({"rounds": 3, "learning_rate": 0.3, "leaves": 7, "records_per_leaf": 1001}, 1, 1),
    ],
)
def test_log_odds_are_lightgbms_bit_for_bit(settings, smallest, largest):
    generator = np.random.default_rng(2)
    features = generator.random((2000, 4))
    features[:, 3] = features[:, 3] > 0.5
    labels = generator.random(len(features)) < np.where(features[:, 0] > 0.5, 0.8, 0.1)
    model = fit(features, labels.astype(np.uint8), settings)
    leaves = [tree["num_leaves"] for tree in model.dump_model()["tree_info"]]
    assert smallest <= max(leaves) <= largest
    queries = np.asarray(np.concatenate([features, generator.random((50, 4))]), np.float32)
    ours = log_odds(model, queries.T.astype(np.float64))
    np.testing.assert_array_equal(ours, model.predict(queries, raw_score=True))


def test_a_shard_with_one_label_votes_for_it(records):
    features, labels = records
    shards = np.stack([np.flatnonzero(labels == c)[:30] for c in (0, 1)])
    votes = shard_votes(features, labels, shards, features, SETTINGS)
    assert votes.mean(axis=1).tolist() == [0, 1]


def test_thresholds_between_neighbours_of_single_precision_part_them():
    values = np.full(40, np.float32(0.1))
    values[20:] = np.nextafter(values[0], np.float32(1))
    labels = np.arange(40) >= 20
    model = fit(values[:, None], labels.astype(np.uint8), SETTINGS)
    assert len(set(scores(model, values[:, None]))) == 2
    ours = log_odds(model, values[None].astype(np.float64))
    np.testing.assert_array_equal(ours, model.predict(values[:, None], raw_score=True))
