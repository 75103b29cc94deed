"""Hockey-stick and Rényi divergences of a table of output probabilities, as rigorous bounds.

A mechanism is a matrix P (H inputs, L labels) of Pr[label | input]; two inputs are neighbours or
not. It is (epsilon, delta)-DP if and only if for all neighbours a, b, in both directions, and all
sets S of labels P[a](S) <= e^epsilon P[b](S) + delta, that is, if

    delta(epsilon) = max over (a, b) of sum over labels of max(0, P[a] - e^epsilon P[b]) <= delta.

Everything is exact up to rounding. With side="upper" (default) no true value exceeds what is
returned, with side="lower" none falls below it, provided that each true probability p and its
entry q satisfy |p - q| <= relative_error * q + absolute_error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks
from private_ensembles.base.rounding import UNIT_ROUNDOFF, sixty_digits
from private_ensembles.base.stated_bounds import lower_bound, upper_bound

# Exponentials of more overflow; a smaller e^epsilon only makes the upper bound on delta larger.
_LARGEST_EPSILON = 700.0
_CHUNK = 1 << 20  # So many entries of a table are worked on at once.


@dataclass(frozen=True)
class WorstPair:
    """The pair and the event at which Pr[labels | first] most exceeds Pr[labels | second].

    Attributes:
        value: delta or epsilon, whichever was not given.
        first: row of the matrix under which the event is likelier.
        second: row of its neighbour.
        labels: the event.
    """

    value: float
    first: int
    second: int
    labels: tuple[int, ...]


@upper_bound
@lower_bound
def exact_delta(
    prob_matrix: ArrayLike,
    neighbours: ArrayLike | Callable,
    epsilon: float,
    **errors,
) -> float:
    """Return the least delta with which the mechanism is (epsilon, delta)-DP.

    >>> round(exact_delta([[0.75, 0.25], [0.25, 0.75]], [(0, 1)], epsilon=0.0), 10)
    0.5

    Args:
        prob_matrix: (H, L), Pr[label | input]; rows add up to 1 within the stated errors.
        neighbours: (P, 2) pairs of rows, or a sparse (H, H) relation, or a function from a row to
            its neighbours; each pair is compared in both directions.
        epsilon: in nats, >= 0.
        errors: relative_error, absolute_error (0 by default) and side (``upper``), see the
            module's docstring.

    Raises:
        ValueError: for entries outside [0, 1] beyond the errors, rows that do not add up to 1,
            pairs that are not rows, no pair at all, epsilon < 0 or NaN, negative errors, and an
            unknown side.
    """
    return worst_pair(prob_matrix, neighbours, epsilon=epsilon, **errors).value


@upper_bound
@lower_bound
def exact_epsilon(
    prob_matrix: ArrayLike,
    neighbours: ArrayLike | Callable,
    delta: float,
    **errors,
) -> float:
    """Return the least epsilon >= 0 with which the mechanism is (epsilon, delta)-DP.

    >>> round(exact_epsilon([[0.75, 0.25], [0.25, 0.75]], [(0, 1)], delta=0.0), 4)  # ln 3
    1.0986

    The worst event S of a pair holds the labels with the largest ratios P[a] / P[b], so that
    epsilon = max over such S of log((P[a](S) - delta) / P[b](S)), and no search is needed.

    Args:
        prob_matrix: as for :func:`exact_delta`.
        neighbours: as for :func:`exact_delta`.
        delta: in [0, 1].
        errors: as for :func:`exact_delta`.

    Returns:
        Epsilon in nats; infinite if no epsilon is enough.

    Raises:
        ValueError: as for :func:`exact_delta`, and for another delta.
    """
    return worst_pair(prob_matrix, neighbours, delta=delta, **errors).value


def worst_pair(
    prob_matrix: ArrayLike,
    neighbours: ArrayLike | Callable,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    relative_error: float = 0.0,
    absolute_error: float = 0.0,
    side: str = "upper",
) -> WorstPair:
    """Return where the least delta at epsilon, or the least epsilon at delta, arises.

    Args:
        prob_matrix: as for :func:`exact_delta`.
        neighbours: as for :func:`exact_delta`.
        epsilon: if given, the value is that of :func:`exact_delta`.
        delta: if given, the value is that of :func:`exact_epsilon`.
        relative_error: see the module's docstring.
        absolute_error: see the module's docstring.
        side: ``upper`` or ``lower``, see the module's docstring.

    Raises:
        ValueError: as for those functions, and unless exactly one of epsilon and delta is given.
    """
    if (epsilon is None) == (delta is None):
        raise ValueError("epsilon, delta: exactly one of them must be given")
    if epsilon is not None:
        checks.check_number(epsilon=epsilon, at_least=0)
    if delta is not None:
        checks.check_probability(delta=delta)
    table = _Table(prob_matrix, relative_error, absolute_error, side)
    best = WorstPair(-math.inf, -1, -1, ())
    for first, second in _directed_chunks(neighbours, table):
        above, below = table.ends(first, second)
        if epsilon is not None:
            values, events = _deltas(above, below, epsilon, table.sign)
        else:
            values, events = _epsilons(above, below, delta, table.sign)
        k = int(np.argmax(values))
        if values[k] > best.value:
            labels = tuple(int(label) for label in np.nonzero(events(k))[0])
            best = WorstPair(float(values[k]), int(first[k]), int(second[k]), labels)
    return best


@upper_bound
def delta_curve(
    prob_matrix: ArrayLike,
    neighbours: ArrayLike | Callable,
    epsilons: ArrayLike,
    **errors,
) -> NDArray[np.float64]:
    """Return :func:`exact_delta` at each of ``epsilons`` (E,) >= 0, shape (E,)."""
    table = _Table(prob_matrix, **{"relative_error": 0.0, "absolute_error": 0.0} | errors)
    epsilons = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    if not np.all(epsilons >= 0):
        raise ValueError("epsilons: must be numbers >= 0")
    curve = np.zeros(epsilons.shape)
    for first, second in _directed_chunks(neighbours, table):
        above, below = table.ends(first, second)
        for i, epsilon in enumerate(epsilons):  # each step is array code over all pairs
            curve[i] = max(curve[i], _deltas(above, below, epsilon, table.sign)[0].max())
    return curve


@upper_bound
def renyi_curve(
    prob_matrix: ArrayLike,
    neighbours: ArrayLike | Callable,
    orders: ArrayLike,
    *,
    relative_error: float = 0.0,
    absolute_error: float = 0.0,
) -> NDArray[np.float64]:
    """Return the largest Rényi divergence between neighbours at each order.

    It is log(sum of P[a]^order P[b]^(1 - order)) / (order - 1) for neighbours a and b.

    Args:
        prob_matrix: as for :func:`exact_delta`.
        neighbours: as for :func:`exact_delta`.
        orders: (A,), finite and > 1.
        relative_error: see the module's docstring.
        absolute_error: see the module's docstring.

    Returns:
        An upper bound at each order, (A,), in nats; infinite if a label is impossible for only one
        of two neighbours.

    Raises:
        ValueError: as for :func:`exact_delta`, and for other orders.
    """
    table = _Table(prob_matrix, relative_error, absolute_error, "upper")
    orders = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    checks.check_finite_values(orders=orders, above=1)
    curve = np.zeros(orders.shape)
    for first, second in _directed_chunks(neighbours, table):
        above, below = table.ends(first, second)
        impossible = ((above > 0) & (below == 0)).any(axis=1)
        with np.errstate(divide="ignore"):
            log_above, log_below = np.log(above), np.log(np.where(below > 0, below, 1.0))
        for i, order in enumerate(orders):
            terms = order * log_above - (order - 1) * log_below
            top = terms.max(axis=1)
            total = np.exp(terms - top[:, None]).sum(axis=1)
            sizes = np.where(above > 0, order * (2 + np.abs(log_above) + np.abs(log_below)), 0.0)
            slack = 8 * UNIT_ROUNDOFF * (sizes.max(axis=1) + table.width)
            values = (top + np.log(total) + slack) / (order - 1) * (1 + 8 * UNIT_ROUNDOFF)
            curve[i] = max(curve[i], np.where(impossible, np.inf, values).max())
    return curve


@upper_bound
def coins_delta(table: NDArray[np.float64], epsilon: float, group_size: int = 1) -> Decimal:
    """Return the delta of one label of two classes drawn by coins, to some fifty digits.

    As e^epsilon >= 1, at most one of the two labels is likelier than the neighbour allows.

    Args:
        table: (K + 1, 2) probabilities of the labels for each number of ones. The smaller float of
            a row is the coin's exact probability.
        epsilon: in nats, >= 0.
        group_size: rows that are at most so far apart, >= 1, are neighbours, in both orders.

    >>> coins_delta(np.array([[0.75, 0.25], [0.25, 0.75]]), 1.0).quantize(Decimal("1e-6"))
    Decimal('0.070430')
    """
    least, likelier = table.min(axis=1), table.argmax(axis=1)
    # Adjacent equal rows tell nothing, and of a million teachers nearly all rows are equal. Beside
    # the rows that differ, group_size equal ones stay on either side, so that dropping the others
    # makes no new neighbours.
    different = np.append(True, (np.diff(least) != 0) | (np.diff(likelier) != 0))
    if group_size > 1:
        different = np.convolve(different, np.ones(2 * group_size + 1))[group_size:-group_size] > 0
    with sixty_digits():
        growth = Decimal(epsilon).exp()
        ones = [
            1 - Decimal(probability) if says_one else Decimal(probability)
            for probability, says_one in zip(
                least[different].tolist(), likelier[different].tolist(), strict=True
            )
        ]
        pairs = [
            pair
            for step in range(1, group_size + 1)
            for rows in (ones, ones[::-1])
            for pair in zip(rows, rows[step:], strict=False)
        ]
        deltas = [delta for p, q in pairs for delta in (p - growth * q, 1 - p - growth * (1 - q))]
        return max([Decimal(0), *deltas])  # of equal rows alone there are no pairs


class _Table:
    """A checked matrix with upper and lower bounds on its entries."""

    def __init__(
        self,
        prob_matrix: ArrayLike,
        relative_error: float,
        absolute_error: float,
        side: str = "upper",
    ) -> None:
        matrix = np.asarray(prob_matrix, dtype=np.float64)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ValueError(f"prob_matrix: shape {matrix.shape} must be (inputs, labels)")
        checks.check_probability(
            relative_error=relative_error, absolute_error=absolute_error, one=False
        )
        checks.check_choice(("upper", "lower"), side=side)
        self.width = matrix.shape[1]
        # A sum of so many floats may be off by their rounding, on top of the stated errors.
        tolerance = relative_error + self.width * (absolute_error + 4 * UNIT_ROUNDOFF)
        if not np.all((matrix >= 0) & (matrix <= 1 + tolerance)):
            raise ValueError("prob_matrix: every entry must be a probability in [0, 1]")
        sums = matrix.sum(axis=1)
        row = int(np.argmax(np.abs(sums - 1)))
        if abs(sums[row] - 1) > tolerance:
            raise ValueError(
                f"prob_matrix: row {row} adds up to {float(sums[row])!r}: must be 1 within the "
                f"stated errors ({tolerance:.3g})"
            )
        self.rows, self.sign = len(matrix), 1 if side == "upper" else -1
        slack = 8 * UNIT_ROUNDOFF
        high = (matrix * (1 + relative_error) + absolute_error) * (1 + slack)
        low = np.maximum(0.0, matrix * (1 - relative_error) - absolute_error) * (1 - slack)
        self._above, self._below = (high, low) if self.sign > 0 else (low, high)

    def ends(self, first: NDArray, second: NDArray) -> tuple[NDArray, NDArray]:
        """Return bounds on P[first] and P[second] that push a divergence towards this side."""
        return self._above[first], self._below[second]


def _deltas(above: NDArray, below: NDArray, epsilon: float, sign: int) -> tuple[NDArray, Callable]:
    """Return delta of each directed pair, rounded to the side of ``sign``, and its event."""
    width = above.shape[1]
    growth = math.exp(min(epsilon, _LARGEST_EPSILON)) * (1 - sign * 8 * UNIT_ROUNDOFF)
    if sign < 0 and epsilon > _LARGEST_EPSILON:
        growth = math.inf
    with np.errstate(over="ignore"):
        terms = above - np.where(below > 0, growth * np.where(below > 0, below, 1.0), 0.0)
    values = np.maximum(terms, 0.0).sum(axis=1) * (1 + sign * (width + 8) * UNIT_ROUNDOFF)
    return np.clip(values, 0.0, 1.0), lambda k: terms[k] > 0


def _epsilons(above: NDArray, below: NDArray, delta: float, sign: int) -> tuple[NDArray, Callable]:
    """Return epsilon of each directed pair, rounded to the side of ``sign``, and its event."""
    width = above.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(above > 0, above / below, -1.0)
        order = np.argsort(-ratio, axis=1, kind="stable")
        slack = sign * (width + 8) * UNIT_ROUNDOFF
        gained = np.cumsum(np.take_along_axis(above, order, axis=1), axis=1) * (1 + slack)
        paid = np.cumsum(np.take_along_axis(below, order, axis=1), axis=1) * (1 - slack)
        room = gained - delta
        gain, price = np.log(np.maximum(room, 0.0)), np.log(paid)
        losses = np.where(room > 0, gain - price, -np.inf)
    # A logarithm's rounding is relative to itself, and dominates for tiny probabilities.
    sizes = 1 + np.abs(gain) + np.abs(price)
    losses = losses + sign * 8 * UNIT_ROUNDOFF * np.where(np.isfinite(losses), sizes, 0.0)
    values = np.maximum(losses.max(axis=1), 0.0)

    def event(k: int) -> NDArray:
        chosen = np.zeros(width, dtype=bool)
        chosen[order[k, : int(np.argmax(losses[k])) + 1]] = values[k] > 0
        return chosen

    return values, event


def _directed_chunks(
    neighbours: ArrayLike | Callable, table: _Table
) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield the pairs in both directions, a bounded number of table entries at a time."""
    pairs = _pairs(neighbours, table.rows)
    size = max(1, _CHUNK // table.width)
    for start in range(0, len(pairs), size):
        first, second = pairs[start : start + size].T
        yield first, second
        yield second, first


def _pairs(neighbours, rows: int) -> NDArray[np.int64]:
    if callable(neighbours):
        listed = [(row, other) for row in range(rows) for other in neighbours(row)]
        pairs = np.array(listed, dtype=np.int64).reshape(-1, 2)
    elif hasattr(neighbours, "nonzero") and not isinstance(neighbours, np.ndarray):
        if neighbours.shape != (rows, rows):
            raise ValueError(f"neighbours: shape {neighbours.shape} must be ({rows}, {rows})")
        pairs = np.stack(neighbours.nonzero(), axis=1).astype(np.int64)
    else:
        pairs = np.asarray(neighbours)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise ValueError(f"neighbours: {pairs.dtype} {pairs.shape} must be integers (pairs, 2)")
        pairs = pairs.astype(np.int64)
    if not len(pairs):
        raise ValueError("neighbours: no pair of neighbours, so nothing can be said")
    if pairs.min() < 0 or pairs.max() >= rows:
        raise ValueError(f"neighbours: must be rows 0..{rows - 1} of prob_matrix")
    return pairs
