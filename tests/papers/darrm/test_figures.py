"""DaRRM's figures, and the data behind them against direct computation."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.papers.darrm import figure_data
from private_ensembles.papers.darrm import figures as figures
from private_ensembles.papers.darrm import sweep_figures as sweep_figures
from private_ensembles.papers.darrm.figure_data import (
    feasible_region,
    gamma_shapes,
    prior_shapes,
    sigma_search,
)
from private_ensembles.papers.darrm.mathematics.error import (
    error_at,
    expected_error,
    expected_error_estimate,
)
from private_ensembles.papers.darrm.mathematics.gamma import (
    gamma_constant,
    gamma_double_subsampling,
    gamma_subsampling,
)
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.simulations import (
    composition_parameters,
    low_noise_allowances,
    sweep_gamma_families,
    unavoidable_error,
)

SOLUTION = {"K": 11, "m": 3, "epsilon": 0.1, "Delta": 1e-5, "delta": 3e-5}
SOLUTION["gamma"] = gamma_subsampling(11, 3).tolist()
SETTING = figures.describe_setting(SOLUTION)
BUDGETS = [
    {"name": "mnist", "epsilon": 0.2676, "delta": 3e-4},
    {"name": "fashion-mnist", "epsilon": 0.2556, "delta": 3e-4},
]


def shapes(number: int) -> pd.DataFrame:
    solutions = [SOLUTION | {"m": m} for m in range(1, number + 1)]
    return gamma_shapes(solutions, "uniform:0.5,1")


def search() -> pd.DataFrame:
    return sigma_search(BUDGETS, order_max=500, order_step=0.5)


def priors() -> pd.DataFrame:
    actual = ["absolute-uniform:0,1", "fixed:0.5", "uniform:0.9,1"]
    return prior_shapes({"U": [SOLUTION], "P": [SOLUTION]}, actual)


def region() -> pd.DataFrame:
    worst = {"certificate": {"worst_assignment": {"D,0": 3, "H,h": 8}}}
    return feasible_region([SOLUTION | worst, SOLUTION | worst | {"m": 5}])


@pytest.mark.parametrize("number", [1, 6])
def test_any_number_of_m_has_its_panels(drawn, number):
    figures.draw_gamma_shapes(shapes(number), setting=SETTING)
    titles = {axis.get_title() for axis in drawn[0].axes if axis.get_visible()}
    assert {f"$m = {m}$" for m in range(1, number + 1)} <= titles


def test_marks_of_many_values_are_few_and_symmetric_and_spikes_have_one():
    for size in (4, 12, 36, 102, 1002):
        marked = figures._points_with_markers(np.ones(size))
        assert sorted(size - 1 - index for index in marked) == sorted(marked)
        assert len(marked) <= 30
    values = np.ones(102)
    values[[44, 57]] = 0.2
    assert {44, 57} <= set(figures._points_with_markers(values))


def test_allowances_without_noise_are_words_and_no_panels(drawn):
    data = shapes(3)
    quiet = data.assign(m=11, subsamples=11)
    quiet = quiet[quiet["m"] == 11].assign(y=1.0)
    figures.draw_gamma_shapes(pd.concat([data, quiet]), setting=SETTING)
    (figure,) = drawn
    titles = {axis.get_title() for axis in figure.axes if axis.get_visible()}
    assert "$m = 11$" not in titles
    assert "$m = 3$" in titles
    assert figure.get_suptitle() == f"{SETTING}; at m = 11 no γ adds noise"


def test_distributions_without_error_are_words_and_no_panels(drawn):
    figures.draw_prior_shapes(priors(), setting=SETTING)
    (figure,) = drawn
    assert len(figure.axes) == 3
    assert figure.get_suptitle() == (
        f"{SETTING}; at $p_i = 0.5$ every symmetric $\\gamma$ has error 0"
    )


# Data ---------------------------------------------------------------------------------------------


SOLUTIONS = [
    {
        "K": 11,
        "m": m,
        "epsilon": 0.1,
        "Delta": 1e-5,
        "delta": m * 1e-5,
        "gamma": gamma_subsampling(11, m).tolist(),
    }
    for m in (1, 3)
]
ACTUAL = ["absolute-uniform:0,1", "fixed:0.5", "uniform:0.9,1"]


@pytest.fixture(scope="module")
def shape_rows():
    return figure_data.gamma_shapes(SOLUTIONS, "uniform:0.5,1")


@pytest.fixture(scope="module")
def solutions():
    return {
        name: [optimize_gamma(11, m, 0.1, 0, prior=prior).to_dict() for m in (3, 5)]
        for name, prior in (("U", "uniform:0.5,1"), ("P", "uniform:0.7,1"))
    }


@pytest.fixture(scope="module")
def prior_rows(solutions):
    return figure_data.prior_shapes(solutions, ACTUAL)


@pytest.fixture(scope="module")
def search_rows():
    return figure_data.sigma_search(BUDGETS, order_max=500, order_step=0.5)


def test_figure_2_shows_every_family_at_every_m(shape_rows):
    counts = shape_rows[shape_rows["family"] != figure_data.BOUND]
    counts = counts.groupby(["m", "family", "quantity"]).size().unstack()
    assert len(counts) == 2 * 3  # without double subsampling: Delta > 0
    assert (counts["gamma"] == 12).all()
    assert (counts["expected_error"] == 1).all()


def column(data, m, family, quantity):
    part = data[(data["m"] == m) & (data["family"] == family) & (data["quantity"] == quantity)]
    return part["y"].to_numpy()


def test_lemma_3_2_is_drawn_at_m_1_only(shape_rows):
    bound = shape_rows[shape_rows["family"] == figure_data.BOUND]
    assert set(bound["m"]) == {1}
    np.testing.assert_array_equal(bound["y"], unavoidable_error(11, bound["x"].to_numpy()))


def test_figures_of_pure_privacy_show_double_subsampling_as_computed_alone():
    pure = [s | {"Delta": 0, "delta": 0.0} for s in SOLUTIONS]
    data = figure_data.gamma_shapes(pure, "uniform:0.5,1")
    p = np.linspace(0, 1, 201)
    for m in (1, 3):
        for family, gamma in (
            ("gamma_dsub", gamma_double_subsampling(11, m)),
            ("gamma_sub", gamma_subsampling(11, m)),
            ("gamma_const", gamma_constant(11, m, 0.1)),
        ):
            np.testing.assert_array_equal(column(data, m, family, "gamma"), gamma)
            np.testing.assert_array_equal(column(data, m, family, "error"), error_at(gamma, p))
            mean = expected_error(gamma, "uniform:0.5,1")
            assert column(data, m, family, "expected_error").item() == mean
            assert column(data, m, family, "scaling").item() < 1e-9


def test_figure_6_subsamples_m_teachers_and_composes_all_of_them(drawn):
    row = composition_parameters(35, 10, 0.1, 1e-5, 0.1)
    m = row["m"]
    solution = {"K": 35, "m": m, "epsilon": 0.1, "Delta": 1e-5, "delta": row["delta"]}
    solution["gamma"] = gamma_subsampling(35, 10).tolist()
    data = figure_data.gamma_shapes([solution], "uniform:0.5,1", subsamples=[10], delta_prime=0.1)
    np.testing.assert_array_equal(column(data, m, "gamma_sub", "gamma"), gamma_subsampling(35, 10))
    constant = gamma_constant(35, m, 0.1, 1e-5, row["delta"], delta_prime=0.1)
    np.testing.assert_array_equal(column(data, m, "gamma_const", "gamma"), constant)
    assert set(data["subsamples"]) == {10}
    figures.draw_gamma_shapes(data, setting="K = 35")
    assert len(drawn) == 1


def test_gammas_of_unequal_setting_do_not_share_a_figure():
    with pytest.raises(ValueError, match="share K"):
        figure_data.gamma_shapes([SOLUTIONS[0], SOLUTIONS[1] | {"epsilon": 0.2}], "uniform:0.5,1")
    with pytest.raises(ValueError, match="share K"):
        figure_data.gamma_shapes([SOLUTIONS[0], SOLUTIONS[0]], "uniform:0.5,1")


def test_figure_10_falls_then_rises_and_marks_the_minimum(search_rows):
    for name, printed in (("mnist", "21.46"), ("fashion-mnist", "22.46")):
        part = search_rows[search_rows["dataset"] == name]
        curve = part[part["role"] == "curve"]["sigma_squared"].to_numpy()
        least = int(curve.argmin())
        assert np.all(np.diff(curve[: least + 1]) < 0)
        assert np.all(np.diff(curve[least:]) > 0)
        minimum = part[part["role"] == "minimum"]["sigma_squared"].item()
        assert f"{minimum**0.5:.2f}" == printed


def errors(data, actual):
    part = data[(data["quantity"] == "expected_error") & (data["actual"] == actual)]
    return part.set_index(["m", "family"])["y"]


def test_figure_9_errors_are_those_computed_alone(prior_rows, solutions):
    for index, m in enumerate((3, 5)):
        gammas = {
            "gamma_opt_U": solutions["U"][index]["gamma"],
            "gamma_opt_P": solutions["P"][index]["gamma"],
            "gamma_sub": gamma_subsampling(11, m),
            "gamma_const": gamma_constant(11, m, 0.1),
        }
        for family, gamma in gammas.items():
            part = prior_rows[(prior_rows["m"] == m) & (prior_rows["family"] == family)]
            np.testing.assert_array_equal(part[part["quantity"] == "gamma"]["y"], gamma)
            value = errors(prior_rows, "uniform:0.9,1")[m, family]
            assert value == expected_error(gamma, "uniform:0.9,1")
            estimate = expected_error_estimate(gamma, "absolute-uniform:0,1")
            assert errors(prior_rows, "absolute-uniform:0,1")[m, family] == estimate.error
            assert 0 < estimate.half_width < 0.01 * estimate.error


def test_without_a_majority_every_gamma_has_error_zero(prior_rows):
    # The paper expects a larger error for the gamma of T_P at p_i = 0.5: there is none.
    assert errors(prior_rows, "fixed:0.5").max() < 1e-15


def test_each_prior_wins_where_it_is_right(prior_rows):
    for m in (3, 5):
        clear = errors(prior_rows, "uniform:0.9,1")[m]
        unclear = errors(prior_rows, "absolute-uniform:0,1")[m]
        assert clear.idxmin() == "gamma_opt_P"
        assert unclear.idxmin() == "gamma_opt_U"


def test_gammas_of_unequal_setting_do_not_share_figure_9(solutions):
    with pytest.raises(ValueError, match="figure9"):
        figure_data.prior_shapes({"U": solutions["U"], "P": solutions["P"][::-1]}, ACTUAL)


@pytest.mark.parametrize("Delta", [0.0, 1e-5, 0.1])
def test_corners_of_the_feasible_region_go_once_around_it(Delta):
    """Each satisfies Lemma 5.1's four inequalities, two of them tightly; the polygon is convex."""
    worst = {"certificate": {"worst_assignment": {"D,0": 3, "H,h": 8}}}
    one = SOLUTIONS[1] | {"epsilon": 0.5, "Delta": Delta, "delta": max(3 * Delta, 0.0)} | worst
    frame = figure_data.feasible_region([one])
    assert frame["teachers"].sum() == 11
    assert (
        dict(frame.loc[frame["teachers"] > 0, ["corner", "teachers"]].to_numpy())
        == (worst["certificate"]["worst_assignment"])
    )
    p, q = frame["p"].to_numpy(), frame["p_prime"].to_numpy()
    e = np.exp(0.5)
    slack = np.stack([e * q + Delta - p, e * p + Delta - q])
    slack = np.concatenate([slack, [e * (1 - q) + Delta - (1 - p), e * (1 - p) + Delta - (1 - q)]])
    slack = np.concatenate([slack, [p, 1 - p, q, 1 - q]])
    assert (slack > -1e-12).all()
    assert ((np.abs(slack) < 1e-12).sum(axis=0) >= 2).all()
    step = np.diff(np.stack([p, q]), axis=1, append=[[p[0]], [q[0]]])
    turn = step[0] * np.roll(step[1], -1) - step[1] * np.roll(step[0], -1)
    assert (turn >= -1e-12).all()
    area = (p * np.roll(q, -1) - q * np.roll(p, -1)).sum() / 2
    grid = (np.arange(400) + 0.5) / 400
    x, y = np.meshgrid(grid, grid)
    inside = (x <= e * y + Delta) & (y <= e * x + Delta)
    inside &= (1 - x <= e * (1 - y) + Delta) & (1 - y <= e * (1 - x) + Delta)
    assert area == pytest.approx(inside.mean(), abs=2e-3)


def test_the_sweeps_show_every_number_of_teachers(drawn):
    rows, noiseless = [], []
    for K in (3, 5):
        rows += sweep_gamma_families(K, 0.1, 1e-5, [1, 3], prior="common:0.5,1")
        noiseless += low_noise_allowances(K, 0.1, 1e-5)
    sweep_figures.draw_sweeps(pd.DataFrame(rows))
    sweep_figures.draw_noiseless(pd.DataFrame(noiseless))
    assert len(drawn) == 2
    for axis in drawn[0].axes:
        assert {"K = 3", "K = 5"} <= {line.get_label() for line in axis.lines}
