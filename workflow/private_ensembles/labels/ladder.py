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
_NEGLIGIBLE_FLIP stays as it is, which is as private, since q_(j+1) = q_j is more than is needed.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import checks
from private_ensembles.base.rounding import round_up, round_up_in_context, sixty_digits
from private_ensembles.base.stated_bounds import upper_bound

_MANY_STEPS, _NEGLIGIBLE_FLIP = 1000, 1e-60


@upper_bound
def ladder_probabilities(
    n_teachers: int, epsilon: float, delta: float, ones: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return Pr[label] of the optimal ladder, given how many of K teachers vote 1.

    The minority's column satisfies the privacy conditions as it stands, and is 1/2 at a tie. The
    majority's, 1 less it, is off by its rounding: relative_error=2**-52 for the audit.

    Args:
        n_teachers: K.
        epsilon: Of the label, > 0.
        delta: Of the label, in [0, 1].
        ones: (rows,) int, votes for class 1.

    Returns:
        (rows, 2) float64.

    Raises:
        ValueError: For n_teachers < 1, epsilon not a finite number > 0, delta outside [0, 1].

    References:
        docs/best-label.md has the proof.

    >>> ladder_probabilities(5, 1.0, 0.01, np.array([0, 1, 2])).round(3).tolist()
    [[0.969, 0.031], [0.906, 0.094], [0.734, 0.266]]
    """
    lead = np.abs(2 * ones - int(n_teachers)) // 2
    steps = np.array(_minority_probabilities(n_teachers, epsilon, delta, int(lead.max(initial=0))))
    flips = steps[np.minimum(lead, len(steps) - 1)]
    probabilities = np.stack([1 - flips, flips], axis=1)
    return np.where((2 * ones > n_teachers)[:, None], probabilities[:, ::-1], probabilities)


def _minority_probabilities(
    n_teachers: int, epsilon: float, delta: float, n_steps: int
) -> list[float]:
    """Return Pr[the minority is released] at each step, from a tie or a lead of one vote outwards.

    Args:
        n_teachers: K.
        epsilon: Of the label.
        delta: Of the label.
        n_steps: How many steps are wanted; the list ends earlier where the probability stays.
    """
    checks.check_integer(n_teachers=n_teachers, at_least=1)
    checks.check_finite(epsilon=epsilon, above=0)
    checks.check_probability(delta=delta)
    with sixty_digits():
        growth, leak = Decimal(epsilon).exp(), Decimal(delta)
        flip = 0.5 if n_teachers % 2 == 0 else min(0.5, round_up((1 - leak) / (1 + growth)))
        steps = [flip]
        for _ in range(n_steps):
            room = (Decimal(flip) - leak) / growth
            before, flip = flip, round_up_in_context(room) if room > 0 else 0.0
            if flip == before:  # so are all further ones
                break
            steps.append(flip)
            if len(steps) > _MANY_STEPS and flip < _NEGLIGIBLE_FLIP:
                break
    return steps
