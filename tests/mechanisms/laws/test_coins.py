"""Coins are tossed at the very floats of a table."""

import numpy as np

from private_ensembles.mechanisms.laws.coins import draw_coins
from private_ensembles.noise import secure


def test_coins_are_drawn_at_the_smaller_probability(monkeypatch):
    """Its float is the coin's, and the likelier label is flipped by it."""
    tossed = []
    monkeypatch.setattr(secure, "coins", lambda p: tossed.append(p.tolist()) or np.array([1, 0, 1]))
    labels = draw_coins(np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]]))
    assert labels.tolist() == [1, 1, 0]
    assert tossed == [[0.1, 0.3, 0.2]]
