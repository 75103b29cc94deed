"""What PATE's mechanisms release and cost in expectation, worked out query by query."""

import functools
import math
from dataclasses import dataclass
from itertools import permutations, product

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.special import ndtr

from private_ensembles.pate.consensus import check_cap, student_excess
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution
from private_ensembles.pate.rdp import check_orders, gnmax_rdp, log_answer_probability
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


def lattice_mass(sigma):
    """Numbers x and Pr[N_Z(0, sigma^2) = x], summed directly."""
    x = np.arange(-int(20 * sigma) - 3, int(20 * sigma) + 4)
    mass = np.exp(-(x**2) / (2 * sigma**2))
    return x, mass / math.fsum(mass)


def label_by_quadrature(row, sigma):
    """Exact distribution of GNMax's label by quadrature over the winner's noise."""
    return np.array(
        [
            quad(
                lambda z, i=i: (
                    np.exp(-z * z / 2)
                    / np.sqrt(2 * np.pi)
                    * np.prod([ndtr(z + (row[i] - n) / sigma) for j, n in enumerate(row) if j != i])
                ),
                -12,
                12,
                epsabs=1e-13,
                limit=400,
            )[0]
            for i in range(len(row))
        ]
    )


def lattice_label(row, sigma):
    """Pr[GNMax with discrete noise releases each class], over all outcomes of all counts' noise."""
    x, mass = lattice_mass(sigma)
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


@dataclass(frozen=True)
class ExpectedLabels:
    """Expected numbers over a list of queries; correct ones among queries of known label.

    answers, correct: labels that the teachers give. reinforced, reinforced_correct: the student's
    own labels that Interactive-GNMax confirms.
    """

    answers: float
    correct: float
    reinforced: float = 0.0
    reinforced_correct: float = 0.0


def reach_probability(passes: ArrayLike, answer_cap: int | None = None) -> NDArray[np.float64]:
    """Pr[the mechanism still runs when a query's turn comes], (queries,), in order.

    passes: Pr[each query is answered]. It runs while fewer than answer_cap queries have been
    answered, whose number is a Poisson-binomial variable. Raises ValueError for probabilities
    outside [0, 1] or a cap out of range.
    """
    passes = np.asarray(passes, dtype=np.float64)
    if passes.ndim != 1 or not ((passes >= 0) & (passes <= 1)).all():
        raise ValueError("passes: must be a list of probabilities")
    cap = check_cap("answer_cap", answer_cap)
    if cap is None or cap >= len(passes):
        return np.ones(len(passes))
    # Pr[l answers so far] for l < cap; whatever moves past the end has stopped the mechanism.
    running = np.zeros(cap)
    running[:1] = 1.0
    reach = np.empty(len(passes))
    for i, p in enumerate(passes):  # sequential in the queries, vectorised over the answers
        reach[i] = running.sum()
        running[1:] = running[1:] * (1 - p) + running[:-1] * p
        running[:1] *= 1 - p
    return np.minimum(reach, 1.0)


def confident_distribution(
    counts: ArrayLike,
    threshold: float,
    sigma1: float,
    sigma2: float,
    *,
    query_cap: int | None = None,
    answer_cap: int | None = None,
) -> NDArray[np.float64]:
    """Pr[Confident-GNMax answers a query with class j], (queries, classes).

    A row sums to the probability that the query is answered, caps included. Arguments and errors
    as in `confident_gnmax`.
    """
    passes = answer_probability(counts, threshold, sigma1)
    reach = _reach(passes, query_cap, answer_cap)
    return (reach * passes)[:, None] * gnmax_distribution(counts, sigma2)


def interactive_passes(
    counts: ArrayLike, scores: ArrayLike, threshold: float, sigma1: float
) -> NDArray[np.float64]:
    """Pr[max_j (n_j - M p_j) passes the noisy threshold], (queries,); p: scores, M: teachers."""
    return ndtr((student_excess(np.asarray(counts), np.asarray(scores)) - threshold) / sigma1)


def interactive_distribution(
    counts: ArrayLike,
    scores: ArrayLike,
    confidence: float,
    threshold: float,
    sigma1: float,
    sigma2: float,
    *,
    query_cap: int | None = None,
    answer_cap: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pr[the teachers answer with class j] and Pr[the student's class j is reinforced].

    Each (queries, classes), caps included. Arguments and errors as in `interactive_gnmax`.
    """
    passes = interactive_passes(counts, scores, threshold, sigma1)
    reach = _reach(passes, query_cap, answer_cap)
    scores = np.asarray(scores, dtype=np.float64)
    sure = scores.max(axis=1) > confidence
    reinforced = np.zeros(scores.shape)
    reinforced[np.arange(len(scores)), scores.argmax(axis=1)] = reach * (1 - passes) * sure
    return (reach * passes)[:, None] * gnmax_distribution(counts, sigma2), reinforced


def expected_labels(
    answered: NDArray[np.float64], labels: ArrayLike, reinforced: NDArray[np.float64] | None = None
) -> ExpectedLabels:
    """Expected answers and right answers.

    answered, reinforced: (queries, classes) from `confident_distribution` or
    `interactive_distribution` (`gnmax_distribution`, `lnmax_distribution` serve as well). labels:
    integers (queries,), the truth, -1 where unknown. Raises ValueError for labels of another
    length or outside -1..classes-1.
    """
    labels = np.asarray(labels)
    if labels.shape != answered.shape[:1] or labels.dtype.kind not in "iu":
        raise ValueError(f"labels: must be {len(answered)} whole numbers, one per query")
    labels = labels.astype(np.int64)
    if labels.size and not (labels.min() >= -1 and labels.max() < answered.shape[1]):
        raise ValueError(f"labels: must be -1 to {answered.shape[1] - 1}")

    def right(distribution: NDArray[np.float64]) -> float:
        known = np.flatnonzero(labels >= 0)
        return float(distribution[known, labels[known]].sum())

    if reinforced is None:
        return ExpectedLabels(float(answered.sum()), right(answered))
    return ExpectedLabels(
        float(answered.sum()), right(answered), float(reinforced.sum()), right(reinforced)
    )


def _reach(passes, query_cap, answer_cap):
    reach = reach_probability(passes, answer_cap)
    if (cap := check_cap("query_cap", query_cap)) is not None:
        reach[cap:] = 0.0
    return reach


def confident_gnmax_expected_rdp(
    counts: ArrayLike, threshold: float, sigma1: float, sigma2: float, orders: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Expected answers and Rényi cost of Confident-GNMax over all queries, as in PATE's Table 2.

    Every query pays the threshold's lambda / (2 sigma1^2) (one teacher moves the largest count by
    at most 1); its label's cost counts with the probability that it is answered. That is the
    paper's expectation, not a guarantee (DESIGN 5.11). Returns (probability of an answer
    (queries,), total cost (orders,)); not for release.
    """
    orders = check_orders(orders)
    passes, _ = log_answer_probability(counts, threshold, sigma1)
    label = gnmax_rdp(counts, sigma2, orders)
    total = len(passes) * orders / (2 * sigma1**2) + np.exp(passes) @ label
    return np.exp(passes), total
