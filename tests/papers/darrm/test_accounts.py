"""DaRRM's mechanisms: one label, private for all teachers that are; or all teachers published."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.budgets import disjoint_shards_majority_cost
from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.audit.shared_data import worst_teachers
from private_ensembles.base.noise_sources import SeededNoise
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
from private_ensembles.papers.darrm.law import NoisyMajority
from private_ensembles.papers.darrm.mathematics.gamma import label_probability
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem

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
