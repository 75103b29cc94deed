"""Slow, independent evaluations by the definition of differential privacy."""

from fractions import Fraction
from itertools import chain, combinations, product

import mpmath
import numpy as np
from scipy.special import ndtr


def events(labels):
    """All sets of labels."""
    return chain.from_iterable(combinations(range(labels), size) for size in range(labels + 1))


def delta(matrix, pairs, growth):
    """Largest Pr[S | a] - growth Pr[S | b] over events and both directions, in fractions.

    growth: e^epsilon as a Fraction.
    """
    rows = [[Fraction(float(p)) for p in row] for row in matrix]
    worst = Fraction(0)
    for a, b in chain(pairs, [(b, a) for a, b in pairs]):
        for event in events(len(rows[0])):
            gained = sum(rows[a][j] for j in event)
            paid = sum(rows[b][j] for j in event)
            worst = max(worst, gained - growth * paid)
    return worst


def epsilon(matrix, pairs, delta_):
    """Least epsilon at delta_ over events and both directions, to 40 digits."""
    rows = [[Fraction(float(p)) for p in row] for row in matrix]
    worst = mpmath.mpf(0)
    for a, b in chain(pairs, [(b, a) for a, b in pairs]):
        for event in events(len(rows[0])):
            room = sum(rows[a][j] for j in event) - Fraction(float(delta_))
            paid = sum(rows[b][j] for j in event)
            if room > 0:
                ratio = room / paid if paid else None
                loss = mpmath.inf if ratio is None else mpmath.log(to_mpf(ratio))
                worst = max(worst, loss)
    return worst


def to_mpf(value):
    """A Fraction in mpmath's working precision."""
    return mpmath.mpf(value.numerator) / value.denominator


def all_histograms(n_teachers, n_classes):
    """Every histogram, by trying all tuples."""
    kept = (
        row for row in product(range(n_teachers + 1), repeat=n_classes) if sum(row) == n_teachers
    )
    return np.array(sorted(kept))


def all_pairs(histograms):
    """Pairs of rows between which one vote moves, by comparing all with all."""
    found = []
    for i, j in combinations(range(len(histograms)), 2):
        difference = sorted(histograms[i] - histograms[j])
        if difference[0] == -1 and difference[-1] == 1 and np.abs(difference).sum() == 2:
            found.append((i, j))
    return found


def gnmax_distribution(counts, sigma):
    """Pr[label] of GNMax by the trapezoidal rule, which converges exponentially here."""
    x = np.linspace(-12, 12, 4801)
    weight = np.exp(-(x**2) / 2)
    weight /= weight.sum()
    out = np.empty(counts.shape)
    for j in range(counts.shape[1]):
        gaps = (counts[:, [j]] - np.delete(counts, j, axis=1)) / sigma
        out[:, j] = (ndtr(x + gaps[..., None]).prod(axis=1) * weight).sum(axis=1)
    return out


def lnmax_distribution(counts, scale):
    """Pr[label] of LNMax by Simpson's rule on a grid that has all counts among its points."""
    step = scale / 1024  # counts are whole; scale divides them into whole numbers of steps
    low, high = counts.min() - 45 * scale, counts.max() + 45 * scale
    points = 2 * round((high - low) / step / 2) + 1
    x = np.linspace(low, low + (points - 1) * step, points)
    weight = np.full(points, 2.0)
    weight[1::2], weight[[0, -1]] = 4.0, 1.0
    weight *= step / 3

    def below(z):
        half = np.exp(-np.abs(z)) / 2
        return np.where(z < 0, half, 1 - half)

    values = np.unique(counts)
    cdf = {int(n): below((x - n) / scale) for n in values}
    density = {int(n): weight * np.exp(-np.abs(x - n) / scale) / (2 * scale) for n in values}
    out = np.empty(counts.shape)
    for row, given in enumerate(counts.tolist()):
        for j, winner in enumerate(given):
            others = [cdf[n] for i, n in enumerate(given) if i != j]
            out[row, j] = density[winner] @ np.prod(others, axis=0)
    return out
