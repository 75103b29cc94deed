"""Partitions: disjoint shards several times over, the first of many being those of few."""

import numpy as np
import pytest

from private_ensembles.datasets.partitions import draw_partitions, shard_of_record


def test_the_first_partitions_of_many_are_those_of_few():
    many = draw_partitions(103, 10, range(6), 0, "x")
    assert many.shape == (6, 10, 10)
    np.testing.assert_array_equal(many[:2], draw_partitions(103, 10, range(2), 0, "x"))
    np.testing.assert_array_equal(many[4:], draw_partitions(103, 10, [4, 5], 0, "x"))
    assert not np.array_equal(many[0], many[1])
    assert not np.array_equal(many, draw_partitions(103, 10, range(6), 1, "x"))


def test_every_record_is_in_the_shard_that_is_said_or_left_out():
    shards = draw_partitions(23, 4, range(3), 0, "x")
    where = shard_of_record(shards, 23)
    for partition in range(3):
        for record in range(23):
            found = [j for j in range(4) if record in shards[partition, j]]
            assert found == ([] if where[partition, record] < 0 else [where[partition, record]])
    assert ((where < 0).sum(axis=1) == 3).all()


def test_what_is_no_partition_is_refused():
    with pytest.raises(ValueError, match="n_shards = 24: must be at least 1 and at most the 23"):
        draw_partitions(23, 24, range(1), 0)
    with pytest.raises(ValueError, match=r"partitions = \[\]: must be at least one"):
        draw_partitions(23, 4, [], 0)
    with pytest.raises(ValueError, match="none negative"):
        draw_partitions(23, 4, [-1], 0)
    with pytest.raises(ValueError, match="indices of the 5 records"):
        shard_of_record(np.array([[[0], [5]]]), 5)
    with pytest.raises(ValueError, match="no record twice"):
        shard_of_record(np.array([[[0, 1], [1, 2]]]), 5)
