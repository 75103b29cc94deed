"""One Gaussian mechanism that costs at least what many labels do, at every epsilon.

An accountant that knows Gaussian mechanisms alone can then charge labels. Kernels whose losses are
bounded keep their digits however small delta is, and a Rényi bound goes on where floats end, up to
the largest loss that labels can have. Theorems and proofs: docs/from-other-accountants.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, logsumexp, ndtri_exp

from private_ensembles import checks
from private_ensembles.accounting.adaptive import hockey_sticks
from private_ensembles.accounting.adaptive.account import (
    FINE,
    deciding_orders,
    gathered_on,
    grid_of,
)
from private_ensembles.accounting.adaptive.backward_induction import Grid, values_above
from private_ensembles.accounting.adaptive.families import Family, largest_spread
from private_ensembles.accounting.root import least

# More labels are taken in blocks of at most this many.
MANY = 1000
# How many standard deviations of all losses the grid reaches, and the Rényi orders that are tried
# beyond it, as shares of the one that matters at its end.
_WIDE = 14.0
# The same if some delta is reserved for what lies beyond.
_NEAR = 8.5
_ORDERS = np.geomspace(0.05, 50, 240)
# Losses beyond a kernel's reach may hold this much of delta, over all labels, before they are
# moved to the largest loss.
_CUT = 1e-14
# No kernel is longer than this many steps.
_LARGEST_REACH = 20_000
# Below this, floats that are too small to be held might matter.
_LEAST = 1e-250
# Points between two of the grid's, and intervals beyond the grid.
_PARTS, _INTERVALS = 8, 600
# Granted to SciPy's erfcx, log_ndtr and ndtri_exp (documented: below 1e-14), exponents, sums.
_ROUNDING = 1e-12
_CLOSE = 1e-4


def largest_normal_loss(sigma: float, teachers: int, classes: int, moved: int = 1) -> float:
    """Return an upper bound on |ln P/P'| of one label of GNMax.

    >>> round(largest_normal_loss(19.5, 51, 2), 3)
    0.16

    sigma: the noise on each count, > 0. moved: votes that go from one class to another. Theorem
    (docs/from-other-accountants.md): a label whose probability becomes p had at most
    Phi(Phi^-1(p) + mu), mu = sqrt(2) moved / sigma, and no label's probability is below that of one
    which all votes are against.
    """
    if classes == 2:
        rarest = float(log_ndtr(-teachers / (math.sqrt(2) * sigma)))
    else:
        above = np.linspace(-1.0, 6.0, 71)
        each = log_ndtr(-teachers / sigma - above) + (classes - 1) * log_ndtr(above)
        rarest = float(each.max())
    rarest *= 1 + _ROUNDING
    # What the label is before the move, if it is the rarest after it.
    shift = math.sqrt(2) * moved / sigma * (1 + _ROUNDING)
    before = float(ndtri_exp(rarest))
    before += shift + _ROUNDING * (1 + abs(before))
    loss = float(log_ndtr(before)) - rarest
    return loss + _ROUNDING * (1 + abs(rarest) + before**2)


def mu_of_pure(epsilon: float) -> float:
    """Return the mu for which whatever is (epsilon, 0)-DP is mu-GDP, an upper bound.

    >>> round(mu_of_pure(math.log(3)), 4)  # 2 Phi^-1(3 / 4)
    1.349

    That of randomised response, which no pure mechanism falls below (Kairouz, Oh and Viswanath).
    """
    quantile = float(ndtri_exp(-np.logaddexp(0.0, epsilon)))
    return -2 * quantile * (1 + _ROUNDING) + _ROUNDING


def dominating_mu(
    family: Family, labels: int, largest_loss: float, label_mu: float, reserve: float = 0.0
) -> float:
    """Return a mu such that G_mu's delta is at least that of all labels, at every epsilon.

    >>> from private_ensembles.accounting.adaptive.families import two_classes
    >>> label = two_classes([0.5, 0.55])
    >>> loss = math.log(0.5 / 0.45)
    >>> 0.99 < dominating_mu(label, 100, loss, mu_of_pure(loss)) < 1.1
    True

    family: neighbouring pairs of one label, in both orders. labels: >= 1, chosen adaptively.
    largest_loss: at least |ln P/P'| of every pair. label_mu: a mu for which one label is mu-GDP.
    reserve: what delta may exceed G_mu's by, in [0, 1). At most label_mu sqrt(labels), rounded up.
    Raises ValueError for numbers out of range. Theorems (docs/from-other-accountants.md): whatever
    the labels are composed with costs no more than if a Gaussian mechanism stood in their place,
    and `reserve` more of delta.
    """
    checks.integer(labels=labels, at_least=1)
    checks.finite(largest_loss=largest_loss, label_mu=label_mu, above=0)
    checks.probability(reserve=reserve, one=False)
    blocks = -(-labels // MANY)
    if blocks > 1:
        each, left = -(-labels // blocks), reserve / blocks * (1 - _ROUNDING)
        mu = dominating_mu(family, each, largest_loss, label_mu, left)
        return mu * math.sqrt(blocks) * (1 + _ROUNDING)
    most = label_mu * math.sqrt(labels) * (1 + _ROUNDING)
    grid, kernels = _on_grid(family, labels, _NEAR if reserve else _WIDE)
    if not reserve:
        if largest_loss > _LARGEST_REACH * grid.step:
            return most
        kernels = bounded(kernels, largest_loss)
    epsilons, deltas = _points(kernels, grid, labels)
    left = np.maximum(deltas - reserve, 0.0) * (1 + _ROUNDING)
    end = epsilons[-1] if reserve else max(labels * largest_loss, epsilons[-1])
    further = np.linspace(epsilons[-1], end * (1 + _ROUNDING), _INTERVALS)
    lines = _renyi(kernels, labels, further)

    def holds(mu: float) -> bool:
        with np.errstate(divide="ignore"):
            if (np.log(left) > log_delta_below(mu, epsilons[1:])).any():
                return False
        if reserve:
            return bool(left[-1] == 0)
        room = log_delta_below(mu, further) >= lines  # (orders, points)
        return bool((room[:, :-1] & room[:, 1:]).any(axis=0).all())

    return min(most, least(holds, most, relative=_CLOSE)) if holds(most) else most


def bounded(kernels: hockey_sticks.Kernels, largest_loss: float) -> hockey_sticks.Kernels:
    """Return kernels that dominate the same pairs, whose losses are at most `largest_loss`.

    >>> coin = hockey_sticks.kernels([[0.0, 0.5, 0.0]], math.log(3))
    >>> float(bounded(coin, math.log(3)).nothing[0])
    0.0

    What the kernels lose to infinite losses becomes a loss of the grid that is no less than
    `largest_loss`. Theorem: docs/from-other-accountants.md.
    """
    step, reach = kernels.step, kernels.reach
    place = max(reach, math.ceil(largest_loss * (1 + _ROUNDING) / step)) + 1
    masses = np.zeros((len(kernels.masses), 2 * place + 1))
    masses[:, place - reach : place + reach + 1] = kernels.masses
    kept = -math.expm1(-(place - reach) * step)
    masses[:, 0] += kernels.nothing / kept * (1 + _ROUNDING)
    return hockey_sticks.Kernels(masses, np.zeros(len(masses)), step)


def log_delta_below(mu: float, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a lower bound on ln delta of a mu-GDP Gaussian at each epsilon >= 0; -inf for none.

    >>> bool(-7.0 < log_delta_below(1.0, np.array([3.0]))[0] < -6.0)
    True

    phi(z) (R(z) - R(z + mu)) with z = epsilon / mu - mu / 2 and R = (1 - Phi) / phi.
    """
    z = epsilon / mu - mu / 2
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        near, far = (math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2)) for x in (z, z + mu))
        error = _ROUNDING * (1 + np.square(np.minimum(z, 0.0)))
        share = near * (1 - error) - far * (1 + error)
        size = z**2 / 2 + math.log(2 * math.pi) / 2
        result = np.log(share) - size - _ROUNDING * (1 + z**2 + np.abs(z) * mu)
    return np.where(np.isfinite(near) & (share > 0), result, -np.inf)


def _on_grid(family: Family, labels: int, wide: float) -> tuple[Grid, hockey_sticks.Kernels]:
    """A grid of that many standard deviations of all losses, and what one label does on it."""
    spread = largest_spread(family)
    width = spread * math.sqrt(labels)
    epsilon = width**2 / 2 + wide * width
    grid = grid_of(spread, labels, width, epsilon, _CUT, FINE)
    orders = deciding_orders(epsilon, width)
    rows = gathered_on(family, grid.step, _CUT / labels, orders, spread)
    return grid, hockey_sticks.kernels(rows, grid.step)


def _points(
    kernels: hockey_sticks.Kernels, grid: Grid, labels: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Epsilons from 0 on, (n + 1,), and bounds on delta from each to the next, (n,)."""
    values = values_above(kernels, grid, labels)[-grid.lowest :] * (1 + _ROUNDING)
    end = max(2, int((values >= _LEAST).sum()))
    values, logs = values[:end], grid.step * np.arange(end)
    shares = np.arange(_PARTS) / _PARTS
    gaps = np.expm1(shares * grid.step) / math.expm1(grid.step) * (1 - _ROUNDING)
    chords = values[:-1, None] + (values[1:] - values[:-1])[:, None] * gaps
    chords = np.maximum(chords * (1 + _ROUNDING) + _ROUNDING * (values[:-1, None] - chords), _LEAST)
    between = logs[:-1, None] + shares * grid.step
    return np.append(between.ravel(), logs[-1]), np.minimum(chords.ravel(), 1.0)


def _renyi(
    kernels: hockey_sticks.Kernels, labels: int, epsilons: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Upper bounds on ln delta of all labels, (orders, n): each a line over epsilon."""
    spread = math.sqrt(kernels.variance) * kernels.step
    orders = (_ORDERS * _WIDE / (spread * math.sqrt(labels)))[:, None, None]
    losses = kernels.step * np.arange(kernels.reach, -kernels.reach - 1, -1)  # ln P/P'
    with np.errstate(divide="ignore"):
        logs = np.log(kernels.masses)
    moments = logsumexp(logs + orders * losses, axis=2).max(axis=1)
    orders = orders[:, 0, 0]
    size = np.abs(moments) + orders * kernels.reach * kernels.step + 1
    start = labels * (moments + _ROUNDING * size) + orders * np.log1p(-1 / (orders + 1))
    start -= np.log1p(orders)
    tilt = orders[:, None] * epsilons
    return start[:, None] - tilt + _ROUNDING * (1 + np.abs(start)[:, None] + tilt)
