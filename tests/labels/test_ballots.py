"""Ballots become histograms, absent ones and few ones by a public rule: what a teacher moves."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.labels import ballots, registry
from private_ensembles.labels.ballots import ABSENT, count_votes, deal_absent_ballots
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import Budget, Ensemble, Protection, Task, Wanted
from private_ensembles.labels.votes import Votes, read_votes, write_votes


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


def test_votes_and_counts_are_dealt_out_alike():
    ballots = np.random.default_rng(5).integers(-1, 3, (60, 7))
    one_by_one = np.array([[(row == c).sum() for c in range(3)] for row in ballots])
    assert np.array_equal(
        deal_absent_ballots(count_votes(ballots, 3), 7), deal_absent_ballots(one_by_one, 7)
    )


@pytest.mark.parametrize("labels", [1, 3])
@pytest.mark.parametrize("name", registry.offered_mechanisms())
def test_absent_ballots_need_no_more_noise(name, labels):
    mechanism = load_mechanism(name)
    task = Task(Ensemble(4, 2), Budget(1.0, 1e-3), Wanted(labels))
    absent = replace(task, ensemble=replace(task.ensemble, absent=True))
    if mechanism.refusal(absent) is None:
        assert mechanism.calibrate(absent) == mechanism.calibrate(task)


def test_private_teachers_are_asked_to_vote():
    """Their own privacy covers their plurality, and no law of independent votes."""
    task = Task(Ensemble(5, 2, absent=True, private=Budget(0.1, 0.0)), Budget(1.0, 1e-3), Wanted(1))
    assert load_mechanism("majority_private").refusal(task) is None
    shared = replace(task, protection=Protection.shared())
    for name in registry.offered_mechanisms():
        mechanism = load_mechanism(name)
        if mechanism.guarantee.hides_votes or name == "majority_private":
            continue
        refusal = mechanism.refusal(shared)
        assert refusal.startswith("proven for teachers whose votes are their own, not for absent")
        assert refusal.endswith(
            "if every teacher votes, for instance an absent one by a coin of its own"
        )


OFFERED = registry.offered_mechanisms()


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_the_first_ones_are_kept_and_nothing_else_changes(most):
    votes = np.array(list(itertools.product((0, 1), repeat=4))).T
    kept = ballots.limit_ones(votes, most)
    for before, after in zip(votes.T, kept.T, strict=True):
        ones = np.flatnonzero(before)
        assert np.flatnonzero(after).tolist() == ones[:most].tolist()
    assert (ballots.limit_ones(votes, 4) == votes).all()
    assert (ballots.limit_ones(kept, most) == kept).all()


def test_a_piece_at_a_time_is_the_same(monkeypatch):
    votes = np.random.default_rng(0).integers(2, size=(35, 11)).astype(np.uint8)
    whole = ballots.limit_ones(votes, 6)
    assert whole.dtype == votes.dtype
    monkeypatch.setattr(ballots, "_PIECE", 1)
    assert (ballots.limit_ones(votes, 6) == whole).all()


@pytest.mark.parametrize("most", [1, 2])
def test_a_teacher_whose_votes_become_others_changes_few_counts_by_one(most):
    """For every pair of its votes: what a task charges for is all that changes."""
    every = np.array(list(itertools.product((0, 1), repeat=4)))
    rest = np.random.default_rng(1).integers(2, size=(4, 6))
    task = Task(Ensemble(7, 2), Budget(1.0, 1e-5), Wanted(4, most_ones=most))
    changes = []
    for one, other in itertools.product(every, repeat=2):
        rows = [
            Votes(
                2, np.full(4, -1), np.concatenate([rest, own[:, None]], axis=1), most_ones=most
            ).histogram()[:, 1]
            for own in (one, other)
        ]
        moved = np.abs(rows[0] - rows[1])
        assert moved.max() <= 1
        changes.append(int(moved.sum()))
    assert max(changes) == task.changed_queries == 2 * most


@pytest.mark.parametrize(
    ("queries", "most", "reach"), [(3, 1, 2), (5, 1, 2), (7, 1, 3), (9, 2, 2), (5, 3, 1), (9, 1, 1)]
)
def test_a_unit_of_several_teachers_changes_as_many_queries_as_are_charged(queries, most, reach):
    """Sums of what each teacher may change: the most queries on which any of them differ."""
    kept = ballots.limit_ones(np.array(list(itertools.product((0, 1), repeat=queries))).T, most)
    own = np.unique(kept.T, axis=0).astype(np.int8)
    changes = np.unique((own[:, None] - own).reshape(-1, queries), axis=0)
    moved = changes
    for _ in range(reach - 1):
        moved = (moved[:, None] + changes).reshape(-1, queries)
    task = Task(
        Ensemble(7, 2),
        Budget(1.0, 1e-5),
        Wanted(queries, most_ones=most),
        protection=Protection.disjoint(reach=reach),
    )
    assert (moved != 0).sum(axis=1).max() == task.changed_queries
    assert np.abs(moved).max() == reach


def test_votes_of_few_ones_are_kept_and_cut_in_the_order_in_which_queries_are_answered(tmp_path):
    cast = np.array([[1, 0], [1, 1], [1, 0], [0, 1]])
    votes = Votes(2, np.full(4, -1), cast, most_ones=2)
    assert votes.histogram()[:, 1].tolist() == [1, 2, 0, 1]
    assert votes.select_queries([2, 3, 0, 1]).histogram()[:, 1].tolist() == [1, 1, 1, 1]
    write_votes(tmp_path / "votes.npz", votes)
    again = read_votes(tmp_path / "votes.npz")
    assert again.most_ones == 2
    assert (again.histogram() == votes.histogram()).all()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"most_ones": 0}, "most_ones = 0: must be an integer >= 1"),
        ({"most_ones": 1, "absent": True}, "without absent ballots"),
        ({"most_ones": 1, "n_classes": 3}, "must be of two classes"),
    ],
)
def test_few_ones_are_of_two_classes_and_whole_ensembles(more, words):
    with pytest.raises(ValueError, match=words):
        Votes(**{"n_classes": 2, "labels": [-1], "votes": [[0, 1]]} | more)


@pytest.mark.parametrize(
    "name", [name for name in OFFERED if load_mechanism(name).guarantee.hides_votes]
)
def test_few_ones_cost_what_as_many_labels_as_may_change_do(name):
    """And if they are no fewer than the labels, what all of these do."""
    mechanism = load_mechanism(name)
    size = {"n_teachers": 30, "n_classes": 2}
    task = Task.from_dict(
        {"epsilon": 1.0, "delta": 1e-5, "queries": 56, "labels": 56, "most_ones": 12, **size}
    )
    parameters, changed = (
        mechanism.calibrate(task),
        Task.from_dict({"epsilon": 1.0, "delta": 1e-5, "queries": 24, "labels": 24, **size}),
    )
    drawn = {"labels": 56} | ({"queries": 56} if mechanism.law.may_abstain else {})
    assert parameters == replace(mechanism.calibrate(changed), **drawn)
    alone = replace(parameters, labels=24, **({"queries": 24} if mechanism.law.may_abstain else {}))
    assert mechanism.cost(task, parameters) == mechanism.cost(changed, alone)
    plain = Task.from_dict({"epsilon": 1.0, "delta": 1e-5, "queries": 56, "labels": 56, **size})
    for many in (28, 56):
        assert mechanism.calibrate(
            replace(task, wanted=replace(task.wanted, most_ones=many))
        ) == mechanism.calibrate(plain)


@pytest.mark.parametrize("name", ["confident_gnmax_exact", "gnmax"])
def test_any_label_that_is_wanted_may_be_one_that_changes(name):
    """After a threshold nobody knows beforehand which are answered; without one, the first are."""
    charged = load_mechanism(name).charged_task(
        Task(Ensemble(30, 2), Budget(1.0, 1e-5), Wanted(28, 140, most_ones=10))
    )
    assert (charged.wanted.queries, charged.wanted.labels) == (20, 20)
    charged = load_mechanism(name).charged_task(
        Task(Ensemble(30, 2), Budget(1.0, 1e-5), Wanted(12, 140, most_ones=10))
    )
    assert (charged.wanted.queries, charged.wanted.labels) == (20, 12)


@pytest.mark.parametrize(
    ("labels", "queries", "most", "charged"),
    [(4, 56, 12, (4, 24)), (30, 56, 12, (24, 24)), (4, 20, 12, (4, 20)), (20, 20, 3, (6, 6))],
)
@pytest.mark.parametrize("name", ["confident_gnmax", "confident_gnmax_exact"])
def test_thresholds_are_charged_for_all_queries_that_may_change(
    name, labels, queries, most, charged
):
    """More of them than there are labels, if so many ones may change."""
    task = Task(Ensemble(30, 2), Budget(1.0, 1e-5), Wanted(labels, queries, most))
    mechanism, noise = load_mechanism(name), CheckedNoise(9.0, 40.0, 20.0, queries, labels)
    less, fewer = mechanism.charged_task_and_noise(task, noise)
    assert (fewer.labels, fewer.queries) == charged
    assert (less.wanted.labels, less.wanted.queries) == charged
    alone = replace(task, wanted=Wanted(*charged))
    assert mechanism.cost(task, noise) == mechanism.cost(alone, fewer)


@pytest.mark.parametrize(
    "name", [name for name in OFFERED if not load_mechanism(name).guarantee.hides_votes]
)
def test_the_teachers_own_privacy_charges_for_all_labels(name):
    facts = {"teacher_epsilon": 0.1, "adjacency": "add_remove", "epsilon": 1.0, "delta": 1e-3}
    size = {"queries": 3, "labels": 3, "n_teachers": 3, "n_classes": 2, "most_ones": 1}
    mechanism, task = load_mechanism(name), Task.from_dict(size | facts)
    assert mechanism.charged_task(task).wanted.labels == task.wanted.labels == 3


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"most_ones": 0}, "most_ones = 0: must be an integer >= 1"),
        ({"n_classes": 3}, "most_ones = 2: must be left out with 3 classes"),
        ({"absent": True}, "most_ones = 2: must be left out where ballots may be absent"),
    ],
)
def test_what_cannot_be_is_refused(others, words):
    size = {"queries": 6, "labels": 6, "n_teachers": 5, "n_classes": 2, "most_ones": 2}
    with pytest.raises(ValueError, match=words):
        Task.from_dict({"epsilon": 1.0, "delta": 1e-5, **size | others})
