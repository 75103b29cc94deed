"""Figures: the data behind them, and files that are equal byte for byte."""

import numpy as np
import pytest

from private_ensembles.darrm.error import error_at, expected_error
from private_ensembles.darrm.gamma import (
    gamma_constant,
    gamma_double_subsampling,
    gamma_subsampling,
)
from private_ensembles.darrm.simulations import composition_parameters, worst_data_set_bound
from private_ensembles.report import figures, style

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
BUDGETS = [
    {"name": "mnist", "epsilon": 0.2676, "delta": 3e-4},
    {"name": "fashion-mnist", "epsilon": 0.2556, "delta": 3e-4},
]


@pytest.fixture(scope="module")
def shapes():
    return figures.gamma_shapes(SOLUTIONS, "uniform:0.5,1")


@pytest.fixture(scope="module")
def search():
    return figures.sigma_search(BUDGETS, order_max=500, order_step=0.5)


def test_figure_2_shows_every_family_at_every_m(shapes):
    counts = shapes[shapes["family"] != figures.BOUND]
    counts = counts.groupby(["m", "family", "quantity"]).size().unstack()
    assert len(counts) == 2 * 3  # without double subsampling: Delta > 0
    assert (counts["gamma"] == 12).all()
    assert (counts["expected_error"] == 1).all()


def column(data, m, family, quantity):
    part = data[(data["m"] == m) & (data["family"] == family) & (data["quantity"] == quantity)]
    return part["y"].to_numpy()


def test_lemma_3_2_is_drawn_at_m_1_only(shapes):
    bound = shapes[shapes["family"] == figures.BOUND]
    assert set(bound["m"]) == {1}
    np.testing.assert_array_equal(bound["y"], worst_data_set_bound(11, bound["x"].to_numpy()))


def test_figures_of_pure_privacy_show_double_subsampling_as_computed_alone():
    pure = [s | {"Delta": 0, "delta": 0.0} for s in SOLUTIONS]
    data = figures.gamma_shapes(pure, "uniform:0.5,1")
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


def test_figure_6_subsamples_m_teachers_and_composes_all_of_them(tmp_path):
    row = composition_parameters(35, 10, 0.1, 1e-5, 0.1)
    m = row["m"]
    solution = {"K": 35, "m": m, "epsilon": 0.1, "Delta": 1e-5, "delta": row["delta"]}
    solution["gamma"] = gamma_subsampling(35, 10).tolist()
    data = figures.gamma_shapes([solution], "uniform:0.5,1", subsamples=[10], delta_prime=0.1)
    np.testing.assert_array_equal(column(data, m, "gamma_sub", "gamma"), gamma_subsampling(35, 10))
    constant = gamma_constant(35, m, 0.1, 1e-5, row["delta"], delta_prime=0.1)
    np.testing.assert_array_equal(column(data, m, "gamma_const", "gamma"), constant)
    assert set(data["subsamples"]) == {10}
    figures.draw_gamma_shapes(data, tmp_path / "figure6.png")


@pytest.mark.parametrize("number", [1, 5, 6])
def test_any_number_of_m_has_its_panels(tmp_path, number):
    solutions = [SOLUTIONS[0] | {"m": m} for m in range(1, number + 1)]
    data = figures.gamma_shapes(solutions, "uniform:0.5,1")
    figures.draw_gamma_shapes(data, tmp_path / "a.png")


def test_marks_of_many_values_are_few_and_symmetric():
    for size in (4, 12, 36, 102, 1002):
        marked = figures._marked(size)
        assert sorted(size - 1 - index for index in marked) == sorted(marked)
        assert len(marked) <= 30


def test_errors_of_figure_2_vanish_without_a_majority_and_are_symmetric(shapes):
    for _, group in shapes[shapes["quantity"] == "error"].groupby(["m", "family"]):
        error = group.sort_values("x")["y"].to_numpy()
        np.testing.assert_allclose(error, error[::-1], atol=1e-12)
        assert error[len(error) // 2] == pytest.approx(0, abs=1e-12)
        assert error.min() >= 0


def test_gammas_of_unequal_setting_do_not_share_a_figure():
    with pytest.raises(ValueError, match="share K"):
        figures.gamma_shapes([SOLUTIONS[0], SOLUTIONS[1] | {"epsilon": 0.2}], "uniform:0.5,1")
    with pytest.raises(ValueError, match="share K"):
        figures.gamma_shapes([SOLUTIONS[0], SOLUTIONS[0]], "uniform:0.5,1")


def test_figure_10_falls_then_rises_and_marks_the_minimum(search):
    for name, printed in (("mnist", "21.46"), ("fashion-mnist", "22.46")):
        part = search[search["dataset"] == name]
        curve = part[part["role"] == "curve"]["sigma_squared"].to_numpy()
        least = int(curve.argmin())
        assert np.all(np.diff(curve[: least + 1]) < 0)
        assert np.all(np.diff(curve[least:]) > 0)
        minimum = part[part["role"] == "minimum"]["sigma_squared"].item()
        assert f"{minimum**0.5:.2f}" == printed


def test_figures_are_written_in_every_format_and_byte_for_byte_equal(tmp_path, shapes, search):
    for draw, data in ((figures.draw_gamma_shapes, shapes), (figures.draw_sigma_search, search)):
        for suffix in ("png", "pdf", "svg"):
            first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
            draw(data, first)
            draw(data, second)
            assert first.read_bytes() == second.read_bytes()
            assert first.stat().st_size > 5000


def test_an_unknown_format_is_refused(tmp_path, search):
    with pytest.raises(ValueError, match="suffix"):
        figures.draw_sigma_search(search, tmp_path / "a.bmp")


def test_every_mechanism_has_one_look_and_no_two_share_it():
    from private_ensembles import mechanisms

    # A mechanism that has no look of its own yet takes its colour and a common mark.
    names = [name for name in mechanisms.names() if name in style.LOOKS]
    assert len(names) >= 19
    looks = [tuple(style.look(name).values()) for name in names]
    for name in names:
        color = mechanisms.load(name).color
        assert style.look(name)["color"] == getattr(style, color.upper())
    assert len(set(looks)) == len(looks)
    # In grey the mark alone must tell them apart.
    assert len({look[1] for look in looks}) == len(looks)
    assert style.look("gamma_opt") == style.look("darrm_opt")


def test_no_two_gamma_families_of_one_figure_share_a_colour():
    from private_ensembles.report.simulation_figures import PRIOR_FAMILIES

    for families in ((*figures.FAMILIES, figures.BOUND), PRIOR_FAMILIES):
        assert set(families) <= set(style.LOOKS) & set(style.LABELS)
        assert len({style.look(name)["color"] for name in families}) == len(families)
