"""Bagged votes: bits in and out, files of consecutive partitions, and nothing else accepted."""

import numpy as np
import pytest

from private_ensembles.papers.dpbag.votes import (
    BaggedVotes,
    join_partitions,
    pack_votes,
    read_votes,
    write_votes,
)


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
