"""Label counts: the papers' rule, what may be released, and their order."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from private_ensembles.papers.dpbag.mathematics.budget import (
    data_independent_count,
    label_count,
    moments_epsilon,
)
from private_ensembles.papers.dpbag.mathematics.personalised import running_costs


def _epsilon_by_loop(total, noise, delta, order_max):
    """The definition with 50 digits: min over l of (2 lambda^2 l (l + 1) S + ln(1 / delta)) / l."""
    mp.dps = 50
    return min(
        (2 * mpf(noise) ** 2 * l * (l + 1) * mpf(total) + mp.log(1 / mpf(delta))) / l
        for l in range(1, order_max + 1)
    )


@pytest.mark.parametrize("noise", [0.008, 0.02, 0.4])
@pytest.mark.parametrize("delta", [1e-3, 1e-5])
def test_counts_are_the_last_within_and_the_first_beyond_the_budget(noise, delta):
    for budget in (1, 3, 5):
        count = data_independent_count(budget, noise, delta, 80)
        if count.releasable:
            assert _epsilon_by_loop(count.releasable, noise, delta, 80) <= budget
        assert _epsilon_by_loop(count.published, noise, delta, 80) > budget
        assert count.published == count.releasable + 1


def test_personal_counts_are_those_of_the_moments_of_each_record(bagged):
    votes, cast = bagged(5, 4, 23, 60, seed=4)
    noise, delta, k = 0.2, 1e-3, 5
    running = running_costs(votes, [k])[0]
    # Directly: every record's moments of every order, label by label.
    alpha = np.zeros((20, 23))
    orders = np.arange(1, 21)
    spent = []
    for x in range(60):
        ones = np.zeros(23)
        present = (votes.shards >= 0).sum(axis=0)
        for i in range(k):
            held = votes.shards[i] >= 0
            ones[held] += cast[i, votes.shards[i][held], x]
        m = np.maximum(ones, present - ones) / k
        alpha += 2 * noise**2 * m**2 * (orders * (orders + 1))[:, None]
        spent.append(((alpha.max(axis=1) + math.log(1 / delta)) / orders).min())
    spent = np.array(spent)
    ours = moments_epsilon(running / k**2, noise, delta, 20)[0]
    np.testing.assert_allclose(ours, spent, rtol=1e-12)
    for budget in (2, 5, 8):
        count = label_count(running, k, budget, noise, delta, 20)
        assert count.releasable == int((spent <= budget).sum())
        assert count.releasable >= data_independent_count(budget, noise, delta, 20).releasable


def test_queries_that_end_before_the_budget_have_no_first_beyond_it():
    count = label_count(np.arange(1, 6), 1, 100, 0.01, 1e-5, 80)
    assert (count.releasable, count.published) == (5, None)
    assert label_count([9, 18], 3, 0.1, 5, 1e-5, 80).releasable == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0, 1e-5, 80), "noise = 0: must be a finite number > 0"),
        ((1, 0.1, 0, 80), r"delta = 0: must be in \(0, 1\)"),
        ((1, 0.1, 1, 80), r"delta = 1: must be in \(0, 1\)"),
        ((1, 0.1, 1e-5, 0), "order_max = 0: must be an integer >= 1"),
        ((1, 0.1, 1e-5, 1.5), "order_max = 1.5: must be an integer >= 1"),
        ((-1, 0.1, 1e-5, 80), "budget = -1: must be a finite number > 0"),
    ],
)
def test_bad_budgets_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        data_independent_count(*arguments)


def test_a_list_that_decreases_is_refused():
    with pytest.raises(ValueError, match="running: must be one list that never decreases"):
        label_count([2, 1], 1, 1, 0.1, 1e-5, 80)
    with pytest.raises(ValueError, match="total: must be at least 0"):
        moments_epsilon(-1, 0.1, 1e-5, 80)
    assert Fraction(label_count([4, 8], 2, 5, 0.1, 1e-3, 80).releasable) == 2
