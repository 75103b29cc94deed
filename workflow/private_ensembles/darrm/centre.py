"""A linear program solved from its inside: points in the middle of what is nearly optimal.

A vertex of a large program over gamma jumps between 0 and 1 from one l to the next, and violates
thousands of rows that are not in the program yet. A point in the middle of the nearly optimal set
violates few, so that cutting planes need a fraction of the rounds (Gondzio, Gonzalez-Brevis and
Munari, 2016: the primal-dual column generation method).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_STEPS = 60
TO_THE_BOUNDARY = 0.99
NEGLIGIBLE = 1e-14  # an entry of a row whose loss only makes the steps a little less exact
BLOCK, BAND = 64, 32
VIOLATION = 1e-9  # of a row, which counts as none
PATIENCE = 8  # steps without a better gap after which rounding has the last word


@dataclass(frozen=True)
class Centre:
    """x : (n,) nearly optimal; multipliers : (rows,), >= 0; gap : between the two, relative."""

    x: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    gap: float


def centre(
    cost: NDArray[np.float64],
    rows: NDArray[np.float64],
    tolerance: float,
    right: NDArray[np.float64] | None = None,
    curvature: NDArray[np.float64] | float = 0.0,
) -> Centre:
    """Maximise cost @ x over rows @ x <= right, 0 <= x <= 1, up to a relative gap of `tolerance`.

    cost : (n,); rows : (m, n); right : (m,), default 1; curvature : (n, n), positive semidefinite,
    default 0: x @ curvature @ x / 2 is taken off what is maximised. Mehrotra's predictor-corrector
    method (Nocedal and Wright, Numerical Optimization, 14.2 and 16.6) on

        rows @ x + s = right, x + z = 1, rows.T @ y + v - u = cost - curvature @ x, all >= 0,

    whose steps need one n x n matrix. The multipliers bound the optimum by weak duality whatever
    the tolerance and the curvature. Ends early, with its best point, if rounding allows no more.
    """
    n = len(cost)
    right = np.ones(len(rows)) if right is None else right
    x, z = np.full(n, 0.5), np.full(n, 0.5)
    s = np.maximum(right - rows @ x, 0.05)
    scale = 0.1 * max(float(np.abs(cost).mean()), 1e-300)
    primal, dual = [x, z, s], [scale / x, scale / z, scale / s]
    best, idle = Centre(x, dual[2], np.inf), 0
    curvature = np.zeros((n, n)) + curvature
    blocks = _blocks(rows)
    for _ in range(MOST_STEPS):
        used, priced = rows @ primal[0], dual[2] @ rows
        bent = curvature @ primal[0]
        gap = _gap(cost - bent, right, primal[0], dual[2], used, priced)
        idle = 0 if gap < best.gap else idle + 1
        if gap < best.gap:
            best = Centre(primal[0], dual[2], gap)
        if best.gap <= tolerance or idle > PATIENCE:
            break
        factor = _factor(rows, blocks, primal, dual, curvature)
        if factor is None:
            break
        products = [p * d for p, d in zip(primal, dual, strict=True)]
        mean = sum(map(np.sum, products)) / sum(map(len, products))
        # What is lacking of rows @ x + s = right and of rows.T @ y + v - u = cost.
        residuals = right - primal[2] - used, cost - bent - priced - dual[1] + dual[0]
        down, up = _step(rows, residuals, primal, dual, factor, [-p for p in products])
        ahead = [
            (p + _length(primal, down) * a) @ (d + _length(dual, up) * b)
            for p, d, a, b in zip(primal, dual, down, up, strict=True)
        ]
        target = mean * (sum(ahead) / (mean * sum(map(len, products)))) ** 3
        wanted = [target - p - a * b for p, a, b in zip(products, down, up, strict=True)]
        down, up = _step(rows, residuals, primal, dual, factor, wanted)
        # If x changes the prices, both must go the same way for what is lacking to shrink.
        lengths = [TO_THE_BOUNDARY * _length(primal, down), TO_THE_BOUNDARY * _length(dual, up)]
        if curvature.any():
            lengths = [min(lengths)] * 2
        primal, dual = _moved(primal, down, lengths[0]), _moved(dual, up, lengths[1])
    return best


def _gap(
    cost: NDArray, right: NDArray, x: NDArray, y: NDArray, used: NDArray, priced: NDArray
) -> float:
    """The dual bound less the utility, relative to the bound; more if x violates a row."""
    bound = float(y @ right + np.maximum(cost - priced, 0).sum())
    violation = max(0.0, float((used - right).max()) - VIOLATION)
    return abs(bound - float(cost @ x)) / max(abs(bound), 1e-300) + violation / VIOLATION


def _step(
    rows: NDArray,
    residuals: tuple[NDArray, NDArray],
    primal: list[NDArray],
    dual: list[NDArray],
    factor: tuple[NDArray, bool],
    wanted: list[NDArray],
) -> tuple[list[NDArray], list[NDArray]]:
    """Newton's step of (x, z, s) and (u, v, y) that moves their products by `wanted`."""
    from scipy.linalg import cho_solve

    (x, z, s), (u, v, y), (ux, vz, ys) = primal, dual, wanted
    lacking, reduced = residuals
    target = reduced - ((ys - y * lacking) / s) @ rows - vz / z + ux / x
    dx = cho_solve(factor, target, check_finite=False)
    ds = lacking - rows @ dx
    return [dx, -dx, ds], [(ux - u * dx) / x, (vz + v * dx) / z, (ys - y * ds) / s]


def _moved(values: list[NDArray], steps: list[NDArray], length: float) -> list[NDArray]:
    return [value + length * step for value, step in zip(values, steps, strict=True)]


def _blocks(rows: NDArray) -> list[tuple[NDArray, slice]]:
    """Rows that are nearly zero outside the same columns: (their numbers, the columns).

    A row of f has entries where its two binomials have weight, a band around their means.
    """
    entries = np.abs(rows) > NEGLIGIBLE
    first, last = entries.argmax(axis=1), rows.shape[1] - entries[:, ::-1].argmax(axis=1)
    order = np.lexsort((last, first // BAND))
    groups = [order[k : k + BLOCK] for k in range(0, len(order), BLOCK)]
    return [(group, slice(first[group].min(), last[group].max())) for group in groups]


def _factor(
    rows: NDArray,
    blocks: list[tuple[NDArray, slice]],
    primal: list[NDArray],
    dual: list[NDArray],
    curvature: NDArray,
) -> tuple[NDArray, bool] | None:
    """Cholesky factor of rows.T diag(y/s) rows + curvature + diag(u/x + v/z), if rounding lets."""
    from scipy.linalg import LinAlgError, blas, cho_factor

    (x, z, s), (u, v, y) = primal, dual
    weights = np.sqrt(y / s)
    matrix = curvature + np.diag(u / x + v / z)
    for group, columns in blocks:
        scaled = rows[group, columns] * weights[group, None]
        matrix[columns, columns] += blas.dsyrk(1.0, scaled.T, lower=1)
    entries = np.diag_indices(len(x))
    for _ in range(2):
        try:
            return cho_factor(matrix, lower=True, check_finite=False)
        except LinAlgError:
            matrix[entries] += 1e-14 * matrix[entries].max()
    return None


def _length(values: list[NDArray], steps: list[NDArray]) -> float:
    """The longest step, at most 1, that leaves all values >= 0."""
    length = 1.0
    for value, step in zip(values, steps, strict=True):
        down = step < 0
        if down.any():
            with np.errstate(over="ignore"):  # a step too small to count may go as far as it likes
                length = min(length, float((-value[down] / step[down]).min()))
    return length
