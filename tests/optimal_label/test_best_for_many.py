"""The best label of a Rényi divergence: exact divergences, another solver, what repair returns."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.optimal_label import best_for_many as module
from private_ensembles.optimal_label.best_for_many import best_for_many, divergence_above
from private_ensembles.optimal_label.certificate import UNITS
from private_ensembles.optimal_label.program import Program
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
