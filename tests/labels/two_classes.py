"""The best release of a two-class vote count for any utility, and whether one is private.

With a_n = Pr[release 1 | n of K teachers say 1] the privacy conditions between n and n + 1 and an
expected utility are linear in a. Where the utility is symmetric in the labels, the ladder is the
answer in closed form.
"""

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

_CONTEXT = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-(10**12), Emax=10**12)
_SLACK = Decimal("1e-50")


def certified(flips: ArrayLike, epsilon: float, delta: float) -> bool:
    """Decide whether releasing the minority with these probabilities is (epsilon, delta)-DP.

    flips: (K + 1,) floats, taken at their exact values as fractions; Pr[majority | n] is exactly
    1 - flips[n]. e^epsilon is taken a relative 1e-50 too small, so True is a proof. At a tie label
    1 counts as the minority.
    """
    values = np.asarray(flips, dtype=np.float64)
    majority_is_one = 2 * np.arange(len(values)) > len(values) - 1
    exact = [Fraction(float(value)) for value in values]
    ones = [1 - q if one else q for q, one in zip(exact, majority_is_one, strict=True)]
    return exactly_private(ones, epsilon, delta)


def exactly_private(probability_of_one: list[Fraction], epsilon: float, delta: float) -> bool:
    """Decide in rational arithmetic whether Pr[1 | n], n = 0..K, is (epsilon, delta)-DP."""
    with localcontext(_CONTEXT):
        growth = Fraction(Decimal(epsilon).exp() * (1 - _SLACK))
    leak = Fraction(float(delta))
    for n in range(len(probability_of_one) - 1):
        a, b = probability_of_one[n], probability_of_one[n + 1]
        for above, below in ((a, b), (b, a), (1 - a, 1 - b), (1 - b, 1 - a)):
            if above > growth * below + leak:
                return False
    return True


def optimal_two_class(
    utility: ArrayLike, epsilon: float, delta: float
) -> tuple[NDArray[np.float64], float]:
    """Maximise the expected utility of one (epsilon, delta)-DP label; return (a, utility).

    utility: (K + 1, 2), what releasing label 0 or 1 is worth where n of K teachers say 1 (weights
    of the histograms multiplied in). a: (K + 1,), Pr[release 1 | n]; its floats are private as they
    stand, proven in rational arithmetic: the solver's answer is mixed with a fair coin (by about
    1e-8) until it is. The utility returned is that of a.
    """
    worth = np.asarray(utility, dtype=np.float64)
    rows, limits = _conditions(len(worth) - 1, epsilon, delta)
    gain = worth[:, 1] - worth[:, 0]
    size = float(np.abs(gain).max()) or 1.0
    solved = linprog(-gain / size, A_ub=rows, b_ub=limits, bounds=(0, 1), method="highs-ds")
    assert solved.status == 0
    ones = np.clip(solved.x, 0.0, 1.0)
    mixed = 1e-10
    while not exactly_private([Fraction(float(a)) for a in ones], epsilon, delta):
        # A fair coin meets every condition with room to spare.
        ones = (1 - mixed) * ones + mixed / 2
        mixed *= 10
    return ones, float(worth[:, 0].sum() + gain @ ones)


def _conditions(K: int, epsilon: float, delta: float):
    """Rows and right-hand sides of rows @ a <= limits, both labels and both directions."""
    decay = math.exp(-epsilon)  # divided through, so that nothing overflows
    n = np.arange(K)
    rows, columns, values, limits = [], [], [], []
    for k, (here, there) in enumerate(((n, n + 1), (n + 1, n))):
        # e^-eps a_here - a_there <= e^-eps delta, and the same for 1 - a.
        for sign, label in ((1, 0), (-1, 1)):
            index = n + K * (2 * k + label)
            rows += [index, index]
            columns += [here, there]
            values += [np.full(K, sign * decay), np.full(K, -float(sign))]
            limits.append(np.full(K, decay * delta + (0 if sign > 0 else 1 - decay)))
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return coo_array(entries, shape=(4 * K, K + 1)).tocsr(), np.concatenate(limits)
