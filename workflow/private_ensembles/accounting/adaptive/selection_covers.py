"""What a moved vote does to a label chosen by its votes, in any number of classes, for `adaptive`.

The exponential mechanism chooses class j with a probability in proportion to e^(rate n_j),
permute-and-flip takes the largest count with exponential noise, and LNMax the one with Laplace
noise. One vote moves from class a to b. Few pairs of distributions dominate all that this can
cause, whatever the number of classes and whatever votes the other classes have.

Of LNMax's others, the one with the largest noisy count is as if it had exponential noise on a count
z, any real number; so three outcomes are left. In units of the noise's scale a, b and z say all.
What lies between rows is a mixture of rows, exactly where probabilities are polynomials of what
runs, and up to a relative error within one vote. Proofs: docs/many-labels.md.
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
# Cells of an exponential e^-x of a lead in (0, 1], for all leads at once and for each.
_LEAD_CELLS, _FEW_CELLS = 32, 4
# Leads beyond this many scales are no normal floats.
_FURTHEST = 600.0
# Of very many teachers leads beyond this many scales and two votes share a row: b and the other win
# with less than _TOLD together.
_MANY_TEACHERS, _FAR, _TOLD = 1000, 44.0, 1e-17
# Of very many teachers not every lead is listed: cells of leads are as wide as those of a vote,
# wider by e^(lead / 4), and up to this many times as wide.
_WIDER = 8.0


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


def pure_cover(rate: float) -> Pairs:
    """Return the pair that dominates all that is (2 rate, 0)-differentially private.

    >>> pure_cover(math.log(3) / 2).first.round(12)
    array([[0.75, 0.25]])

    rate: > 0. Randomised response. Raises ValueError like `exponential_cover`. Source: Kairouz, Oh
    and Viswanath 2015.
    """
    checks.within(0, _LARGEST_RATE, rate=rate, low_allowed=False)
    least = 1 / (1 + math.exp(2 * rate))
    first = np.array([[math.exp(2 * rate) * least, least]])
    return Pairs(first, first[:, ::-1], _ERROR)


def permute_and_flip_cover(rate: float) -> Pairs:
    """Return pairs that dominate permute-and-flip's, in any number of classes.

    >>> permute_and_flip_cover(0.1).first.shape
    (20, 3)

    rate: > 0. Outcomes: the class that loses a vote, the one that gains it, another. Raises
    ValueError like `exponential_cover`. Source: docs/many-labels.md.
    """
    checks.within(0, _LARGEST_RATE, rate=rate, low_allowed=False)
    k = math.exp(-rate)
    # Another is ahead of both, before and after: u and v are e^(-rate lead) of a and b.
    u, v = np.array([1.0, 1.0, 0.0]), np.array([0.0, k, k])
    parts = [(_third_ahead(u, v), _third_ahead(u * k, v / k), 0.0)]
    # a is ahead before and after: v and w are those of b and the other.
    v, w = np.array([k * k, 0.0, k * k]), np.array([0.0, k, k])
    parts.append((_first_ahead(v, w), _first_ahead(v / k**2, w / k), 0.0))
    # a and b change places.
    w = np.array([0.0, 1.0])
    before = _first_ahead(np.array([k, k]), w)
    parts.append((before, before[:, [1, 0, 2]], 0.0))
    # a is ahead before, another after: less than a vote between them, b below the other or none.
    cells = cells_of_a_vote(rate)
    w = np.exp(-rate * np.linspace(0, 1, cells + 1))
    for v in (0.0 * w, k * w):
        parts.append((_first_ahead(v, w), _third_ahead(k / w, v / k / w), rate / cells))
    return _joined(parts, 0.0)


def laplace_cover(scale: float, teachers: int) -> Pairs:
    """Return pairs that dominate LNMax's, in any number of classes.

    >>> laplace_cover(20.0, 51).first.shape[1]
    3

    scale: of the noise on each count, in votes, > 0. teachers: K >= 1, all votes. Outcomes: the
    class that loses a vote, the one that gains it, another. Raises ValueError for numbers out of
    range, and for a scale too small for floats. Source: docs/many-labels.md.
    """
    checks.finite(scale=scale, above=0)
    checks.integer(teachers=teachers, at_least=1)
    near = min(teachers, max(_MANY_TEACHERS, math.ceil(_FAR * scale) + 2))
    if (near + 2) / scale > _FURTHEST:
        least = (min(teachers, _MANY_TEACHERS) + 2) / _FURTHEST
        raise ValueError(f"scale = {scale}: must be a finite number >= {least:g}")
    vote = 1 / scale
    listed = np.arange(2, near + 1)
    if teachers > _MANY_TEACHERS and listed.size:
        listed = _listed_leads(2, near, scale)
    parts = [*_other_ahead(vote), *_other_between(vote), *_other_behind(vote, listed, scale)]
    if near < teachers:
        before = np.array([[1.0, _TOLD, 0.0]])
        parts.append((before, before[:, [0, 2, 1]], 0.0))
    return _joined(parts, _ERROR)


def _joined(parts: list[tuple], error: float) -> Pairs:
    """Pairs of parts: laws before and after, and how wide the cells are in which more lie.

    error: of each row, beside what the cells add. A part of leads may add what `_of_leads` says.
    """
    first = np.concatenate([before for before, *_ in parts])
    second = np.concatenate([after for _, after, *_ in parts])
    errors = []
    for before, after, width, *wide in parts:
        each = np.full((len(before), 1), error + bent(width))
        if wide:
            each = _of_leads(each, before, after, *wide)
        errors.append(each)
    columns = max(each.shape[1] for each in errors)
    errors = [np.broadcast_to(each, (len(each), columns)) for each in errors]
    return Pairs(first, second, np.concatenate(errors))


def _of_leads(
    errors: NDArray, before: NDArray, after: NDArray, wide: NDArray
) -> NDArray[np.float64]:
    """Errors (rows, 1) of rows of which each stands for a cell of leads as well: (rows, 3).

    wide: (rows,) of the widest cell at the row's lead. Chords of b and of the other are off by
    `bent`, relative to themselves, and those of a by as much as both together.
    """
    share = np.array([bent(width) if width else 0.0 for width in wide])[:, None]
    rare = np.max([law[:, 1:].sum(axis=1) / law[:, 0] for law in (before, after)], axis=0)
    of_cells = share * (1 + errors) * (1 + _ERROR)
    return errors + np.hstack([of_cells * rare[:, None], of_cells, of_cells])


def _listed_leads(first: int, last: int, scale: float) -> NDArray[np.int64]:
    """The first and the last of leads in votes, and some between, ever further apart."""
    narrow = math.sqrt(1 / scale) / _CELLS  # in scales, about as in `cells_of_a_vote`
    listed = [first]
    while listed[-1] < last:
        wider = math.exp(min(listed[-1] / scale / 4, math.log(_WIDER)))
        step = max(1, math.floor(min(narrow * wider, 0.5) * scale))
        listed.append(min(listed[-1] + step, last))
    return np.array(listed)


def _first_ahead(v: NDArray, w: NDArray) -> NDArray[np.float64]:
    """Permute-and-flip where a leads, and e^-rate to the power of its leads is v and w."""
    second, third = v * (1 / 2 - w / 6), w * (1 / 2 - v / 6)
    return np.stack([1 - second - third, second, third], axis=1)


def _third_ahead(u: NDArray, v: NDArray) -> NDArray[np.float64]:
    """Permute-and-flip where neither a nor b leads, and those of the leads are u and v."""
    return _first_ahead(u, v)[:, [1, 2, 0]]


def _other_ahead(vote: float) -> list[tuple]:
    """z above a and b, before and after: four corners, of which one tells nothing."""
    k = math.exp(-vote)
    u, v = np.array([1.0, 1.0, 0.0]), np.array([0.0, k, k])
    return [(_above(u, v), _above(u * k, v / k), 0.0)]


def _other_between(vote: float) -> list[tuple]:
    """z below a before and above b after; b far below or just there, and nothing between."""
    k = math.exp(-vote)
    parts = []
    # a stays above: q = e^-(a - z), with q^2 and -q ln q.
    nodes = k * np.arange(_LEAD_CELLS + 1) / _LEAD_CELLS
    q, square, entropy = _with_bends(nodes)
    # a falls below z, which takes less than a vote.
    cells = cells_of_a_vote(vote)
    lead = vote * np.arange(cells + 1) / cells
    near = np.exp(-lead)
    for v in (0.0, k):
        after = _between(q / k, (entropy - vote * q) / k, square / k**2, v / k)
        parts.append((_between(q, entropy, square, v), after, 0.0))
        before = _between(near, lead * near, near**2, v)
        parts.append((before, _above(k / near, np.full(near.shape, v / k)), vote / cells))
    return parts


def _other_behind(vote: float, listed: NDArray[np.int64], scale: float) -> list[tuple]:
    """z below a before, and below b before or after, or both; a leads by one vote or as listed.

    vote: in scales. listed: leads in votes, of two or more, so that a leads after, too; where some
    are left out, those around them stand for them.
    """
    k = math.exp(-vote)
    g, square = _with_squares(np.arange(_FEW_CELLS + 1) / _FEW_CELLS)
    cells = cells_of_a_vote(vote)
    up = vote * np.arange(cells + 1) / cells  # z above b before
    # A lead of one vote: a and b change places.
    before = _below(np.full(g.shape, vote), g, square)
    parts = [(before, before[:, [1, 0, 2]], 0.0)]
    before = _between_at(vote - up, up)
    parts.append((before, before[:, [1, 0, 2]], vote / cells))
    # More: a leads after, too.
    leads, gaps = listed * (1 / scale), np.diff(listed)
    gaps = np.where(gaps > 1, gaps / scale, 0.0)  # neighbours have none between them
    gaps = np.maximum(np.append(0.0, gaps), np.append(gaps, 0.0))
    each, g, square = np.broadcast_arrays(leads[:, None], g, square)
    each, g, square = each.ravel(), g.ravel(), square.ravel()
    after = _below(each - 2 * vote, g * k, square * k**2)
    wide = (np.repeat(gaps, each.size // max(1, leads.size)),) if gaps.any() else ()
    parts.append((_below(each, g, square), after, 0.0, *wide))
    each, up = np.broadcast_arrays(leads[:, None], up)
    each, up = each.ravel(), up.ravel()
    g = np.exp(up - vote)
    after = _below(each - 2 * vote, g, g**2)
    wide = (np.repeat(gaps, each.size // max(1, leads.size)),) if gaps.any() else ()
    parts.append((_between_at(each - up, up), after, vote / cells, *wide))
    return parts


def _with_squares(nodes: NDArray) -> tuple[NDArray, NDArray]:
    """Points whose hull holds the parabola from the first to the last node: x and x^2."""
    x = np.zeros(2 * nodes.size - 1)
    square = np.zeros_like(x)
    x[::2], square[::2] = nodes, nodes**2
    # Where the tangents at two nodes meet.
    x[1::2], square[1::2] = (nodes[1:] + nodes[:-1]) / 2, nodes[1:] * nodes[:-1]
    return x, square


def _with_bends(nodes: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Do as `_with_squares` does, with -x ln x as well, in [0, 1]: its chord, and a bound above."""
    x, square = _with_squares(nodes)
    at_nodes = -nodes * np.log(np.where(nodes > 0, nodes, 1.0))
    chord = np.interp(x, nodes, at_nodes)
    low, high = nodes[:-1], nodes[1:]
    # The second derivative is -1 / x; from 0 on the chord is x ln(1 / high).
    more = np.where(low > 0, (high - low) ** 2 / (8 * np.where(low > 0, low, 1.0)), high / math.e)
    around = np.zeros(x.size)
    around[1::2] = more
    around[:-1:2] = np.maximum(around[:-1:2], more)
    around[2::2] = np.maximum(around[2::2], more)
    entropy = np.concatenate([chord, chord + around * (1 + _ERROR)])
    return np.tile(x, 2), np.tile(square, 2), entropy


def _above(u: NDArray, v: NDArray) -> NDArray[np.float64]:
    """Pr[a], Pr[b], Pr[another] where z leads a and b, by -ln u and -ln v."""
    first, second = u / 4 - u * v / 24, v / 4 - u * v / 24
    return np.stack([first, second, 1 - u / 4 - v / 4 + u * v / 12], axis=1)


def _between(q: NDArray, entropy: NDArray, square: NDArray, v: NDArray | float) -> NDArray:
    """The same where a leads z by -ln q and z leads b by -ln v; q^2 and -q ln q as given."""
    second = v * (q / 8 + entropy / 4 + square / 12)
    third = q * (3 / 4 - v / 4) + entropy / 2 + v * square / 12
    return np.stack([1 - second - third, second, third], axis=1)


def _between_at(lead: NDArray, other: NDArray) -> NDArray[np.float64]:
    """The same where a leads z and z leads b by the given leads."""
    q = np.exp(-lead)
    return _between(q, lead * q, q**2, np.exp(-other))


def _below(lead: NDArray, g: NDArray, square: NDArray) -> NDArray[np.float64]:
    """The same where a leads b by `lead` and b leads z by -ln g; g^2 as given."""
    w = np.exp(-lead)
    second = w * (1 / 2 + lead / 4 - g * (1 / 2 - w / 12) + square / 8)
    third = w * (g * (3 / 4 + lead / 2 + w / 12) - square / 4)
    return np.stack([1 - second - third, second, third], axis=1)
