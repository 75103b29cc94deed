"""Ballots become histograms: one by one, in fractions, and neighbours of all small histograms."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.accounting.limits import MOST_PARTS
from private_ensembles.votes.ballots import ABSENT, counted, dealt, rounded, soft_counts

from ..audit.oracle import all_histograms


def test_ballots_are_counted_as_one_by_one():
    generator = np.random.default_rng(0)
    votes = generator.integers(-1, 4, (200, 5))
    expected = np.zeros((200, 4), np.int64)
    for query, row in enumerate(votes):
        for vote in row:
            if vote != ABSENT:
                expected[query, vote] += 1
    for kind in (np.int8, np.int64):
        assert np.array_equal(counted(votes.astype(kind), 4), expected)


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


@pytest.mark.parametrize("counts", [[[5, 4]], [[4, 4], [9, 0]]])
def test_more_votes_than_there_are_are_refused(counts):
    with pytest.raises(ValueError, match="must add up to at most 8 votes"):
        dealt(counts, 8)


def test_nobody_votes():
    assert dealt([[0, 0, 0]], 5).tolist() == [[2, 2, 1]]
    with pytest.raises(ValueError, match="total = 0: must be an integer >= 1"):
        dealt([[0, 0]], 0)


def by_largest_remainder(scores, parts):
    """Round one ballot in fractions, as the rule is told."""
    positive = [max(Fraction(score), Fraction(0)) for score in scores]
    if not any(positive):
        positive = [Fraction(1)] * len(scores)
    exact = [parts * score / sum(positive) for score in positive]
    whole = [math.floor(part) for part in exact]
    lost = sorted(range(len(scores)), key=lambda j: (whole[j] - exact[j], j))
    for j in lost[: parts - sum(whole)]:
        whole[j] += 1
    return whole


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 100])
def test_scores_are_rounded_by_largest_remainder(parts):
    """All ballots of small whole scores, negative ones and ties included."""
    for n_classes in (2, 3):
        rows = list(itertools.product(range(-1, 5), repeat=n_classes))
        assert rounded(rows, parts).tolist() == [by_largest_remainder(row, parts) for row in rows]


def test_a_ballot_of_one_vote_is_the_class_of_the_largest_score():
    scores = np.random.default_rng(0).random((40, 6, 5))
    scores[0, 0] = [0.1, 0.3, 0.3, 0.2, 0.1]
    votes = scores.argmax(axis=2)
    assert np.array_equal(soft_counts(scores, 1), counted(votes, 5))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_whatever_the_scores_a_ballot_has_all_of_its_votes(kind):
    generator = np.random.default_rng(2)
    scores = generator.normal(size=(3000, 7)).astype(kind)
    scores[::7] = generator.dirichlet([0.1] * 7, len(scores[::7])).astype(kind)
    scores[1::7] *= np.finfo(kind).max / 8
    scores[2::7] *= np.finfo(kind).smallest_subnormal * 4
    scores[3] = np.finfo(kind).max
    scores[4] = 0
    for parts in (1, 3, 100, MOST_PARTS):
        cast = rounded(scores, parts)
        assert (cast.sum(axis=1) == parts).all()
        assert cast.min() >= 0
    shares = np.maximum(scores[::7].astype(np.float64), 0)
    shares /= shares.sum(axis=1, keepdims=True)
    assert np.abs(rounded(scores[::7], 100) - 100 * shares).max() < 1


def test_a_ballot_is_rounded_whatever_stands_beside_it(monkeypatch):
    scores = np.random.default_rng(3).normal(size=(9, 5, 4))
    whole, together = rounded(scores, 10), soft_counts(scores, 10)
    assert np.array_equal(whole.sum(axis=1), together)
    assert np.array_equal(rounded(scores[::-1, ::-1], 10)[::-1, ::-1], whole)
    assert np.array_equal(rounded(scores[2, 3], 10), whole[2, 3])
    monkeypatch.setattr("private_ensembles.votes.ballots._SCORES", 11)
    assert np.array_equal(rounded(scores, 10), whole)
    assert np.array_equal(soft_counts(scores, 10), together)


@pytest.mark.parametrize(("K", "S", "C"), [(1, 3, 2), (3, 2, 2), (2, 2, 3), (2, 3, 3), (3, 1, 3)])
def test_a_ballot_moves_up_to_its_votes_from_any_classes_to_any(K, S, C):
    """What one soft ballot does, over all ballots of all teachers, is what a group of S votes does.

    No pair that a ballot causes is missing in the account of groups, and none there is impossible.
    """
    cast = all_histograms(S, C)
    caused = set()
    for others in itertools.product(cast, repeat=K - 1):
        rows = {tuple(np.sum([*others, ballot], axis=0).tolist()) for ballot in cast}
        caused |= set(itertools.permutations(rows, 2))
    rows = all_histograms(K * S, C)
    pairs = itertools.permutations(map(tuple, rows.tolist()), 2)
    grouped = {pair for pair in pairs if np.abs(np.subtract(*pair)).sum() <= 2 * S}
    assert caused == grouped


@pytest.mark.parametrize(
    ("scores", "parts", "message"),
    [
        ([["a", "b"]], 10, "scores has type <U1: must be real numbers of 64 bits at most"),
        ([[1j, 2]], 10, "scores has type complex128: must be real numbers of 64 bits at most"),
        ([[True, False]], 10, "scores has type bool: must be real numbers of 64 bits at most"),
        ([[1], [2]], 10, r"scores has shape \(2, 1\): must have two classes at least"),
        ([[0.5, 0.5], [0.1, np.nan]], 10, r"scores\[1, 1\] = nan: must be a finite number"),
        ([[0.5, np.inf]], 10, r"scores\[0, 1\] = inf: must be a finite number"),
        ([[0.5, 0.5]], 0, "resolution = 0: must be"),
        ([[0.5, 0.5]], MOST_PARTS + 1, "resolution = 10001: must be"),
    ],
)
def test_scores_that_are_none_are_refused(scores, parts, message):
    with pytest.raises(ValueError, match=message):
        rounded(scores, parts)


@pytest.mark.parametrize("shape", [(3, 4), (0, 4, 2), (3, 0, 2), (2, 3, 4, 5)])
def test_scores_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match="must be queries x teachers x classes"):
        soft_counts(np.ones(shape), 10)
