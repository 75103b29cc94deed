"""What a mechanism was calibrated to."""

from dataclasses import dataclass

import numpy as np

from private_ensembles.labels.parameters import Parameters


def test_a_table_shows_numbers_that_are_there():
    @dataclass(frozen=True)
    class Noise(Parameters):
        sigma: float
        gamma: np.ndarray
        rate: float | None = None

    assert Noise(2.0, np.ones(3)).table_values() == {"sigma": 2.0}
