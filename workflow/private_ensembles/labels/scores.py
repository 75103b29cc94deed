"""Draws by bounded scores, such as a language model's tokens: what they cost, and the draws.

A class is drawn with a probability in proportion to e^score, the exponential mechanism. There may
be any number of classes, since the cost does not depend on it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.adaptive_composition.account import Bounds
from private_ensembles.accounting.adaptive_composition.bounded_range import (
    LARGEST_RANGE,
    MOST_DRAWS,
    epsilon_of_draws,
    largest_range,
)
from private_ensembles.base import checks, limits, softmax
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.base.rounding import round_float_down, round_float_up, round_multiple_up
from private_ensembles.base.secure import seed_of
from private_ensembles.base.streams import generator
from private_ensembles.labels.noisy_counts import largest_rho, rho_to_epsilon

# Above this epsilon, a range is charged by its closed bound alone.
_MOST_GUESSED = 2.0 * limits.MOST_EPSILON


def score_epsilon(range: float, draws: int, delta: float) -> Bounds:
    """Return bounds on the epsilon of draws by scores of a bounded range, all of them together.

    >>> bounds = score_epsilon(0.0544, draws=500, delta=1e-6)
    >>> round(bounds.lower, 2), round(bounds.upper, 2)
    (2.8, 2.81)

    Each draw takes class j with a probability in proportion to e^(s_j). The scores may be chosen
    after all draws before; what is public needs no budget.

    Args:
        range: By how much the scores' change between neighbours, d_j = s'_j - s_j, may differ
            between two classes at most: max d_j - min d_j, in (0, 600]. That is for the scores as
            they stand in the exponent. If B references give logits that are clipped to within C of
            public ones, and e^(their mean / temperature) is drawn from, it is 2 C / (B temperature)
            for a reference that is left out (its place filled with the public logits), and 4 C / (B
            temperature) for one that is replaced. A moved vote in the exponential mechanism of that
            rate has 2 rate.
        draws: 1 to 10^8.
        delta: In [1e-100, 1).

    Returns:
        The upper bound holds in floating point, whatever the scores, the number of classes and the
        adversary's choices from draw to draw. The lower one is what one pair of neighbours reaches
        that is used again and again, so no account of such draws can be below it.

    Raises:
        ValueError: For a value out of range.

    References:
        docs/other-labels.md. The bound on one draw is Dong, Durfee and Rogers' (2020).
    """
    checks.check_range(0, LARGEST_RANGE, range=range, low_allowed=False)
    _check(draws, delta)
    score_range = float(range)
    closed_bound = min(
        round_multiple_up(score_range, draws),
        rho_to_epsilon(_draws_rho(score_range, draws), delta, "improved"),
    )
    bounds = epsilon_of_draws(score_range, int(draws), delta, min(closed_bound, _MOST_GUESSED))
    return Bounds(bounds.lower, min(bounds.upper, closed_bound))


def score_scale(epsilon: float, draws: int, delta: float) -> float:
    """Return the largest range with which all draws together keep a budget.

    >>> score_range = score_scale(epsilon=3, draws=500, delta=1e-6)
    >>> round(score_range, 4), score_epsilon(score_range, 500, 1e-6).upper <= 3
    (0.0577, True)

    Divide it by the range of your own scores to get the factor they are multiplied with, 1 /
    temperature.

    Args:
        epsilon: 1e-6 to 100.
        draws: As in :func:`score_epsilon`, of which this is the inverse.
        delta: As in :func:`score_epsilon`.

    Returns:
        The range of the scores' change, as there, rounded down, so that the budget is kept by just
        this float; it is within 0.1 % of the largest that this account proves.

    Raises:
        ValueError: For a value out of range.
    """
    limits.check_budget(epsilon, delta)
    _check(draws, delta)
    epsilon, draws = float(epsilon), int(draws)
    pure = math.nextafter(epsilon / draws, 0.0)
    by_rho = float(
        round_float_down(
            math.sqrt(8 * round_float_down(largest_rho(epsilon, delta, "improved") / draws)), 4
        )
    )
    closed_bound = min(max(pure, by_rho), LARGEST_RANGE)
    try:
        return max(closed_bound, largest_range(epsilon, draws, delta, closed_bound))
    except ValueError:  # rounding leaves nothing of such a small delta
        return closed_bound


def draw_scores(
    scores: ArrayLike, *, noise: str = "secure", seed: int | None = None
) -> int | NDArray[np.int64]:
    """Draw a class with a probability in exact proportion to e^score, for the floats given.

    >>> draw_scores([-np.inf, 0.0])  # -inf: never drawn
    1
    >>> scores = np.tile(np.log([1, 2, 4]), (7, 1))
    >>> draw_scores(scores, noise="reproducible", seed=3).tolist()
    [1, 2, 1, 1, 1, 2, 1]

    Each call spends what its draws cost, and nothing keeps a record of it. It takes a few passes
    over the scores, whatever they are, and one time in a million a bit more.

    Args:
        scores: (classes,) for one draw, or (draws, classes); floats of up to 64 bits, each finite
            or -inf. Their range (:func:`score_epsilon`) is a promise of yours on these very floats.
        noise: ``secure`` (the system's entropy; then no seed) or ``reproducible``: a rehearsal,
            which must not be released.
        seed: Of a rehearsal; 0 unless given.

    Returns:
        The number of a class, or int64 (draws,).

    Raises:
        ValueError: For a value out of range.

    References:
        docs/other-labels.md.
    """
    seed = seed_of(noise, seed)
    checks.check_unmasked(scores=scores)
    rows = np.asarray(scores)
    if rows.dtype.kind not in "iuf" or rows.dtype.itemsize > 8 or rows.ndim not in (1, 2):
        raise ValueError(
            f"scores: {rows.dtype} {rows.shape}: must be floats (classes,) or (draws, classes)"
        )
    source = SecureNoise() if seed is None else SeededNoise(generator(seed, "draw_scores"))
    if rows.ndim == 1:
        return softmax.draw(rows, source.bits)
    return np.array([softmax.draw(row, source.bits) for row in rows], dtype=np.int64)


def _check(draws: int, delta: float) -> None:
    checks.check_integer(draws=draws, at_least=1, at_most=MOST_DRAWS)
    checks.check_range(limits.LEAST_DELTA, 1, delta=delta, high_allowed=False)


def _draws_rho(score_range: float, draws: int) -> float:
    """Return rho of zCDP of the draws, rounded up (Cesar and Rogers 2021)."""
    return float(round_float_up(draws * score_range**2 / 8, 4))
