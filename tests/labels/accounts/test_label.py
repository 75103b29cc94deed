"""Several labels charged for what they release: within the budget, and with no more noise."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.scales import grid_fineness, loses_all
from private_ensembles.accounting.label_composition import total_label_epsilon
from private_ensembles.audit import exact_epsilon, two_class_pairs
from private_ensembles.audit.histograms import both_counts
from private_ensembles.labels.accounts import label as label_account
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.noisy_counts import rho_to_epsilon
from private_ensembles.labels.release_gate import refusal
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

BASE = Task(Ensemble(9, 2), Budget(1.0, 1e-5), Wanted(40, 60))


def parts(mechanism, task, labels, **free):
    """Noise by the proof from which the account starts."""
    return mechanism.account.start.find_noise(mechanism.law, task, labels, **free)


TWO = ["gnmax_exact", "exponential", "permute_and_flip", "ladder"]


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize(
    ("labels", "K"),
    [
        *((2, 8), (7, 1), (40, 81)),
        *(
            pytest.param(labels, K, marks=pytest.mark.slow)
            for labels in (2, 40, 400)
            for K in (1, 8, 81)
        ),
    ],
)
def test_the_cost_lies_between_the_bounds_and_uses_the_budget_up(name, labels, K):
    mechanism = load_mechanism(name)
    task = replace(
        BASE,
        ensemble=replace(BASE.ensemble, teachers=K),
        wanted=replace(BASE.wanted, labels=labels, queries=labels),
    )
    parameters = mechanism.calibrate(task)
    cost = mechanism.cost(task, parameters)
    assert cost.claimed == cost.proven <= task.budget.epsilon
    bounds = adaptive_epsilon(
        mechanism.law.dominating_pairs(task, parameters), labels, task.budget.delta
    )
    assert bounds.lower <= cost.proven <= bounds.upper * (1 + 1e-2)
    assert cost.proven > 0.995 * task.budget.epsilon
    twin = mechanism.law.scale_noise(parameters, 0.5)
    assert mechanism.cost(task, twin).proven > task.budget.epsilon


@pytest.mark.parametrize("name", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize(
    ("labels", "K"),
    [(10, 81), *(pytest.param(*s, marks=pytest.mark.slow) for s in [(2, 9), (40, 81), (400, 401)])],
)
def test_labels_of_many_classes_are_charged_together(name, labels, K):
    """Within the budget, no more noise than by parts, and half of it is caught."""
    mechanism = load_mechanism(name)
    task = replace(
        BASE,
        ensemble=replace(BASE.ensemble, teachers=K, classes=10),
        wanted=replace(BASE.wanted, labels=labels, queries=labels),
    )
    start, parameters = (
        parts(mechanism, task, labels),
        mechanism.calibrate(task),
    )
    counts = np.array([[K // 2, 0, K - K // 2 - 3, *[0] * 6, 3]])
    laws = [mechanism.law.distribution(counts, noise)[0] for noise in (start, parameters)]
    assert laws[1].max() >= laws[0].max() * (1 - 1e-12)
    if labels > 2 and name != "permute_and_flip":
        assert laws[1].max() > 1.005 * laws[0].max()
    cost = mechanism.cost(task, parameters)
    assert 0.995 * task.budget.epsilon < cost.proven <= task.budget.epsilon
    twin = mechanism.law.scale_noise(parameters, 0.5)
    assert mechanism.cost(task, twin).proven > task.budget.epsilon
    if labels > 2:  # More classes cost little more than two.
        two = mechanism.calibrate(replace(task, ensemble=replace(task.ensemble, classes=2)))
        assert (
            mechanism.cost(task, mechanism.law.scale_noise(two, 1.02)).proven <= task.budget.epsilon
        )


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize(("labels", "epsilon"), [(1, 1.0), (7, 0.05), (40, 1.0)])
def test_noise_is_never_more_than_by_parts(name, labels, epsilon):
    mechanism, task = (
        load_mechanism(name),
        replace(
            BASE,
            budget=replace(BASE.budget, epsilon=epsilon),
            wanted=replace(BASE.wanted, labels=labels),
        ),
    )
    start = parts(mechanism, task, labels)
    noise = mechanism.calibrate(task)
    assert mechanism.law.scale_noise(noise, 1.0).labels == labels
    tables = [
        mechanism.law.distribution(both_counts(9), parameters).min(axis=1)
        for parameters in (noise, start)
    ]
    assert (tables[0] <= tables[1] * (1 + 1e-12)).all()  # the likelier label is flipped less


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_gnmax_of_many_classes_and_of_ties_keeps_its_budget(n_classes):
    exact, analytic = load_mechanism("gnmax_exact"), load_mechanism("gnmax_analytic")
    task = replace(BASE, ensemble=replace(BASE.ensemble, teachers=30, classes=n_classes))
    parameters = exact.calibrate(task)
    assert parameters.sigma < 0.84 * analytic.calibrate(task).sigma
    assert 0.99 * task.budget.epsilon < exact.cost(task, parameters).proven <= task.budget.epsilon
    assert parameters.continuous == (n_classes > 2)  # of two, coins of the table are as private
    assert exact.cost(task, exact.law.scale_noise(parameters, 0.5)).proven > task.budget.epsilon


@pytest.mark.parametrize("name", ["gnmax_exact", "exponential"])
@pytest.mark.parametrize("factor", [1.08, 4.0])
def test_more_noise_than_the_budget_needs_costs_what_it_costs(name, factor):
    """Near the budget, and so far below that bounds near it say nothing."""
    mechanism, task = (
        load_mechanism(name),
        replace(BASE, ensemble=replace(BASE.ensemble, classes=10)),
    )
    parameters = mechanism.law.scale_noise(mechanism.calibrate(task), factor)
    family = mechanism.law.dominating_pairs(task, parameters)
    bounds = adaptive_epsilon(family, 40, task.budget.delta, fineness=grid_fineness(10, 40))
    cost = mechanism.cost(task, parameters).proven
    assert bounds.lower <= cost <= task.budget.epsilon
    # The grid of the one suits the budget, that of the other what is spent.
    assert cost == pytest.approx(bounds.upper, rel=1e-2)


def test_a_calibration_is_done_once(monkeypatch):
    exact, task = (
        load_mechanism("gnmax_exact"),
        replace(BASE, budget=replace(BASE.budget, epsilon=1.234)),
    )
    parameters = exact.calibrate(task)
    monkeypatch.setattr(label_account, "least_scale_of_curves", None)
    assert exact.calibrate(task) == parameters
    # A guess of fewer labels needs no calibration of its own, and lands nearby.
    guessed = exact.guess_parameters(task, cap=0.5)
    monkeypatch.undo()
    assert guessed.labels == 20
    assert guessed.sigma == pytest.approx(exact.calibrate(task, cap=0.5).sigma, rel=0.03)


def test_where_the_account_finds_nothing_the_parts_remain_but_not_for_coins(monkeypatch):
    def nothing(*arguments, **options):
        raise ValueError("no scale")

    monkeypatch.setattr(label_account, "least_scale_of_curves", nothing)
    task = replace(BASE, budget=replace(BASE.budget, epsilon=1.2345))
    for name in ("gnmax_exact", "exponential"):
        mechanism = load_mechanism(name)
        parameters = mechanism.calibrate(task)
        assert parameters == replace(parts(mechanism, task, 40), continuous=True)
        assert mechanism.guess_parameters(task) == parts(mechanism, task, 40)
        assert "continuous noise" in refusal(mechanism, parameters, 2, secure=True)
        with pytest.raises(ValueError, match=f"noise = secure: no noise of {name} is proven"):
            mechanism.calibrate(replace(task, secure=True))
    ladder = load_mechanism("ladder")  # its steps hold for the floats that are drawn
    assert ladder.calibrate(replace(task, secure=True)) == parts(ladder, task, 40)


@pytest.mark.parametrize("name", ["exponential", "permute_and_flip"])
def test_an_audited_label_costs_its_budget_at_its_own_delta_and_no_less_below(name):
    """At less delta only the rate is known of it: twice that, and the label's exact epsilon."""
    mechanism, budget = load_mechanism(name), Budget(1.0, 1e-3)
    task = Task(Ensemble(11, 2), budget, Wanted(1))
    noise = mechanism.calibrate(task)
    assert noise.leak == budget.delta
    more, less = (replace(task, budget=Budget(1.0, delta)) for delta in (2e-3, 5e-4))
    assert mechanism.cost(task, noise).proven == mechanism.cost(more, noise).proven == 1.0
    table = mechanism.law.distribution(both_counts(11), noise)
    exact = exact_epsilon(table, two_class_pairs(11), 5e-4)
    assert 1.0 < exact <= mechanism.cost(less, noise).proven <= 2 * noise.rate * (1 + 1e-9)


def test_the_leaks_of_all_labels_are_part_of_their_cost():
    ladder = load_mechanism("ladder")
    half = ladder.calibrate(BASE, leak=0.5)
    assert 40 * half.label_delta == pytest.approx(0.5 * BASE.budget.delta, rel=1e-6)
    assert half.label_epsilon > parts(ladder, BASE, 40, leak=0.5).label_epsilon
    # With all of delta leaked composition alone knows a finite epsilon.
    assert ladder.cost(BASE, ladder.calibrate(BASE, leak=1.0)).proven <= BASE.budget.epsilon


def test_noise_costs_no_more_than_what_it_was_calibrated_for():
    """Where delta is half, the second grid found more than the first had proven."""
    task = Task(Ensemble(9, 3), Budget(0.001, 0.5), Wanted(2))
    mechanism = load_mechanism("gnmax_exact")
    cost = mechanism.cost(task, mechanism.calibrate(task))
    assert cost.proven <= 0.001
    assert cost.claimed <= 0.001


@pytest.mark.parametrize("n_classes", [2, 10])
def test_where_rounding_takes_all_of_delta_the_account_says_so_before_any_work(
    n_classes, monkeypatch
):
    """At (4, 1e-13) 1,000 labels gained nothing over their noisy counts, after minutes."""
    task = Task(Ensemble(250, n_classes), Budget(4.0, 1e-13), Wanted(1000))
    monkeypatch.setattr(label_account, "least_noise_share", lambda *_: pytest.fail("searched"))
    for name in ("gnmax_exact", "confident_gnmax_exact"):
        reason = load_mechanism(name).refusal(task)
        assert "its account of 1,000 labels proves nothing for a delta of" in reason
    for name in ("gnmax_analytic", "exponential", "permute_and_flip"):
        assert load_mechanism(name).refusal(task) is None


@pytest.mark.parametrize(
    ("name", "n_classes", "each"), [("gnmax_exact", 10, 3e-16), ("exponential", 2, 1.15e-16)]
)
def test_a_little_above_that_no_search_is_made_in_vain(name, n_classes, each, monkeypatch):
    """The grid's own rounding decides: where it takes delta, other proofs serve at once."""
    mechanism, labels = load_mechanism(name), 10
    task = Task(Ensemble(250, n_classes), Budget(4.0, labels * each), Wanted(labels))
    start = parts(mechanism, task, labels)
    family = mechanism.law.dominating_pairs(task, start)
    assert loses_all(family, labels, task.budget.epsilon, task.budget.delta, n_classes)
    monkeypatch.setattr(label_account, "least_scale_of_curves", lambda *_: pytest.fail("searched"))
    label_account.least_noise_share.cache_clear()
    parameters = mechanism.calibrate(task)
    assert replace(parameters, continuous=False) == replace(start, continuous=False)
    assert (
        mechanism.account.start.cost(mechanism.law, task, parameters).proven <= task.budget.epsilon
    )


@pytest.mark.parametrize("name", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize("labels", [2, 40])
def test_labels_of_more_classes_cost_no_more_than_they_compose_to(name, labels):
    mechanism, task = (
        load_mechanism(name),
        Task(Ensemble(9, 3), Budget(1.0, 1e-5), Wanted(labels, 60)),
    )
    parameters = mechanism.calibrate(task)
    claimed = mechanism.cost(task, parameters).claimed
    assert claimed <= total_label_epsilon(parameters.label_epsilon, labels, task.budget.delta)
    assert 0.999 * task.budget.epsilon < claimed <= task.budget.epsilon


def test_very_many_labels_of_two_classes_compose_as_well():
    mechanism, task = (
        load_mechanism("exponential"),
        Task(Ensemble(9, 2), Budget(1.0, 1e-5), Wanted(20_000)),
    )
    assert mechanism.refusal(task) is None
    assert mechanism.calibrate(task) == parts(mechanism, task, 20_000)
    assert "has no sampler" in mechanism.refusal(replace(task, secure=True))


@pytest.mark.parametrize("labels", [400, 5000])
def test_many_labels_of_the_exponential_mechanism_compose_by_their_bounded_range(labels):
    """epsilon^2 / 8 of rho each (Dong, Durfee and Rogers 2020), in both directions."""
    task = Task(Ensemble(50, 3), Budget(1.0, 1e-5), Wanted(labels))
    mechanism = load_mechanism("exponential")
    parameters = parts(mechanism, task, labels)
    rho = Fraction(labels) * Fraction(parameters.label_epsilon) ** 2 / 8
    spent = mechanism.account.start.cost(mechanism.law, task, parameters).proven
    assert spent == pytest.approx(rho_to_epsilon(float(rho), 1e-5, "improved"), rel=1e-9)
    assert 0.9999 < spent <= 1.0


def test_exact_sigma_of_many_classes_is_the_same_with_secure_noise():
    """The label of continuous noise is drawn exactly, whoever draws it."""
    exact, task = (
        load_mechanism("gnmax_exact"),
        Task(Ensemble(50, 10), Budget(2.0, 1e-5), Wanted(100)),
    )
    secure = replace(task, secure=True)
    assert exact.refusal(secure) is None
    parameters = exact.calibrate(secure)
    assert parameters.sigma == exact.calibrate(task).sigma
    cost = exact.cost(secure, parameters)
    assert 0.99 * task.budget.epsilon < cost.proven == cost.claimed <= task.budget.epsilon
    twin = exact.law.scale_noise(parameters, 0.5)
    assert exact.cost(secure, twin).proven > 2 * task.budget.epsilon


def test_one_secure_label_of_two_classes_costs_what_its_audit_says():
    exact, task = (
        load_mechanism("gnmax_exact"),
        Task(Ensemble(11, 2), Budget(2.0, 1e-5), Wanted(1), secure=True),
    )
    parameters = exact.calibrate(task)
    for secure in (True, False):
        assert exact.cost(replace(task, secure=secure), parameters).proven == task.budget.epsilon


@pytest.mark.parametrize("name", ["ladder", "exponential", "permute_and_flip"])
def test_a_label_found_for_one_delta_is_not_claimed_to_cost_the_same_at_a_smaller_one(name):
    """The start of the account alone, beside the exact audit of the label."""
    mechanism = load_mechanism(name)
    task = replace(
        BASE,
        ensemble=replace(BASE.ensemble, teachers=7, classes=2),
        budget=replace(BASE.budget, delta=1e-4),
        wanted=replace(BASE.wanted, labels=1, queries=1),
    )
    found = mechanism.calibrate(task)
    for delta in (1e-9, 1e-5, 1e-4, 1e-3):
        exact = mechanism.law.build_audit(task, found).worst_inputs(delta).epsilon
        start = mechanism.account.start.cost(
            mechanism.law, replace(task, budget=replace(task.budget, delta=delta)), found
        )
        assert start.proven >= exact * (1 - 1e-9)
