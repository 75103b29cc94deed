"""A vote that appears: every place of the coin lies below one row, and 5 % more does not."""

import mpmath
import numpy as np
import pytest

from private_ensembles.accounting.adaptive.families import Pairs
from private_ensembles.accounting.adaptive.sampled_coins import Coins

HALF = Pairs(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5]]))


def below(law, x):
    return mpmath.ncdf(x) if law == "normal" else 1 / (1 + mpmath.exp(-x))


def curve_of(law, x, shift, t):
    """Less (1 - t)_+, where P has the vote, in forty digits."""
    with mpmath.workdps(40):
        found = []
        for value in map(mpmath.mpf, t.tolist()):
            p, q = below(law, mpmath.mpf(x) + shift), below(law, mpmath.mpf(x))
            gains = p - value * q, (1 - p) - value * (1 - q)
            found.append(sum(max(0, gain) for gain in gains) - max(0, 1 - value))
        return np.array([float(value) for value in found])


@pytest.mark.parametrize("shift", [0.01, 0.2, 2.0])
@pytest.mark.parametrize("law", ["normal", "logistic"])
def test_one_row_lies_above_each_coin_at_all_thresholds(law, shift):
    t = np.exp(np.linspace(-4, 4, 41) * shift)
    rows = Coins(law, shift, HALF).excesses(t)
    for x in (-12.0, -5.0, -1.301, -shift / 2, 0.0, 0.777, 3.0, 9.0):
        exact = curve_of(law, x, mpmath.mpf(shift), t)
        assert (rows >= exact).all(axis=1).any()
        backwards = t * curve_of(law, x, mpmath.mpf(shift), 1 / t)
        assert (rows >= backwards * (1 - 1e-13)).all(axis=1).any()
    # The sum over thresholds is that of the worst coin, nearly, and 5 % more shift is not covered.
    worst = max(curve_of(law, x, mpmath.mpf(shift), t).sum() for x in np.linspace(-3, 3, 61))
    assert worst <= rows.sum(axis=1).max() <= 1.03 * worst
    twin = curve_of(law, -shift / 2, mpmath.mpf(1.05 * shift), t)
    assert not (rows >= twin).all(axis=1).any()


def test_what_is_spare_is_added_and_no_curve_is_above_one():
    t = np.array([0.5, 1.0, 3.0])
    plain, spare = (Coins("normal", 0.3, HALF, part).excesses(t) for part in (0.0, 0.01))
    np.testing.assert_allclose(spare - plain, np.broadcast_to(0.01 * (1 + t), plain.shape))
    assert Coins("normal", 0.3, HALF, 0.9).excesses(t).max() == 1
    assert Coins("normal", 0.3, HALF).pairs()[0].tolist() == [[0.5, 0.5]] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("uniform", 1.0, HALF), "law = 'uniform': must be one of normal, logistic"),
        (("normal", 0.0, HALF), "shift = 0.0: must be a finite number > 0"),
        (("normal", 1.0, HALF, 1.0), r"spare = 1.0: must be in \[0, 1\)"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Coins(*arguments)
