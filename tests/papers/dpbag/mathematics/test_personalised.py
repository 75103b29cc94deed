"""Personal costs: the definition by loops, and no order or block that changes an integer."""

from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.papers.dpbag.mathematics import personalised
from private_ensembles.papers.dpbag.mathematics.personalised import running_costs
from private_ensembles.papers.dpbag.votes import BaggedVotes


def _account_by_definition(votes, shards, k):
    """max over records of sum m(x; u)^2 over the queries so far, as fractions, by loops."""
    records, queries = shards.shape[1], votes.shape[2]
    spent = [Fraction(0)] * records
    largest = []
    for x in range(queries):
        for u in range(records):
            own = [votes[i, shards[i, u], x] for i in range(k) if shards[i, u] >= 0]
            m = max(Fraction(own.count(c), k) for c in (0, 1))
            spent[u] += m * m
        largest.append(max(spent))
    return largest


@pytest.mark.parametrize(("k", "n", "records"), [(5, 4, 23), (7, 3, 20), (1, 5, 11)])
def test_costs_are_those_of_the_definition(bagged, k, n, records):
    votes, cast = bagged(k, n, records, 17)
    sizes = sorted({1, (k + 1) // 2, k})
    found = running_costs(votes, sizes)
    for place, size in enumerate(sizes):
        expected = _account_by_definition(cast, votes.shards, size)
        assert [Fraction(int(value), size**2) for value in found[place]] == expected


def test_blocks_and_left_out_records_change_no_integer(bagged, monkeypatch):
    votes, cast = bagged(6, 5, 43, 40, seed=1)
    whole = running_costs(votes, [2, 6])
    for queries in (1, 7, 16):
        monkeypatch.setattr(personalised, "_QUERIES", queries)
        np.testing.assert_array_equal(running_costs(votes, [2, 6]), whole)
    assert (votes.shards < 0).any()
    assert whole[1].tolist() == [int(36 * v) for v in _account_by_definition(cast, votes.shards, 6)]


def test_more_partitions_than_a_byte_counts(bagged):
    votes, cast = bagged(300, 2, 5, 3, seed=2)
    found = running_costs(votes, [300])[0]
    assert found.tolist() == [300**2 * v for v in _account_by_definition(cast, votes.shards, 300)]


def test_the_maximum_is_that_of_all_records_though_few_are_followed(bagged):
    votes, cast = bagged(6, 5, 43, 900, seed=4)
    own = np.take_along_axis(cast, votes.shards[:, :, None] % 5, axis=1)
    own *= (votes.shards >= 0)[:, :, None]
    ones, present = own.sum(axis=0, dtype=int), (votes.shards >= 0).sum(axis=0)[:, None]
    expected = (np.maximum(ones, present - ones) ** 2).cumsum(axis=1)
    np.testing.assert_array_equal(running_costs(votes, [6])[0], expected.max(axis=0))
    assert len(set(expected.argmax(axis=0))) > 1  # the maximum changes hands


@pytest.mark.parametrize("k", [15, 16, 31])
def test_more_teachers_than_half_a_byte_counts(bagged, k):
    votes, _ = bagged(k, 1, 3, 9)
    whole = np.full_like(votes.bits, 255)  # all vote 1
    votes = BaggedVotes(whole, votes.shards, 9)
    assert running_costs(votes, [7, k])[1].tolist() == [k**2 * x for x in range(1, 10)]


def test_one_partition_costs_one_a_label_and_no_size_costs_more(bagged):
    votes, _ = bagged(8, 4, 40, 60, seed=3)
    sizes = [1, 3, 8]
    found = running_costs(votes, sizes)
    labels = np.arange(1, 61)
    np.testing.assert_array_equal(found[0], labels)
    for size, row in zip(sizes, found, strict=True):
        assert (row <= labels * size**2).all()
        assert (4 * row >= labels * size**2).all()  # m is at least 1/2 for two classes


@pytest.mark.parametrize("sizes", [[], [0, 2], [3, 2], [2, 2], [4]])
def test_sizes_out_of_range_are_refused(bagged, sizes):
    votes, _ = bagged(3, 4, 40, 6)
    with pytest.raises(ValueError, match=r"sizes = .*: must be increasing, from 1 to the 3"):
        running_costs(votes, sizes)
