"""The distribution of LNMax's label, by quadrature with a proven bound on its error.

LNMax (PATE 2017; PATE, section 3.1) adds Laplace noise of scale b to each class's count and
releases the class of the largest. In units of b, with counts v_i, the winner's noisy count t has

    Pr[j] = int f(t - v_j) prod_{i != j} F(t - v_i) dt,   f = F' the Laplace density,

which is smooth between neighbouring counts and is integrated there piece by piece. What depends on
votes without noise is not for release.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks
from private_ensembles.labels.histograms import (
    MergedHistograms,
    iterate_blocks,
    merge_histograms,
    split_into_chunks,
)
from private_ensembles.labels.product_integrals import (
    MANY_CLASSES,
    gauss_legendre,
    leave_one_out_integrals,
)

# Pieces below the point where all noisy counts lie with probability e^-40 are left out, and each
# piece's own quadrature error is below e^-40.
_NEGLIGIBLE = 40.0
# The integrand is bounded on the Bernstein ellipse of this parameter; pieces are at most 1 long.
_RHO = 4.0
# Numbers of nodes are rounded up to multiples of this, so that few groups remain.
_ROUND_UP = 4


class _Pieces(NamedTuple):
    """Intervals of t between two neighbouring counts: the row of each, its top and its bottom."""

    rows: NDArray[np.int64]
    tops: NDArray[np.float64]
    bottoms: NDArray[np.float64]


def check_scale(scale: float) -> float:
    """Return the Laplace scale as a float; raise ValueError unless it is finite and > 0."""
    checks.check_finite(scale=scale, above=0)
    return float(scale)


def lnmax_distribution(counts: ArrayLike, scale: float) -> NDArray[np.float64]:
    """Return Pr[LNMax releases class j] for every query.

    Every probability is within 1e-12 of the exact one, and rows sum to 1 within that times the
    number of classes. Why:

    - Above the largest count, v_1, the integrand is a polynomial of degree C - 1 in u = exp(-(t -
      v_1)): Gauss-Legendre with C // 2 + 1 nodes makes no error but rounding. From `MANY_CLASSES`
      on, `leave_one_out_integrals` takes fewer.
    - Between two counts, on pieces at most 1 long, Gauss-Legendre with n nodes is off by at most
      (64/15) r M rho^(-2n) / (1 - rho^-2), r half the piece's length, if the integrand is bounded
      by M on the Bernstein ellipse of parameter rho = 4 (the theorem below). There |e^-(t - v)| <=
      e^-(Re t - v), so each factor's bound is |1 - e^-(t - v) / 2| <= 1 + e^-(t_lo - v) / 2 for
      counts below and e^(t_hi - v) / 2 for counts above; n is chosen so that the bound is below
      e^-40. There are at most 40 + C pieces that matter.
    - Below, where all noisy counts together lie with probability under e^-40, nothing is added.
      From `MANY_CLASSES` on, pieces are left out as well if F's product over all classes, which f
      F^-1 <= 1 makes a bound on every integrand, is under e^-40 at their upper end. It falls at
      least as fast as e^(t - v_1) further down, so that they hold less than e^-40 together.
    - All terms are positive, so rounding costs a few round-offs per factor of the product.

    Args:
        counts: (queries, classes) int, votes for each class.
        scale: Scale of the Laplace noise, in votes, > 0 (the paper's 1 / gamma).

    Returns:
        (queries, classes) float64.

    Raises:
        ValueError: As `check_counts` and `check_scale` do.

    References:
        Trefethen (2013), Theorem 19.3.
    """
    scale = check_scale(scale)
    merged = merge_histograms(counts)
    return lnmax_pair_probabilities(merged, scale, np.ones(len(merged.gap), dtype=bool))[
        merged.entry_pairs
    ]


def lnmax_probability_correct(
    merged: MergedHistograms, labels: ArrayLike, scale: float
) -> NDArray[np.float64]:
    """Return Pr[LNMax releases its query's label]: entries of `lnmax_distribution`.

    The other classes' integrals are left out, which saves time.

    Args:
        merged: The votes, as `merge_histograms` returns them, which serve every scale.
        labels: (queries,) int, a class of each query.
        scale: Scale of the Laplace noise, in votes, > 0.

    Returns:
        (queries,) float64.

    Raises:
        ValueError: As `check_scale` does.

    >>> lnmax_probability_correct(merge_histograms([[6, 3, 1], [5, 5, 0]]), [0, 1], 2.0).round(3)
    array([0.763, 0.483])
    """
    label_pairs, wanted = merged.select_label_pairs(labels)
    return lnmax_pair_probabilities(merged, check_scale(scale), wanted)[label_pairs]


def lnmax_pair_probabilities(
    merged: MergedHistograms, scale: float, wanted: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return Pr[LNMax releases a class] of the pairs of merged votes that are wanted.

    Args:
        merged: The votes, as `merge_histograms` returns them.
        scale: Scale of the Laplace noise, in votes.
        wanted: (pairs,) bool.

    Returns:
        (pairs,) float64, 0 of the pairs that are not wanted.
    """
    gap = merged.gap / scale
    probability = _integrate_above_largest(merged, gap, wanted)
    for (rows, tops, bottoms), nodes in _groups(merged, gap, _pieces(merged, gap)):
        pairs, first = merged.select_row_pairs(rows)
        sizes = merged.pairs_per_row[rows]
        x, weights = gauss_legendre(nodes)
        half = (tops - bottoms) / 2
        t = (tops + bottoms)[:, None] / 2 + half[:, None] * x
        chosen = wanted[pairs]
        integrand, done = np.empty((int(chosen.sum()), nodes)), 0
        for piece_block, pair_block, starts in iterate_blocks(first, len(pairs), nodes):
            z = np.repeat(t[piece_block], sizes[piece_block], axis=0)
            z = z + gap[pairs[pair_block]][:, None]
            multiplicity = merged.multiplicity[pairs[pair_block]]
            values = _integrand(z, multiplicity, starts, np.flatnonzero(chosen[pair_block]))
            integrand[done : done + len(values)] = values
            done += len(values)
        piece_integrals = integrand @ weights * np.repeat(half, sizes)[chosen]
        probability += np.bincount(pairs[chosen], piece_integrals, minlength=len(gap))
    return np.minimum(probability, 1.0)


def _integrand(
    z: NDArray[np.float64],
    multiplicity: NDArray[np.int64],
    first: NDArray[np.int64],
    chosen: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return f(t - v_j) times the product of F(t - v_i) over i != j, (chosen, nodes).

    Args:
        z: (pairs, nodes) t - v.
        multiplicity: (pairs,) how many classes have each count.
        first: Where rows start among the pairs.
        chosen: Numbers of the pairs j.
    """
    density = np.abs(z)
    np.exp(np.negative(density, out=density), out=density)
    density *= 0.5
    log_below = z - math.log(2)
    # A piece lies between two neighbouring counts: z changes its sign nowhere, except by rounding.
    beyond = z[:, -1] >= 0
    log_below[beyond] = np.where(z[beyond] < 0, log_below[beyond], np.log1p(-density[beyond]))
    own = log_below[chosen]
    log_below *= multiplicity[:, None]
    all_below = np.add.reduceat(log_below, first, axis=0)
    others = all_below[np.searchsorted(first, chosen, side="right") - 1]
    others -= own
    return density[chosen] * np.exp(others, out=others)


def _integrate_above_largest(
    merged: MergedHistograms, gap: NDArray[np.float64], wanted: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the integral over all t above the largest count, (pairs,), off by rounding alone."""
    if merged.n_classes >= MANY_CLASSES:
        probabilities = 0.5 * np.exp(-gap)
        return probabilities * leave_one_out_integrals(merged, probabilities, wanted)
    x, weights = gauss_legendre(merged.n_classes // 2 + 1)
    u = (1 + x) / 2
    result = np.zeros(len(gap))
    size = merged.pairs_per_row
    for rows in split_into_chunks(np.arange(len(size)), size * len(u)):
        pairs, first = merged.select_row_pairs(rows)
        below = np.log1p(-0.5 * np.exp(-gap[pairs])[:, None] * u)
        all_below = np.add.reduceat(merged.multiplicity[pairs][:, None] * below, first, axis=0)
        chosen = np.flatnonzero(wanted[pairs])
        others = all_below[np.searchsorted(first, chosen, side="right") - 1]
        others -= below[chosen]
        chosen = pairs[chosen]
        result[chosen] = np.exp(others, out=others) @ (weights / 2) * 0.5 * np.exp(-gap[chosen])
    return result


def _pieces(merged: MergedHistograms, gap: NDArray[np.float64]) -> _Pieces:
    """Return every piece, at most 1 long, that can matter; t is seen from the row's largest count.

    Between two neighbouring counts, the m classes above t are below it with probability exp(-sum
    (v_i - t)) / 2^m; from where that is negligible, pieces end.
    """
    last = np.zeros(len(gap), dtype=bool)
    last[np.append(merged.starts[1:], len(gap)) - 1] = True
    sizes = merged.pairs_per_row
    before = np.arange(len(sizes)) * merged.n_classes
    classes = np.cumsum(merged.multiplicity) - np.repeat(before, sizes)
    weighted = merged.multiplicity * gap
    total = np.cumsum(weighted)
    total -= np.repeat((total - weighted)[merged.starts], sizes)
    # The sum over the m classes above of (v_i - t) is m depth - total of their gaps.
    deepest = (_NEGLIGIBLE + total) / classes
    following = np.append(gap[1:], 0.0)
    bottom = np.minimum(np.where(last, deepest, following), deepest)
    keep = bottom > gap
    parts = np.ceil(bottom - gap).astype(np.int64)[keep]
    length = ((bottom - gap)[keep]) / parts
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    tops = -(np.repeat(gap[keep], parts) + number * np.repeat(length, parts))
    return _Pieces(np.repeat(merged.row[keep], parts), tops, tops - np.repeat(length, parts))


def _groups(
    merged: MergedHistograms, gap: NDArray[np.float64], pieces: _Pieces
) -> Iterator[tuple[_Pieces, int]]:
    """Yield pieces that need equally many nodes, and that number.

    Each group is as large as fits in the cache of a laptop.
    """
    rows, tops, bottoms = pieces
    nodes = np.empty(len(rows), dtype=np.int64)
    size = merged.pairs_per_row
    matters = np.ones(len(rows), dtype=bool)
    wide = (_RHO + 1 / _RHO) / 2 - 1
    for part in split_into_chunks(np.arange(len(rows)), size[rows]):
        pairs, first = merged.select_row_pairs(rows[part])
        reach = wide * (tops - bottoms)[part] / 2
        count = -gap[pairs]
        repeats = size[rows[part]]
        if merged.n_classes >= MANY_CLASSES:
            lead = np.repeat(tops[part], repeats) - count
            below = np.log1p(-0.5 * np.exp(-np.abs(lead)))
            log_most = np.where(lead > 0, below, lead - math.log(2))
            log_most = np.add.reduceat(merged.multiplicity[pairs] * log_most, first)
            matters[part] = log_most >= -_NEGLIGIBLE
        low = np.repeat(bottoms[part] - reach, repeats) - count
        high = np.repeat(tops[part] + reach, repeats) - count
        above = np.repeat(tops[part], repeats) <= count
        factor = np.where(above, high - math.log(2), np.log1p(0.5 * np.exp(-np.minimum(low, high))))
        bound = np.add.reduceat(merged.multiplicity[pairs] * factor, first)
        # The density replaces one factor and is no larger than 2 of its bounds; 64/15 and 1/(1 -
        # rho^-2) make less than 5.
        bound += math.log(10)
        nodes[part] = np.ceil(np.maximum(bound + _NEGLIGIBLE, 1) / (2 * math.log(_RHO)))
    nodes = -(-nodes // _ROUND_UP) * _ROUND_UP
    for n in np.unique(nodes[matters]):
        group = np.flatnonzero((nodes == n) & matters)
        for part in split_into_chunks(group, size[rows[group]] * n):
            yield _Pieces(rows[part], tops[part], bottoms[part]), int(n)
