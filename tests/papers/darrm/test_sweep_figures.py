"""Figures of the sweeps: files that are equal byte for byte."""

import functools

import pandas as pd

from private_ensembles.papers.darrm import sweep_figures as figures
from private_ensembles.papers.darrm.simulations import low_noise_allowances, sweep_gamma_families
from tests.papers.common.twice import assert_equal_bytes


def test_the_sweeps_are_written_byte_for_byte_equal(tmp_path):
    rows, noiseless = [], []
    for K in (3, 5):
        for Delta in (0, 1e-5):
            rows += sweep_gamma_families(K, 0.1, Delta, [1, 3], prior="common:0.5,1")
            noiseless += low_noise_allowances(K, 0.1, Delta)
    for draw, data in (
        (figures.draw_sweeps, pd.DataFrame(rows)),
        (figures.draw_noiseless, pd.DataFrame(noiseless)),
    ):
        assert_equal_bytes(functools.partial(draw, data), tmp_path)
