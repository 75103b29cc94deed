"""The ends of what the samplers of noise take: just beyond, they refuse."""

import numpy as np
import pytest

from private_ensembles.base import secure, streams
from tests.ranges import NOT_POSITIVE, OUTSIDE_0_1, check_ends

ONE = np.array([1])
RANGES = {
    "coins": (secure.draw_bernoulli, OUTSIDE_0_1, (0.0, 1.0)),
    "add_discrete_gaussian": (
        lambda x: secure.add_discrete_gaussian(ONE, x),
        NOT_POSITIVE,
        (0.1, 5.0),
    ),
    "add_discrete_gaussian, counts": (
        lambda x: secure.add_discrete_gaussian(np.array([x]), 1.0),
        (1 << 22, -(1 << 22), 0.5),
        ((1 << 22) - 1, 1 - (1 << 22)),
    ),
    "add_fine_gaussian": (
        lambda x: secure.add_fine_gaussian(ONE, x),
        (0.0, -1.0, 2.0**56),
        (0.1, 2.0**56 - 8),
    ),
    "add_fine_gaussian, counts": (
        lambda x: secure.add_fine_gaussian(np.array([x]), 1.0),
        (1 << 22, -(1 << 22)),
        ((1 << 22) - 1, 1 - (1 << 22)),
    ),
    "fine_units": (secure.fine_units, (*NOT_POSITIVE, 2.0**56), (5e-324, 2.0**56 - 8)),
    "a seed": (streams.stream, (-1, True, 0.5), (0, 1 << 80)),
    "a part of a path": (lambda x: streams.stream(0, x), (-1, True, 0.5), (0, 1 << 80, "")),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])
