"""NZC's Figure 2 is drawn from its frame, byte for byte the same."""

import functools

import numpy as np

from private_ensembles.figures.nzc import draw_ensembles
from private_ensembles.papers.nzc.figures import figure2

from .twice import assert_equal_bytes


def test_figure_2_is_drawn_byte_for_byte_equal(tmp_path):
    source = np.random.default_rng(0)
    votes = {K: source.multinomial(K, [0.6, 0.3, 0.1], 60) for K in (3, 20)}
    data = figure2(votes, source.integers(0, 3, 60), [0, 0.1, 0.5], task="here")
    assert_equal_bytes(functools.partial(draw_ensembles, data), tmp_path, least=1000)
