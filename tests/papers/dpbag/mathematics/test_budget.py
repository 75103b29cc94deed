"""Personal costs by the definition, and label counts: the rule, and what may be released."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from private_ensembles.papers.dpbag.mathematics import personalised
from private_ensembles.papers.dpbag.mathematics.budget import (
    data_independent_count,
    label_count,
    moments_epsilon,
)
from private_ensembles.papers.dpbag.mathematics.personalised import running_costs
from private_ensembles.papers.dpbag.votes import BaggedVotes


def _epsilon_by_loop(total, noise, delta, order_max):
    """The definition with 50 digits: min over l of (2 lambda^2 l (l + 1) S + ln(1 / delta)) / l."""
    mp.dps = 50
    return min(
        (2 * mpf(noise) ** 2 * l * (l + 1) * mpf(total) + mp.log(1 / mpf(delta))) / l
        for l in range(1, order_max + 1)
    )


@pytest.mark.parametrize("order_max", [1, 3, 80])
@pytest.mark.parametrize("noise", [0.008, 0.02, 0.4])
@pytest.mark.parametrize("delta", [1e-3, 1e-5])
def test_counts_are_the_last_within_and_the_first_beyond_the_budget(noise, delta, order_max):
    for budget in (1, 3, 5, 40):
        count = data_independent_count(budget, noise, delta, order_max)
        if count.releasable:
            assert _epsilon_by_loop(count.releasable, noise, delta, order_max) <= budget
        assert _epsilon_by_loop(count.published, noise, delta, order_max) > budget
        assert count.published == count.releasable + 1
        assert {type(number) for number in (count.releasable, count.published)} == {int}
    for total in (0, 1, 400):
        epsilon, order = moments_epsilon(total, noise, delta, order_max)
        exact = _epsilon_by_loop(total, noise, delta, order_max)
        assert exact <= float(epsilon) <= exact * (1 + mpf(10) ** -13)
        assert order == order_max or total > 0


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


# Personal costs -----------------------------------------------------------------------------------


def _account_by_definition(votes, shards, k):
    """max over records of sum m(x; u)^2 over the queries so far, as fractions, by loops."""
    records, queries = shards.shape[1], votes.shape[2]
    spent = [Fraction(0)] * records
    largest = []
    for x in range(queries):
        for u in range(records):
            own = [votes[i, shards[i, u], x] for i in range(k) if shards[i, u] >= 0]
            m = max(Fraction(own.count(c), k) for c in (0, 1))
            spent[u] += m * m
        largest.append(max(spent))
    return largest


@pytest.mark.parametrize(("k", "n", "records"), [(5, 4, 23), (7, 3, 20), (1, 5, 11)])
def test_costs_are_those_of_the_definition(bagged, k, n, records):
    votes, cast = bagged(k, n, records, 17)
    sizes = sorted({1, (k + 1) // 2, k})
    found = running_costs(votes, sizes)
    for place, size in enumerate(sizes):
        expected = _account_by_definition(cast, votes.shards, size)
        assert [Fraction(int(value), size**2) for value in found[place]] == expected


def test_blocks_and_left_out_records_change_no_integer(bagged, monkeypatch):
    votes, cast = bagged(6, 5, 43, 40, seed=1)
    whole = running_costs(votes, [2, 6])
    for queries in (1, 7, 16):
        monkeypatch.setattr(personalised, "_QUERIES", queries)
        np.testing.assert_array_equal(running_costs(votes, [2, 6]), whole)
    assert (votes.shards < 0).any()
    assert whole[1].tolist() == [int(36 * v) for v in _account_by_definition(cast, votes.shards, 6)]


def test_more_partitions_than_a_byte_counts(bagged):
    votes, cast = bagged(300, 2, 5, 3, seed=2)
    found = running_costs(votes, [300])[0]
    assert found.tolist() == [300**2 * v for v in _account_by_definition(cast, votes.shards, 300)]


def test_the_maximum_is_that_of_all_records_though_few_are_followed(bagged):
    votes, cast = bagged(6, 5, 43, 900, seed=4)
    own = np.take_along_axis(cast, votes.shards[:, :, None] % 5, axis=1)
    own *= (votes.shards >= 0)[:, :, None]
    ones, present = own.sum(axis=0, dtype=int), (votes.shards >= 0).sum(axis=0)[:, None]
    expected = (np.maximum(ones, present - ones) ** 2).cumsum(axis=1)
    np.testing.assert_array_equal(running_costs(votes, [6])[0], expected.max(axis=0))
    assert len(set(expected.argmax(axis=0))) > 1  # the maximum changes hands


@pytest.mark.parametrize("k", [15, 16, 31])
def test_more_teachers_than_half_a_byte_counts(bagged, k):
    votes, _ = bagged(k, 1, 3, 9)
    whole = np.full_like(votes.bits, 255)  # all vote 1
    votes = BaggedVotes(whole, votes.shards, 9)
    assert running_costs(votes, [7, k])[1].tolist() == [k**2 * x for x in range(1, 10)]


def test_one_partition_costs_one_a_label_and_no_size_costs_more(bagged):
    votes, _ = bagged(8, 4, 40, 60, seed=3)
    sizes = [1, 3, 8]
    found = running_costs(votes, sizes)
    labels = np.arange(1, 61)
    np.testing.assert_array_equal(found[0], labels)
    for size, row in zip(sizes, found, strict=True):
        assert (row <= labels * size**2).all()
        assert (4 * row >= labels * size**2).all()  # m is at least 1/2 for two classes


@pytest.mark.parametrize("sizes", [[], [0, 2], [3, 2], [2, 2], [1, 1, 2], [4]])
def test_sizes_out_of_range_are_refused(bagged, sizes):
    votes, _ = bagged(3, 4, 40, 6)
    with pytest.raises(ValueError, match=r"sizes = .*: must be increasing, from 1 to the 3"):
        running_costs(votes, sizes)
