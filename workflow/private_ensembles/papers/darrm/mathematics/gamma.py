"""Noise functions gamma of DaRRM: checks and closed forms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import general_composition
from private_ensembles.base import checks
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem, resolve_delta


def check_gamma(gamma: ArrayLike) -> NDArray[np.float64]:
    """Return gamma as a float64 array (K + 1,), K odd.

    Raises:
        ValueError: gamma has another rank, an even K, a value outside [0, 1] or NaN, or is not
            exactly symmetric around K/2 (Lemma 3.4 covers symmetric functions only).
    """
    values = np.asarray(gamma, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or len(values) % 2:
        raise ValueError(f"gamma: shape {values.shape} must be (K + 1,) with K odd")
    checks.check_probabilities(gamma=values)
    if not np.array_equal(values, values[::-1]):
        l = int(np.argmax(values != values[::-1]))
        raise ValueError(
            f"gamma: must be symmetric around K/2, but gamma({l}) = {values[l]!r} and "
            f"gamma({len(values) - 1 - l}) = {values[-1 - l]!r}"
        )
    return values


def mirror_gamma(upper_half: ArrayLike) -> NDArray[np.float64]:
    """Return the symmetric gamma (K + 1,) with the given values at l = (K+1)/2..K."""
    half = np.asarray(upper_half, dtype=np.float64)
    return np.concatenate([half[::-1], half])


def gamma_constant(
    K: int,
    m: float,
    epsilon: float,
    Delta: float = 0.0,
    delta: float | None = None,
    *,
    delta_prime: float | None = None,
) -> NDArray[np.float64]:
    """Return gamma of randomised response, constant in l, shape (K + 1,).

    >>> gamma_constant(11, 3, 0.1).round(4)[:2].tolist()
    [0.2975, 0.2975]

    The majority of all K teachers is (tau epsilon, lambda)-DP by composition. A value above 1 means
    that no noise is needed and is returned as 1.

    Args:
        K: odd number of teachers.
        m: the privacy allowance in [1, K].
        epsilon: that of one teacher.
        Delta: that of one teacher.
        delta: that of the released label; None means 1 - (1 - Delta)^m.
        delta_prime: None for simple composition, tau = K and lambda = 1 - (1 - Delta)^K; otherwise
            the slack of general composition (Theorem 2.3, appendix D.1.1).

    Raises:
        ValueError: a parameter is out of range.

    References:
        DaRRM, Lemma A.1 and Eq. 4.
    """
    problem = PrivacyProblem(K, m, epsilon, Delta, resolve_delta(m, Delta, delta))
    tau, lambda_ = float(K), -math.expm1(K * math.log1p(-Delta))
    if delta_prime is not None:
        composed = general_composition(epsilon, Delta, K, delta_prime)
        tau, lambda_ = composed.epsilon / epsilon, composed.delta
    # e^{tau epsilon} may overflow even if e^{m epsilon} does not, so all is divided by it.
    decay = math.exp(-tau * epsilon)
    growth = math.exp(m * epsilon)
    numerator = math.expm1(m * epsilon) + 2 * problem.delta
    worst = 2 * (1 + (-growth + (1 + growth) * lambda_) * decay) / (1 + decay)
    return np.full(K + 1, min(1.0, numerator / (worst + math.expm1(m * epsilon))))


def subsampling_probability(K: int, size: int) -> NDArray[np.float64]:
    """Return the probability that the majority of teachers drawn without replacement is 1.

    A tie (even size) counts one half. The arithmetic is exact, on integers, and rounded once at the
    end.

    Args:
        K: number of teachers.
        size: how many are drawn.

    Returns:
        (K + 1,): Pr[majority is 1 | l of K say 1], l = 0..K.

    Raises:
        ValueError: the size is no integer in 1..K.
    """
    if isinstance(size, bool) or int(size) != size or not 1 <= size <= K:
        raise ValueError(f"m = {size}: subsampling draws an integer number of 1..K = {K} teachers")
    size = int(size)
    total = math.comb(K, size)
    probabilities = np.empty(K + 1)
    for l in range(K + 1):
        twice_won = 0
        for j in range((size + 1) // 2, size + 1):
            ways = math.comb(l, j) * math.comb(K - l, size - j)
            twice_won += ways if 2 * j == size else 2 * ways
        probabilities[l] = twice_won / (2 * total)
    return probabilities


def gamma_subsampling(K: int, m: int) -> NDArray[np.float64]:
    """Return gamma of the majority of m teachers drawn without replacement, (K + 1,).

    >>> gamma_subsampling(3, 1).round(4).tolist()
    [1.0, 0.3333, 0.3333, 1.0]

    Raises:
        ValueError: K is not odd, or m is no integer in 1..K.

    References:
        DaRRM, Lemma 3.1.
    """
    checks.check_integer(K=K, at_least=1, odd=True)
    half = subsampling_probability(K, m)[(K + 1) // 2 :]
    return mirror_gamma(np.clip(2 * half - 1, 0.0, 1.0))


def gamma_double_subsampling(K: int, m: int) -> NDArray[np.float64]:
    """Return gamma of the majority of 2m - 1 drawn teachers; 1 for m >= (K+1)/2.

    >>> gamma_double_subsampling(3, 1).round(4).tolist()
    [1.0, 0.3333, 0.3333, 1.0]

    The theorem proves m epsilon-DP for i.i.d. teachers with Delta = delta = 0 only; certify every
    other use.

    Raises:
        ValueError: K is not odd, or m is no integer in 1..K.

    References:
        DaRRM, Theorem 4.1.
    """
    if int(m) != m:
        raise ValueError(f"m = {m}: double subsampling needs an integer m")
    return gamma_subsampling(K, min(2 * int(m) - 1, K))


def label_probability(gamma: ArrayLike) -> NDArray[np.float64]:
    """Return Pr[DaRRM releases 1 | l teachers say 1] for l = 0..K, shape (K + 1,).

    It is gamma(l) times the majority plus (1 - gamma(l)) / 2.

    References:
        DaRRM, Algorithm 1, lines 5-11.
    """
    gamma = check_gamma(gamma)
    majority = np.arange(len(gamma)) >= len(gamma) / 2
    return gamma * majority + (1 - gamma) / 2
