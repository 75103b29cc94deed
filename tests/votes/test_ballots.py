"""Absent ballots are dealt out: counted one by one, and neighbours of all small histograms."""

import itertools

import numpy as np
import pytest

from private_ensembles.votes import ballots
from private_ensembles.votes.ballots import ABSENT, counted, dealt


@pytest.mark.parametrize("weights", [None, [1, 4, 2, 1, 7]])
def test_ballots_are_counted_as_one_by_one(weights):
    generator = np.random.default_rng(0)
    votes = generator.integers(-1, 4, (200, 5))
    expected = np.zeros((200, 4), np.int64)
    for query, row in enumerate(votes):
        for teacher, vote in enumerate(row):
            if vote != ABSENT:
                expected[query, vote] += 1 if weights is None else weights[teacher]
    for kind in (np.int8, np.int64):
        assert np.array_equal(counted(votes.astype(kind), 4, weights), expected)


def test_many_ballots_are_counted_in_pieces(monkeypatch):
    votes = np.random.default_rng(1).integers(-1, 3, (50, 7)).astype(np.int8)
    whole = counted(votes, 3)
    monkeypatch.setattr("private_ensembles.votes.ballots._PIECE", 20)
    assert np.array_equal(counted(votes, 3), whole)


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
        assert dealt(rows, total).tolist() == expected
        # Whatever the place of a row, and whatever stands beside it.
        assert dealt(rows[::-1], total).tolist() == expected[::-1]
        assert dealt(rows[3], total).tolist() == expected[3]
        assert dealt(expected, total).tolist() == expected


@pytest.mark.parametrize(("K", "C"), [(1, 2), (4, 2), (4, 3), (7, 2), (5, 4), (3, 6)])
def test_a_ballot_that_changes_moves_one_vote_or_none(K, C):
    """The theorem, over all ballots of all teachers but one and all that the last one may do."""
    moves = set()
    for others in itertools.product(range(-1, C), repeat=K - 1):
        rows = counted(np.array([[*others, last] for last in range(-1, C)]), C)
        for one, other in itertools.permutations(dealt(rows, K), 2):
            change = other - one
            assert np.abs(change).sum() in (0, 2)
            assert set(change.tolist()) <= {-1, 0, 1}
            moves.add(int(np.abs(change).sum()))
    assert moves == {0, 2}


def test_a_ballot_of_several_votes_moves_no_more_than_its_votes():
    """From one class, or from several if it vanishes: what a weighted and absent one may do."""
    weights, C = [3, 1, 2], 3
    several = 0
    for others in itertools.product(range(-1, C), repeat=2):
        rows = counted(np.array([[last, *others] for last in range(-1, C)]), C, weights)
        for one, other in itertools.permutations(dealt(rows, sum(weights)), 2):
            change = other - one
            assert np.abs(change).sum() <= 2 * 3
            several = max(several, int((change != 0).sum()))
    assert several == 3


@pytest.mark.parametrize("counts", [[[5, 4]], [[4, 4], [9, 0]]])
def test_more_votes_than_there_are_are_refused(counts):
    with pytest.raises(ValueError, match="must add up to at most 8 votes"):
        dealt(counts, 8)


def test_nobody_votes():
    assert dealt([[0, 0, 0]], 5).tolist() == [[2, 2, 1]]
    with pytest.raises(ValueError, match="total = 0: must be an integer >= 1"):
        dealt([[0, 0]], 0)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([], "weights: must be one whole number for each teacher"),
        ([1.5, 2], "weights: must be one whole number"),
        ([[1], [2]], "weights: must be one whole number"),
        ([2, 0], r"weights\[1\] = 0: must be at least 1"),
        ([1, 10**9], "weights: the largest is 1000000000: must be at most 1000000"),
        ([2, 1], "weights: 2 of them: must be 3, one per teacher"),
    ],
)
def test_weights_that_are_none_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        ballots.of_weights(weights, 3)


def test_weights_are_read_from_a_list_or_a_file(tmp_path):
    file = tmp_path / "weights.txt"
    file.write_text("3\n1, 2\n")
    assert ballots.read_weights(str(file)) == (3, 1, 2)
    assert ballots.read_weights("3,1,2") == ballots.read_weights((3, 1, 2)) == (3, 1, 2)
    assert ballots.read_weights(None) is None
    for text, message in (
        ("3,-1", "weights: number 2 is '-1': must be 1, 2, 3, ..."),
        ("1,2.5", "weights: number 2 is '2.5'"),
        (",", "weights: is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            ballots.read_weights(text)
    file.write_text("3\nx\n")
    with pytest.raises(ValueError, match="number 2 is 'x'"):
        ballots.read_weights(str(file))


def test_a_common_factor_changes_no_lead_and_is_left_out():
    votes = np.random.default_rng(0).integers(0, 3, (20, 4))
    weights = np.array([6, 4, 2, 2])
    known = ballots.reduced(weights)
    assert known == (3, 2, 1, 1)
    both = [ballots.counted(votes, 3, of) for of in (weights, known)]
    assert (both[0] == 2 * both[1]).all()
