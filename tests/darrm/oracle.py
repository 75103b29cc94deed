"""Independent, slow, exact evaluations that the darrm tests compare with."""

from itertools import combinations, pairwise, product

import mpmath
import numpy as np

mpmath.mp.dps = 40


def corners(epsilon, Delta):
    """The eight corners (p, p') of Lemma 5.1, as 40-digit numbers."""
    e, D = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(Delta)
    high, low = (e + D) / (e + 1), (1 - D) / (e + 1)
    zero, one = mpmath.mpf(0), mpmath.mpf(1)
    return [
        (zero, zero), (one, one), (zero, D), (D, zero),
        (1 - D, one), (one, 1 - D), (high, low), (low, high),
    ]  # fmt: skip


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


def _convolve(pmf_, p):
    out = [mpmath.mpf(0)] * (len(pmf_) + 1)
    for l, value in enumerate(pmf_):
        out[l] += value * (1 - p)
        out[l + 1] += value * p
    return out


def cost(gamma, m, epsilon, Delta, counts):
    """f of Lemma 3.4 at one multiset of corners, written as the paper writes it."""
    K = len(gamma) - 1
    sides = []
    for side in (0, 1):
        alpha = [mpmath.mpf(1)]
        for corner, size in zip(corners(epsilon, Delta), counts, strict=True):
            for _ in range(size):
                alpha = _convolve(alpha, corner[side])
        sides.append(alpha)
    c = mpmath.exp(mpmath.mpf(m) * mpmath.mpf(epsilon))
    alpha, alpha_ = sides
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
