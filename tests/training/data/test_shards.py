"""shards: disjoint, of equal size, and (by keyed hash) unmoved by other records."""

import numpy as np
import pytest

from private_ensembles.training.data.shards import (
    cut_shards,
    draw_partitions,
    keyed_hash_shards,
    permutation_shards,
    shard_of_record,
)


@pytest.mark.parametrize(("records", "shards"), [(5, 6), (5, 0), (0, 1)])
def test_impossible_numbers_of_shards_are_refused(records, shards):
    with pytest.raises(ValueError, match="n_shards"):
        permutation_shards(records, shards, np.random.default_rng(0))


def test_keyed_hash_shards_depend_on_the_key_and_fill_evenly():
    records = np.random.default_rng(0).integers(0, 256, (11000, 16)).astype(np.uint8)
    shards = keyed_hash_shards(records, 11, b"key")
    sizes = np.bincount(shards, minlength=11)
    # five standard deviations of a Binomial(11000, 1/11)
    assert np.abs(sizes - 1000).max() < 5 * np.sqrt(1000 * 10 / 11)
    assert not np.array_equal(shards, keyed_hash_shards(records, 11, b"another"))
    assert np.array_equal(shards, keyed_hash_shards([r.tobytes() for r in records], 11, b"key"))


def test_keyed_hash_shards_refuse_bad_arguments():
    with pytest.raises(ValueError, match="key of 0 bytes"):
        keyed_hash_shards([b"a"], 2, b"")
    with pytest.raises(ValueError, match="n_shards = 0"):
        keyed_hash_shards([b"a"], 0, b"k")
    with pytest.raises(ValueError, match="float64"):
        keyed_hash_shards(np.zeros((2, 2)), 2, b"k")


def records(n=300):
    source = np.random.default_rng(3)
    images = source.integers(0, 256, (n, 4, 5)).astype(np.uint8)
    return images, source.integers(0, 2, n).astype(np.uint8)


def test_either_assignment_gives_every_record_to_one_teacher_at_most():
    images, labels = records()
    equal = cut_shards("permutation", images, labels, 7, np.random.default_rng(0))
    assert [len(shard) for shard in equal] == [42] * 7
    assert len(np.unique(np.concatenate(equal))) == 294
    assert 0 <= np.min(equal) <= np.max(equal) < 300
    hashed = cut_shards("keyed_hash", images, labels, 7, np.random.default_rng(0))
    assert sorted(np.concatenate(hashed).tolist()) == list(range(300))
    assert len({len(shard) for shard in hashed}) > 1
    with pytest.raises(ValueError, match="shards = 'alphabet': must be permutation or keyed_hash"):
        cut_shards("alphabet", images, labels, 7, np.random.default_rng(0))


def test_removing_a_record_changes_one_hashed_shard_and_all_permuted_ones():
    images, labels = records()
    left = np.delete(images, 100, axis=0), np.delete(labels, 100)
    changed = {}
    for assignment in ("permutation", "keyed_hash"):
        contents = [
            [{images[i].tobytes() for i in shard} for shard in shards]
            for images, shards in (
                (data[0], cut_shards(assignment, *data, 7, np.random.default_rng(0)))
                for data in ((images, labels), left)
            )
        ]
        changed[assignment] = sum(a != b for a, b in zip(*contents, strict=True))
    assert changed["keyed_hash"] == 1
    assert changed["permutation"] > 1


def test_a_label_is_part_of_the_record():
    images, labels = records()
    flipped = labels.copy()
    flipped[:50] ^= 1
    first, second = (
        cut_shards("keyed_hash", images, each, 7, np.random.default_rng(0))
        for each in (labels, flipped)
    )
    moved = np.setxor1d(first[0], second[0])
    assert len(moved)
    assert moved.max() < 50


# Several times over ----------------------------------------------------------------------------


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
