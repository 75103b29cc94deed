"""Families of very many teachers, shortened: they lie above every pair of the whole one."""

import math
import tracemalloc

import numpy as np
import pytest
from scipy.special import ndtr

from private_ensembles.accounting.adaptive_composition import dominating_pairs, hockey_sticks
from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    NeighbourPairs,
    dominating_pairs_from_table,
)
from private_ensembles.base.laplace_tail import difference_tail


def _normal_table(teachers, scale):
    margins = (2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))
    return np.stack([ndtr(-margins), ndtr(margins)], axis=1)


def _laplace_table(teachers, scale):
    leads = 2.0 * np.arange(teachers + 1) - teachers
    trailing = difference_tail(np.abs(leads) / scale)
    ones = np.where(leads >= 0, 1 - trailing, trailing)
    return np.stack([np.where(leads >= 0, trailing, 1 - trailing), ones], axis=1)


@pytest.mark.keeps(
    "accounting.adaptive_composition.dominating_pairs:MergedPairs.hockey_stick_divergences",
)
@pytest.mark.parametrize("table_of", [_normal_table, _laplace_table])
@pytest.mark.parametrize(("teachers", "scale"), [(151, 3.0), (150, 8.0), (151, 60.0)])
def test_a_shortened_table_lies_above_every_pair_of_the_whole_one(
    monkeypatch, table_of, teachers, scale
):
    """Mixtures of rows: any one of them, and the two of what is negligible at half each."""
    monkeypatch.setattr(dominating_pairs, "MANY_TEACHERS", 10)
    monkeypatch.setattr(dominating_pairs, "_MOST_LISTED", 40)
    monkeypatch.setattr(dominating_pairs, "_AT_ONCE", 500)
    table = table_of(teachers, scale)
    t = np.exp(np.linspace(-30, 30, 121))
    negligible = 1e-9
    short = dominating_pairs_from_table(table, 1e-12, 1e-300, negligible=negligible)
    found = short.hockey_stick_divergences(t)
    assert len(found) < 2 * teachers / 3
    pairs = [(table[:-1], table[1:]), (table[1:], table[:-1])]
    exact = np.concatenate([hockey_sticks.hockey_stick_divergences(*pair, t) for pair in pairs])
    mean = negligible * np.minimum(1, t)
    for row in exact:
        above = (found >= row * (1 - 1e-11)).all(axis=1).any()
        assert above or (row <= mean * (1 + 1e-11)).all()
    if scale < 5:
        rare = NeighbourPairs(
            np.array([[1.0, 2 * negligible]]), np.array([[1.0, 0.0]]), 1e-12, 1e-300
        )
        half = rare.hockey_stick_divergences(t)
        assert len(half) == 2
        assert (half.mean(axis=0) >= mean).all()
        assert all((found >= row).all(axis=1).any() for row in half)


@pytest.mark.parametrize("table_of", [_normal_table, _laplace_table])
@pytest.mark.parametrize(("teachers", "scale", "listed"), [(251, 4.0, 4000), (1001, 100.0, 500)])
def test_a_shortened_table_costs_no_less_and_hardly_more(
    monkeypatch, table_of, teachers, scale, listed
):
    table = table_of(teachers, scale)
    whole = adaptive_epsilon(dominating_pairs_from_table(table, 1e-12, 1e-300), 30, 1e-5)
    monkeypatch.setattr(dominating_pairs, "MANY_TEACHERS", 10)
    monkeypatch.setattr(dominating_pairs, "_MOST_LISTED", listed)
    short = adaptive_epsilon(
        dominating_pairs_from_table(table, 1e-12, 1e-300, negligible=1e-21), 30, 1e-5
    )
    # Curves may be gathered otherwise, which takes less than 1 % of epsilon either way.
    assert whole.lower <= short.upper
    assert whole.upper * 0.99 <= short.upper <= whole.upper * 1.01
    assert short.lower <= whole.upper


def test_a_million_teachers_take_little_memory():
    table = _normal_table(1_000_000, 50.0)
    tracemalloc.start()
    found = dominating_pairs_from_table(
        table, 1e-12, 1e-300, negligible=1e-21
    ).hockey_stick_divergences(np.exp(np.linspace(-1, 1, 99)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 256 << 20
    assert len(found) < 4000


@pytest.mark.parametrize("many", [2000, 10])
@pytest.mark.parametrize("rises", [True, False])
def test_all_votes_up_to_those_that_move_lie_below_one_row(monkeypatch, rises, many):
    """Of a table that falls somewhere, too, where fewer votes may tell more."""
    monkeypatch.setattr(dominating_pairs, "MANY_TEACHERS", many)
    table, moved = _normal_table(40, 9.0), 3
    if not rises:
        table[17] = table[25]
    t = np.exp(np.linspace(-8, 8, 65))
    found = dominating_pairs_from_table(
        table, 1e-12, 1e-300, group_size=moved
    ).hockey_stick_divergences(t)
    for step in range(1, moved + 1):
        before, after = table[:-step], table[step:]
        for pair in ((before, after), (after, before)):
            for row in hockey_sticks.hockey_stick_divergences(*pair, t):
                assert (found >= row * (1 - 1e-11)).all(axis=1).any()
    fewer = dominating_pairs_from_table(
        table, 1e-12, 1e-300, group_size=moved - 1
    ).hockey_stick_divergences(t)
    assert fewer.max(axis=0).max() < found.max(axis=0).max()


@pytest.mark.parametrize("spare", [0.0, np.array([1e-9, 0.0])])
def test_pairs_that_are_alike_are_worked_out_once(spare, monkeypatch):
    """Far from a tie most of a ladder's steps are: with 1,000 teachers that took seconds."""
    ones = np.concatenate([np.full(300, 0.1), [0.2, 0.4], np.full(300, 0.6)])
    rows = np.stack([1 - ones, ones], axis=1)
    family, t = NeighbourPairs(rows[:-1], rows[1:], 1e-12, spare), np.exp(np.linspace(-1, 1, 9))
    asked, whole = [], hockey_sticks.hockey_stick_divergences
    each = [
        whole(*pair, t, 1e-12, spare) for pair in ((rows[:-1], rows[1:]), (rows[1:], rows[:-1]))
    ]
    monkeypatch.setattr(
        hockey_sticks,
        "hockey_stick_divergences",
        lambda first, *rest: asked.append(len(first)) or whole(first, *rest),
    )
    found = family.hockey_stick_divergences(t)
    assert asked == [5, 5]
    assert {row.tobytes() for row in found} == {row.tobytes() for row in np.concatenate(each)}
