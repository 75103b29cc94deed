"""Secure labels of more than two classes by permute-and-flip and the exponential mechanism."""

import itertools
import math
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.base import secure
from private_ensembles.base.limits import MOST_CLASSES, MOST_TEACHERS
from private_ensembles.base.noise_sources import SecureNoise
from private_ensembles.labels.laws import selection
from private_ensembles.labels.laws.selection import SelectionRate, truncate_rate
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner import planning, ranking
from private_ensembles.labels.planner.defaults import ASSUMED_PROFILE
from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.release_gate import release_from_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
)
from tests.claims.drawn import Followed

NAMES = ["exponential", "permute_and_flip"]


def powers(row, rate):
    """e^(rate (n_j - max)) to sixty digits, and 1 for the largest."""
    with localcontext() as context:
        context.prec = 60
        exponents = [Fraction(rate) * (n - max(row)) for n in row]
        return [Fraction((Decimal(float(x))).exp()) if x else Fraction(1) for x in exponents]


def exponential_law(row, rate):
    weights = powers(row, rate)
    return [weight / sum(weights) for weight in weights]


def permute_and_flip_law(row, rate):
    """McKenna and Sheldon 2020, Algorithm 1, over all permutations."""
    coins, chances = powers(row, rate), [Fraction(0)] * len(row)
    orders = list(itertools.permutations(range(len(row))))
    for order in orders:
        left = Fraction(1, len(orders))
        for place in order:
            chances[place] += left * coins[place]
            left *= 1 - coins[place]
    return chances


LAWS = {"exponential": exponential_law, "permute_and_flip": permute_and_flip_law}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("row", [(3, 1, 1), (2, 2, 1), (0, 5, 0), (2, 1, 1, 0), (1, 1, 1, 1)])
def test_what_is_drawn_is_the_law_exactly(name, row, monkeypatch):
    """Every coin, die and class is followed to its end, in fractions."""
    law, noise = load_mechanism(name).law, SelectionRate(0.7, 3)
    found = Followed(monkeypatch).law(law, noise, row)
    rate = truncate_rate(0.35)
    assert found == [0, *LAWS[name](row, rate)]
    table = law.distribution(np.array([row]), noise)[0]
    assert [float(p) for p in found[1:]] == pytest.approx(table, rel=1e-12)


def test_a_label_of_permute_and_flip_uses_its_epsilon_up_and_a_twin_exceeds_it():
    """At a large lead in many votes: e^(-lead) loses 2 rate as the vote moves."""
    mechanism = load_mechanism("permute_and_flip")
    task = Task(Ensemble(60, 3), Budget(1.5, 1e-3), Wanted(1), secure=True)
    parameters = mechanism.calibrate(task)
    assert parameters.label_epsilon == task.budget.epsilon
    assert mechanism.cost(task, parameters).proven == task.budget.epsilon

    def loss(noise):
        rate = mechanism.law.rate(3, noise)
        there, here = (permute_and_flip_law((60 - n, n, 0), rate)[1] for n in (1, 2))
        return math.log(here / there)

    assert 0.999 * task.budget.epsilon < loss(parameters) <= task.budget.epsilon
    assert loss(mechanism.law.scale_noise(parameters, 0.95)) > 1.04 * task.budget.epsilon


@pytest.mark.keeps("labels.laws.selection:truncate_rate")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rate", [1e-9, 0.1, 1 / 3, 50.0, 300.0])
def test_exponents_are_exact_for_all_counts(name, rate):
    used = truncate_rate(rate)
    assert 0 <= rate - used < rate * 2.0**-29
    for count in (1, 3, MOST_TEACHERS - 1, MOST_TEACHERS, 2**22 - 1):
        assert Fraction(used * count) == Fraction(used) * count
    law, noise = load_mechanism(name).law, SelectionRate(2 * rate, 1)
    assert law.rate(3, noise) == used
    assert law.rate(2, noise) == rate


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [(2, 3), (MOST_TEACHERS, 3), (2, MOST_CLASSES)], ids=str)
def test_what_is_asked_for_is_the_same_whatever_the_votes(name, size, monkeypatch):
    """How many random bits, and no error: neither depends on the counts."""
    teachers, classes = size
    asked = []

    def counted(draw):
        """The same draw, which notes how many bits it asks for."""
        return lambda rows, bits: draw(rows, lambda number: asked.append(number) or bits(number))

    for draw in ("draw_bernoulli_exp", "draw_each"):
        monkeypatch.setattr(secure.softmax, draw, counted(getattr(secure.softmax, draw)))
    law, noise = load_mechanism(name).law, SelectionRate(0.5, 1)
    for first in {teachers, teachers - 1, teachers // 2, 1}:
        row = np.zeros((1, classes), dtype=np.int64)
        row[0, 0], row[0, -1] = first, teachers - first
        (label,) = law.draw(row, noise, SecureNoise())
        assert 0 <= label < classes
    assert len(set(asked)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand_labels_and_the_largest_ensembles_take_seconds(name):
    mechanism = load_mechanism(name)
    for K, C, Q in ((250, 10, 10_000), (MOST_TEACHERS, MOST_CLASSES, 5), (2, MOST_CLASSES, 5)):
        task = Task(Ensemble(K, C), Budget(1.0, 1e-5), Wanted(Q), secure=True)
        assert mechanism.refusal(task) is None
        parameters = SelectionRate(0.02, Q, n_teachers=K, n_classes=C)
        counts = np.zeros((Q, C), dtype=np.int64)
        counts[:, 0], counts[:, 1] = K - K // 3, K // 3
        start = time.process_time()
        labels = release_from_counts(mechanism, counts, parameters, SecureNoise())
        assert time.process_time() - start < 3
        assert labels.shape == (Q,)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("labels", [1, 7, 400, 20_000])
def test_noise_of_a_group_is_as_many_times_that_of_one_vote(name, labels):
    mechanism = load_mechanism(name)
    one = Task(Ensemble(50, 10), Budget(1.0, 1e-5), Wanted(labels), secure=True)
    three = Task(
        Ensemble(50, 10),
        Budget(1.0, 1e-5),
        Wanted(labels),
        protection=Protection.disjoint(reach=3),
        secure=True,
    )
    rates = [mechanism.calibrate(task).used_rate for task in (one, three)]
    assert rates[1] == pytest.approx(rates[0] / 3, rel=1e-12)
    assert 0.99 < mechanism.cost(three, mechanism.calibrate(three)).proven <= 1


def test_permute_and_flip_is_right_as_often_as_is_printed():
    """25 teachers of the usual profile, ten classes, one label at epsilon = 0.5."""
    profile = ConsensusProfile(10, **ASSUMED_PROFILE)
    task = Task(Ensemble(25, 10), Budget(0.5, 1e-5), Wanted(1, 500), secure=True, profile=profile)
    (plan,) = ranking.rank_mechanisms(task, *planning.profile_votes(task, 0), ["permute_and_flip"])
    assert plan.correct == pytest.approx(0.857, abs=2e-3)
    assert plan.epsilon == 0.5


@pytest.mark.parametrize("name", NAMES)
def test_queries_of_every_block_get_labels_of_their_own(name, monkeypatch):
    """Five queries, two at a time, whose votes leave no other label a chance of 1e-300."""
    monkeypatch.setattr(selection, "_AT_ONCE", 6)
    counts = 9 * np.eye(3, dtype=int)[[0, 1, 2, 2, 1], ::-1]
    drawn = load_mechanism(name).law.draw(counts, SelectionRate(200.0, 5), SecureNoise())
    assert drawn.tolist() == [2, 1, 0, 0, 1]
