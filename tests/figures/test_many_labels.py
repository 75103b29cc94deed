"""The figure of the study: two panels, or three where there are votes, byte for byte the same."""

import functools

import numpy as np
import pandas as pd
import pytest

from private_ensembles.figures.many_labels import ACCOUNTS, draw

from .twice import assert_equal_bytes

STUDY = pd.DataFrame(
    [
        (name, name.upper(), labels, sigma, sigma / 10, 0.9 / labels**0.1)
        for labels in (1, 10, 100)
        for name, sigma in (*zip(ACCOUNTS, (13.0, 10.0, 8.0), strict=True), ("ladder", np.nan))
    ],
    columns=["mechanism", "name", "labels", "sigma", "ratio", "right"],
).assign(teachers=51, lead=21, epsilon=1.0, delta=1e-5, limit=0.8)
VOTES = pd.DataFrame(
    [
        (task, queries, epsilon, name, 0.5 + 0.05 * place + epsilon / 40)
        for task in ("mnist", "adult", "glyph")
        for queries in (100, 1000)
        for epsilon in (2.0, 8.0)
        for place, name in enumerate((*ACCOUNTS, "lnmax_pure"))
        if (task, name) != ("glyph", "gnmax_exact")
    ],
    columns=["task", "queries", "epsilon", "mechanism", "accuracy"],
).assign(delta=1e-5)


@pytest.mark.parametrize("votes", [None, VOTES])
def test_the_figure_is_drawn_byte_for_byte_equal(votes, tmp_path):
    assert_equal_bytes(functools.partial(draw, STUDY, votes), tmp_path, least=5000)


def test_votes_have_a_panel_of_their_own(tmp_path):
    draw(STUDY, None, tmp_path / "two.png")
    draw(STUDY, VOTES, tmp_path / "three.png")
    assert (tmp_path / "three.png").stat().st_size > 1.2 * (tmp_path / "two.png").stat().st_size
