"""Dominating pairs of GNMax's labels in any number of classes, for `account`.

One vote moves from class a to class b, or g votes do. Given the largest of all other noisy counts,
M, three outcomes are left: a, b, another. In units of sigma two numbers say all: the lead w of a
over b and how far M lies above their middle, c. The votes take w to w - 2 g / sigma and leave c.
All w and c are covered by nodes of a grid: what a label does between nodes is a mixture of what it
does at them, and as much more as the curvature allows. Votes that move between more classes are
covered by `multiclass_moves`. Proof: docs/many-labels.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.special import ndtr

from private_ensembles.accounting.adaptive_composition import multiclass_moves
from private_ensembles.base import checks
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.base.stated_bounds import lower_bound, upper_bound
from private_ensembles.base.threads import run_on_one_thread

# The grid's cells have this width, in sigma.
_CELL = 0.1
# Beyond these, in sigma, a label's curve is at most that at the edge plus OUTSIDE.
_LEAD, _LOW, _MARGIN = 13.0, -6.5, 8.5
OUTSIDE = 1e-16
# A tabulated probability may be off by this, relative to itself.
_ERROR = 1e-12
# A threshold e^x, |x| <= 600, its inverse, products and differences are off by this, relative to 1.
_ROUNDING = 1024 * UNIT_ROUNDOFF
_POINTS, _WEIGHTS = leggauss(12)
# Outcomes 0, 1 and 2 are a, b and another. These are the sets of them that a threshold >= 1 may
# choose, each beside what it leaves: b gains the vote, so that to include it never pays.
_SPLITS = (([0], [1, 2]), ([2], [0, 1]), ([0, 2], [1]))
# This exchanges a and b.
_EXCHANGED = [1, 0, 2]
_MOST_PAIRS = 256
# So many numbers are worked on at a time.
_AT_ONCE = 16_384
# The largest curve is found among all that are left for this many thresholds.
_STRETCH = 16


@dataclass(frozen=True)
class GaussianMaximum:
    """The dominating pairs of GNMax's labels, as `dominating_pairs.PairsWithMaximum`.

    Attributes:
        scale: sigma, in votes, > 0.
        teachers: K >= 1.
        classes: C >= 2; the upper bounds hold for any number.
        group_size: How many votes may move at most, 1 to K, from any classes to any.

    Raises:
        ValueError: A number out of range.

    References:
        docs/many-labels.md, "Gaussian noise in any number of classes".

    >>> label = GaussianMaximum(scale=20.0, teachers=51, classes=10)
    >>> len(label.hockey_stick_divergences(np.array([1.0])))
    8364
    """

    scale: float
    teachers: int
    classes: int
    group_size: int = 1

    def __post_init__(self) -> None:
        checks.check_finite(scale=self.scale, above=0)
        checks.check_integer(teachers=self.teachers, at_least=1)
        checks.check_integer(classes=self.classes, at_least=2)
        checks.check_integer(group_size=self.group_size, at_least=1, at_most=self.teachers)

    @property
    def lead_shift(self) -> float:
        """By how much a lead changes, in sigma."""
        return 2 * self.group_size / self.scale

    @upper_bound
    @run_on_one_thread
    def hockey_stick_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `DominatingPairs`: a row for each node, and some for moves between more classes."""
        lines = self._bounding_lines
        leads, middles = lines.shape[2:4]
        unique, index = _unique_thresholds(t)
        low, high = np.flatnonzero(t < 1), np.flatnonzero(t >= 1)
        curves = np.empty((leads, middles, t.size))
        # Few leads are taken at a time, so that their numbers fit a processor's cache.
        at_once = max(1, _AT_ONCE // (middles * unique.size))
        for first in range(0, leads, at_once):
            chosen = slice(first, first + at_once)
            nodes = lines[:, :, chosen].reshape(*lines.shape[:2], -1, 2)
            best = _evaluate_lines(nodes, unique).reshape(-1, middles, unique.size)
            curves[chosen, :, high] = best[:, :, index[high]] + OUTSIDE
            # Below 1 a curve is t times that of the reflected lead at 1 / t.
            best = best[:, :, index[low]] * t[low] + OUTSIDE
            curves[::-1][chosen, :, low] = best
        rows = np.minimum(curves, 1.0, out=curves).reshape(-1, t.size)
        multiclass_rows = self._multiclass_divergences(t)
        return rows if multiclass_rows is None else np.concatenate([rows, multiclass_rows])

    @upper_bound
    @run_on_one_thread
    def max_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `PairsWithMaximum`: nodes that are nowhere the highest are left out.

        >>> label, t = GaussianMaximum(scale=20.0, teachers=51, classes=10), np.array([0.9, 1.1])
        >>> largest = label.hockey_stick_divergences(t).max(axis=0)
        >>> bool(np.allclose(label.max_divergences(t), largest, rtol=1e-12))
        True
        """
        unique, index = _unique_thresholds(t)
        nodes = self._bounding_lines.reshape(*self._bounding_lines.shape[:2], -1, 2)
        best = _evaluate_largest(nodes, unique)[index] * np.minimum(t, 1.0)
        largest = np.minimum(best + OUTSIDE, 1.0)
        multiclass_rows = self._multiclass_divergences(t)
        if multiclass_rows is None:
            return largest
        return np.maximum(largest, multiclass_rows.max(axis=0))

    def _multiclass_divergences(self, t: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the rows of votes that move between more than two classes, or None."""
        if self.group_size == 1:
            return None
        rows = multiclass_moves.hockey_stick_divergences(
            self.group_size, self.classes, self.scale, t
        )
        return np.minimum(rows, 1.0)

    @lower_bound
    def attainable_pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `DominatingPairs`: a and b have all votes between them, the other classes none.

        Leads beyond those of `hockey_stick_divergences` are left out, since no bound rests on which
        pairs are listed.
        """
        # These are all of a's votes; they stay as they are, or those that move go to b.
        lead = (_LEAD + self.lead_shift) * self.scale
        fewest = max(self.group_size, math.floor((self.teachers - lead) / 2))
        most = min(self.teachers, math.ceil((self.teachers + lead) / 2))
        votes = np.unique(np.linspace(fewest, most, _MOST_PAIRS).astype(np.int64))
        if most - fewest >= _MOST_PAIRS:  # near a tie each number counts
            tie = (self.teachers + self.group_size - 1) // 2
            near_tie = tie + np.arange(-_MOST_PAIRS // 4, _MOST_PAIRS // 4)
            votes = np.union1d(votes[::2], np.clip(near_tie, fewest, most))
        counts = np.union1d(votes, votes - self.group_size)
        laws = _three_outcomes(counts, self.teachers, self.classes, self.scale)
        unmoved = laws[np.searchsorted(counts, votes)]
        moved = laws[np.searchsorted(counts, votes - self.group_size)]
        first = np.concatenate([unmoved, moved])
        second = np.concatenate([moved, unmoved])
        return first * (1 - _ERROR), second * (1 + _ERROR) + OUTSIDE

    @cached_property
    def _bounding_lines(self) -> NDArray[np.float64]:
        """The lines of all nodes that `_evaluate_lines` takes, (3, 2, leads, middles, 2).

        Reflected about half a move, leads after are those before with a and b exchanged.
        """
        leads, middles, between = self._grid_points()
        before = outcomes(leads, middles)
        apart, _ = curvatures(leads, middles, 0.0, between=between)
        level, tilt = curvatures(leads, middles, self.lead_shift, between=between)
        after = before[::-1, :, _EXCHANGED]
        apart_after = apart[::-1, :, _EXCHANGED]
        return _compute_bounding_lines(before, after, level, tilt, apart, apart_after)

    def _grid_points(self) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
        """Return leads, middles, and whether leads lie between nodes (else each has its own)."""
        most = self.teachers / self.scale
        move = self.lead_shift
        if 1 / self.scale >= _CELL:
            most_votes = min(self.teachers, math.floor((_LEAD + move) * self.scale) + 1)
            leads = np.arange(2 * self.group_size - most_votes, most_votes + 1) / self.scale
        else:
            first, last = max(move - most, -_LEAD), min(most, _LEAD + move)
            leads = np.linspace(first, last, math.ceil((last - first) / _CELL) + 1)
        high = _MARGIN + np.abs(np.concatenate([leads, leads - move])).max() / 2
        middles = np.arange(_LOW, high + _CELL, _CELL)
        # A single lead, of one teacher, lies between none.
        return leads, middles, 1 / self.scale < _CELL and leads.size > 1


def _unique_thresholds(t: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the larger of t and 1 / t, each once and ascending, and where each t is among them.

    Those that differ by rounding count as one, the smallest: curves do not increase.
    """
    large = np.where(t < 1, 1 / t, t)
    order = np.argsort(large, kind="stable")
    new = np.append(True, np.diff(large[order]) > _ROUNDING * large[order][:-1])
    index = np.empty(t.size, dtype=np.int64)
    index[order] = np.cumsum(new) - 1
    return large[order][new], index


def _compute_bounding_lines(
    before: NDArray, after: NDArray, level: NDArray, tilt: NDArray, first: NDArray, second: NDArray
) -> NDArray[np.float64]:
    """Return for each set of outcomes two lines in t that bound what it adds at t >= 1.

    All arguments are (..., 3), the result is (3, 2, ..., 2). P - t P' bends by (t - 1) level +
    tilt, and by first + t second, whichever is less: the former for small moves, the latter for
    large ones. A line is its value at 0 and its slope.
    """
    lines = []
    for chosen, rest in _SPLITS:
        p = before[..., chosen].sum(axis=-1) * (1 + _ERROR + _ROUNDING)
        q = after[..., chosen].sum(axis=-1) * (1 - _ERROR - _ROUNDING)
        # A set of outcomes curves as its complement does.
        bend = [_smaller_bound(bound, chosen, rest) for bound in (level, tilt, first, second)]
        near = np.stack([p - bend[0] + bend[1], bend[0] - q], axis=-1)
        far = np.stack([p + bend[2], bend[3] - q], axis=-1)
        lines.append([near, far])
    return np.array(lines)


def _evaluate_lines(lines: NDArray, t: NDArray) -> NDArray[np.float64]:
    """Return the curves at some nodes, with what the cells around them add: (nodes, n).

    lines: of `_compute_bounding_lines`, (3, 2, nodes, 2). t: all >= 1.
    """
    powers = np.stack([np.ones(t.size), t])
    best = np.zeros((lines.shape[2], t.size))
    for near, far in lines:
        near, far = near @ powers, far @ powers
        np.maximum(best, np.minimum(near, far, out=near), out=best)
    return best


def _evaluate_largest(lines: NDArray, t: NDArray) -> NDArray[np.float64]:
    """Return the largest of the curves of `_evaluate_lines` at each t, ascending: (n,).

    Stretches of t are halved, and nodes left out that are nowhere on a stretch as high as some
    other. Between its ends a line is no higher than at one of them.
    """
    if t.size <= _STRETCH:
        return _evaluate_lines(lines, t).max(axis=0)
    first, last = np.moveaxis(lines @ np.stack([np.ones(2), t[[0, -1]]]), -1, 0)
    winners = [end.min(axis=1).max(axis=0).argmax() for end in (first, last)]
    least = _evaluate_lines(lines.take(winners, axis=2), t).max(axis=0).min()
    highest = np.maximum(first, last).min(axis=1).max(axis=0)
    kept = lines.take(np.flatnonzero(highest >= least), axis=2)
    if not kept.size:  # all lines are below 0 on the whole stretch, and no curve is
        return np.zeros(t.size)
    half = t.size // 2
    return np.concatenate([_evaluate_largest(kept, t[:half]), _evaluate_largest(kept, t[half:])])


def _smaller_bound(bound: NDArray, chosen: list[int], rest: list[int]) -> NDArray[np.float64]:
    """Return the smaller of the bounds of a set of outcomes and of its complement."""
    return np.minimum(bound[..., chosen].sum(axis=-1), bound[..., rest].sum(axis=-1))


@run_on_one_thread
def outcomes(leads: NDArray, middles: NDArray) -> NDArray[np.float64]:
    """Return Pr[a], Pr[b] and Pr[another], (leads, middles, 3).

    Pr[a] is the integral of phi(y - w / 2) Phi(y + w / 2) over y > c. It is computed by panels
    between middles, added up from the far end, so that small probabilities keep their digits.

    Args:
        leads: (leads,), w in sigma.
        middles: (middles,), c in sigma, equally spaced.
    """
    further = middles[-1] + _CELL * np.arange(1, 81)
    edges = np.concatenate([middles, further])
    half = np.diff(edges) / 2
    y = (edges[:-1] + half)[:, None] + half[:, None] * _POINTS
    rows = []
    # The opposite lead exchanges a and b.
    sizes, inverse = np.unique(np.abs(leads), return_inverse=True)
    for lead in sizes:
        mine, theirs = y - lead / 2, y + lead / 2
        densities = np.stack([_density(mine) * ndtr(theirs), _density(theirs) * ndtr(mine)])
        panels = (densities @ _WEIGHTS) * half
        wins = panels[:, ::-1].cumsum(axis=1)[:, ::-1][:, : middles.size]
        neither = ndtr(middles - lead / 2) * ndtr(middles + lead / 2)
        rows.append(np.stack([*wins, neither], axis=1))
    laws = np.array(rows)[inverse]
    return np.where((leads >= 0)[:, None, None], laws, laws[..., _EXCHANGED])


def curvatures(
    leads: NDArray, middles: NDArray, move: float, *, between: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how much what lies between nodes may exceed the chords: (t - 1) level + tilt.

    level comes from the second derivatives of each outcome's probability, tilt from how much these
    change over one move. Each cell's are bounded factor by factor; a node takes the largest of its
    cells.

    Args:
        leads: (leads,), w in sigma.
        middles: (middles,), c in sigma.
        move: By how much a lead changes, in sigma.
        between: Whether leads lie between nodes; else each has its own.

    Returns:
        level and tilt, (leads, middles, 3) each.
    """
    low_w, high_w = (leads[:-1], leads[1:]) if between else (leads, leads)
    low_w, high_w = low_w[:, None] - move, high_w[:, None]
    low_c, high_c = middles[None, :-1], middles[None, 1:]
    low_a, high_a = low_c - high_w / 2, high_c - low_w / 2
    low_b, high_b = low_c + low_w / 2, high_c + high_w / 2
    near_w, far_w = _least_absolute(low_w, high_w), _largest_absolute(low_w, high_w)
    far_a, far_b = _largest_absolute(low_a, high_a), _largest_absolute(low_b, high_b)
    # These bound the densities of a and of b at M with the other below it, of both at M, and of
    # both at once above it.
    only_a = _density(_least_absolute(low_a, high_a)) * ndtr(high_b)
    only_b = _density(_least_absolute(low_b, high_b)) * ndtr(high_a)
    both = np.exp(-(_least_absolute(low_c, high_c) ** 2) - near_w**2 / 4) / (2 * math.pi)
    tie = np.exp(-(near_w**2) / 4) * ndtr(-math.sqrt(2) * low_c) / (2 * math.sqrt(math.pi))
    square_a = _square_less_one(low_a, high_a)
    square_b = _square_less_one(low_b, high_b)

    along_c = far_a * only_a + both, far_b * only_b + both
    turn_c = (square_a * only_a + far_b * both) / 2, (square_b * only_b + far_a * both) / 2
    along_w = far_w / 2 * tie + along_c[0] / 4, far_w / 2 * tie + along_c[1] / 4
    neither_w = (along_c[0] + along_c[1]) / 4
    bend = np.maximum(np.abs(near_w**2 / 4 - 0.5), np.abs(far_w**2 / 4 - 0.5)) * tie
    bent_a = (square_a * only_a + _largest_absolute(low_a - high_w, high_a - low_w) * both) / 8
    bent_b = (square_b * only_b + _largest_absolute(low_b + low_w, high_b + high_w) * both) / 8

    tall = (high_c - low_c) ** 2 / 8
    wide = (high_w - low_w - move) ** 2 / 8
    level = [
        tall * along_c[0] + wide * along_w[0],
        tall * along_c[1] + wide * along_w[1],
        tall * (along_c[0] + along_c[1]) + wide * neither_w,
    ]
    tilt = [
        tall * turn_c[0] + wide * (bend + bent_a),
        tall * turn_c[1] + wide * (bend + bent_b),
        tall * (turn_c[0] + turn_c[1]) + wide * (bent_a + bent_b),
    ]
    axes = (0, 1) if between else (1,)
    growth = 1 + _ERROR
    return (
        _max_over_adjacent_cells(np.stack(level, axis=-1), axes) * growth,
        _max_over_adjacent_cells(np.stack(tilt, axis=-1), axes) * (move * growth),
    )


def _max_over_adjacent_cells(cells: NDArray, axes: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the largest of the cells that meet at each node."""
    for axis in axes:
        edge = [(0, 0)] * cells.ndim
        edge[axis] = (1, 1)
        wider = np.pad(cells, edge)
        nodes = wider.shape[axis] - 1
        low, high = np.arange(nodes), np.arange(1, nodes + 1)
        cells = np.maximum(wider.take(low, axis), wider.take(high, axis))
    return cells


@run_on_one_thread
def _three_outcomes(
    votes: NDArray[np.int64], teachers: int, classes: int, scale: float
) -> NDArray[np.float64]:
    """Return Pr[a], Pr[b] and Pr[another] where b has the other votes, (votes, 3).

    y, the largest noisy count, runs from 10 below the least of a's and b's counts to 10 beyond the
    largest, from -10 if that is less. If it is lower both counts are, and if it is higher some
    count is: with a probability of at most classes times 1e-23, less than OUTSIDE.
    """
    both = np.concatenate([votes, teachers - votes])
    low, high = max(0.0, both.min() / scale) - 10.0, both.max() / scale + 10.0
    edges = np.linspace(low, high, math.ceil((high - low) / 0.25) + 1)
    half = np.diff(edges) / 2
    y = ((edges[:-1] + half)[:, None] + half[:, None] * _POINTS).ravel()
    weights = (half[:, None] * _WEIGHTS).ravel()
    # Exchanging a's votes and b's exchanges their probabilities.
    larger, inverse = np.unique(np.maximum(votes, teachers - votes), return_inverse=True)
    mine, theirs = y - larger[:, None] / scale, y - (teachers - larger)[:, None] / scale
    below_mine, below_theirs = ndtr(mine), ndtr(theirs)
    others = classes - 2
    below = weights * ndtr(y) ** others
    first = _density(mine) * below_theirs @ below
    second = _density(theirs) * below_mine @ below
    highest = others * _density(y) * ndtr(y) ** max(others - 1, 0)
    another = below_mine * below_theirs @ (weights * highest)
    laws = np.stack([first, second, another], axis=1)[inverse]
    return np.where((2 * votes >= teachers)[:, None], laws, laws[:, _EXCHANGED])


def _density(x: NDArray) -> NDArray[np.float64]:
    """Return the standard normal density."""
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def _least_absolute(low: NDArray, high: NDArray) -> NDArray[np.float64]:
    """Return the least |x| of an interval."""
    return np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))


def _largest_absolute(low: NDArray, high: NDArray) -> NDArray[np.float64]:
    """Return the largest |x| of an interval."""
    return np.maximum(np.abs(low), np.abs(high))


def _square_less_one(low: NDArray, high: NDArray) -> NDArray[np.float64]:
    """Return the largest |x^2 - 1| of an interval."""
    return np.maximum(
        np.abs(_least_absolute(low, high) ** 2 - 1), np.abs(_largest_absolute(low, high) ** 2 - 1)
    )
