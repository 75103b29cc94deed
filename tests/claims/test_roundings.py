"""Costs and noise are rounded against the one who claims them: beside exact fractions."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from private_ensembles.base.rounding import normal_error
from private_ensembles.labels.accounts import gaussian_counts, groups, label, thresholds
from private_ensembles.labels.laws import exponential, gumbel, laplace
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.laws.selection import SelectionRate
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import Budget, Ensemble, Protection, Task, Wanted
from private_ensembles.papers.darrm.law import NoisyMajority
from private_ensembles.papers.dpbag.law import Bagging, BaggingNoise

LITTLE = Fraction(1, 10**11)
TASK = Task(Ensemble(9, 4), Budget(1.0, 1e-5), Wanted(40, 60))


def drawn(*ranges):
    return np.random.default_rng(3).uniform(*np.transpose(ranges), (100, len(ranges))).tolist()


def close_above(value, exact):
    """At least the exact number, and next to it."""
    return exact <= Fraction(value) <= exact * (1 + LITTLE)


def test_a_label_of_darrm_costs_m_times_a_teacher_s_epsilon():
    for m, epsilon in drawn((1, 9), (0.01, 2)):
        exact = Fraction(m) * Fraction(epsilon)
        optimised = NoisyMajority(m, 1, 9, 1e-4, epsilon, 1e-5)
        certified = replace(optimised, gamma=np.ones(10))
        assert close_above(load_mechanism("darrm_opt").account.label_cost(optimised), exact)
        assert close_above(load_mechanism("darrm_sub").account.label_cost(certified), exact)


@pytest.fixture
def asked(monkeypatch):
    """The rho of every question what it costs."""
    asked = []

    def rho_cost(rho, delta, analysis):
        asked.append(rho)
        return 1.0

    for module in (gaussian_counts, thresholds, label):
        monkeypatch.setattr(module, "rho_to_epsilon", rho_cost)
    return asked


def test_checked_noise_is_charged_at_least_its_rho(asked):
    for sigma1, sigma2 in drawn((1, 90), (1, 50)):
        load_mechanism("confident_gnmax").cost(TASK, CheckedNoise(5.0, sigma1, sigma2, 60, 40))
        exact = 60 / (2 * Fraction(sigma1) ** 2) + 40 / Fraction(sigma2) ** 2
        assert close_above(asked[-1], exact)


def test_gaussian_noise_is_charged_at_least_its_rho(asked):
    for (sigma,) in drawn((1, 90)):
        load_mechanism("gnmax").cost(TASK, GaussianNoise(sigma, 40))
        assert close_above(asked[-1], 40 / Fraction(sigma) ** 2)


def test_noise_for_a_rho_is_at_least_what_it_takes(monkeypatch):
    for rho, share in drawn((0.001, 2), (0.1, 0.9)):
        for module in (gaussian_counts, thresholds):
            monkeypatch.setattr(module, "largest_rho", lambda *_, rho=rho: rho)
        paper, exact, confident = map(load_mechanism, ("gnmax", "gnmax_exact", "confident_gnmax"))
        for noise in (
            paper.account.find_noise(paper.law, TASK, 40),
            exact.account.start.find_noise(exact.law, TASK, 40),
        ):
            assert close_above(Fraction(noise.sigma) ** 2, 40 / Fraction(rho))
        both = confident.account.find_noise(confident.law, TASK, 40, share=share, threshold=0.5)
        of_labels = (1 - Fraction(share)) * Fraction(rho)
        assert close_above(Fraction(both.sigma1) ** 2, 60 / (2 * Fraction(share) * Fraction(rho)))
        assert close_above(Fraction(both.sigma2) ** 2, 40 / of_labels)


def lattice(sigma):
    """N_Z(0, sigma^2) to thirty digits."""
    weights = {x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * sigma**2)) for x in range(-40, 41)}
    total = mpmath.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


@pytest.mark.parametrize("name", ["confident_gnmax", "interactive_gnmax"])
def test_secure_labels_behind_a_threshold_err_by_no_more_than_is_said(name):
    """Two classes: the threshold's tail, and half of a tie."""
    mechanism, noise = load_mechanism(name), CheckedNoise(2.0, 1.5, 1.25)
    if name == "interactive_gnmax":
        noise = replace(noise, score=0.25)
    histograms = np.array([[3, 0], [2, 1], [1, 2], [0, 3]])
    chances = mechanism.law.outcome_distribution(histograms, noise, secure=True)
    said = mechanism.law.numerical_error(3, 2, noise, secure=True)
    assert said["relative_error"] < 1e-11
    leads = mechanism.law.consensus(histograms, noise, secure=True)
    with mpmath.workdps(30):
        first, second = lattice(mpmath.mpf(1.5)), lattice(mpmath.mpf(1.25))
        for row, (a, b), lead in zip(chances.tolist(), histograms.tolist(), leads, strict=True):
            passes = mpmath.fsum(p for x, p in first.items() if int(lead) + x >= 2)
            ones = mpmath.fsum(
                p * q * (1 if b + y > a + x else mpmath.mpf(1) / 2)
                for x, p in second.items()
                for y, q in second.items()
                if b + y >= a + x
            )
            for value, exact in zip(
                row, (1 - passes, passes * (1 - ones), passes * ones), strict=True
            ):
                allowed = said["relative_error"] * exact + said["absolute_error"]
                assert abs(value - exact) <= allowed


def group_delta(one, reach):
    """Delta of so many votes by group privacy from the budget of one, to forty digits."""
    epsilon = mpmath.mpf(one.epsilon)
    return mpmath.mpf(one.delta) * mpmath.expm1(reach * epsilon) / mpmath.expm1(epsilon)


@pytest.mark.parametrize("reach", [2, 3, 7])
def test_the_share_of_one_vote_keeps_the_budget_of_all_that_move(reach):
    for epsilon, digits in drawn((0.01, 20), (2, 12)):
        budget = Budget(epsilon, 10**-digits)
        task = Task(Ensemble(9, 4), budget, Wanted(1), protection=Protection.disjoint(reach=reach))
        one = groups.divide_budget(task).budget
        assert close_above(epsilon, reach * Fraction(one.epsilon))
        with mpmath.workdps(40):
            assert budget.delta * (1 - 1e-9) < group_delta(one, reach) <= budget.delta


@pytest.mark.parametrize("reach", [2, 3, 7])
@pytest.mark.parametrize("times", [0.5, 1.0, 1.7])
def test_what_all_votes_cost_is_no_less_than_group_privacy_says(reach, times):
    """Of one vote that costs so many times its share, at the delta for which this was asked."""
    for epsilon, digits in drawn((0.01, 5), (2, 12)):
        budget, asked = Budget(epsilon, 10**-digits), []
        task = Task(Ensemble(9, 4), budget, Wanted(1), protection=Protection.disjoint(reach=reach))
        of_one = times * groups.divide_budget(task).budget.epsilon
        found = groups.group_cost(lambda one: asked.append(one.budget) or of_one, task)  # noqa: B023
        assert close_above(found, reach * Fraction(of_one))
        assert of_one <= asked[-1].epsilon
        with mpmath.workdps(40):
            assert group_delta(asked[-1], reach) <= budget.delta


def test_noise_behind_a_threshold_is_charged_the_square_of_the_votes_that_move(asked):
    task = replace(TASK, protection=Protection.disjoint(reach=3))
    for sigma1, sigma2 in drawn((1, 90), (1, 50)):
        load_mechanism("confident_gnmax").cost(task, CheckedNoise(5.0, sigma1, sigma2, 60, 40))
        exact = 60 / (2 * Fraction(sigma1) ** 2) + 40 / Fraction(sigma2) ** 2
        assert close_above(asked[-1], 9 * exact)


def test_labels_of_bounded_range_are_charged_at_least_their_rho(asked):
    mechanism = load_mechanism("exponential")
    for (epsilon,) in drawn((0.01, 2)):
        mechanism.account.start.cost(mechanism.law, TASK, SelectionRate(epsilon, 40))
        assert close_above(asked[-1], 40 * Fraction(epsilon) ** 2 / 8)


@pytest.mark.parametrize("reach", [1, 3])
def test_the_largest_loss_of_a_label_is_never_rounded_down(monkeypatch, reach):
    """In many classes, for each law of noise whose largest loss is all that is known of it."""
    task = replace(TASK, protection=Protection.disjoint(reach=reach))
    monkeypatch.setattr(laplace, "pure_pair", lambda loss: loss)
    for (scale,) in drawn((0.1, 90)):
        noise = laplace.LAW.noise_at_scale(scale)
        assert close_above(noise.label_epsilon, 2 / Fraction(scale))
        less = laplace.LAW.scale_noise(noise, 0.7)
        assert close_above(less.label_epsilon, 2 / Fraction(less.scale))
        loss = laplace.LAW.dominating_pairs(task, noise)
        assert close_above(loss, 2 * reach / Fraction(scale))
        for law in (exponential.LAW, gumbel.LAW):
            chosen = SelectionRate(2 / scale, 40)
            loss = replace(law, pairs_for_loss=lambda loss: loss).dominating_pairs(task, chosen)
            rate = Fraction(law.rate(TASK.ensemble.classes, chosen))
            assert close_above(loss, 2 * reach * rate)


@pytest.mark.parametrize("n_classes", [3, 4, 50])
@pytest.mark.parametrize(
    ("name", "noise"),
    [("gnmax_exact", GaussianNoise(4.0)), ("confident_gnmax", CheckedNoise(5.0, 3.0, 2.0))],
)
def test_what_many_classes_err_by_is_quadrature_s_share_and_that_of_normal_tails(
    name, noise, n_classes
):
    said = load_mechanism(name).law.numerical_error(9, n_classes, noise)["relative_error"]
    assert 1e-10 + normal_error(40) <= said <= 1e-8


@pytest.mark.parametrize("n_classes", [3, 4, 50])
def test_a_label_of_laplace_noise_errs_by_its_quadrature_in_more_than_two_classes(n_classes):
    said = laplace.LAW.numerical_error(9, n_classes, laplace.LAW.noise_at_scale(4.0))
    assert said == {"relative_error": 0.0, "absolute_error": 1e-12}  # `lnmax_distribution`'s


@pytest.mark.parametrize(
    ("name", "noise", "furthest"),
    [
        ("gnmax_exact", GaussianNoise(4.0), 9 / (4 * 2**0.5)),
        ("confident_gnmax", CheckedNoise(5.0, 1.5, 4.0), (9 + 5) / 1.5),
        ("confident_gnmax", CheckedNoise(5.0, 30.0, 0.5), 9 / (0.5 * 2**0.5)),
    ],
)
def test_what_two_classes_err_by_covers_the_tails_of_a_twin_with_half_the_noise(
    name, noise, furthest
):
    """Nine teachers: the largest lead, or the largest distance from the threshold, in sigma."""
    said = load_mechanism(name).law.numerical_error(9, 2, noise)["relative_error"]
    assert normal_error(2 * furthest) * (1 - 1e-12) <= said <= normal_error(2 * furthest) * 1.01


@pytest.mark.parametrize(("n_shards", "k", "rate"), [(9, 1, 0.3), (250, 5, 0.4), (250, 3, 2.5)])
def test_a_label_of_bagged_teachers_errs_by_no_more_than_is_said(n_shards, k, rate):
    """At its rate and at twice as much, the twin's; (2 + y) / (4 e^y) to thirty digits."""
    law, counts = Bagging(), np.array([[k * n_shards - ones, ones] for ones in range(k * n_shards)])
    said = law.numerical_error(k * n_shards, 2, BaggingNoise(n_shards, k, rate))
    with mpmath.workdps(30):
        for times in (1, 2):
            found = law.probabilities(counts, BaggingNoise(n_shards, k, times * rate))
            for ones in range(k * n_shards):
                y = abs(mpmath.mpf(2 * ones) / k - n_shards) * times * mpmath.mpf(rate)
                exact = (2 + y) / (4 * mpmath.exp(y))
                off = abs(mpmath.mpf(float(found[ones].min())) - exact)
                assert off <= said["relative_error"] * exact + said["absolute_error"]
    assert said["relative_error"] < 1e-11
