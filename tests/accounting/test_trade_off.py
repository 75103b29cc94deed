"""Trade-off curves and mu against their definitions, at every level and not at corners alone."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from private_ensembles.accounting.trade_off import least_mu, trade_off


def rows(seed, outcomes, pairs=40):
    generator = np.random.default_rng(seed)
    return generator.dirichlet(np.full(outcomes, 0.7), (2, pairs))


@pytest.mark.parametrize("outcomes", [2, 3, 7])
def test_mu_is_the_least_for_which_the_curve_lies_above_the_gaussian_one(outcomes):
    first, second = rows(outcomes, outcomes)
    mus = least_mu(first, second)
    levels = np.concatenate([np.linspace(0, 1, 2001), np.geomspace(1e-9, 0.1, 500)])
    curves = trade_off(first, second, levels)
    for mu, curve in zip(mus, curves, strict=True):
        gaussian = ndtr(-ndtri(levels) - mu)
        assert (curve >= gaussian - 1e-9).all()
        smaller = ndtr(-ndtri(levels) - mu * 0.97)
        assert (curve < smaller).any()
    np.testing.assert_allclose(mus, least_mu(second, first), rtol=1e-9)


def test_curves_are_inverse_to_those_of_the_pair_turned_round():
    first, second = rows(5, 4)
    there = trade_off(first, second, [0.2])[:, 0]
    back = [trade_off(b, a, level)[0, 0] for a, b, level in zip(first, second, there, strict=True)]
    np.testing.assert_allclose(back, 0.2, atol=1e-9)


def test_gaussian_pairs_in_fine_pieces_have_their_own_mu():
    edges = np.linspace(-5, 5.7, 4000)
    cells = [np.diff(ndtr(edges - shift), prepend=0.0, append=1.0) for shift in (0.0, 0.7)]
    assert least_mu(*cells, relative_error=1e-12)[0] == pytest.approx(0.7, abs=2e-2)
    assert least_mu(cells[0], cells[0])[0] < 1e-9


def test_what_is_possible_on_one_side_only_has_no_mu_but_a_curve():
    first, second = [0.5, 0.5, 0.0], [0.4, 0.4, 0.2]
    assert least_mu(first, second)[0] == least_mu(second, first)[0] == math.inf
    assert least_mu(first, second, side="lower")[0] == math.inf
    assert trade_off(first, second, [0.0, 0.5])[0] == pytest.approx([0.8, 0.4])
    # Nothing is known of what looks impossible if there is an absolute error.
    assert least_mu([0.5, 0.5], [0.5, 0.5], absolute_error=0.1)[0] == math.inf
    assert least_mu(first, second, absolute_error=1e-300, side="lower")[0] == 0
    assert least_mu([0.3, 0.7, 0.0], [0.5, 0.5, 0.0])[0] < 1


def test_tiny_probabilities_keep_their_digits():
    """Randomised response at epsilon = 40: mu = 2 Phi^-1(1 - q) from q itself."""
    q = math.exp(-40) / (1 + math.exp(-40))
    found = least_mu([1 - q, q], [q, 1 - q])[0]
    assert found == pytest.approx(-2 * ndtri(q), rel=1e-10)
    assert found >= -2 * ndtri(q)


def test_rows_that_do_not_add_up_to_1_are_charged_for_it():
    p, q = np.array([0.2, 0.8]), np.array([0.3, 0.7])
    exact = least_mu(p, q)[0]
    for scales in ((1 + 1e-6, 1 - 1e-6), (1 - 1e-6, 1 + 1e-6)):
        rows_off = p * scales[0], q * scales[1]
        assert least_mu(*rows_off, side="lower")[0] < exact < least_mu(*rows_off)[0]


def test_what_is_too_small_for_a_float_is_not_relied_on():
    assert least_mu([5e-324, 1.0], [0.3, 0.7])[0] == math.inf
    assert least_mu([5e-324, 1.0], [0.3, 0.7], side="lower")[0] == 0


@pytest.mark.parametrize("error", [1e-9, 1e-4])
def test_errors_move_bounds_outwards_by_about_their_size(error):
    first, second = rows(9, 3)
    exact = least_mu(first, second)
    upper = least_mu(first, second, relative_error=error)
    lower = least_mu(first, second, relative_error=error, side="lower")
    assert (lower < exact).all()
    assert (exact < upper).all()
    assert (upper - lower < 13 * error).all()
    curve = trade_off(first, second, [0.1], relative_error=error)
    assert (curve < trade_off(first, second, [0.1])).all()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: least_mu([0.5, 0.5], [[0.5, 0.5], [1.0, 0.0]]), "first, second"),
        (lambda: least_mu([0.5, 0.5], [0.5, 0.5], side="both"), "side"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def test_an_absolute_error_may_make_equal_rows_as_different_as_it_allows():
    """Within 0.1 of (1/2, 1/2) are (0.4, 0.6) and (0.6, 0.4), whose best test is this one."""
    levels = [0.0, 0.2, 0.4, 0.7]
    apart = [1.0, 0.7, 0.4, 0.2]
    found = trade_off([0.5, 0.5], [0.5, 0.5], levels, absolute_error=0.1)[0]
    assert (found <= apart).all()
    assert (trade_off([0.5, 0.5], [0.5, 0.5], levels)[0] > apart[2]).tolist() == [1, 1, 1, 0]
