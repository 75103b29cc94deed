"""One label as the exact audit sees it; every mechanism's own is in tests/claims."""

import numpy as np
import pytest

from private_ensembles.audit import exact_epsilon, two_class_pairs
from private_ensembles.audit.audited_labels import (
    DecidingTeacherLabel,
    HistogramLabel,
    SharedDataLabel,
)
from private_ensembles.audit.histograms import both_counts
from private_ensembles.audit.shared_data import teacher_corners
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

NOISE = GaussianNoise(3.0)


def test_two_classes_are_listed_by_votes_for_one():
    assert both_counts(2).tolist() == [[2, 0], [1, 1], [0, 2]]
    audited = HistogramLabel(load_mechanism("gnmax").law, NOISE, 5, 2)
    assert audited.inputs[:, 1].tolist() == [0, 1, 2, 3, 4, 5]
    assert (np.diff(audited.matrix[:, 1]) > 0).all()
    matrix = load_mechanism("gnmax").law.distribution(both_counts(5), NOISE)
    exact = exact_epsilon(matrix, two_class_pairs(5), 1e-3, **audited.errors)
    assert audited.worst_inputs(1e-3).epsilon == exact


def test_worst_inputs_are_neighbours_and_attain_the_epsilon():
    audited = HistogramLabel(load_mechanism("gnmax").law, NOISE, 4, 3)
    worst = audited.worst_inputs(1e-3)
    assert np.abs(worst.first - worst.second).sum() == 2
    both = load_mechanism("gnmax").law.distribution(np.stack([worst.first, worst.second]), NOISE)
    pair = np.array([[0, 1]])
    assert exact_epsilon(both, pair, 1e-3, **audited.errors) == pytest.approx(worst.epsilon)
    assert audited.curve(np.array([worst.epsilon]))[0] == pytest.approx(1e-3, rel=1e-6)


def test_draws_are_of_the_input_given():
    audited = HistogramLabel(load_mechanism("gnmax").law, GaussianNoise(0.01), 5, 2)
    assert audited.draw(np.array([1, 4]), 20, np.random.default_rng(0)).tolist() == [1] * 20


def test_of_teachers_no_epsilon_is_proven_from_below():
    task = Task(Ensemble(5, 2, private=Budget(0.3, 0.0)), Budget(1.0, 1e-5), Wanted(1))
    darrm = load_mechanism("darrm_sub")
    audited = darrm.law.build_audit(task, darrm.calibrate(task))
    assert audited.epsilon_lower_bound(1e-5) == 0.0 < audited.worst_inputs(1e-5).epsilon


def test_names_are_the_outcomes_and_none_is_the_first_if_there_can_be_none():
    noise = CheckedNoise(2.0, 1.0, 1.0)
    assert HistogramLabel(load_mechanism("confident_gnmax").law, noise, 4, 2).names == (-1, 0, 1)
    assert HistogramLabel(load_mechanism("gnmax").law, NOISE, 4, 3).names == (0, 1, 2)


@pytest.mark.parametrize("n_teachers", [1, 2, 5, 6])
def test_the_teacher_that_decides_has_the_last_word(n_teachers):
    """All others are split evenly, so that the majority is what the one says, label by label."""
    audited = DecidingTeacherLabel(n_teachers, 0.7, 0.01)
    corners = teacher_corners(0.7, 0.01)
    for place in audited.inputs.tolist():
        says_one = corners[place % 8, place // 8]  # on one data set, then on the other
        drawn = audited.draw(np.array(place), 300, np.random.default_rng(place))
        assert drawn.tolist() == (np.random.default_rng(place).random(300) < says_one).tolist()
        np.testing.assert_array_equal(audited.matrix[place], [1 - says_one, says_one])
    assert audited.pairs.tolist() == [[corner, corner + 8] for corner in range(8)]


def test_votes_of_teachers_that_share_data_are_drawn_afresh_in_every_run():
    """The number of ones is handed on, one for each run, each teacher's vote by its own chance."""
    audited = SharedDataLabel(np.full(4, 0.5), (0.3, 0.0), lambda ones, source: ones)
    says_one = np.array([0.0, 0.25, 1.0])
    drawn = audited.draw(says_one, 400, np.random.default_rng(5))
    votes = np.random.default_rng(5).random((400, 3)) < says_one
    assert drawn.tolist() == votes.sum(axis=1).tolist()
    assert set(drawn.tolist()) == {1, 2}


def test_labels_are_of_the_stream_unless_they_are_to_be_secure():
    law, tie = load_mechanism("gnmax").law, np.array([3, 3])
    seeded = HistogramLabel(law, NOISE, 6, 2)
    secure = HistogramLabel(law, NOISE, 6, 2, secure=True)
    first, second = (seeded.draw(tie, 100, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    first, second = (secure.draw(tie, 100, np.random.default_rng(1)) for _ in range(2))
    assert (first != second).any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_vote_moves_unless_more_are_said_to(n_classes):
    law = load_mechanism("gnmax").law
    for moved, more in ((1, {}), (1, {"group_size": 1}), (2, {"group_size": 2})):
        audited = HistogramLabel(law, NOISE, 4, n_classes, **more)
        first, second = audited.inputs[audited.pairs[:, 0]], audited.inputs[audited.pairs[:, 1]]
        assert np.abs(first - second).sum(axis=1).max() == 2 * moved
