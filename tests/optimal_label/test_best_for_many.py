"""The best label of a Rényi divergence: exact divergences, another solver, what repair returns."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from private_ensembles.accounting.adaptive.account import adaptive_epsilon
from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.audit.labels import OnCounts
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.optimal_label import best_for_many as module
from private_ensembles.optimal_label.best_for_many import (
    best_for_many,
    best_within,
    divergence_above,
)
from private_ensembles.optimal_label.certificate import UNITS
from private_ensembles.optimal_label.program import Program
from private_ensembles.planner.studies import right
from private_ensembles.votes.synthetic import ConsensusProfile

from . import oracle


def exact_moment(label, order):
    """The largest sum of p^order p'^(1 - order) over all unsorted neighbours, a whole order."""
    rows = enumerate_histograms(label.histograms.n_teachers, label.histograms.n_classes)
    sizes = label.histograms.sizes.tolist()
    share = [Fraction(u, UNITS * m) for u, m in zip(label.units.tolist(), sizes, strict=True)]
    table = [[share[g] for g in row] for row in label.histograms.groups_of(rows).tolist()]
    assert all(sum(row) == 1 for row in table)
    return max(
        sum(p**order / q ** (order - 1) for p, q in zip(table[a], table[b], strict=True))
        for pair in neighbour_pairs(rows).tolist()
        for a, b in (pair, pair[::-1])
    )


@pytest.mark.parametrize("order", [2, 8, 30])
@pytest.mark.parametrize("divergence", [1e-3, 0.08, 0.6])
@pytest.mark.parametrize(("K", "C"), [(5, 3), (4, 4), (6, 2)])
def test_no_move_costs_more_in_rational_arithmetic(K, C, order, divergence):
    found = best_for_many(K, C, float(order), divergence, accuracy=0.6)
    spent = exact_moment(found, order)
    with oracle.sixty_digits():
        exact = (oracle.Decimal(spent.numerator) / oracle.Decimal(spent.denominator)).ln()
        exact /= order - 1
    assert exact <= oracle.Decimal(found.certificate.worst) <= oracle.Decimal(divergence)
    assert float(exact) == pytest.approx(divergence, rel=0.01)


@pytest.mark.parametrize(("order", "divergence"), [(2.0, 0.02), (6.0, 0.1), (12.0, 0.4)])
def test_another_solver_on_unsorted_histograms_finds_the_same(order, divergence):
    """SLSQP on ten histograms of three classes, no symmetry assumed, started elsewhere."""
    K, C = 3, 3
    weights = oracle.weights(K, C, 0.6).ravel()
    pairs = neighbour_pairs(enumerate_histograms(K, C))
    x, y = np.concatenate([pairs, pairs[:, ::-1]]).T

    def logs(p):
        p = np.maximum(p.reshape(-1, C), 1e-9)
        return np.log((p[x] ** order * p[y] ** (1 - order)).sum(axis=1)) / (order - 1)

    size = len(weights)
    sums = {"type": "eq", "fun": lambda p: p.reshape(-1, C).sum(axis=1) - 1}
    found = minimize(
        lambda p: -weights @ p,
        np.full(size, 1 / C),
        jac=lambda p: -weights,
        method="SLSQP",
        bounds=[(1e-6, 1)] * size,
        constraints=[sums, {"type": "ineq", "fun": lambda p: divergence - logs(p)}],
        options={"maxiter": 500, "ftol": 1e-9},
    )
    assert logs(found.x).max() <= divergence + 1e-6
    ours = best_for_many(K, C, order, divergence, accuracy=0.6).certificate
    assert ours.utility == pytest.approx(-found.fun, abs=2e-3)
    assert ours.upper_bound >= -found.fun - 1e-6


def test_divergences_are_bounded_and_near():
    program, rng = Program(5, 3, 1.0, 0.0), np.random.default_rng(0)
    for order in (2, 9):
        p = rng.dirichlet(np.ones(3), program.size)[:, 0] + 0.05
        units = module.whole_units(program, p)
        label = module.LabelForMany(program.histograms, units, None, order, 1.0)
        exact = float(exact_moment(label, order))
        found = divergence_above(program, units, float(order))
        assert found >= math.log(exact) / (order - 1)
        assert found == pytest.approx(math.log(exact) / (order - 1), rel=1e-9)
    units[program.histograms.starts[0]] = 0
    units[-1] = 0
    assert divergence_above(program, units, 2.0) == math.inf


def test_a_wrong_solution_is_repaired(monkeypatch):
    """The plurality, which no divergence allows, becomes nearly uniform."""

    def plurality(self):
        p = np.zeros(self.program.size)
        starts = self.program.histograms.starts
        p[starts] = 1 / self.program.histograms.sizes[starts]
        return p, 1.0

    monkeypatch.setattr(module._Cuts, "solve", plurality)
    found = best_for_many.__wrapped__(5, 3, 8.0, 0.1, accuracy=0.6)
    assert found.certificate.holds
    assert exact_moment(found, 8) <= Fraction(math.exp(0.7))
    assert found.certificate.mixed > 0.01


def test_a_profile_is_what_it_is_best_for():
    profile = ConsensusProfile(4, 0.5, (12, 2), (2, 2), confusion=0.5)
    found = best_for_many(9, 4, 8.0, 0.1, profile=profile).certificate
    other = best_for_many(9, 4, 8.0, 0.1, accuracy=0.5)
    weights = module.weights_of(other.histograms, None, profile)
    assert weights @ other.probabilities < found.utility <= found.upper_bound
    assert found.gap < 2e-3


@pytest.mark.parametrize(
    ("order", "divergence", "prior", "words"),
    [
        (1.0, 0.1, {"accuracy": 0.6}, r"order = 1.0: must be in \[1.1, 64\]"),
        (2.0, 0.0, {"accuracy": 0.6}, r"divergence = 0.0: must be in \(0, 10\]"),
        (2.0, 0.1, {}, "accuracy, profile: exactly one of them"),
    ],
)
def test_arguments_out_of_range_are_refused(order, divergence, prior, words):
    with pytest.raises(ValueError, match=words):
        best_for_many(5, 3, order, divergence, **prior)
    with pytest.raises(ValueError, match="n_teachers = 50: has too many moves"):
        best_for_many(50, 6, 2.0, 0.1, accuracy=0.6)


def test_ten_labels_are_right_more_often_than_any_other_mechanism_s():
    """The table of docs/best-label.md: the best label for one and GNMax, charged alike."""
    found = best_within(11, 10, 10, 2.0, 1e-5, accuracy=0.5)
    assert found.certificate.holds
    assert round(found.certificate.utility, 2) == 0.28
    task = Task(2.0, 1e-5, 10, 10, 11, 10)
    for name in ("gnmax_exact", "permute_and_flip"):
        mechanism = load(name)
        other = right(mechanism, task, mechanism.calibrate(task), [0.5])[0]
        assert other < found.certificate.utility - 0.03


def test_the_total_is_that_of_all_pairs_of_unsorted_histograms():
    found = best_within(5, 3, 6, 1.0, 1e-4, accuracy=0.6)
    total = found.total(6, 1e-4)
    assert 0.95 < total.lower <= total.upper <= 1.0

    class Table:
        silent = False

        def outcomes(self, counts, parameters, secure):
            return found.distribution(counts)

        def error(self, *_):
            return {"relative_error": 2.0**-52, "absolute_error": 1e-300}

    every = OnCounts(Table(), None, 5, 3, secure=False).label_pairs()
    assert adaptive_epsilon(every, 6, 1e-4).upper == pytest.approx(total.upper, rel=1e-3)
    # Twice the divergence is caught.
    twice = best_for_many(5, 3, found.order, 2 * found.divergence, accuracy=0.6)
    assert twice.total(6, 1e-4).lower > 1.0


def test_more_labels_get_less_each_and_a_total_is_spent():
    shares = []
    for labels in (5, 20, 80):
        found = best_within(7, 3, labels, 1.5, 1e-5, accuracy=0.7)
        assert 0.95 * 1.5 < found.total(labels, 1e-5).upper <= 1.5
        shares.append((found.divergence, found.certificate.utility))
    assert (np.diff(np.array(shares), axis=0) < 0).all()


@pytest.mark.parametrize(
    ("labels", "epsilon", "delta", "words"),
    [
        (0, 1.0, 1e-5, "labels = 0: must be an integer >= 1"),
        (5, 0.0, 1e-5, r"epsilon = 0.0: must be in \(0, 20\]"),
        (5, 1.0, 0.0, r"delta = 0.0: must be in \(0, 1\)"),
    ],
)
def test_a_total_out_of_range_is_refused(labels, epsilon, delta, words):
    with pytest.raises(ValueError, match=words):
        best_within(5, 3, labels, epsilon, delta, accuracy=0.6)
