"""GNMax's label of sampled voters at any lead and middle, by quadrature of its own."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.adaptive.sampled_gaussian import SampledMaximum


def law(a, b, most):
    """Pr[a], Pr[b], Pr[another] of noisy counts with these means, in sigma, where M is known."""
    wins = quad(lambda y: norm.pdf(y - a) * ndtr(y - b), most, max(a, b, most) + 12, epsabs=1e-13)
    loses = quad(lambda y: norm.pdf(y - b) * ndtr(y - a), most, max(a, b, most) + 12, epsabs=1e-13)
    return np.array([wins[0], loses[0], ndtr(most - a) * ndtr(most - b)])


def excess_of(lead, middle, vote, rate, t):
    """The curve where the others' lead is `lead` and M lies `middle` above a's and b's middle."""
    a, b, most = lead / 2, -lead / 2, middle
    without, at_a, at_b = law(a, b, most), law(a + vote, b, most), law(a, b + vote, most)
    first = rate * at_a + (1 - rate) * without
    second = rate * at_b + (1 - rate) * without
    gains = np.maximum(first[:, None] - t * second[:, None], 0).sum(axis=0)
    return gains - np.maximum(1 - t, 0)


@pytest.mark.parametrize(("scale", "rate"), [(20.0, 0.1), (12.0, 0.7), (2.0, 0.2)])
def test_a_curve_between_nodes_lies_below_the_mixture_of_those_around_it(scale, rate):
    family = SampledMaximum(scale, 40, 5, rate=rate)
    leads, middles, between = family._nodes()
    t = np.exp(np.linspace(-2, 2, 21) * rate / scale)
    rows = family.excesses(t).reshape(leads.size, middles.size, t.size)
    rng = np.random.default_rng(2)
    vote, looser = 1 / scale, []
    for _ in range(12):
        c = rng.uniform(-2, 2)
        # A node's lead has the voter's vote at a, its middle likewise.
        w = rng.uniform(-1, 1) if between else leads[leads.size // 2 + rng.integers(-1, 2)]
        exact = excess_of(w - vote, c + vote / 2, vote, rate, t)
        j = np.searchsorted(middles, c) - 1
        of_c = (c - middles[j]) / (middles[j + 1] - middles[j])
        i = np.searchsorted(leads, w, side="right") - 1
        of_w = (w - leads[i]) / (leads[i + 1] - leads[i])
        low, high = (rows[k, j] * (1 - of_c) + rows[k, j + 1] * of_c for k in (i, i + 1))
        bound = low * (1 - of_w) + high * of_w
        assert (bound >= exact - 1e-11).all()
        looser.append((bound.sum() - exact.sum()) / exact.sum())
    assert max(looser) < 0.05


def test_all_sampled_is_the_family_of_all_voters():
    t = np.exp(np.linspace(-0.2, 0.2, 5))
    whole, sampled = GaussianMaximum(15.0, 30, 3), SampledMaximum(15.0, 30, 3, rate=1.0)
    np.testing.assert_array_equal(whole.excesses(t), sampled.excesses(t))
    np.testing.assert_array_equal(whole.pairs()[0], sampled.pairs()[0])


def test_five_per_cent_less_noise_is_not_covered():
    t = np.array([0.98, 1.0, 1.02])
    rows = SampledMaximum(20.0, 40, 3, rate=0.3).excesses(t)
    twin = excess_of(0.0, -9.0, 1 / 19.0, 0.3, t)
    assert twin[1] > rows[:, 1].max()


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"rate = 0: must be in \(0, 1\]"):
        SampledMaximum(1.0, 5, 3, rate=0)
    with pytest.raises(ValueError, match="moved = 2: must be an integer >= 1 and <= 1"):
        SampledMaximum(1.0, 5, 3, moved=2, rate=0.5)
