"""The bound for many votes: what private labels are on average satisfies its program."""

import math

import numpy as np
import pytest

from private_ensembles.audit.histograms import enumerate_histograms
from private_ensembles.mechanisms.laws import exponential
from private_ensembles.optimal_label import relaxation
from private_ensembles.optimal_label.best_label import best_label
from private_ensembles.optimal_label.relaxation import bound_on_right
from private_ensembles.votes.synthetic import ConsensusProfile

from . import oracle

PROFILE = {"easy_share": 0.7, "easy": (20, 2), "hard": (2, 2)}


def averages(table, rows, profile):
    """Of a symmetric label: Pr[class 1] and Pr[a third class] by the votes of classes 1 and 2.

    Averaged over all histograms by the urn of the votes for the other classes, which none of the
    relaxation's code knows.
    """
    C, K = rows.shape[1], int(rows[0].sum())
    each = profile.confusion / (C - 1)
    lengths = [math.prod((each + i) / (i + 1) for i in range(n)) for n in range(K + 1)]
    found = {}
    for row, chances in zip(rows.tolist(), table.tolist(), strict=True):
        weight = math.prod(lengths[n] for n in row[2:])
        total = found.setdefault((row[0], row[1]), np.zeros(3))
        total += weight * np.array([1.0, chances[0], sum(chances[2:]) / (C - 2)])
    return {place: (one / total, other / total) for place, (total, one, other) in found.items()}


@pytest.mark.parametrize(("K", "C", "confusion"), [(6, 3, 1.0), (6, 4, 0.4), (5, 5, 3.0)])
def test_averages_of_private_labels_satisfy_the_program(K, C, confusion):
    profile, rows = ConsensusProfile(C, **PROFILE, confusion=confusion), enumerate_histograms(K, C)
    weights = oracle.profile_weights(K, profile).astype(float)
    best = best_label(K, C, 0.6, accuracy=0.5).distribution(rows)
    flips = exponential.weigh(rows, 0.3)
    for table in (best, flips):
        program = relaxation._Pairs(K, 0.6, profile)
        found = averages(table, rows, profile)
        x = np.zeros(2 * len(program.votes))
        for k, place in enumerate(map(tuple, program.votes.tolist())):
            x[k], x[program.crowd[k]] = found[place]
        assert (program.private() @ x).max() <= 1e-12
        np.testing.assert_allclose(program.consistent() @ x, 0, atol=1e-12)
        np.testing.assert_allclose(program.totals @ x, 1, atol=1e-12)
        right = program.chances[0] @ x[: len(program.votes)]
        assert right == pytest.approx((weights * table).sum(), abs=1e-12)
        assert right <= program.bound()
    # A label of more than the budget does not.
    more = averages(exponential.weigh(rows, 0.4), rows, profile)
    for k, place in enumerate(map(tuple, program.votes.tolist())):
        x[k], x[program.crowd[k]] = more[place]
    assert (program.private() @ x).max() > 1e-3


@pytest.mark.parametrize(("K", "C"), [(11, 10), (14, 4), (30, 3)])
@pytest.mark.parametrize("total", [1.0, 5.0, 12.5, 25.0])
def test_the_bound_is_above_the_best_label_and_near(K, C, total):
    profile = ConsensusProfile(C, **PROFILE, confusion=1.0)
    best = best_label(K, C, total / K, profile=profile).certificate
    found = bound_on_right(K, total / K, profile)
    assert best.utility <= found < best.utility + 0.06


def test_a_delta_loosens_the_bound_no_more_than_it_helps():
    profile = ConsensusProfile(5, **PROFILE, confusion=1.0)
    pure = bound_on_right(12, 0.3, profile)
    for delta in (1e-5, 0.02, 0.3):
        best = best_label(12, 5, 0.3, delta, profile=profile).certificate.utility
        found = bound_on_right(12, 0.3, profile, delta)
        assert max(best, pure) <= found < best + 0.06


def test_a_bound_of_any_multipliers_is_one(monkeypatch):
    """Whatever the solver returns."""
    profile = ConsensusProfile(4, **PROFILE, confusion=1.0)
    best = best_label(9, 4, 0.5, profile=profile).certificate.utility
    rng = np.random.default_rng(0)

    def random(weights, matrix, lower, upper):
        return None, rng.normal(0, 0.02, len(lower))

    monkeypatch.setattr(relaxation, "best_point", random)
    for _ in range(5):
        assert best <= bound_on_right(9, 0.5, profile) <= 1


def test_arguments_out_of_range_are_refused():
    profile = ConsensusProfile(3, **PROFILE, confusion=1.0)
    for epsilon in (0.0, 20.5, math.nan):
        with pytest.raises(ValueError, match=f"epsilon = {epsilon}: must be in"):
            bound_on_right(5, epsilon, profile)
    with pytest.raises(ValueError, match=r"delta = 1\.0: must be in"):
        bound_on_right(5, 0.5, profile, 1.0)
    with pytest.raises(ValueError, match="n_teachers, n_classes = 1, 3: must be at least 2 and 3"):
        bound_on_right(1, 0.5, profile)
    two = ConsensusProfile(2, **PROFILE, confusion=1.0)
    with pytest.raises(ValueError, match="n_teachers, n_classes = 5, 2: must be at least 2 and 3"):
        bound_on_right(5, 0.5, two)
