"""What a label costs at any distance, against all histograms that so many moved votes reach."""

from itertools import product

import numpy as np
import pytest

from private_ensembles.noise.secure import MODES
from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.label_walk import LabelWalk, Votes

TEACHERS, CLASSES = 14, 3
ROWS = np.array(
    [r for r in product(range(TEACHERS + 1), repeat=CLASSES) if sum(r) == TEACHERS], np.int64
)


@pytest.mark.parametrize("noise", MODES)
@pytest.mark.parametrize(
    ("sigma", "order"), [(1.0, 1.8), (1.5, 1.5), (2.0, 2.0), (2.5, 1.5), (40.0, 2.0)]
)
def test_costs_and_sensitivities_cover_every_histogram_in_reach(sigma, order, noise):
    curve = CostCurve(sigma, order, CLASSES, noise)
    ordered = -np.sort(-ROWS, axis=1)
    votes = Votes(ordered, curve.tails)
    walk = LabelWalk(votes, curve)
    moved = np.abs(ROWS[:, None] - ROWS[None]).sum(axis=2) // 2
    here = curve.beta(votes.log_q)
    for d in range(4):
        sensitivity, cost = (part[0] for part in walk.local(np.array([d])))
        for row in range(0, len(ROWS), 5):
            reached = np.flatnonzero(moved[row] <= d)
            assert here[reached].max() <= cost[row] + 1e-12 * curve.ceiling
            steps = [here[moved[at] <= 1] - here[at] for at in reached]
            assert max(np.abs(step).max() for step in steps) <= sensitivity[row] + 1e-9


def test_what_is_dropped_is_far_from_the_plateau_and_counts_nothing():
    curve = CostCurve(2.0, 2.0, CLASSES)
    walk = LabelWalk(Votes(np.array([[14, 0, 0], [6, 5, 3]], np.int64), curve.tails), curve)
    before = walk.local(np.array([0]))[0][0]
    walk.drop_below(before[0] * 100)
    after = walk.local(np.array([0]))[0][0]
    assert (before[0] > 0, after[0]) == (True, 0)
    assert after[1] == before[1]
