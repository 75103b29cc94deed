"""Anybody's function: the numbers of the registered audits, twins caught, nothing sound accused."""

import itertools
import math
import runpy
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from private_ensembles.audit import (
    FiniteMechanism,
    audit_function,
    audit_shared_data,
    divergence,
    finite_mechanism,
)
from private_ensembles.audit.audited_labels import HistogramLabel, SharedDataLabel
from private_ensembles.labels import registry
from private_ensembles.papers.nzc.law import ImmutableNoise
from tests.audit import oracle
from tests.claims.one_label import AUDIT_DELTA, one_label_each

NAMES = registry.entries()


@pytest.fixture(scope="module")
def listed():
    return one_label_each(ImmutableNoise(constant=1.0, gamma=4.0))


def one_vote_moves(audited):
    first, second = audited.pairs.T
    return (np.abs(audited.inputs[first] - audited.inputs[second]).max(axis=1) == 1).all()


def as_anybody_s(mechanism, task, parameters):
    """The mechanism as a stranger would hand it in: a function of counts, and its model."""
    audited = mechanism.law.build_audit(task, parameters)

    def chances(counts):
        return mechanism.law.outcome_distribution(counts, parameters)

    if isinstance(audited, SharedDataLabel):
        return audited, audit_shared_data(chances, task.ensemble.teachers, *audited.teacher)
    if isinstance(audited, HistogramLabel) and one_vote_moves(audited):
        return audited, audit_function(chances, task.ensemble.teachers, 2, **audited.errors)
    return audited, FiniteMechanism(audited.inputs, audited.matrix, audited.pairs, **audited.errors)


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_are_the_registered_audit_s_and_every_twin_is_caught(listed, name):
    mechanism, task, parameters = listed[name]
    audited, found = as_anybody_s(mechanism, task, parameters)
    exact = audited.worst_inputs(AUDIT_DELTA).epsilon
    assert found.epsilon(AUDIT_DELTA) == pytest.approx(exact, rel=1e-9)
    assert found.verdict(exact * (1 + 1e-6), AUDIT_DELTA) == "holds"
    assert found.verdict(exact, AUDIT_DELTA) != "fails"
    assert found.verdict(exact * (1 - 1e-6), AUDIT_DELTA) == "fails"
    _, twin = as_anybody_s(mechanism, task, mechanism.law.scale_noise(parameters, 0.5))
    assert twin.verdict(exact, AUDIT_DELTA) == "fails"
    # What other accountants are told: nothing of it is below what epsilon at delta says.
    mu = found.mu()
    if math.isfinite(mu):
        from private_ensembles.accounting.gaussian import gaussian_delta

        assert gaussian_delta(mu * (1 + 1e-9), exact * (1 - 1e-9)) >= AUDIT_DELTA * (1 - 1e-6)


@pytest.mark.parametrize(("neighbours", "teachers"), [("moved_vote", 5), ("missing_vote", 4)])
def test_all_histograms_and_moves_are_tried(neighbours, teachers):
    """Against brute force over all pairs of tuples of counts and all sets of labels."""

    def chances(counts):
        weights = np.exp(0.3 * counts) * np.array([1.0, 1.2, 0.9])  # not symmetric
        return weights / weights.sum(axis=1, keepdims=True)

    found = audit_function(chances, teachers, 3, neighbours=neighbours)
    sizes = (teachers,) if neighbours == "moved_vote" else (teachers - 1, teachers, teachers + 1)
    rows = [row for size in sizes for row in oracle.all_histograms(size, 3).tolist()]
    assert sorted(found.inputs.tolist()) == sorted(rows)
    moved = {"moved_vote": [-1, 0, 1], "missing_vote": [0, 0, 1]}[neighbours]
    pairs = [
        (a, b)
        for a, b in itertools.product(rows, rows)
        if sorted(np.subtract(b, a).tolist()) == moved
        and (neighbours == "moved_vote" or teachers in (sum(a), sum(b)))
    ]
    listed = [tuple(map(tuple, found.inputs[pair].tolist())) for pair in found.pairs]
    both = {pair for one in listed for pair in (one, one[::-1])}
    ours = {pair for a, b in pairs for pair in ((tuple(a), tuple(b)), (tuple(b), tuple(a)))}
    assert both == ours
    delta = 0.01
    best = 0.0
    for a, b in ours:
        p, q = chances(np.array([a]))[0], chances(np.array([b]))[0]
        for size in (1, 2):
            for event in itertools.combinations(range(3), size):
                best = max(best, math.log((p[list(event)].sum() - delta) / q[list(event)].sum()))
    assert found.epsilon(delta) == pytest.approx(best, rel=1e-10)
    assert found.epsilon(delta, "lower") <= best <= found.epsilon(delta)


@pytest.fixture(scope="module")
def response(root):
    """Randomised response on the plurality, with epsilon = 1."""
    return runpy.run_path(str(root / "examples" / "randomized_response.py"))["labels"]


def test_what_is_known_of_randomised_response(response):
    """ln 3 at any number of votes, and the closed forms of two labels."""
    found = audit_function(response, 11, 2)
    assert found.epsilon(0.0) == pytest.approx(1.0, abs=1e-11)
    assert [found.verdict(claim, 0.0) for claim in (1.01, 1.0, 0.99)] == [
        "holds",
        "undecided",
        "fails",
    ]
    assert found.verdict(0.0, math.tanh(0.5)) == "undecided"
    assert found.verdict(0.5, 0.3) == "holds"
    assert found.verdict(0.5, 0.2) == "fails"
    from scipy.special import ndtri

    # At an odd number of votes one vote turns the plurality: 2 Phi^-1(e / (1 + e)).
    assert found.mu() == pytest.approx(2 * ndtri(math.e / (1 + math.e)), rel=1e-10)
    assert found.mu("lower") <= 2 * ndtri(math.e / (1 + math.e)) <= found.mu()
    assert found.trade_off([0.0, 1 / (1 + math.e), 1.0]) == pytest.approx(
        [1.0, 1 / (1 + math.e), 0.0], abs=1e-10
    )
    orders = 1 + np.geomspace(1e-3, 1e3, 4000)
    assert 0.9999 * (found.renyi(orders) / orders).max() <= found.rho()
    assert found.rho() <= 1.001 * (found.renyi(orders) / orders).max()
    worst = found.worst_pair(0.0)
    assert sorted(found.inputs[[worst.first, worst.second]].tolist()) == [[5, 6], [6, 5]]


def test_what_tells_nothing_and_what_tells_everything():
    nothing = audit_function(lambda counts: np.full((len(counts), 2), 0.5), 3, 2)
    assert nothing.mu() < 1e-10
    assert nothing.rho() < 1e-10
    assert nothing.verdict(1e-9, 0.0) == "holds"
    everything = audit_function(lambda counts: np.eye(2)[counts.argmax(axis=1)], 3, 2)
    assert everything.mu() == everything.mu("lower") == everything.rho() == math.inf
    assert everything.epsilon(0.5) == math.inf
    assert everything.verdict(100.0, 0.5) == "fails"
    assert everything.trade_off([0.0, 0.5]).tolist() == [0.0, 0.0]


def test_both_orders_of_a_pair_are_tried():
    pair = np.array([[0.9, 0.1], [0.5, 0.5]])
    for rows in (pair, pair[::-1]):
        found = FiniteMechanism(np.arange(2), rows, np.array([[0, 1]]))
        # Accusing on the second label alone, or on the first alone, and drawing lots.
        assert found.trade_off([0.1, 0.5]) == pytest.approx([0.5, 0.1])


def test_teachers_that_share_data_are_known_to_the_error_that_is_stated():
    """Against rational arithmetic over the same corners."""
    values = [[1.0, 0.0], [0.7, 0.3], [0.3, 0.7], [0.0, 1.0]]
    found = audit_shared_data(lambda counts: np.array(values), 3, 0.3, 0.01, relative_error=0.0)
    off = []
    for teachers, row in zip(found.inputs.tolist(), found.matrix.tolist(), strict=True):
        for label in (0, 1):
            exact = Fraction(0)
            for votes in itertools.product((0, 1), repeat=3):
                chance = Fraction(values[sum(votes)][label])
                for p, vote in zip(teachers, votes, strict=True):
                    chance *= Fraction(p) if vote else 1 - Fraction(p)
                exact += chance
            off.append(abs(Fraction(row[label]) - exact) / max(exact, Fraction(1, 10**300)))
    assert 0 < max(off) <= found.relative_error < 1e-13


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda counts: counts, "prob_matrix"),
        (lambda counts: np.ones(len(counts)), "shape"),
        (lambda counts: np.ones((len(counts), 1)), "shape"),
        (lambda counts: np.full((len(counts), 2), np.nan), r"NaN at counts \[0, 3\]"),
        (lambda counts: np.full((len(counts), 2), 0.5 + 0j), "type complex128: must be real"),
        (lambda counts: np.full((len(counts), 2), 0.5 + 1j).astype(object), "type object: must be"),
        (lambda counts: np.full((len(counts), 2), "0.5"), "type <U3: must be real numbers"),
        (lambda counts: np.ma.masked_equal(np.eye(2)[[0, 1, 0, 1]], 0), "a masked array"),
        (lambda counts: np.full((len(counts), 2), "x"), "type"),
        (lambda counts: np.full((len(counts), 2), 0.6), "row 0 adds up to"),
    ],
)
def test_what_is_no_table_of_probabilities_is_named(function, name):
    with pytest.raises(ValueError, match=name):
        audit_function(function, 3, 2).epsilon(0.0)


def test_arguments_out_of_range_are_named(response):
    with pytest.raises(ValueError, match="neighbours = 'swap'"):
        audit_function(response, 3, 2, neighbours="swap")
    with pytest.raises(ValueError, match="n_teachers = 1: must be an integer >= 2"):
        audit_function(response, 1, 2, neighbours="missing_vote")
    with pytest.raises(ValueError, match="n_teachers = 16"):
        audit_shared_data(response, 16, 0.1, 0.0)
    widths = iter((2, 3, 2))
    with pytest.raises(ValueError, match="must be as many for any votes"):
        audit_function(
            lambda counts: np.eye(next(widths))[np.zeros(len(counts), int)],
            3,
            2,
            neighbours="missing_vote",
        )


def test_the_last_pair_of_many_counts_although_few_are_worked_on_at_once(monkeypatch):
    """Five pairs, two at a time, of which only the last tells its rows apart."""
    monkeypatch.setattr(finite_mechanism, "_CHUNK", 2)
    monkeypatch.setattr(divergence, "_CHUNK", 4)
    table = np.array([[0.5, 0.5]] * 5 + [[0.2, 0.8]])
    pairs = np.array([(row, row + 1) for row in range(5)])
    mechanism = FiniteMechanism(np.arange(6), table, pairs)
    assert mechanism.delta(0.0) == pytest.approx(0.3)
    assert mechanism.epsilon(0.0) == pytest.approx(math.log(2.5))
    assert mechanism.renyi([2.0])[0] == pytest.approx(math.log(0.25 / 0.2 + 0.25 / 0.8))
    assert mechanism.mu() == pytest.approx(-NormalDist().inv_cdf(0.2))
    assert mechanism.trade_off([0.5])[0] == pytest.approx(0.2)


def test_a_claim_at_either_bound_is_the_bound_s():
    """What is proven exactly holds; what no pair exceeds, even by nothing, does not fail."""
    table = np.array([[0.7, 0.3], [0.2, 0.8]])
    found = FiniteMechanism(np.arange(2), table, np.array([[0, 1]]), relative_error=1e-9)
    upper, lower = found.delta(0.4), found.delta(0.4, "lower")
    assert lower < upper
    assert found.verdict(0.4, upper) == "holds"
    assert found.verdict(0.4, math.nextafter(upper, 0)) == "undecided"
    assert found.verdict(0.4, lower) == "undecided"
    assert found.verdict(0.4, math.nextafter(lower, 0)) == "fails"
