"""Grid points of the figures of gamma's shape."""

import copy
from pathlib import Path

import yaml

from private_ensembles.papers.darrm.grid_points import prior_points, shape_points
from private_ensembles.run.check import check

ROOT = Path(__file__).parents[3]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
DARRM = check(DEFAULT).darrm


def test_figure_6_has_its_allowance_and_delta_from_general_composition():
    points = shape_points(DARRM, "figure6")
    assert [round(point["m"], 4) for point in points] == [6.4521, 7.5742, 8.2708, 9.8823]
    assert [round(point["delta"], 4) for point in points] == [0.1001, 0.1001, 0.1001, 0.1002]


def test_both_priors_of_figure_9_are_solved_at_the_same_points():
    by_prior = {name: prior_points(DARRM, name) for name in "UP"}
    for point, other in zip(*by_prior.values(), strict=True):
        assert point["prior"] != other["prior"]
        assert point | {"prior": ""} == other | {"prior": ""}
    without = copy.deepcopy(DEFAULT)
    without["darrm"]["figure9"] = None
    assert prior_points(check(without).darrm, "U") == []
