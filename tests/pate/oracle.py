"""What PATE's mechanisms release and cost in expectation, worked out query by query."""

import functools
import math
from dataclasses import dataclass
from itertools import pairwise, permutations, product

import mpmath
import numpy as np
from scipy.integrate import quad
from scipy.special import log_ndtr, logsumexp, ndtr

from private_ensembles.pate.consensus import student_excess
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution
from private_ensembles.pate.rdp import gnmax_rdp, log_answer_probability
from private_ensembles.pate.rounds import answer_probability

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


@dataclass(frozen=True)
class ExpectedLabels:
    """Expected numbers over a list of queries; correct ones among queries of known label.

    answers, correct: labels that the teachers give. reinforced, reinforced_correct: the student's
    own labels that Interactive-GNMax confirms.
    """

    answers: float
    correct: float
    reinforced: float
    reinforced_correct: float


def reach_probability(passes, answer_cap=None):
    """Pr[the mechanism still runs when a query's turn comes], (queries,), in order.

    passes: Pr[each query is answered]. It runs while fewer than answer_cap queries have been
    answered, whose number is a Poisson-binomial variable.
    """
    if answer_cap is None or answer_cap >= len(passes):
        return np.ones(len(passes))
    # Pr[l answers so far] for l < cap; whatever moves past the end has stopped the mechanism.
    running = np.zeros(answer_cap)
    running[:1] = 1.0
    reach = np.empty(len(passes))
    for i, p in enumerate(passes):
        reach[i] = running.sum()
        running[1:] = running[1:] * (1 - p) + running[:-1] * p
        running[:1] *= 1 - p
    return np.minimum(reach, 1.0)


def _reach(passes, query_cap, answer_cap):
    reach = reach_probability(passes, answer_cap)
    if query_cap is not None:
        reach[query_cap:] = 0.0
    return reach


def confident_distribution(counts, threshold, sigma1, sigma2, *, query_cap=None, answer_cap=None):
    """Pr[Confident-GNMax answers a query with class j], (queries, classes), caps included."""
    passes = answer_probability(counts, threshold, sigma1)
    reach = _reach(passes, query_cap, answer_cap)
    return (reach * passes)[:, None] * gnmax_distribution(counts, sigma2)


def interactive_passes(counts, scores, threshold, sigma1):
    """Pr[max_j (n_j - M p_j) passes the noisy threshold], (queries,); p: scores, M: teachers."""
    return ndtr((student_excess(np.asarray(counts), np.asarray(scores)) - threshold) / sigma1)


def interactive_distribution(
    counts, scores, confidence, threshold, sigma1, sigma2, *, query_cap=None, answer_cap=None
):
    """Pr[the teachers answer with class j] and Pr[the student's class j is reinforced].

    Each (queries, classes), caps included. Arguments as in `interactive_gnmax`.
    """
    passes = interactive_passes(counts, scores, threshold, sigma1)
    reach = _reach(passes, query_cap, answer_cap)
    sure = scores.max(axis=1) > confidence
    reinforced = np.zeros(scores.shape)
    reinforced[np.arange(len(scores)), scores.argmax(axis=1)] = reach * (1 - passes) * sure
    return (reach * passes)[:, None] * gnmax_distribution(counts, sigma2), reinforced


def expected_labels(answered, labels, reinforced=0.0):
    """Expected answers and right answers.

    answered, reinforced: (queries, classes) from `confident_distribution` or
    `interactive_distribution`. labels: integers (queries,), the truth, -1 where unknown.
    """
    known = np.flatnonzero(labels >= 0)
    reinforced = np.broadcast_to(reinforced, answered.shape)
    sums = [
        value
        for part in (answered, reinforced)
        for value in (float(part.sum()), float(part[known, labels[known]].sum()))
    ]
    return ExpectedLabels(*sums)


def confident_gnmax_expected_rdp(counts, threshold, sigma1, sigma2, orders):
    """Expected answers and Rényi cost of Confident-GNMax over all queries, as in PATE's Table 2.

    Every query pays the threshold's lambda / (2 sigma1^2) (one teacher moves the largest count by
    at most 1); its label's cost counts with the probability that it is answered. That is the
    paper's expectation, not a guarantee (DESIGN 5.11). Returns (probability of an answer
    (queries,), total cost (orders,)).
    """
    passes, _ = log_answer_probability(counts, threshold, sigma1)
    label = gnmax_rdp(counts, sigma2, orders)
    total = len(passes) * np.asarray(orders) / (2 * sigma1**2) + np.exp(passes) @ label
    return np.exp(passes), total
