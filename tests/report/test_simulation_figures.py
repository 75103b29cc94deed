"""Figure 9 and the figures of the sweeps: the data against direct computation, and files."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.darrm.error import error_at, expected_error, expected_error_estimate
from private_ensembles.darrm.gamma import gamma_constant, gamma_subsampling
from private_ensembles.darrm.optimize import optimize_gamma
from private_ensembles.darrm.simulations import noiseless_allowances, sweep
from private_ensembles.report import simulation_figures as figures

ACTUAL = ["absolute-uniform:0,1", "fixed:0.5", "uniform:0.9,1"]


@pytest.fixture(scope="module")
def solutions():
    return {
        name: [optimize_gamma(11, m, 0.1, 0, prior=prior).to_dict() for m in (3, 5)]
        for name, prior in (("U", "uniform:0.5,1"), ("P", "uniform:0.7,1"))
    }


@pytest.fixture(scope="module")
def priors(solutions):
    return figures.prior_shapes(solutions, ACTUAL)


def errors(data, actual):
    part = data[(data["quantity"] == "expected_error") & (data["actual"] == actual)]
    return part.set_index(["m", "family"])["y"]


def test_figure_9_errors_are_those_computed_alone(priors, solutions):
    for index, m in enumerate((3, 5)):
        gammas = {
            "gamma_opt_U": solutions["U"][index]["gamma"],
            "gamma_opt_P": solutions["P"][index]["gamma"],
            "gamma_sub": gamma_subsampling(11, m),
            "gamma_const": gamma_constant(11, m, 0.1),
        }
        for family, gamma in gammas.items():
            part = priors[(priors["m"] == m) & (priors["family"] == family)]
            np.testing.assert_array_equal(part[part["quantity"] == "gamma"]["y"], gamma)
            value = errors(priors, "uniform:0.9,1")[m, family]
            assert value == expected_error(gamma, "uniform:0.9,1")
            estimate = expected_error_estimate(gamma, "absolute-uniform:0,1")
            assert errors(priors, "absolute-uniform:0,1")[m, family] == estimate.error
            assert 0 < estimate.half_width < 0.01 * estimate.error


def test_without_a_majority_every_symmetric_gamma_has_error_zero(priors):
    # The paper expects a larger error for the gamma of T_P at p_i = 0.5: there is none.
    assert errors(priors, "fixed:0.5").max() < 1e-15
    rng = np.random.default_rng(0)
    for K in (3, 11, 35):
        half = rng.random((K + 1) // 2)
        assert error_at(np.concatenate([half[::-1], half]), 0.5) < 1e-15


def test_uniform_near_zero_is_uniform_near_one_by_symmetry():
    gamma = gamma_subsampling(11, 3)
    near_zero = expected_error_estimate(gamma, "absolute-uniform:0,0.1")
    assert near_zero.error == pytest.approx(
        expected_error(gamma, "uniform:0.9,1"), abs=2 * near_zero.half_width
    )


def test_each_prior_wins_where_it_is_right(priors):
    for m in (3, 5):
        clear = errors(priors, "uniform:0.9,1")[m]
        unclear = errors(priors, "absolute-uniform:0,1")[m]
        assert clear.idxmin() == "gamma_opt_P"
        assert unclear.idxmin() == "gamma_opt_U"


def test_gammas_of_unequal_setting_do_not_share_figure_9(solutions):
    with pytest.raises(ValueError, match="figure9"):
        figures.prior_shapes({"U": solutions["U"], "P": solutions["P"][::-1]}, ACTUAL)


def test_figure_9_and_the_sweeps_are_written_byte_for_byte_equal(tmp_path, priors):
    rows, noiseless = [], []
    for K in (5, 11):
        for Delta in (0, 1e-5):
            rows += sweep(K, 0.1, Delta, [1, 3, 5], prior="common:0.5,1")
            noiseless += noiseless_allowances(K, 0.1, Delta)
    for draw, data in (
        (figures.draw_prior_shapes, priors),
        (figures.draw_sweeps, pd.DataFrame(rows)),
        (figures.draw_noiseless, pd.DataFrame(noiseless)),
    ):
        for suffix in ("png", "pdf"):
            first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
            draw(data, first)
            draw(data, second)
            assert first.read_bytes() == second.read_bytes()
