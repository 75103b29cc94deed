"""How likely a label of bagged teachers is, and the plain (epsilon, delta) of T of them.

This holds for everyone and whatever the votes: the whole loss is composed. SAA has one partition,
DPBag several.

One record reaches one teacher of each partition, so that n_1 - n_0, the difference of the counts
(which are divided by the number of partitions), changes by at most 2. The label is the sign of
n_1 - n_0 + Z, with Z the difference of two Laplace variables of scale 1 / lambda, whose density is
lambda (1 + lambda |z|) exp(-lambda |z|) / 4. That density is log-concave, so that the worst
neighbour is at distance 2, and T labels, the queries chosen as one likes from the labels before,
cost no more than T draws of Y = lambda Z against Y + 2 lambda.

(dp-accounting's own Laplace mechanism of l1-sensitivity 2 is valid, too, but takes both counts for
released: about three times the privacy loss.)
"""

from functools import cache
from math import log

import numpy as np

from private_ensembles.accounting.privacy_loss_distribution import compose
from private_ensembles.base import checks
from private_ensembles.base.laplace_tail import difference_tail
from private_ensembles.base.root_search import bisect_integers, doubling_points, find_first_failing
from private_ensembles.base.rounding import ELEMENTARY
from private_ensembles.base.stated_bounds import upper_bound

# One label's privacy loss has so many grid points on either side of 0.
_GRID = 200
# An epsilon is rounded up to a multiple of so many steps of the grid for each label.
_ROUNDED = 1e-6


def ones_probability(gap, noise):
    """Return Pr[label = 1] at n_1 - n_0 = gap, exact and of the same shape as gap.

    Args:
        gap: any shape, in votes of one partition.
        noise: lambda, the inverse scale of the Laplace noise on both counts.

    Raises:
        ValueError: the noise is not above 0.
    """
    checks.check_finite(noise=noise, above=0)
    y = noise * np.asarray(gap, np.float64)
    tail = difference_tail(np.abs(y))  # the smaller of the two probabilities
    return np.where(y >= 0, 1 - tail, tail)


def hockey_stick_divergence(epsilon, shift):
    """Return the hockey-stick divergence of Y + shift from Y: max of Pr[A] - e^epsilon Pr'[A].

    The likelihood ratio grows with y, so that the best event is y > t with ratio e^epsilon at t.

    Args:
        epsilon: any real number.
        shift: above 0; Y is as in the module's text, with lambda = 1.
    """
    if epsilon >= shift:
        return 0.0
    if epsilon <= -shift:
        return -np.expm1(epsilon)
    point = _threshold(abs(epsilon), shift)
    if epsilon < 0:
        point = shift - point
    # Pr[Y > y] is that of a label whose votes are y against it.
    return float(
        ones_probability(shift - point, 1.0) - np.exp(epsilon) * ones_probability(-point, 1.0)
    )


def _threshold(epsilon, shift):
    """Return the y at which the density of Y + shift is e^epsilon times that of Y.

    0 <= epsilon < shift.
    """
    from scipy.optimize import brentq  # late: tables that need no root would wait for it

    # For y beyond shift the ratio is e^shift (1 + y - shift) / (1 + y).
    point = -shift / np.expm1(epsilon - shift) - 1
    if point >= shift:
        return point
    return brentq(
        lambda y: np.log1p(shift - y) - np.log1p(y) - shift + 2 * y - epsilon, shift / 2, shift
    )


@cache
def _label_divergences(noise):
    """Return upper bounds on one label's delta at multiples of a grid step, and the step."""
    shift = 2 * noise
    grid_step = shift / _GRID
    multiples = np.arange(-_GRID, _GRID + 1)
    deltas = np.array([hockey_stick_divergence(step * grid_step, shift) for step in multiples])
    # Delta is 0 at the largest loss, which rounding must not turn into an infinite loss.
    deltas[:-1] = np.minimum(deltas[:-1] + ELEMENTARY, 1)
    return deltas, grid_step


@upper_bound
def plain_epsilon(labels, noise, delta):
    """Return the epsilon of `labels` labels for all votes, at delta, rounded up.

    It is a multiple of `_ROUNDED` steps of the grid for each label: what the composition adds for
    its own rounding depends on last bits, which are the processor's, and is far less.

    Args:
        labels: integer >= 0.
        noise: lambda > 0.
        delta: in (0, 1).

    Raises:
        ValueError: an argument is outside its range.
    """
    checks.check_integer(labels=labels, at_least=0)
    _check(noise, delta)
    if labels == 0:
        return 0.0
    deltas, grid_step = _label_divergences(float(noise))
    return compose(deltas, grid_step, int(labels)).epsilon(delta, labels * _ROUNDED * grid_step)


def plain_label_count(budget, noise, delta):
    """Return the most labels that are (budget, delta)-DP, whatever the votes and the data.

    Args:
        budget: epsilon > 0.
        noise: lambda > 0.
        delta: in (0, 1).

    Raises:
        ValueError: an argument is outside its range.

    >>> plain_label_count(1.0, noise=0.02, delta=1e-5)
    152
    """
    from scipy.optimize import brentq  # late, as in `_threshold`

    _check(noise, delta)
    checks.check_finite(budget=budget, above=0)
    deltas, grid_step = _label_divergences(float(noise))

    log_deltas = {}

    def excess(labels):
        """Return how far log delta is above what is allowed; `labels` is rounded."""
        labels = round(labels)
        if labels not in log_deltas:
            log_deltas[labels] = log(max(compose(deltas, grid_step, labels).delta(budget), 1e-300))
        return log_deltas[labels] - log(delta)

    def is_affordable(labels):
        return excess(labels) <= 0

    low = int(budget / (2 * noise))
    high = find_first_failing(is_affordable, doubling_points(low + 1))
    if high == low + 1:
        return low
    # A composition is dear, and log delta is smooth: this asks for a third of what bisection does.
    brentq(excess, high // 2, high, xtol=0.5)
    held, failed = [], []
    for labels in log_deltas:
        (held if is_affordable(labels) else failed).append(labels)
    return bisect_integers(is_affordable, min(failed), max(held))


def _check(noise, delta):
    checks.check_finite(noise=noise, above=0)
    checks.check_probability(delta=delta, zero=False, one=False)
