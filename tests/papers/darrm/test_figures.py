"""DaRRM's figures: panels for any number of m, and words where there is nothing to draw."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.papers.darrm import figures as figures
from private_ensembles.papers.darrm.figure_data import (
    feasible_region,
    gamma_shapes,
    prior_shapes,
    sigma_search,
)
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling

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


@pytest.mark.parametrize("number", [1, 5, 6])
def test_any_number_of_m_has_its_panels(tmp_path, number):
    figures.draw_gamma_shapes(shapes(number), tmp_path / "a.png", setting=SETTING)


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


def test_the_bound_has_the_name_that_the_data_give_it():
    assert figures.BOUND in set(shapes(1)["family"])
