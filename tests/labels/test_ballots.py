"""Ballots become histograms: one by one, in fractions, and neighbours of all small histograms."""

import itertools

import numpy as np
import pytest

from private_ensembles.labels.ballots import ABSENT, count_votes, deal_absent_ballots


def test_ballots_are_counted_as_one_by_one():
    generator = np.random.default_rng(0)
    votes = generator.integers(-1, 4, (200, 5))
    expected = np.zeros((200, 4), np.int64)
    for query, row in enumerate(votes):
        for vote in row:
            if vote != ABSENT:
                expected[query, vote] += 1
    for kind in (np.int8, np.int64):
        assert np.array_equal(count_votes(votes.astype(kind), 4), expected)


def test_many_ballots_are_counted_in_pieces(monkeypatch):
    votes = np.random.default_rng(1).integers(-1, 3, (50, 7)).astype(np.int8)
    whole = count_votes(votes, 3)
    monkeypatch.setattr("private_ensembles.labels.ballots._PIECE", 20)
    assert np.array_equal(count_votes(votes, 3), whole)


def one_by_one(counts, total):
    """Deal as the rule is told: the next missing vote to the next class in turn."""
    counts, turn = list(counts), 0
    while sum(counts) < total:
        counts[turn % len(counts)] += 1
        turn += 1
    return counts


def test_the_rule_is_what_it_is_told_to_be():
    for n_classes, total in itertools.product((2, 3, 5), (1, 2, 7, 11)):
        rows = np.random.default_rng(total).multinomial(
            total, [1 / (n_classes + 1)] * (n_classes + 1), 40
        )
        rows = rows[:, :n_classes]
        expected = [one_by_one(row, total) for row in rows.tolist()]
        assert deal_absent_ballots(rows, total).tolist() == expected
        # Whatever the place of a row, and whatever stands beside it.
        assert deal_absent_ballots(rows[::-1], total).tolist() == expected[::-1]
        assert deal_absent_ballots(rows[3], total).tolist() == expected[3]
        assert deal_absent_ballots(expected, total).tolist() == expected


@pytest.mark.parametrize(("K", "C"), [(1, 2), (4, 2), (4, 3), (7, 2), (5, 4), (3, 6)])
def test_a_ballot_that_changes_moves_one_vote_or_none(K, C):
    """The theorem, over all ballots of all teachers but one and all that the last one may do."""
    moves = set()
    for others in itertools.product(range(-1, C), repeat=K - 1):
        rows = count_votes(np.array([[*others, last] for last in range(-1, C)]), C)
        for one, other in itertools.permutations(deal_absent_ballots(rows, K), 2):
            change = other - one
            assert np.abs(change).sum() in (0, 2)
            assert set(change.tolist()) <= {-1, 0, 1}
            moves.add(int(np.abs(change).sum()))
    assert moves == {0, 2}


@pytest.mark.parametrize("counts", [[[5, 4]], [[4, 4], [9, 0]]])
def test_more_votes_than_there_are_are_refused(counts):
    with pytest.raises(ValueError, match="must add up to at most 8 votes"):
        deal_absent_ballots(counts, 8)


def test_nobody_votes():
    assert deal_absent_ballots([[0, 0, 0]], 5).tolist() == [[2, 2, 1]]
    with pytest.raises(ValueError, match="total = 0: must be an integer >= 1"):
        deal_absent_ballots([[0, 0]], 0)
