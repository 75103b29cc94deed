"""shards: disjoint, of equal size, and (by keyed hash) unmoved by other records."""

import numpy as np
import pytest

from private_ensembles.datasets.shards import keyed_hash_shards, permutation_shards


def test_permutation_shards_are_disjoint_and_drop_the_remainder():
    shards = permutation_shards(1000, 11, np.random.default_rng(0))
    assert shards.shape == (11, 90)
    assert shards.dtype == np.int64
    assert len(np.unique(shards)) == 990
    assert shards.min() >= 0
    assert shards.max() < 1000


def test_permutation_shards_follow_the_generator():
    first, again, other = (
        permutation_shards(100, 3, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(("records", "shards"), [(5, 6), (5, 0), (0, 1)])
def test_impossible_numbers_of_shards_are_refused(records, shards):
    with pytest.raises(ValueError, match="n_shards"):
        permutation_shards(records, shards, np.random.default_rng(0))


def test_keyed_hash_shards_do_not_move_other_records():
    records = np.random.default_rng(0).integers(0, 256, (500, 65)).astype(np.uint8)
    before = keyed_hash_shards(records, 11, b"key")
    after = keyed_hash_shards(np.delete(records, 123, axis=0), 11, b"key")
    assert np.array_equal(np.delete(before, 123), after)


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
