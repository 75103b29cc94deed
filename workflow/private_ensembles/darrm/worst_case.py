"""Worst cases of DaRRM's privacy cost f over assignments of teachers to corners.

Every function scores whole families of assignments by array operations: with the operator
T_p = (1 - p) I + p * shift, G of an assignment is the product of its teachers' operators applied
to g, so no pmf is formed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import binomial_table
from private_ensembles.darrm.privacy_cost import UNIT_ROUNDOFF, PrivacyProblem, assignment_counts

TAIL = 1e-19
# Table entries that an exact eight-corner maximum may work out, about ten seconds' worth.
EFFORT = 5e8
LARGEST_ORDER = 4


@dataclass(frozen=True)
class WorstCase:
    """An upper bound on f without the rounding bound, and the worst assignment found.

    upper : at least f at every assignment of the family, up to `PrivacyProblem.rounding_bound`.
    counts : (8,) teachers per corner (order of `privacy_cost.CORNERS`) of the worst one found.
    """

    upper: float
    counts: NDArray[np.int64]


def moved_terms(K: int, Delta: float) -> int:
    """Number of terms after which the tail of Bin(K, Delta) is below TAIL.

    Pr[Bin(K, Delta) >= s] <= C(K, s) Delta^s <= (K Delta)^s / s!.
    """
    if Delta == 0:
        return 1
    for s in range(1, K + 1):
        if s * math.log(K * Delta) - math.lgamma(s + 1) < math.log(TAIL):
            return s
    return K + 1


def _triangle(g: NDArray, p: float) -> NDArray[np.float64]:
    """Row i holds T_p^i g on 0..K-i, zero beyond."""
    K = len(g) - 1
    table = np.zeros((K + 1, K + 1))
    table[0] = g
    for i in range(1, K + 1):  # sequential in the number of teachers at this corner
        last = table[i - 1, : K + 2 - i]
        table[i, : K + 1 - i] = (1 - p) * last[:-1] + p * last[1:]
    return table


def three_corner_costs(problem: PrivacyProblem, g: NDArray[np.float64]) -> NDArray[np.float64]:
    """f at every assignment of teachers to the corners (D,0), H, (1,1-D).

    Returns an array (K+1, K+1) indexed [teachers at H, teachers at (1,1-D)]; the rest are at
    (D,0); -inf where the counts exceed K. If gamma is non-decreasing in |l - K/2|, G is
    non-decreasing in each p_i, so f is largest on the lower-right frontier of the feasible
    region, whose vertices are these three: their maximum is then exact (DESIGN 5.2).
    """
    K, D, c = problem.K, problem.Delta, problem.c
    i, b = np.ogrid[: K + 1, : K + 1]
    a = K - i - b
    outside = a < 0
    a = np.where(outside, 0, a)
    terms = moved_terms(K, D)
    weights = binomial_table(K, D, terms)
    up, down = _triangle(g, problem.high), _triangle(g, problem.low)
    left, right = np.zeros((K + 1, K + 1)), np.zeros((K + 1, K + 1))
    for s in range(terms):  # few terms: those of Bin(K, Delta) above TAIL
        left[:, : K + 1 - s] += weights[a[:, : K + 1 - s], s] * up[:, s:]
        right[:, s:] += weights[b[:, s:], s] * down[:, : K + 1 - s]
    f = left - c * right
    f[outside] = -np.inf
    return f


def three_corner_worst_case(problem: PrivacyProblem, g: NDArray[np.float64]) -> WorstCase:
    """Maximum of `three_corner_costs`, with the truncated binomial tails added."""
    f = three_corner_costs(problem, g)
    i, b = np.unravel_index(np.argmax(f), f.shape)
    counts = assignment_counts(D_zero=problem.K - i - b, up=i, one_below=b)
    return WorstCase(float(f[i, b]) + 2 * TAIL * (1 + problem.c), counts)


def _slices(problem: PrivacyProblem, g: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """For t = 0..K: V[i, b] = G with i teachers at p = high, t - i at p = low, b at 1, rest at 0.

    The other side of the same assignment has high and low exchanged: V[::-1].
    """
    high, low = problem.high, problem.low
    V = np.asarray(g, dtype=np.float64)[None, :]
    yield V
    for t in range(1, problem.K + 1):  # each slice follows from the last
        W = np.empty((t + 1, V.shape[1] - 1))
        W[1:] = (1 - high) * V[:, :-1] + high * V[:, 1:]
        W[0] = (1 - low) * V[0, :-1] + low * V[0, 1:]
        V = W
        yield V


def _best_shift(differences: NDArray, order: int, sign: float) -> NDArray[np.float64]:
    """max(0, max_s sign * (-1)^s D^order V(b - s)) over the s for which it is defined.

    differences : D^order V, shape (rows, n + 1 - order); returned shape (rows, n + 1) over b.
    """
    rows, width = differences.shape
    best = np.zeros((rows, width + order))
    for s in range(order + 1):  # order <= 5
        np.maximum(
            best[:, s : s + width],
            sign * (-1) ** s * differences,
            out=best[:, s : s + width],
        )
    return best


def series_worst_case(
    problem: PrivacyProblem, g: NDArray[np.float64], order: int | None = None
) -> WorstCase:
    """Upper bound on f over all eight corners in O(order * K^3), and the worst assignment found.

    order : of the expansion in Delta, default `series_order`.

    The four corners (0,0), (1,1), H and its mirror image are evaluated exactly. A teacher at (D,0)
    instead of (0,0) replaces the operator I by I + D*diff, one at (1-D,1) the shift S by
    S - D*diff, and the same on the other side, so with n = a + b teachers at the ends f is a
    polynomial in Delta whose term of order r is at most

        Delta^r C(n, r) max(0, max_s (-1)^s diff^r V(b-s), max_s -(-1)^s c diff^r V'(b-s))

    (Vandermonde on the choices, and C(x, r) + C(y, r) <= C(x + y, r) since a teacher moves on one
    side only). The first order is exact; orders beyond `order` are bounded through
    |diff^(r+k) V| <= 2^k max|diff^r V| by (n Delta)^(order+1) / (order+1)! e^(2 n Delta)
    max(|diff^(order+1) V|, c |diff^(order+1) V'|). With Delta = 0 the bound is the exact maximum.
    """
    order = series_order(problem) if order is None else order
    upper, best, counts = -np.inf, -np.inf, None
    for V in _slices(problem, g):
        f = _first_order(problem, V)
        upper = max(upper, float(_bound(problem, V, f, order).max()))
        k = int(np.argmax(f))
        if f.flat[k] > best:
            best = float(f.flat[k])
            counts = _corner_choice(problem, V, *divmod(k, f.shape[1]))
    return WorstCase(upper + _series_rounding(problem, order), counts)


def first_order_assignments(
    problem: PrivacyProblem, g: NDArray[np.float64], keep: int, floor: float
) -> list[NDArray[np.int64]]:
    """Assignments whose f exceeds `floor` to first order in Delta, worst first, in O(K^3).

    The peaks of f, at most `keep` for each number of teachers at H and its mirror image, so that
    cuts come from all over the family, not from one neighbourhood.
    """
    found: list[tuple[float, NDArray[np.int64]]] = []
    for V in _slices(problem, g):
        f = _first_order(problem, V)
        found += [
            (float(f[i, k]), _corner_choice(problem, V, int(i), int(k)))
            for i, k in zip(*peaks(f, floor, keep), strict=True)
        ]
    found.sort(key=lambda item: -item[0])
    return [counts for _, counts in found]


def series_order(problem: PrivacyProblem) -> int:
    """The least order of the series whose remainder is negligible, at most LARGEST_ORDER."""
    x = 2 * problem.K * problem.Delta
    for order in range(2, LARGEST_ORDER):
        if x ** (order + 1) / math.factorial(order + 1) < 1e-7:
            return order
    return LARGEST_ORDER


def _series_rounding(problem: PrivacyProblem, order: int) -> float:
    """Rounding of the series' added terms, beside the bound on f itself.

    Each is a sum of at most 2 (order + 1) products, all of them below 1 + c in size.
    """
    return 64 * (order + 1) * UNIT_ROUNDOFF * (1 + problem.c) if problem.Delta > 0 else 0.0


def _first_order(problem: PrivacyProblem, V: NDArray[np.float64]) -> NDArray[np.float64]:
    """f over one slice (t + 1, n + 1), each teacher at an end making its best first-order move."""
    D, c = problem.Delta, problem.c
    n = V.shape[1] - 1
    f = V - c * V[::-1]
    if D == 0 or n == 0:
        return f
    # What one teacher gains by leaving (0,0) towards (D,0) or (0,D), and (1,1) likewise.
    d = np.diff(V, axis=1)
    e = c * d[::-1]
    b = np.arange(n + 1)
    f[:, :-1] += np.maximum(0, np.maximum(d, -e)) * (D * (n - b[:-1]))
    f[:, 1:] += np.maximum(0, np.maximum(-d, e)) * (D * b[1:])
    return f


def _bound(
    problem: PrivacyProblem, V: NDArray[np.float64], f: NDArray[np.float64], order: int
) -> NDArray[np.float64]:
    """The bound of `series_worst_case` over one slice, from its first order."""
    D, c = problem.Delta, problem.c
    n = V.shape[1] - 1
    if D == 0 or n == 0:
        return f
    bound = f.copy()
    d = np.diff(V, axis=1)
    for r in range(2, min(order, n) + 1):
        d = np.diff(d, axis=1)
        factor = math.comb(n, r) * D**r
        bound += factor * np.maximum(_best_shift(d, r, 1.0), c * _best_shift(d[::-1], r, -1.0))
    if n > order:
        size = np.abs(np.diff(d, axis=1)).max(axis=1)
        rest = math.exp(2 * n * D + (order + 1) * math.log(n * D) - math.lgamma(order + 2))
        bound += rest * np.maximum(size, c * size[::-1])[:, None]
    return bound


def peaks(f: NDArray, floor: float, keep: int) -> tuple[NDArray, NDArray]:
    """Indices of at most `keep` local maxima of a matrix above `floor`, largest first."""
    peak = f > floor
    if not peak.any():
        return np.zeros(0, int), np.zeros(0, int)
    padded = np.pad(f, 1, constant_values=-np.inf)
    rows, columns = f.shape
    for di in (-1, 0, 1):
        for dk in (-1, 0, 1):
            if (di, dk) != (0, 0):
                peak &= f >= padded[1 + di : 1 + di + rows, 1 + dk : 1 + dk + columns]
    i, k = np.nonzero(peak)
    order = np.argsort(-f[i, k], kind="stable")[:keep]
    return i[order], k[order]


def _corner_choice(problem: PrivacyProblem, V: NDArray, i: int, b: int) -> NDArray[np.int64]:
    """The assignment behind a first-order maximum: every teacher at an end makes its best move."""
    t, c = V.shape[0] - 1, problem.c
    n = problem.K - t
    a = n - b
    counts = {"up": i, "down": t - i, "zero": a, "one": b}
    if problem.Delta > 0:
        if a:
            d, e = V[i, b + 1] - V[i, b], c * (V[t - i, b + 1] - V[t - i, b])
            if max(d, -e) > 0:
                counts["D_zero" if d >= -e else "zero_D"] = counts.pop("zero")
        if b:
            d, e = V[i, b] - V[i, b - 1], c * (V[t - i, b] - V[t - i, b - 1])
            if max(-d, e) > 0:
                counts["below_one" if -d >= e else "one_below"] = counts.pop("one")
    return assignment_counts(**counts)


def eight_corner_worst_case(
    problem: PrivacyProblem,
    g: NDArray[np.float64],
    *,
    effort: float = np.inf,
    prune: bool = True,
) -> tuple[WorstCase, bool]:
    """The exact maximum of f over all C(K+7, 7) corner multisets, in O(K^5) time or far less.

    With i teachers at H, j at its mirror image, a at the zeros and b at the ones, the two sides
    separate: f = P(aP, bP) - c P'(aQ, bQ), where aP of the zeros sit at (D,0), aQ at (0,D), and bP,
    bQ of the ones likewise. So the best (aQ, bQ) for every (aP, bP) is a running maximum over
    aQ <= a - aP, bQ <= b - bP, and no pair is enumerated. With `prune` only those (i, j, b) are
    worked out whose bound of `series_worst_case` exceeds the largest f met so far.

    effort : number of table entries after which what is left keeps its series bound.
    Returns the worst case, and whether it is exact (up to rounding).
    """
    # A search ends at the gamma that is certified next: the last answers are kept.
    return _eight_corner_worst_case(
        problem, np.asarray(g, dtype=np.float64).tobytes(), effort, prune
    )


@functools.lru_cache(maxsize=4)
def _eight_corner_worst_case(
    problem: PrivacyProblem, buffer: bytes, effort: float, prune: bool
) -> tuple[WorstCase, bool]:
    g = np.frombuffer(buffer)
    K, D, c = problem.K, problem.Delta, problem.c
    if D == 0:
        return series_worst_case(problem, g), True
    order = series_order(problem)
    counts = three_corner_worst_case(problem, g).counts
    best = problem.cost(np.abs(g), counts)
    terms = moved_terms(K, D)
    weights = binomial_table(K, D, terms)
    left_over = -np.inf
    spent = 0
    for t, V in enumerate(_slices(problem, g)):
        n = K - t
        bound = _bound(problem, V, _first_order(problem, V), order)
        open_cells = bound > best if prune else np.ones_like(bound, dtype=bool)
        for b in np.nonzero(open_cells.any(axis=0))[0]:
            a = n - b
            rows = np.nonzero(open_cells[:, b] & (~prune | (bound[:, b] > best)))[0]
            if not len(rows):
                continue
            spent += 2 * len(rows) * (a + 1) * (b + 1)
            if spent > effort:
                left_over = max(left_over, float(bound[rows, b].max()))
                continue
            r, s = np.arange(min(a + 1, terms)), np.arange(min(b + 1, terms))
            shift = b + r[:, None] - s[None, :]
            left, right = weights[: a + 1, : len(r)], weights[: b + 1, : len(s)].T
            P = left @ V[rows[:, None, None], shift] @ right
            Q = -c * (left @ V[t - rows[:, None, None], shift] @ right)
            reach = np.maximum.accumulate(np.maximum.accumulate(Q, axis=1), axis=2)
            f = P + reach[:, ::-1, ::-1]
            k = int(np.argmax(f))
            if f.flat[k] > best:
                best = float(f.flat[k])
                row, aP, bP = np.unravel_index(k, f.shape)
                rest = Q[row, : a - aP + 1, : b - bP + 1]
                aQ, bQ = np.unravel_index(np.argmax(rest), rest.shape)
                i = rows[row]
                counts = assignment_counts(
                    up=i,
                    down=t - i,
                    zero=a - aP - aQ,
                    D_zero=aP,
                    zero_D=aQ,
                    one=b - bP - bQ,
                    below_one=bP,
                    one_below=bQ,
                )
    # A cell that was pruned has a bound below best, up to the rounding of the series.
    upper = max(best, left_over) + 4 * TAIL * (1 + c) + _series_rounding(problem, order)
    return WorstCase(upper, counts), left_over == -np.inf
