"""What every law has: the right label's chance, and numbers of answers and of right ones."""

from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.labels import registry
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
)
from private_ensembles.papers.nzc.law import ImmutableNoise


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("name", ["gnmax", "gnmax_exact", "lnmax_pure", "exponential"])
def test_what_is_right_is_an_entry_of_the_distribution(name, secure, n_classes):
    mechanism = load_mechanism(name)
    task = Task(Ensemble(30, n_classes), Budget(2.0, 1e-5), Wanted(20))
    parameters = mechanism.calibrate(task)
    drawn = np.random.default_rng(4)
    counts = drawn.multinomial(30, np.full(n_classes, 1 / n_classes), size=40)
    labels = drawn.integers(0, n_classes, 40)
    table = mechanism.law.distribution(counts, parameters, secure=secure)
    right = mechanism.law.probability_correct(counts, labels, parameters, secure=secure)
    np.testing.assert_allclose(right, table[np.arange(40), labels], rtol=1e-13)
    wanted = (table.sum() / 2, table[np.arange(40), labels].sum() / 2)  # 20 labels, 40 queries
    secured = replace(task, secure=secure)
    assert mechanism.law.expected_answers(counts, labels, secured, parameters) == pytest.approx(
        wanted
    )


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("gnmax", GaussianNoise(2.0), "noise = secure: no pairs of neighbours are known"),
        ("nzc", ImmutableNoise(), "n_classes = 3: no pairs of neighbours are known"),
    ],
)
def test_neighbours_that_nobody_knows_are_not_made_up(name, parameters, message):
    """Of whole secure noise, and of a table on more than two classes."""
    task = Task(Ensemble(9, 3), Budget(1.0, 1e-5), Wanted(1), secure=True)
    with pytest.raises(ValueError, match=message):
        load_mechanism(name).law.dominating_pairs(task, parameters)


@pytest.mark.parametrize("name", ["gnmax_exact", "lnmax_pure", "exponential", "permute_and_flip"])
@pytest.mark.parametrize("scale", [0.4, 1.0, 3.0])
@pytest.mark.parametrize(
    ("teachers", "n_classes", "reach"),
    [(3, 2, 1), (4, 2, 1), (3, 3, 1), (4, 3, 1), (3, 4, 1), (4, 2, 2), (4, 3, 2), (4, 4, 3)],
)
def test_no_votes_that_move_tell_more_than_the_dominating_pairs(
    name, scale, teachers, n_classes, reach
):
    """Ties of an even number of votes are met with another class as well, and leads of one."""
    law = load_mechanism(name).law
    noise = law.noise_at_scale(scale)
    moved = Protection.disjoint(reach=reach)
    task = Task(Ensemble(teachers, n_classes), Budget(1.0, 1e-5), Wanted(1), moved)
    t = np.exp(np.linspace(0, 6, 49))
    found = law.dominating_pairs(task, noise).hockey_stick_divergences(t).max(axis=0)
    rows = enumerate_histograms(teachers, n_classes)
    pairs = neighbour_pairs(rows, reach)
    table = law.distribution(rows, noise)
    before, after = table[pairs.ravel()], table[pairs[:, ::-1].ravel()]
    exact = np.maximum(before[:, :, None] - after[:, :, None] * t, 0).sum(axis=1).max(axis=0)
    assert (found >= exact * (1 - 1e-9) - 1e-15).all()


@pytest.mark.parametrize("name", registry.offered_mechanisms())
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_search_s_score_is_about_what_is_expected(name, n_classes):
    mechanism = load_mechanism(name)
    task = Task(Ensemble(9, n_classes, private=Budget(0.3, 0.0)), Budget(1.0, 1e-5), Wanted(40, 60))
    if mechanism.refusal(task):
        task = replace(task, wanted=Wanted(1, 60))
    if mechanism.refusal(task):
        return
    drawn = np.random.default_rng(0)
    histograms = drawn.multinomial(9, drawn.dirichlet(np.full(n_classes, 0.7), 60))
    truth = histograms.argmax(axis=1)
    score = mechanism.law.build_objective(histograms, truth, task)
    high = {key: ends[1] for key, ends in mechanism.account.free_parameters.items()}
    for free in ({}, {key: end / 2 for key, end in high.items()}, high):
        parameters = mechanism.guess_parameters(task, **free)
        right = mechanism.law.expected_answers(histograms, truth, task, parameters)[1]
        assert score(parameters) == pytest.approx(right, rel=0.03)
