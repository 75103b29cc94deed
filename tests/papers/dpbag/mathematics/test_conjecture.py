"""The supplement's conjecture: its formula, where the exact moments keep to it, what it buys."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from private_ensembles.papers.dpbag.mathematics import (
    conjecture,
    conjectured_counts,
    personalised,
)
from private_ensembles.papers.dpbag.mathematics.budget import label_count
from private_ensembles.papers.dpbag.mathematics.conjecture import (
    charged_moment,
    compare_with_exact_moments,
    conjectured_moment,
    exact_moment,
    is_bound_applicable,
    wrong_probability,
)
from private_ensembles.papers.dpbag.mathematics.conjectured_counts import first_exceeding
from private_ensembles.papers.dpbag.mathematics.label_loss import ones_probability
from private_ensembles.papers.dpbag.mathematics.personalised import running_costs
from private_ensembles.papers.pate.mathematics import lnmax_distribution


def test_the_formula_is_that_of_equations_1_to_3():
    mp.dps = 40
    for noise, m, l, gaps in ((0.3, 0.6, 4, [3.0]), (1.0, 1.0, 8, [4.0, 6.0])):
        q = sum((2 + mpf(noise) * g) / (4 * mp.exp(mpf(noise) * g)) for g in map(mpf, gaps))
        e = mp.exp(2 * mpf(noise) * mpf(m))
        moment = mp.log((1 - q) * ((1 - q) / (1 - e * q)) ** l + q * e**l)
        ours = conjectured_moment(wrong_probability(gaps, noise), noise, m, l)
        assert float(ours) == pytest.approx(float(moment), rel=1e-12)
    assert np.isnan(conjectured_moment(0.5, 1.0, 1.0, 1))
    assert is_bound_applicable(0.1, 0.5, 1.0)
    assert not is_bound_applicable(0.4, 0.5, 1.0)


@pytest.mark.parametrize("l", [1, 4])
def test_the_formula_has_a_value_only_where_its_quotient_is_positive(l):
    """At e^(2 lambda m) = 2: up to q = 1/2, and from there on none, without a word of warning."""
    noise, beyond = math.log(2) / 2, [0.5, math.nextafter(0.5, 1), 0.6, 0.75, 1 - 1e-9]
    assert np.isnan(conjectured_moment(beyond, noise, 1.0, l)).all()
    for q in (1e-9, 0.2, 0.4999, 0.5 * (1 - 2.0**-40)):
        exact = math.log((1 - q) * ((1 - q) / (1 - 2 * q)) ** l + q * 2**l)
        assert float(conjectured_moment(q, noise, 1.0, l)) == pytest.approx(exact, rel=1e-9)
        assert is_bound_applicable(q, noise, 1.0) == (q < 1 / 3)
    assert not is_bound_applicable(0.33334, noise, 1.0)
    assert is_bound_applicable(0.33333, noise, 1.0)


def test_equation_3_is_charged_where_its_condition_holds_and_it_is_smaller():
    q, noise, m, orders = 0.01, 0.5, 0.8, np.array([1, 4, 16])
    stated = 2 * noise**2 * m**2 * orders * (orders + 1)
    trusted = conjectured_moment(q, noise, m, orders)
    charged = charged_moment(q, noise, m, orders)
    np.testing.assert_array_equal(charged, np.minimum(stated, trusted))
    assert (charged[0], charged[-1]) == (trusted[0], trusted[-1])
    np.testing.assert_array_equal(charged_moment(0.32, noise, m, orders), stated)
    assert not is_bound_applicable(0.32, noise, m)
    assert conjectured_moment(0.32, noise, m, 1) < np.inf


def test_q_is_exact_for_two_classes():
    for gap in (0.0, 0.5, 3.0):
        wrong = 1 - ones_probability(gap, 0.7)
        assert float(wrong_probability([gap], 0.7)) == pytest.approx(float(wrong), rel=1e-12)


def test_the_conjecture_holds_forward_and_is_violated_backward():
    rows = compare_with_exact_moments((0.05, 0.5, 1, 2), 10, 4, (1, 2, 8, 32))
    forward = [row for row in rows if row["direction"] == "forward"]
    backward = [row for row in rows if row["direction"] == "backward"]
    assert sum(row["violations"] for row in forward) == 0
    assert sum(row["violations"] for row in backward if row["condition"]) > 0
    assert any(row["undefined"] for row in forward if not row["condition"])
    assert sum(row["cases"] for row in forward) == 16 * 37 * 5 * 5


def test_a_violation_is_one_by_hand():
    """q at the leading data set is too small for its neighbour: PATE's own bound (m = 1), too."""
    noise, l = 1.0, 2
    p, p_without = float(ones_probability(5.0, noise)), float(ones_probability(3.0, noise))
    backward = math.log(p_without**3 / p**2 + (1 - p_without) ** 3 / (1 - p) ** 2)
    bound = float(conjectured_moment(wrong_probability([5.0], noise), noise, 1.0, l))
    assert is_bound_applicable(1 - p, noise, 1.0)
    assert backward == pytest.approx(float(exact_moment(p_without, p, l)), rel=1e-12)
    assert backward > bound + 0.3


def test_replacing_lambda_in_q_as_well_only_weakens_the_conjecture():
    """The supplement's open question: q with lambda m is never smaller than with lambda."""
    for m in (0.5, 0.8, 1.0):
        for gap in (0.5, 2.0, 6.0):
            personal = wrong_probability([gap], 0.7 * m)
            plain = wrong_probability([gap], 0.7)
            assert personal >= plain
            if is_bound_applicable(personal, 0.7, m):
                assert conjectured_moment(personal, 0.7, m, 4) >= conjectured_moment(
                    plain, 0.7, m, 4
                )


def test_m_bounds_nothing_for_ten_classes():
    """Each of u's 10 teachers votes another class, and all vote class 0 without u."""
    noise, l, m = 0.2, 1, 1 / 10
    # Counts in tenths: of ten partitions.
    p = lnmax_distribution([[31] * 10], 10 / noise)[0]
    without = lnmax_distribution([[40] + [30] * 9], 10 / noise)[0]
    moment = math.log((p * (p / without) ** l).sum())
    assert moment > 2 * (2 * noise**2 * m**2 * l * (l + 1))
    # What a count can move by, 1 - min_c n_c(x; u), does bound it.
    assert moment < 2 * noise**2 * (1 - m) ** 2 * l * (l + 1)


# Labels that equation 3 would buy -----------------------------------------------------------------


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


def test_of_two_cases_that_are_equally_bad_the_first_is_named(monkeypatch):
    """Which class is called 1 is no matter, so no last bit must decide which of the two it is."""
    rows = compare_with_exact_moments((0.05, 0.5), 10, 4, (1, 32))

    def rounded_up(p, p_other, l):
        return np.nextafter(exact_moment(p, p_other, l), np.inf)

    def rounded_anyhow(p, p_other, l):
        moments = exact_moment(p, p_other, l)
        return moments * (1 + 4e-16 * np.random.default_rng(0).uniform(-1, 1, moments.shape))

    for rounded in (rounded_up, rounded_anyhow):
        monkeypatch.setattr(conjecture, "exact_moment", rounded)
        others = compare_with_exact_moments((0.05, 0.5), 10, 4, (1, 32))
        for name in ("m", "gap", "gap_without", "violations"):
            np.testing.assert_array_equal(
                [row[name] for row in others], [row[name] for row in rows]
            )
