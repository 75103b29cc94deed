"""The best private release of a two-class vote count: the optimal ladder.

Theorem (docs/best-label.md). Let one teacher move its vote between neighbours. Among all (epsilon,
delta)-DP releases of one label from the number n of K teachers that say 1, the one that releases
the minority with probability q(n), where for the j-th step away from a tie

    K odd:   q_0 = (1 - delta) / (1 + e^epsilon)            at a lead of one vote,
    K even:  q_0 = 1/2                                      at a tie,
    q_(j+1) = max(0, e^-epsilon (q_j - delta))              two votes further on,

has the greatest utility for every utility that is symmetric in the labels and grows with each
Pr[majority | n]. In closed form q_j = max(0, e^(-j epsilon) (q_0 + s) - s), s = delta /
(e^epsilon - 1). The floats returned satisfy the privacy conditions themselves: each is worked
out in sixty digits from the float before it and rounded up. Beyond _MANY_STEPS steps a flip below
_HARDLY stays as it is, which is as private, since q_(j+1) = q_j is more than is asked for.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.rounding import round_up, round_up_within, sixty_digits

_MANY_STEPS, _HARDLY = 1000, 1e-60


def ladder_flips(n_teachers: int, epsilon: float, delta: float) -> NDArray[np.float64]:
    """Pr[the minority is released | n of K teachers say 1], n = 0..K, shape (K + 1,).

    At a tie (K even), 1/2. Symmetric around K/2, and at most 1/2. Raises ValueError for n_teachers
    < 1, epsilon not a finite number > 0, delta outside [0, 1].

    >>> ladder_flips(5, epsilon=1.0, delta=0.01).round(4).tolist()
    [0.031, 0.0943, 0.2663, 0.2663, 0.0943, 0.031]
    """
    steps = _steps(n_teachers, epsilon, delta)
    K = int(n_teachers)
    upper = np.full(_further_steps(K) + 1, steps[-1])
    upper[: len(steps)] = steps
    return np.concatenate([upper[::-1], upper[1:] if K % 2 == 0 else upper])


def ladder_chances(
    n_teachers: int, epsilon: float, delta: float, ones: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Rows of `ladder_matrix` of these numbers of votes for 1, (n, 2), without the others.

    >>> ladder_chances(5, 1.0, 0.01, np.array([0])).round(3).tolist()
    [[0.969, 0.031]]
    """
    lead = np.abs(2 * ones - int(n_teachers)) // 2
    steps = np.array(_steps(n_teachers, epsilon, delta, int(lead.max(initial=0))))
    flips = steps[np.minimum(lead, len(steps) - 1)]
    return _with_majority(flips, 2 * ones > n_teachers)


def _further_steps(K: int) -> int:
    """How many steps there are from a tie, or a lead of one vote, to all votes alike."""
    return (K + 1) // 2 - 1 + (K % 2 == 0)


def _steps(n_teachers: int, epsilon: float, delta: float, most: int | None = None) -> list[float]:
    """Pr[the minority is released], from a tie or a lead of one vote up to where it stays.

    most: how many steps are asked for; None: all.
    """
    checks.integer(n_teachers=n_teachers, at_least=1)
    checks.finite(epsilon=epsilon, above=0)
    checks.probability(delta=delta)
    K = int(n_teachers)
    with sixty_digits():
        growth, leak = Decimal(epsilon).exp(), Decimal(delta)
        flip = 0.5 if K % 2 == 0 else min(0.5, round_up((1 - leak) / (1 + growth)))
        steps = [flip]
        for _ in range(
            _further_steps(K) if most is None else most
        ):  # each from the float before it
            room = (Decimal(flip) - leak) / growth
            before, flip = flip, round_up_within(room) if room > 0 else 0.0
            if flip == before:  # and so are all further ones
                break
            steps.append(flip)
            if len(steps) > _MANY_STEPS and flip < _HARDLY:
                break
    return steps


def ladder_matrix(n_teachers: int, epsilon: float, delta: float) -> NDArray[np.float64]:
    """prob_matrix (K + 1, 2) of the ladder for the audit: Pr[label | n of K teachers say 1].

    The majority's column, 1 - flip, is off by its rounding: relative_error=2**-52.
    """
    flips = ladder_flips(n_teachers, epsilon, delta)
    return _with_majority(flips, 2 * np.arange(len(flips)) > len(flips) - 1)


def _with_majority(
    flips: NDArray[np.float64], majority_is_one: NDArray[np.bool_]
) -> NDArray[np.float64]:
    ones = np.where(majority_is_one, 1 - flips, flips)
    zeros = np.where(majority_is_one, flips, 1 - flips)
    return np.stack([zeros, ones], axis=1)
