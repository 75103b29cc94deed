"""A noisy threshold before the label: outcomes, and the cost of all that may be looked at."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.accounting.discrete_gaussian import DiscreteGaussianCounts
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels.gnmax_lattice import lattice_distribution
from private_ensembles.labels.laws import checked, gaussian
from private_ensembles.labels.laws.checked import (
    CheckedNoise,
    apply_caps,
    plurality_votes,
    student_disagreement,
)
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.noisy_counts import exact_data_independent_epsilon
from private_ensembles.labels.release_gate import release_from_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.papers.pate.configured_noise import ACCOUNTS
from tests.claims.adversary import exact_laws, largest_delta, moved_votes

NOISE = CheckedNoise(threshold=4.0, sigma1=3.0, sigma2=2.0, queries=50, labels=20, score=0.7)
COUNTS = np.array([[6, 1], [3, 4], [0, 7]])


@pytest.mark.parametrize("name", ["confident_gnmax", "interactive_gnmax"])
def test_outcomes_are_no_answer_and_the_labels(name):
    mechanism = load_mechanism(name)
    chances = mechanism.law.outcome_distribution(COUNTS, NOISE)
    audited = mechanism.law.build_audit(Task(Ensemble(7, 2), Budget(1.0, 1e-5), Wanted(1)), NOISE)
    assert audited.names == (-1, 0, 1)
    np.testing.assert_array_equal(chances[:, 1:], mechanism.law.distribution(COUNTS, NOISE))
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-12)


def test_a_query_is_answered_where_consensus_and_noise_reach_the_threshold():
    silent = load_mechanism("confident_gnmax").law.outcome_distribution(COUNTS, NOISE)[:, 0]
    np.testing.assert_allclose(silent, ndtr((4 - COUNTS.max(axis=1)) / 3), rtol=1e-12)


def test_the_cost_is_that_of_every_threshold_and_every_answer():
    assert NOISE.rho == pytest.approx(50 / (2 * 9) + 20 / 4)
    task = Task(Ensemble(7, 2), Budget(1.0, 1e-5), Wanted(20, 50))
    confident = load_mechanism("confident_gnmax")
    cost = ACCOUNTS[confident.name].cost(confident.law, task, NOISE)
    assert cost.proven == exact_data_independent_epsilon(NOISE.rho, 1e-5) < cost.claimed
    less = confident.law.scale_noise(NOISE, 0.5)
    assert less.rho == pytest.approx(4 * NOISE.rho)
    assert less == replace(NOISE, sigma1=1.5, sigma2=1.0)


@pytest.mark.parametrize("name", ["confident_gnmax", "interactive_gnmax"])
def test_secure_outcomes_are_those_of_the_lattice(name):
    """A threshold between whole numbers is reached from the next one on."""
    noise, mechanism = replace(NOISE, threshold=4.3), load_mechanism(name)
    outcomes = mechanism.law.outcome_distribution(COUNTS, noise, secure=True)
    np.testing.assert_allclose(outcomes.sum(axis=1), 1, rtol=1e-12)
    x = np.arange(-60, 61)
    pmf = np.exp(-(x**2) / 18) / np.exp(-(x**2) / 18).sum()
    for row, chances in zip(COUNTS, outcomes, strict=True):
        expected = np.rint(7 * np.array([0.3, 0.7])) if name == "interactive_gnmax" else 0
        passes = pmf[(row - expected).max() + x >= 4.3].sum()
        assert chances[0] == pytest.approx(1 - passes, rel=1e-11)
        label = lattice_distribution(np.array([row]), 2.0)[0]
        np.testing.assert_allclose(chances[1:], passes * label, rtol=1e-11)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("sigma1", "sigma2"), [(400.0, 3.0), (3.0, 60.0), (8.0, 8.0)])
def test_what_is_not_listed_is_as_near_as_is_granted(sigma1, sigma2, n_classes, monkeypatch):
    """Both noises on whole numbers beside continuous ones, which stand in for large noise."""
    counts = np.random.default_rng(0).multinomial(30, np.full(n_classes, 1 / n_classes), 20)
    law, noise = load_mechanism("confident_gnmax").law, CheckedNoise(12.0, sigma1, sigma2)
    exact = law.outcome_distribution(counts, noise, secure=True)
    listed = law.numerical_error(30, n_classes, noise, secure=True)
    assert max(listed.values()) < 1e-8
    for module in (checked, gaussian, discrete_gaussian):
        monkeypatch.setattr(module, "MAX_TABULATED_SIGMA", 1.0)
    near = law.outcome_distribution(counts, noise, secure=True)
    said = law.numerical_error(30, n_classes, noise, secure=True)
    apart = np.abs(near - exact)
    assert apart.max() > 1e-6
    assert (apart <= said["relative_error"] * exact + said["absolute_error"]).all()
    # A tail may be off by 1 / sigma1^2, and a label by theorem 5 of docs/noise.md.
    label = (math.sqrt(2 * math.log(n_classes)) + n_classes / sigma2) / sigma2
    assert label + sigma1**-2 <= said["absolute_error"] < 5 * (label + sigma1**-2)


def test_secure_noise_has_its_own_cost():
    task = Task(Ensemble(7, 2), Budget(1.0, 1e-5), Wanted(20, 50), secure=True)
    moves = [DiscreteGaussianCounts(50, 3.0), DiscreteGaussianCounts(40, 2.0)]
    for name in ("confident_gnmax", "interactive_gnmax"):
        mechanism = load_mechanism(name)
        proven = ACCOUNTS[mechanism.name].cost(mechanism.law, task, NOISE).proven
        assert proven == discrete_gaussian.epsilon(1e-5, moves)


def test_confident_keeps_the_budget_exactly_with_secure_noise():
    """Not by the looser Renyi conversion, as it did: sigma grows by next to nothing."""
    confident = load_mechanism("confident_gnmax")
    task = Task(Ensemble(9, 3), Budget(1.0, 1e-5), Wanted(40, 60), secure=True)
    secure, continuous = (
        confident.calibrate(wanted) for wanted in (task, replace(task, secure=False))
    )
    assert 1 <= secure.sigma2 / continuous.sigma2 == secure.sigma1 / continuous.sigma1 < 1.001
    assert discrete_gaussian.delta(1.0, secure.discrete_gaussian_counts) <= 1e-5
    with pytest.raises(ValueError, match="confident_gnmax was calibrated for continuous noise"):
        release_from_counts(confident, np.array([[9, 0, 0]]), continuous, SecureNoise())


@pytest.mark.parametrize(("sigma1", "sigma2"), [(0.6, 0.5), (1.5, 0.8), (0.8, 2.0)])
@pytest.mark.parametrize(("queries", "answers"), [(3, 1), (3, 2), (2, 2)])
def test_no_adaptive_choice_of_queries_costs_more_than_the_caps(sigma1, sigma2, queries, answers):
    """Every strategy: the next pair of histograms depends on all that was released before."""
    noise = CheckedNoise(2.5, sigma1, sigma2, queries, answers)
    rows, moves = moved_votes(3, 2)
    laws = exact_laws(load_mechanism("confident_gnmax").law, rows, noise, secure=True)
    assert largest_delta(laws, moves, 0.5, queries, answers) > 1e-3
    for epsilon in (0.5, 2.0, 5.0):
        bound = discrete_gaussian.delta(epsilon, noise.discrete_gaussian_counts)
        assert largest_delta(laws, moves, epsilon, queries, answers) <= bound


def test_the_plurality_is_the_largest_count_whatever_the_noise():
    for secure in (False, True):
        assert plurality_votes(COUNTS, NOISE, secure=secure).tolist() == [6, 4, 7]


def test_a_student_expects_the_same_of_every_query():
    """2.1 votes for 0 and 4.9 for 1, or 2 and 5 where noise is whole."""
    np.testing.assert_allclose(student_disagreement(COUNTS, NOISE, secure=False), [3.9, 0.9, 2.1])
    whole = student_disagreement(COUNTS, NOISE, secure=True)
    assert whole.dtype == np.int64
    assert whole.tolist() == [4, 1, 2]


def test_a_students_score_is_of_two_classes():
    with pytest.raises(ValueError, match=r"^counts of 3 classes: a student's score is of two$"):
        student_disagreement(np.array([[3, 2, 2]]), NOISE, secure=False)


@pytest.mark.parametrize("labels", [7, 10, 11])
def test_no_more_answers_are_expected_than_the_cap_if_a_sample_stands_for_the_pool(labels):
    """A cap of 10 of 300 queries is 6.67 of 200, which a sample cannot have."""
    counts = np.tile([[40, 0, 0]], (200, 1))
    task = Task(Ensemble(40, 3), Budget(1.0, 1e-5), Wanted(labels, 300))
    noise = CheckedNoise(threshold=10.0, sigma1=1.0, sigma2=1.0, queries=300, labels=labels)
    law = load_mechanism("confident_gnmax").law
    answers, right = law.expected_answers(counts, np.zeros(200, dtype=int), task, noise)
    assert labels - 1 <= answers <= labels
    assert right <= answers * (1 + 1e-9)


def test_what_is_expected_is_known_where_all_queries_pass():
    """Sums of discrete noise are a little above 1, which ended a plan: no probability is."""
    task = Task(Ensemble(40, 2), Budget(2.0, 1e-5), Wanted(50, 222), secure=True)
    counts = np.array([[40, 0], [25, 15]] * 20)
    for sigma1 in np.linspace(0.5, 30, 60):
        noise = CheckedNoise(0.0, float(sigma1), 4.0, queries=222, labels=50)
        answers, right = load_mechanism("confident_gnmax").law.expected_answers(
            counts, np.zeros(40, int), task, noise
        )
        assert right <= answers <= 50


@pytest.mark.parametrize(
    ("queries", "answers", "kept"),
    [
        (None, None, 7),
        (None, 3, 4),
        (None, 1, 1),
        (None, 0, 0),
        (0, None, 0),
        (5, None, 5),
        (3, 3, 3),
        (6, 4, 6),
        (7, 4, 6),
        (7, 5, 7),
        (9, 9, 7),
    ],
)
def test_a_cap_counts_answers_of_every_label_or_queries_of_every_outcome(queries, answers, kept):
    """Of answers 0, 2, 0, 1, 0 to seven queries; what is kept is a beginning of them."""
    labels = np.array([0, -1, 2, 0, -1, 1, 0])
    found = apply_caps(labels, labels != -1, queries, answers)
    assert found.tolist() == [*labels[:kept], *[-1] * (7 - kept)]


def test_seeded_noise_has_the_scales_that_are_charged_and_comes_query_by_query():
    """One number for the threshold and one for each class, of which many decide by a hair."""
    counts = np.tile([[11, 10, 9]], (4000, 1))
    noise = CheckedNoise(threshold=10.0, sigma1=3.0, sigma2=2.0, queries=4000, labels=4000)
    drawn = np.random.default_rng(3).standard_normal((4000, 4))
    law, source = load_mechanism("confident_gnmax").law, SeededNoise(np.random.default_rng(3))
    labels = (counts + 2.0 * drawn[:, 1:]).argmax(axis=1)
    expected = np.where(11 + 3.0 * drawn[:, 0] >= 10.0, labels, -1)
    np.testing.assert_array_equal(law.draw(counts, noise, source), expected)
