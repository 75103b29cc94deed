"""DaRRM's mechanisms: one label, private for all teachers that are; or all teachers published."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.budgets import disjoint_shards_majority_cost
from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.audit.shared_data import worst_teachers
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.release_gate import release_from_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
    shards_for_privacy_model,
)
from private_ensembles.papers.darrm.law import NoisyMajority, release
from private_ensembles.papers.darrm.majority import LAW, Answers
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling, label_probability
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from private_ensembles.papers.darrm.one_label import LabelBudget, calibrate_label, make_label_task
from tests.papers.darrm.mathematics import oracle

DARRM = ("darrm_opt", "darrm_sub")
BASE = Task(Ensemble(9, 2, private=Budget(0.3, 0.0)), Budget(1.0, 1e-5), Wanted(40, 60))
# All teachers together cost about 5 at BASE.budget.delta; then DaRRM answers every query.
RICH = replace(BASE, budget=replace(BASE.budget, epsilon=8.0))


def counts(task):
    generator = np.random.default_rng(0)
    p = generator.dirichlet(np.full(task.ensemble.classes, 0.7), task.wanted.queries)
    return generator.multinomial(task.ensemble.teachers, p)


@pytest.mark.parametrize("name", DARRM)
@pytest.mark.parametrize("model", ["shared_data", "disjoint_shards"])
@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_darrm_s_label_is_private_for_all_teachers_that_are(name, model, adjacency):
    """Against the audit over all teachers that are as private as stated, at every corner."""
    task = replace(
        BASE,
        ensemble=replace(BASE.ensemble, private=Budget(0.3, 1e-6)),
        budget=replace(BASE.budget, epsilon=1.0),
        wanted=replace(BASE.wanted, labels=1),
        protection=Protection(shards_for_privacy_model(model), adjacency=adjacency),
    )
    mechanism = load_mechanism(name)
    assert mechanism.refusal(task) is None
    parameters = mechanism.calibrate(task)
    teacher = disjoint_shards_majority_cost(0.3, 1e-6, adjacency)
    assert (parameters.teacher_epsilon, parameters.teacher_Delta) == (
        teacher.epsilon,
        teacher.delta,
    )
    probabilities = label_probability(mechanism.law.gamma(parameters))
    worst = worst_teachers(probabilities, teacher.epsilon, teacher.delta, task.budget.delta)
    claimed = mechanism.cost(task, parameters).claimed
    # The audit's value is an upper bound itself: what rounding may have hidden is in it.
    assert 0 < worst.epsilon <= claimed * (1 + 1e-12) <= task.budget.epsilon * (1 + 1e-12)
    # No more noise than that: one more teacher, or a larger m, would break the budget.
    if name == "darrm_opt":
        assert worst.epsilon > 0.99 * task.budget.epsilon


@pytest.mark.parametrize("name", DARRM)
def test_darrm_answers_every_query_where_the_budget_pays_for_all_teachers(name):
    mechanism = load_mechanism(name)
    assert mechanism.refusal(RICH) is None
    parameters = mechanism.calibrate(RICH)
    histograms = counts(RICH)
    released = release_from_counts(
        mechanism, histograms, parameters, SeededNoise(np.random.default_rng(0))
    )
    np.testing.assert_array_equal(released[:40], histograms[:40].argmax(axis=1))  # no noise
    everyone = optimal_composition(0.6, 0.0, 9, RICH.budget.delta).epsilon
    assert mechanism.cost(RICH, parameters).claimed == everyone <= RICH.budget.epsilon
    assert "proven for one label" in mechanism.refusal(
        replace(RICH, budget=replace(RICH.budget, epsilon=everyone * 0.999))
    )


@pytest.mark.parametrize("name", DARRM)
def test_darrm_s_label_is_for_two_classes_and_an_odd_number_of_teachers(name):
    mechanism, one = load_mechanism(name), replace(BASE, wanted=Wanted(1))
    assert mechanism.refusal(one) is None
    three = replace(one, ensemble=replace(one.ensemble, classes=3))
    assert mechanism.refusal(three) == "for two classes only"
    even = replace(one, ensemble=replace(one.ensemble, teachers=8))
    assert mechanism.refusal(even) == "for an odd number of teachers"


@pytest.mark.parametrize("n_teachers", [5, 11, 13])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-2])
def test_a_closed_form_meets_its_allowance_in_its_own_floats(n_teachers, epsilon):
    """All teachers at the corner where they tell most, in 60 digits; the exact gamma meets it."""
    parameters = NoisyMajority(1.0, 1, n_teachers, 0.0, epsilon, 0.0)
    mechanism = load_mechanism("darrm_sub")
    gamma = mechanism.law.gamma(parameters)
    signs = np.where(2 * np.arange(n_teachers + 1) > n_teachers, 1, -1)
    with mpmath.workdps(60):
        allowed = mpmath.exp(mpmath.mpf(mechanism.account.label_cost(parameters)))
        high = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))

        def mean(p):
            return mpmath.fsum(
                mpmath.binomial(n_teachers, l) * p**l * (1 - p) ** (n_teachers - l) * mpmath.mpf(x)
                for l, x in enumerate((signs * gamma).tolist())
            )

        cost = mean(high) - allowed * mean(1 - high)
        assert (allowed - 1) * (1 - mpmath.mpf(1e-8)) <= cost <= allowed - 1


@pytest.mark.parametrize("name", DARRM)
def test_votes_themselves_are_not_hidden(name):
    """Teachers are private, votes get no noise of their own: two histograms can be told apart."""
    mechanism = load_mechanism(name)
    assert not mechanism.guarantee.hides_votes
    rich = mechanism.calibrate(replace(RICH, wanted=replace(RICH.wanted, labels=1)))
    chances = mechanism.law.distribution(np.array([[9, 0], [0, 9]]), rich)
    assert chances.tolist() == [[1, 0], [0, 1]]


def test_a_gamma_that_is_not_private_is_refused():
    """One from a file is certified anew before it releases labels."""
    problem, account = PrivacyProblem(5, 1, 0.1, 0.0, 0.0), load_mechanism("darrm_opt").account
    gamma = optimize_gamma(5, 1, 0.1).gamma
    assert account.certified_gamma(problem, gamma.tolist()).tolist() == gamma.tolist()
    with pytest.raises(ValueError, match="must be private for K = 5, m = 1"):
        account.certified_gamma(problem, [1.0] * 6)


# The sampler --------------------------------------------------------------------------------------


def test_gamma_one_releases_the_majority_and_gamma_zero_a_coin():
    counts = np.arange(12)
    assert (
        release(counts, np.ones(12), SeededNoise(np.random.default_rng(0))) == (counts >= 6)
    ).all()
    assert (label_probability(np.zeros(12)) == 0.5).all()


def test_same_seed_same_labels():
    counts = np.random.default_rng(1).integers(0, 12, (5, 7))
    gamma = gamma_subsampling(11, 3)
    first = release(counts, gamma, SeededNoise(np.random.default_rng(4)))
    assert (first == release(counts, gamma, SeededNoise(np.random.default_rng(4)))).all()
    assert first.shape == counts.shape


@pytest.mark.parametrize("source", [SeededNoise(np.random.default_rng(0)), SecureNoise()])
@pytest.mark.parametrize("count", [-1, 12])
def test_counts_out_of_range_are_refused(count, source):
    with pytest.raises(ValueError, match="counts"):
        release([count], np.ones(12), source)


@pytest.mark.parametrize("name", ["darrm_sub", "darrm_opt"])
def test_a_given_gamma_goes_before_the_law_s_own_and_all_teachers_need_none(name):
    law, parameters = load_mechanism(name).law, NoisyMajority(1.0, 1, 5, 1e-4, 0.3, 0.0)
    assert (law.gamma(parameters) < 1).any()
    halves = np.full(6, 0.5)
    np.testing.assert_array_equal(law.gamma(replace(parameters, gamma=halves)), halves)
    np.testing.assert_array_equal(law.gamma(replace(parameters, m=5)), np.ones(6))


@pytest.mark.parametrize("name", ["darrm_sub", "darrm_opt"])
def test_less_noise_is_a_coin_less_often(name):
    law, parameters = load_mechanism(name).law, NoisyMajority(1.0, 1, 5, 1e-4, 0.3, 0.0)
    twin = law.scale_noise(parameters, 0.5)
    np.testing.assert_allclose(1 - law.gamma(twin), 0.5 * (1 - law.gamma(parameters)))


@pytest.mark.parametrize(("K", "epsilon"), [(3, 0.7), (5, 0.1), (5, 2.3)])
def test_the_closed_form_of_one_teacher_keeps_its_allowance_to_the_last_digit(K, epsilon):
    """Teachers of randomised response attain e^epsilon - 1, which leaves no room for rounding."""
    gamma = load_mechanism("darrm_sub").law.gamma(NoisyMajority(1, 1, K, 0.0, epsilon, 0.0))
    allowed = oracle.allowance(1, epsilon, 0.0)
    assert allowed * (1 - 2.0**-44) <= oracle.worst_cost(gamma, 1, epsilon, 0.0) <= allowed


def test_seeded_labels_keep_the_majority_exactly_where_a_uniform_number_is_below_gamma():
    counts = np.random.default_rng(1).integers(0, 12, 4000)
    gamma, drawn = gamma_subsampling(11, 3), np.random.default_rng(4)
    kept = drawn.random(4000) < gamma[counts]
    expected = np.where(kept, counts >= 6, drawn.integers(0, 2, 4000, dtype=np.uint8))
    found = release(counts, gamma, SeededNoise(np.random.default_rng(4)))
    np.testing.assert_array_equal(found, expected)


# The plurality without noise ----------------------------------------------------------------------


COUNTS = np.array([[3, 1, 1], [2, 2, 1], [1, 2, 2], [0, 5, 0]])
TASK = Task(Ensemble(5, 2, private=Budget(0.7, 1e-3)), Budget(0.7, 1e-3), Wanted(1))
# A bit beyond delta a leak that uses it up, and is rounded up, does not read as infinite.
NEXT = TASK.ensemble.private.delta * (1 + 1e-6)


@pytest.mark.parametrize("source", [SeededNoise(np.random.default_rng(0)), SecureNoise()])
def test_the_plurality_is_certain_and_ties_go_to_the_first_class(source):
    assert LAW.draw(COUNTS, Answers(4), source).tolist() == [0, 0, 1, 1]
    chances = LAW.distribution(COUNTS, Answers(4))
    np.testing.assert_array_equal(chances, np.eye(3)[[0, 0, 1, 1]])


def test_the_audit_finds_the_teacher_s_own_cost_and_confirms_no_claim():
    """Its probabilities are the claim's own corners: they test the sampler alone."""
    audited = LAW.build_audit(TASK, Answers(1))
    assert audited.worst_inputs(NEXT).epsilon == pytest.approx(0.7, rel=1e-6)
    assert audited.assumes_claim


def test_a_twin_s_teacher_costs_twice_as_much():
    twin = LAW.build_audit(TASK, LAW.scale_noise(Answers(1), 0.5))
    assert twin.worst_inputs(NEXT).epsilon == pytest.approx(1.4, rel=1e-6)


# One label within the cost of m teachers ----------------------------------------------------------


@pytest.mark.parametrize("name", ["darrm_opt", "darrm_sub"])
def test_a_label_of_a_budget_is_darrm_s_own(name):
    budget = LabelBudget(5, 3, 0.1, 1e-4, 0.3, 3e-4, 1 - (1 - 1e-4) ** 3)
    task = make_label_task(load_mechanism(name).entry, budget)
    assert (task.budget.epsilon, task.budget.delta) == (0.3, budget.delta_gamma)
    assert (task.protection.privacy_model, task.protection.adjacency) == (
        "shared_data",
        "add_remove",
    )
    assert (task.ensemble.private.epsilon, task.ensemble.private.delta) == (0.1, 1e-4)


def test_a_sigma_from_another_job_is_proven_of_its_coins_too():
    budget = LabelBudget(5, 1, 0.5, 1e-3, 0.5, 1e-3, 1e-3, secure=True)
    exact = load_mechanism("gnmax_exact")
    sigma = exact.calibrate(Task(Ensemble(5, 2), Budget(0.5, 1e-3), Wanted(1), secure=True)).sigma
    assert calibrate_label(exact, budget, {"sigma_exact": sigma}).sigma == sigma
    with pytest.raises(ValueError, match="which the coins of gnmax_exact cost"):
        calibrate_label(exact, budget, {"sigma_exact": 0.9 * sigma})
