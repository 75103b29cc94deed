"""A first-order method for programs too large for a factorisation: a matrix times a vector a step.

Restarted Halpern primal-dual hybrid gradient (Lu and Yang 2024, r2HPDHG) with projection on each
histogram's probabilities. It gives points that are nearly private and multipliers that nearly prove
it; `certificate` makes both rigorous.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.optimal_label.program import Program

# Steps between two looks at the progress, and shares of it at which the method restarts.
_LOOK, _ENOUGH, _SLOWER, _LONG = 10, 0.2, 0.8, 0.36
# Of the primal weight, times objective over p: with less the rows of unlikely histograms stay
# violated.
_LEAST_WEIGHT = 5.0


@dataclass(frozen=True)
class Iterates:
    """The state of the method: p (G,), multipliers (R,) of the rows there were then.

    singles: the program's, then. weight: of the dual steps relative to the primal ones.
    """

    p: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    singles: NDArray[np.int64]
    weight: float
    steps: int = 0


def start(program: Program, p: NDArray[np.float64], weight: float) -> Iterates:
    """Return iterates at p that have not moved yet."""
    return Iterates(p, np.zeros(program.rows), program.singles, weight)


def least_weight(program: Program, p: NDArray[np.float64]) -> float:
    """Return the weight to start with, and never to go below."""
    return _LEAST_WEIGHT * float(np.linalg.norm(program.weights) / np.linalg.norm(p))


def nearest(program: Program, p: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """Return about the nearest point to p that the program's rows allow.

    Halpern's iteration without an objective tends to the projection of where it starts (Wittmann
    1992); without an objective the primal weight only scales the multipliers.
    """
    return improve(program, start(program, p, 1.0), steps, np.zeros(len(p))).p


def improve(program: Program, at: Iterates, steps: int, weights: NDArray | None = None) -> Iterates:
    """Return the iterates that many steps further, for the rows that the program has now.

    weights: (G,) the objective; the program's by default.
    """
    weights = program.weights if weights is None else weights
    matrix = program.matrix()
    columns = matrix.T.tocsr()
    step_p = 1 / np.maximum(np.asarray(abs(matrix).sum(axis=0)).ravel(), 1.0)
    step_y = 1 / np.asarray(abs(matrix).sum(axis=1)).ravel()
    project = _Projection(program)
    p, weight = at.p, at.weight
    y = program.extended(at.multipliers, at.singles)
    lowest = least_weight(program, p)
    start_p, start_y, count, before, first = p, y, 0, math.inf, math.inf
    for step in range(at.steps, at.steps + steps):
        along = step_p / weight
        new_p = project(p + along * (weights - columns @ y), along)
        slack = matrix @ (2 * new_p - p) - program.delta
        new_y = np.maximum(y + weight * step_y * slack, 0.0)
        if count % _LOOK == 0:
            move_p, move_y = p - new_p, y - new_y
            size = weight * (move_p**2 / step_p).sum() + (move_y**2 / step_y).sum() / weight
            size = math.sqrt(max(size - 2 * float(move_y @ (matrix @ move_p)), 0.0))
            first = size if count == 0 else first
            enough = size < _ENOUGH * first or (before < size < _SLOWER * first)
            if count and (enough or count > _LONG * max(step, 100)):
                far_p = math.sqrt(((new_p - start_p) ** 2 / step_p).sum())
                far_y = math.sqrt(((new_y - start_y) ** 2 / step_y).sum())
                # The weight at which both moved as far, halfway in its logarithm.
                balanced = math.sqrt(weight * max(far_y, 1e-30) / max(far_p, 1e-30))
                weight = max(balanced, lowest)
                p, y, start_p, start_y, count, before = new_p, new_y, new_p, new_y, 0, math.inf
                continue
            before = size
        # Halpern: towards the start, less and less; reflected: twice the step.
        share = (count + 1) / (count + 2)
        p = share * (2 * new_p - p) + (1 - share) * start_p
        y = share * (2 * new_y - y) + (1 - share) * start_y
        count += 1
    return Iterates(new_p, new_y, program.singles, weight, at.steps + steps)


class _Projection:
    """The nearest table of probabilities: p >= 0, and each histogram's add up to 1."""

    def __init__(self, program: Program) -> None:
        histograms = program.histograms
        self.starts, self.owners = histograms.starts, histograms.owners
        self.sizes = histograms.sizes.astype(np.float64)

    def __call__(self, p: NDArray, step: NDArray) -> NDArray[np.float64]:
        """Project in the steps' metric: max(0, p - nu step sizes), nu by Michelot's search."""
        down = step * self.sizes
        kept, mass = np.ones(len(p), dtype=bool), self.sizes
        while True:
            over = np.add.reduceat(mass * p, self.starts) - 1
            projected = p - (over / np.add.reduceat(mass * down, self.starts))[self.owners] * down
            stay = kept & (projected >= 0)
            if np.array_equal(stay, kept):
                return projected * kept
            kept, mass = stay, self.sizes * stay
