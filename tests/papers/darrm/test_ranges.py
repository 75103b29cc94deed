"""The ends of what DaRRM's Monte-Carlo objectives take: just beyond, they refuse."""

import math

import numpy as np
import pytest

from private_ensembles.papers.darrm import monte_carlo
from tests.ranges import check_ends

NOT_ODD = (0, -1, 2, 1.5, True)
DRAW = np.random.default_rng(0)

RANGES = {
    "lengths": (
        lambda x: monte_carlo.mean_leads(np.full((2, 3), 0.5), x),
        ([], [0], [3], [1, 1], [2, 1]),
        ([1], [2], [1, 2]),
    ),
    "algorithm_4_draws, K": (lambda x: monte_carlo.algorithm_4_draws(x, 1, DRAW), NOT_ODD, (1,)),
    "algorithm_4_draws, draws": (
        lambda x: monte_carlo.algorithm_4_draws(3, x, DRAW),
        (0, -1, 1.5, True),
        (1,),
    ),
    "algorithm_4_draws, low": (
        lambda x: monte_carlo.algorithm_4_draws(3, 1, DRAW, low=x, high=0.5),
        (-1e-9, 0.5, math.nan),
        (0.0, 0.4),
    ),
    "algorithm_4_draws, high": (
        lambda x: monte_carlo.algorithm_4_draws(3, 1, DRAW, low=0.5, high=x),
        (0.5, 1 + 1e-9, math.nan),
        (0.6, 1.0),
    ),
    "algorithm_5_draws": (
        lambda x: monte_carlo.algorithm_5_draws(3, 1, DRAW, tau=x),
        (0, -1, 1.5, True),
        (1, 2),
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
