"""What a moved vote does to a label chosen by its votes, in any number of classes, for `adaptive`.

The exponential mechanism chooses class j with a probability in proportion to e^(rate n_j), and
permute-and-flip takes the largest count with exponential noise. One vote moves from class a to b.
Few pairs of distributions dominate all that this can cause, whatever the number of teachers and
classes and whatever votes the other classes have. Proofs: docs/many-labels.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.adaptive.families import Pairs

# Of the rows' probabilities: exponentials and sums of a few terms.
_ERROR = 1e-12
# In how many parts the exponential mechanism's range of losses is divided; each widens it by one.
_PARTS = 1000
# Cells of a vote, for a square root of the rate.
_CELLS = 12
# Beyond this rate e^-rate and its square are no normal floats.
_LARGEST_RATE = 300.0


def bent(width: float) -> float:
    """Return by how much probabilities differ from their chords over a cell, relative to them.

    >>> bent(0.02) < 2e-4
    True

    width: of the cell, >= 0. For a probability p of which |p'| <= 3 p and |p''| <= 3 p: it changes
    by a factor of at most e^(3 width), and the chord is off by at most width^2 / 8 sup |p''|. Below
    1 for a width up to 0.5; infinite beyond.
    """
    share = 0.375 * width**2 * math.exp(3 * width)
    return share / (1 - share) * (1 + _ERROR) + _ERROR if width <= 0.5 else math.inf


def cells_of_a_vote(rate: float) -> int:
    """Return how many cells a vote is divided into: `bent` is small beside the loss, the rate."""
    return math.ceil(_CELLS * math.sqrt(rate) + 4 * rate)


def exponential_cover(rate: float) -> Pairs:
    """Return pairs that dominate the exponential mechanism's, in any number of classes.

    >>> len(exponential_cover(0.1).first)
    1000

    rate: > 0. A label's likelihood ratio, neighbour over truth, is between e^(-2 rate) / N and
    1 / N for an N in [e^(-2 rate), 1]. Such a pair is dominated by the two outcomes at the ends;
    each row serves a cell of N. Raises ValueError for a rate that is not finite and > 0, or too
    large for floats. Source: docs/many-labels.md; Dong, Durfee and Rogers 2020.
    """
    checks.within(0, _LARGEST_RATE, rate=rate, low_allowed=False)
    low = np.exp(-2 * rate * np.arange(_PARTS, 0, -1) / _PARTS)
    high = np.exp(2 * rate * np.arange(1, _PARTS + 1) / _PARTS)
    # Ratios low < 1 < high have a mean of 1.
    rise = np.expm1(2 * rate * np.arange(1, _PARTS + 1) / _PARTS)
    fall = -np.expm1(-2 * rate * np.arange(_PARTS, 0, -1) / _PARTS)
    first = np.stack([rise, fall], axis=1) / (rise + fall)[:, None]
    # e^x for |x| <= 600, and quotients of sums of such numbers.
    return Pairs(first, first * np.stack([low, high], axis=1), _ERROR)


def permute_and_flip_cover(rate: float) -> Pairs:
    """Return pairs that dominate permute-and-flip's, in any number of classes.

    >>> permute_and_flip_cover(0.1).first.shape
    (20, 3)

    rate: > 0. Outcomes: the class that loses a vote, the one that gains it, another. Raises
    ValueError like `exponential_cover`. Source: docs/many-labels.md.
    """
    checks.within(0, _LARGEST_RATE, rate=rate, low_allowed=False)
    k = math.exp(-rate)
    first, second, error = [], [], []

    def add(before: NDArray, after: NDArray, widths: float = 0.0) -> None:
        first.append(before)
        second.append(after)
        error.append(np.full(len(before), bent(widths)))

    # Another is ahead of both, before and after: u and v are e^(-rate lead) of a and b.
    u, v = np.array([1.0, 1.0, 0.0]), np.array([0.0, k, k])
    add(_third_ahead(u, v), _third_ahead(u * k, v / k))
    # a is ahead before and after: v and w are those of b and the other.
    v, w = np.array([k * k, 0.0, k * k]), np.array([0.0, k, k])
    add(_first_ahead(v, w), _first_ahead(v / k**2, w / k))
    # a and b change places.
    w = np.array([0.0, 1.0])
    before = _first_ahead(np.array([k, k]), w)
    add(before, before[:, [1, 0, 2]])
    # a is ahead before, another after: less than a vote between them, b below the other or none.
    cells = cells_of_a_vote(rate)
    w = np.exp(-rate * np.linspace(0, 1, cells + 1))
    for v in (0.0 * w, k * w):
        add(_first_ahead(v, w), _third_ahead(k / w, v / k / w), rate / cells)
    joined = np.concatenate(error)[:, None]
    return Pairs(np.concatenate(first), np.concatenate(second), joined)


def _first_ahead(v: NDArray, w: NDArray) -> NDArray[np.float64]:
    """Permute-and-flip where a leads, and e^-rate to the power of its leads is v and w."""
    second, third = v * (1 / 2 - w / 6), w * (1 / 2 - v / 6)
    return np.stack([1 - second - third, second, third], axis=1)


def _third_ahead(u: NDArray, v: NDArray) -> NDArray[np.float64]:
    """Permute-and-flip where neither a nor b leads, and those of the leads are u and v."""
    return _first_ahead(u, v)[:, [1, 2, 0]]
