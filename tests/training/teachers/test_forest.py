"""forest: each teacher sees its shard alone, votes are classes, and bad input is one line."""

import numpy as np
import pytest

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
