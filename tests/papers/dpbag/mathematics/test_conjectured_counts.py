"""Labels that equation 3 would buy: the definition by loops, and the stated costs as a limit."""

import math

import numpy as np
import pytest

from private_ensembles.papers.dpbag.mathematics import conjectured_counts, personalised
from private_ensembles.papers.dpbag.mathematics.budget import label_count
from private_ensembles.papers.dpbag.mathematics.conjectured_counts import first_exceeding
from private_ensembles.papers.dpbag.mathematics.personalised import running_costs

DELTA, ORDERS = 1e-3, 20


def _count_by_definition(votes, cast, k, budgets, noise):
    """Every record's moments, label by label, from the formulas as the supplement prints them."""
    n, records = votes.n_shards, votes.shards.shape[1]
    spent = np.zeros((records, ORDERS))
    found = [0] * len(budgets)
    for x in range(cast.shape[2]):
        gap = abs(2 * int(cast[:k, :, x].sum()) / k - n)
        q = (2 + noise * gap) / (4 * math.exp(noise * gap))
        for u in range(records):
            own = [cast[i, votes.shards[i, u], x] for i in range(k) if votes.shards[i, u] >= 0]
            m = max(own.count(0), own.count(1)) / k
            e = math.exp(2 * noise * m)
            for l in range(1, ORDERS + 1):
                cost = 2 * noise**2 * m**2 * l * (l + 1)
                if q < 1 / (e + 1):
                    bound = math.log((1 - q) * ((1 - q) / (1 - e * q)) ** l + q * e**l)
                    cost = min(cost, bound)
                spent[u, l - 1] += cost
        orders = np.arange(1, ORDERS + 1)
        epsilon = ((spent + math.log(1 / DELTA)) / orders).min(axis=1).max()
        for place, budget in enumerate(budgets):
            if not found[place] and epsilon > budget:
                found[place] = x + 1
    return found


@pytest.mark.parametrize(("k", "n", "records", "noise"), [(5, 4, 23, 0.3), (3, 6, 20, 0.6)])
def test_counts_are_those_of_the_definition(bagged, k, n, records, noise):
    votes, cast = bagged(k, n, records, 70, seed=k)
    sizes, budgets = [2, k], [0.9, 2, 4, 1000]
    found = first_exceeding(votes, sizes, budgets, noise, DELTA, ORDERS)
    for row, size in zip(found, sizes, strict=True):
        assert row.tolist() == _count_by_definition(votes, cast, size, budgets, noise)
    assert (found[:, 1] > 0).all()
    assert (found[:, -1] == 0).all()  # no queries suffice


def test_blocks_change_no_count(bagged, monkeypatch):
    votes, _ = bagged(5, 4, 23, 70, seed=5)
    arguments = [2, 5], [1, 2, 4], 0.3, DELTA, ORDERS
    whole = first_exceeding(votes, *arguments)
    for queries in (1, 7, 70):
        monkeypatch.setattr(personalised, "_QUERIES", queries)
        monkeypatch.setattr(conjectured_counts, "_LABELS", queries)
        np.testing.assert_array_equal(first_exceeding(votes, *arguments), whole)


@pytest.mark.parametrize("order", [1, 4, ORDERS])
def test_the_orders_by_which_records_are_chosen_change_no_count(bagged, monkeypatch, order):
    """By a bad order many records seem to exceed long before one does."""
    votes, _ = bagged(5, 4, 23, 400, seed=5)
    arguments = [2, 5], [1, 2, 4], 0.05, DELTA, ORDERS
    whole = first_exceeding(votes, *arguments)
    begun = conjectured_counts._Account.__init__

    def badly(account, *given):
        begun(account, *given)
        account.near = [range(order, order + 1)] * 3
        account.orders, account.spent = np.array([order]), np.zeros((23, 1))

    monkeypatch.setattr(conjectured_counts._Account, "__init__", badly)
    monkeypatch.setattr(personalised, "_QUERIES", 8)
    np.testing.assert_array_equal(first_exceeding(votes, *arguments), whole)
    assert (whole > 8).all()  # not with the first labels


@pytest.mark.parametrize(("n", "more"), [(4, True), (1, False)])
def test_equation_3_buys_more_labels_but_none_where_its_condition_never_holds(bagged, n, more):
    """One teacher a partition: the lead 2 m - 1 is never above 2 m, as the condition asks."""
    votes, _ = bagged(5, n, 23, 70, seed=5)
    running = running_costs(votes, [5])[0]
    stated = label_count(running, 5, 4, 0.3, DELTA, ORDERS).published
    (found,) = first_exceeding(votes, [5], [4], 0.3, DELTA, ORDERS)
    assert (found[0] > stated) == more
    assert found[0] >= stated


def test_a_budget_that_is_none_is_refused(bagged):
    votes, _ = bagged(3, 4, 20, 5)
    with pytest.raises(ValueError, match="noise = 0: must be a finite number > 0"):
        first_exceeding(votes, [3], [1], 0, DELTA, ORDERS)
