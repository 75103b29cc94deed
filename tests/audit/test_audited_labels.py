"""One label as the exact audit sees it; every mechanism's own is in tests/claims."""

import numpy as np
import pytest

from private_ensembles.audit import exact_epsilon, two_class_pairs
from private_ensembles.audit.audited_labels import HistogramLabel
from private_ensembles.audit.histograms import both_counts
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
