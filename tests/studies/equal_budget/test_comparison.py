"""Mechanisms at the same total budget: all spend it, none exceeds it."""

import functools

import numpy as np
import pytest

from private_ensembles.labels import registry
from private_ensembles.labels.gnmax_lattice import lattice_distribution
from private_ensembles.labels.gnmax_quadrature import gnmax_distribution
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.papers.pate.experiment import draw_queries
from studies.equal_budget.comparison import compare

SETTINGS = {"pool": 80, "delta": 1e-5, "queries": [20, 80], "epsilon": [2.0, 8.0]}


def votes(classes):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, classes, 80)
    share = np.full((80, classes), 0.3 / (classes - 1))
    share[np.arange(80), labels] = 0.7
    return np.array([rng.multinomial(51, p) for p in share]), labels


@functools.cache  # two tests look at one of them
def table_of(classes):
    counts, labels = votes(classes)
    return compare(counts, labels, SETTINGS, task="here", seed=0)


@pytest.mark.parametrize("classes", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_every_mechanism_with_noise_on_votes_has_a_row_within_the_budget(classes):
    table = table_of(classes)
    expected = {
        name
        for name in registry.offered_mechanisms()
        if registry.get_entry(name).guarantee.hides_votes
    }
    assert set(table["mechanism"]) == expected - ({"ladder"} if classes > 2 else set())
    assert len(table) == 4 * table["mechanism"].nunique()
    for row in table.to_dict("records"):
        wanted = Task(
            Ensemble(51, classes), Budget(row["epsilon"], row["delta"]), Wanted(row["queries"])
        )
        mechanism = load_mechanism(row["mechanism"])
        assert mechanism.cost(wanted, mechanism.calibrate(wanted)).claimed <= row["epsilon"]
        assert 0 <= row["accuracy"] <= 1
        assert row["answers"] <= row["queries"] * (1 + 1e-9)
        assert row["release"] == NOT_FOR_RELEASE
    # More privacy costs accuracy, and the analytic sigma beats the published one.
    wide = table.pivot_table(index=["queries", "epsilon"], columns="mechanism", values="accuracy")
    assert (wide["gnmax"].xs(2.0, level=1) <= wide["gnmax"].xs(8.0, level=1)).all()
    assert (wide["gnmax"] <= wide["gnmax_analytic"]).all()
    assert (wide["gnmax_analytic"] < wide["gnmax_exact"]).all()


def test_accuracy_is_that_of_the_queries_students_ask():
    counts, labels = votes(4)
    table = table_of(4)
    row = table[(table["mechanism"] == "gnmax") & (table["queries"] == 20)].iloc[0]
    asked = draw_queries(80, 20, 0, "here", 0)
    wanted = Task(Ensemble(51, 4), Budget(2.0, 1e-5), Wanted(20))
    sigma = load_mechanism("gnmax").calibrate(wanted).sigma
    exact = gnmax_distribution(counts[asked], sigma)[np.arange(20), labels[asked]].mean()
    assert row["accuracy"] == pytest.approx(exact, rel=1e-9)


def test_secure_noise_is_accounted_for_as_it_is_drawn():
    counts, labels = votes(3)
    settings = SETTINGS | {"queries": [20], "epsilon": [2.0]}
    table = compare(counts, labels, settings, task="here", seed=0, noise="secure")
    # What has no account for discrete noise, or no exact draws, has no row.
    task = Task(Ensemble(51, 3), Budget(2.0, 1e-5), Wanted(20), secure=True)
    assert set(table["mechanism"]) == {
        name
        for name in registry.offered_mechanisms()
        if registry.get_entry(name).guarantee.hides_votes and not load_mechanism(name).refusal(task)
    }
    assert {"gnmax_exact", "permute_and_flip"} <= set(table["mechanism"])
    row = table[table["mechanism"] == "gnmax_analytic"].iloc[0]
    parameters = load_mechanism("gnmax_analytic").calibrate(task)
    asked = draw_queries(80, 20, 0, "here", 0)
    chances = lattice_distribution(counts[asked], parameters.sigma)
    exact = chances[np.arange(20), labels[asked]].mean()
    assert row["accuracy"] == pytest.approx(exact, rel=1e-10)
    with pytest.raises(ValueError, match="noise = 'sure'"):
        compare(counts, labels, settings, task="here", seed=0, noise="sure")
