"""Rows of the program, the search for violated ones, and the bound from any multipliers."""

import numpy as np
import pytest

from private_ensembles.audit.divergence import exact_delta
from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.labels.laws import exponential
from studies.best_label.objective import correct_label_weights
from studies.best_label.program import Program

from . import oracle


def draw_table(program, seed):
    """Random probabilities by tie group, those of every histogram adding up to 1."""
    given = program.histograms
    masses = np.random.default_rng(seed).exponential(size=program.size) * given.sizes
    return masses / np.add.reduceat(masses, given.starts)[given.owners] / given.sizes


@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize(("K", "C"), [(3, 3), (5, 3), (4, 4), (6, 2)])
def test_what_a_table_needs_is_what_the_audit_finds_on_all_histograms(K, C, delta):
    program, rows = Program(K, C, 0.4, delta), enumerate_histograms(K, C)
    for seed in range(5):
        p = draw_table(program, seed)
        table = p[program.histograms.groups_of(rows)]
        errors = {"relative_error": 1e-15}
        wanted = exact_delta(table, neighbour_pairs(rows), 0.4, **errors)
        assert program.add_violated_rows(p) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_rows_found_are_violated_and_hold_for_private_tables(delta):
    """Permute-and-flip, private at delta = 0, meets them all."""
    program = Program(7, 4, 0.6, delta)
    before = len(program.singles)
    p = draw_table(program, 3)
    program.add_violated_rows(p)
    matrix = program.matrix()
    assert len(program.singles) > before
    assert (program.events.shape[0] > 0) == (delta > 0)
    assert (program.events @ p > delta).all()
    q = np.empty(program.size)
    weigh = exponential.label_probabilities
    q[program.histograms.groups] = weigh(program.histograms.counts, 0.3)
    assert (matrix @ q <= 1e-15).all()
    np.testing.assert_allclose(program.totals() @ q, 1, rtol=1e-14)


def test_rows_are_found_once():
    program = Program(6, 3, 0.6, 0.02)
    program.add_violated_rows(draw_table(program, 0))
    singles = len(program.singles)
    program.add_violated_rows(draw_table(program, 1))
    assert len(program.singles) > singles
    assert len(np.unique(program.singles, axis=0)) == len(program.singles)


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_any_multipliers_bound_every_mechanism(delta):
    program = Program(4, 3, 0.5, delta)
    program.weights = correct_label_weights(program.histograms, 0.6)
    best = oracle.best_utility(4, 3, 0.5, delta, oracle.weights(4, 3, 0.6))
    generator = np.random.default_rng(2)
    for seed in range(6):
        program.add_violated_rows(draw_table(program, seed))
        rows = program.row_count
        for size in (0.0, 1e-3, 0.1, 1.0):
            y = size * generator.normal(size=rows)
            assert program.upper_bound(y) >= best * (1 - 1e-9)
    assert program.upper_bound(np.zeros(rows)) < 1 + 1e-9
