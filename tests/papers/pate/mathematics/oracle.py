"""What PATE's mechanisms release and cost in expectation, worked out query by query."""

import functools
import math
from itertools import pairwise, permutations, product

import mpmath
import numpy as np
from scipy.integrate import quad
from scipy.special import log_ndtr, logsumexp, ndtr

from private_ensembles.labels.thresholds import largest_disagreement
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp, log_answer_probability

# Clear, tied, lonely and large ones.
HISTOGRAMS = [
    [3, 1, 1],
    [5, 0],
    [0, 5, 0, 5],
    [250] + [0] * 9,
    [100, 100, 50],
    [2] * 9,
    [120, 100, 20, 5, 3, 1, 1, 0, 0, 0],
    [7],
]


def neighbours(row):
    """Every histogram to which one teacher's changed vote leads, one after the other."""
    for i, j in permutations(range(len(row)), 2):
        if row[i]:
            moved = list(row)
            moved[i] -= 1
            moved[j] += 1
            yield tuple(moved)


def histograms(teachers, classes):
    """Every histogram of so many votes."""
    return [r for r in product(range(teachers + 1), repeat=classes) if sum(r) == teachers]


def partitions(teachers, classes):
    """Every histogram whose counts do not rise from one class to the next."""
    return [row for row in histograms(teachers, classes) if list(row) == sorted(row)[::-1]]


def lattice_mass(sigma, reach=None):
    """Numbers x, up to `reach`, and Pr[N_Z(0, sigma^2) = x], summed directly."""
    reach = reach or int(20 * sigma) + 3
    x = np.arange(-reach, reach + 1)
    mass = np.exp(-(x**2) / (2 * sigma**2))
    return x, mass / math.fsum(mass)


def gaussian_label(row, sigma):
    """Pr[GNMax releases each class], by quadrature; two classes in closed form."""
    if len(row) == 2:
        lead = (row[0] - row[1]) / (np.sqrt(2) * sigma)
        return np.exp(log_ndtr([lead, -lead]))

    def density(z, i):
        others = [ndtr(z + (row[i] - n) / sigma) for j, n in enumerate(row) if j != i]
        return np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * np.prod(others)

    return np.array(
        [quad(density, -12, 12, (i,), epsabs=1e-14, limit=400)[0] for i in range(len(row))]
    )


def laplace_label(row, scale):
    """Pr[LNMax releases each class], integrated between the counts, where the density is smooth."""
    values = np.array(row) / scale
    edges = np.unique(np.r_[values.min() - 40, values, values.max() + 40])

    def cdf(z):
        return np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)

    def density(t, i):
        return np.exp(-abs(t - values[i])) / 2 * np.prod(cdf(t - np.delete(values, i)))

    return np.array(
        [
            sum(quad(density, *piece, (i,), epsabs=1e-15)[0] for piece in pairwise(edges))
            for i in range(len(row))
        ]
    )


def lattice_label(row, sigma, reach=None):
    """Pr[GNMax with discrete noise releases each class], over all outcomes of all counts' noise."""
    x, mass = lattice_mass(sigma, reach)
    noisy = np.stack(np.meshgrid(*(n + x for n in row), indexing="ij"))
    chance = functools.reduce(np.multiply.outer, [mass] * len(row))
    wins = noisy == noisy.max(axis=0)
    return np.array([(chance * won / wins.sum(axis=0)).sum() for won in wins])


def clear_labels_delta(lead, other, epsilon, labels=300):
    """delta at epsilon of so many GNMax labels of two classes, sigma = 1, at one lead and another.

    The labels are independent coins, so a binomial law against another, at sixty digits.
    """
    with mpmath.workdps(60):
        first, second = (mpmath.ncdf(gap / mpmath.sqrt(2)) for gap in (lead, other))

        def chance(p, k):
            return mpmath.binomial(labels, k) * p**k * (1 - p) ** (labels - k)

        factor = mpmath.exp(epsilon)
        excess = (chance(first, k) - factor * chance(second, k) for k in range(labels + 1))
        return float(sum(max(part, 0) for part in excess))


def divergence(p, q, order):
    """D_order(p || q) of two distributions."""
    return logsumexp(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1)


def interactive_passes(counts, scores, threshold, sigma1):
    """Pr[max_j (n_j - M p_j) passes the noisy threshold], (queries,); p: scores, M: teachers."""
    return ndtr((largest_disagreement(np.asarray(counts), np.asarray(scores)) - threshold) / sigma1)


def confident_gnmax_expected_rdp(counts, threshold, sigma1, sigma2, orders):
    """Expected answers and Rényi cost of Confident-GNMax over all queries, as in PATE's Table 2.

    Every query pays the threshold's lambda / (2 sigma1^2) (one teacher moves the largest count by
    at most 1); its label's cost counts with the probability that it is answered. That is the
    paper's expectation, not a guarantee (docs/pate.md). Returns (probability of an answer
    (queries,), total cost (orders,)).
    """
    passes, _ = log_answer_probability(counts, threshold, sigma1)
    label = gnmax_rdp(counts, sigma2, orders)
    total = len(passes) * np.asarray(orders) / (2 * sigma1**2) + np.exp(passes) @ label
    return np.exp(passes), total
