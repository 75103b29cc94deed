"""Figures: the data behind them, and files that are equal byte for byte."""

import numpy as np
import pytest

from private_ensembles.darrm.gamma import gamma_subsampling
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
    counts = shapes.groupby(["m", "family", "quantity"]).size().unstack()
    assert len(counts) == 2 * len(figures.FAMILIES)
    assert (counts["gamma"] == 12).all()
    assert (counts["expected_error"] == 1).all()


def test_errors_of_figure_2_vanish_without_a_majority_and_are_symmetric(shapes):
    for _, group in shapes[shapes["quantity"] == "error"].groupby(["m", "family"]):
        error = group.sort_values("x")["y"].to_numpy()
        np.testing.assert_allclose(error, error[::-1], atol=1e-12)
        assert error[len(error) // 2] == pytest.approx(0, abs=1e-12)
        assert error.min() >= 0


def test_gammas_of_unequal_setting_do_not_share_a_figure():
    with pytest.raises(ValueError, match="figure2"):
        figures.gamma_shapes([SOLUTIONS[0], SOLUTIONS[1] | {"epsilon": 0.2}], "uniform:0.5,1")
    with pytest.raises(ValueError, match="figure2"):
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
    from private_ensembles.registry import MECHANISMS

    colors = [style.look(name)["color"] for name in MECHANISMS]
    assert set(MECHANISMS) <= set(style.LOOKS)
    assert len(set(colors)) == len(colors)
    assert style.look("gamma_opt") == style.look("darrm_opt")
