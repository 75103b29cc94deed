"""The figure of own votes: byte for byte the same, and its profile integrates to the queries."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.report import own_figure

ROWS = [("gnmax", 40.0, True, ""), ("lnmax_pure", 30.0, False, ""), ("ladder", np.nan, False, "no")]
TABLE = pd.DataFrame(ROWS, columns=["mechanism", "correct", "chosen", "not_applicable"])
TABLE = TABLE.assign(name=TABLE["mechanism"].str.upper(), wanted=100)
PROFILE = {"easy_share": 0.7, "easy": (20, 2), "hard": (2, 2), "confusion": 1.0}


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_it_is_drawn_byte_for_byte_equal(suffix, tmp_path):
    first, second, other = (tmp_path / f"{name}.{suffix}" for name in "abc")
    own_figure.draw_own(TABLE, PROFILE, first)
    own_figure.draw_own(TABLE, PROFILE, second)
    own_figure.draw_own(TABLE, PROFILE | {"easy_share": 0.2}, other)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes() != other.read_bytes()


@pytest.mark.parametrize(("a", "b"), [(20, 2), (2, 2), (0.5, 0.5), (300, 1)])
def test_the_profile_s_mean_is_the_beta_s(a, b):
    weights = own_figure._beta(a, b)
    assert weights.sum() == pytest.approx(1)
    assert weights @ own_figure._SHARES == pytest.approx(a / (a + b), abs=0.01)
