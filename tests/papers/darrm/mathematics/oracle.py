"""Independent, slow, exact evaluations that the darrm tests compare with."""

import functools
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb

import mpmath
import numpy as np

mpmath.mp.dps = 40


def corners(epsilon, Delta):
    """The eight corners (p, p') of Lemma 5.1, as 40-digit numbers."""
    e, D = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(Delta)
    high, low = (e + D) / (e + 1), (1 - D) / (e + 1)
    zero, one = mpmath.mpf(0), mpmath.mpf(1)
    return [
        (zero, zero),
        (one, one),
        (zero, D),
        (D, zero),
        (1 - D, one),
        (one, 1 - D),
        (high, low),
        (low, high),
    ]


def multisets(K, kinds=8):
    """All counts of `kinds` corners that add up to K."""
    for bars in combinations(range(K + kinds - 1), kinds - 1):
        edges = (-1, *bars, K + kinds - 1)
        yield tuple(b - a - 1 for a, b in pairwise(edges))


def pmf(probabilities):
    """Poisson-binomial pmf by the definition: a sum over all outcomes."""
    out = [mpmath.mpf(0)] * (len(probabilities) + 1)
    for outcome in product((0, 1), repeat=len(probabilities)):
        term = mpmath.mpf(1)
        for bit, p in zip(outcome, probabilities, strict=True):
            term *= p if bit else 1 - p
        out[sum(outcome)] += term
    return out


def laws(epsilon, Delta, counts):
    """Pmf of the teachers who say 1, for both sides of a multiset of the eight corners."""
    return _laws(mpmath.mp.prec, float(epsilon), float(Delta), tuple(map(int, counts)))


@functools.lru_cache(maxsize=1 << 15)
def _laws(bits, epsilon, Delta, counts):
    """The last teacher is added to the law of the others, which is known from another multiset."""
    if not any(counts):
        return ([mpmath.mpf(1)],) * 2
    last = max(kind for kind, size in enumerate(counts) if size)
    others = (*counts[:last], counts[last] - 1, *counts[last + 1 :])
    corner = _corners(bits, epsilon, Delta)[last]
    return tuple(map(_convolve, _laws(bits, epsilon, Delta, others), corner))


@functools.lru_cache
def _corners(bits, epsilon, Delta):
    return corners(epsilon, Delta)


def _convolve(pmf_, p):
    zero = mpmath.mpf(0)
    if p == 0:
        return [*pmf_, zero]
    if p == 1:
        return [zero, *pmf_]
    no, yes = [value * (1 - p) for value in pmf_], [value * p for value in pmf_]
    return [a + b for a, b in zip([*no, zero], [zero, *yes], strict=True)]


def cost(gamma, m, epsilon, Delta, counts):
    """f of Lemma 3.4 at one multiset of corners, written as the paper writes it."""
    K = len(gamma) - 1
    alpha, alpha_ = laws(epsilon, Delta, counts)
    c = mpmath.exp(mpmath.mpf(m) * mpmath.mpf(epsilon))
    total = mpmath.mpf(0)
    for l in range(K + 1):
        term = c * alpha_[l] - alpha[l] if 2 * l < K else alpha[l] - c * alpha_[l]
        total += term * mpmath.mpf(float(gamma[l]))
    return total


def worst_cost(gamma, m, epsilon, Delta):
    """The largest f over all multisets of the eight corners."""
    K = len(gamma) - 1
    return max(cost(gamma, m, epsilon, Delta, counts) for counts in multisets(K))


def allowance(m, epsilon, delta):
    """e^{m epsilon} - 1 + 2 delta, to 40 digits."""
    return mpmath.exp(mpmath.mpf(m) * mpmath.mpf(epsilon)) - 1 + 2 * mpmath.mpf(delta)


def random_gamma(rng, K, low=0.0):
    """A wild symmetric gamma."""
    half = low + (1 - low) * rng.random((K + 1) // 2)
    return np.concatenate([half[::-1], half])


def row(K, m, epsilon, Delta, counts):
    """Coefficients of gamma(l), l > K/2, in f at one multiset, to 40 digits."""
    c = mpmath.exp(mpmath.mpf(m) * mpmath.mpf(epsilon))
    weight = [a - c * b for a, b in zip(*laws(epsilon, Delta, counts), strict=True)]
    return [weight[l] - weight[K - l] for l in range((K + 1) // 2, K + 1)]


def uniform_objective(K):
    """c_l of the prior uniform:0.5,1, l > K/2, exactly."""
    p = [Fraction(3**l, 4**K) * comb(K, l) for l in range(K + 1)]
    return [mpmath.mpf(x.numerator) / x.denominator for x in map(Fraction.__sub__, p, p[::-1])][
        (K + 1) // 2 :
    ]


def largest_utility(K, m, epsilon, Delta, delta):
    """The optimum of the paper's program under uniform:0.5,1, to 30 digits: its best vertex.

    All vertices are met in double precision, on rows that are rounded once. Those that look best
    are computed and checked again to 40 digits, so that the answer is some private gamma's utility,
    whatever double precision made of the rest.
    """
    n = (K + 1) // 2
    zero, one = mpmath.mpf(0), mpmath.mpf(1)
    kinds = [c if Delta else (*c[:2], 0, 0, 0, 0, *c[2:]) for c in multisets(K, 8 if Delta else 4)]
    room = allowance(m, epsilon, delta)
    sides = [([a / room for a in row(K, m, epsilon, Delta, c)], one) for c in kinds]
    for j in range(n):
        unit = [one if k == j else zero for k in range(n)]
        sides += [(unit, one), ([-u for u in unit], zero)]
    left = np.array([[float(a) for a in side] for side, _ in sides])
    right = np.array([float(b) for _, b in sides])
    objective = uniform_objective(K)
    chosen = np.array(list(combinations(range(len(sides)), n)))
    chosen = chosen[np.abs(np.linalg.det(left[chosen])) > 1e-12]
    x = np.linalg.solve(left[chosen], right[chosen][..., None])[..., 0]
    feasible = (x @ left.T <= right + 1e-9).all(axis=1)
    value = np.where(feasible, x @ np.array(objective, dtype=float), -np.inf)
    best = zero
    for k in np.nonzero(value > value.max() - 1e-9)[0]:
        rows = [sides[i] for i in chosen[k]]
        vertex = list(mpmath.lu_solve(mpmath.matrix([a for a, _ in rows]), [b for _, b in rows]))
        if all(mpmath.fdot(a, vertex) <= b + mpmath.mpf(10) ** -30 for a, b in sides):
            best = max(best, mpmath.fdot(objective, vertex))
    return best
