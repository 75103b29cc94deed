"""Noise for releases of real data: the operating system's entropy, and no floating-point samplers.

Whoever knows the seed of a reproducible run can compute its noise, and the low bits of a noisy
float can tell what the noise was added to (Mironov 2012). Here Bernoulli variables have exactly the
given probability or exactly e^x, classes come in exact proportion to e^score, counts get discrete
Gaussian noise, the largest of counts with continuous noise is found without a number for it, and
DP-SGD gets sums of Gaussians from the system's entropy.
"""

import os
import secrets
from functools import cache

import numpy as np

from private_ensembles.base import checks, discrete_gaussian_table, gaussian_argmax, softmax

MODES = ("reproducible", "secure")
# So many numbers at a time are Python objects, which take much memory.
_AT_ONCE = 1 << 18
# One class has fewer votes, and sigma is less, so that 64 bits hold both and noise of 64 sigma.
MOST_VOTES, LARGEST_SIGMA = 1 << 22, 2.0**56


def draw_bernoulli(probabilities: np.ndarray) -> np.ndarray:
    """Draw independent Bernoulli variables that have exactly the given probabilities.

    A float is a rational number whose denominator is a power of two, so comparing it with a uniform
    integer of as many bits rounds nothing.

    Args:
        probabilities: of True, in [0, 1], any shape.

    Returns:
        Booleans of the same shape.

    Raises:
        ValueError: for a probability outside [0, 1].
    """
    values = np.asarray(probabilities, dtype=np.float64)
    checks.check_probabilities(probabilities=values)
    ratios = (float(value).as_integer_ratio() for value in values.flat)
    tossed = [secrets.randbelow(denominator) < numerator for numerator, denominator in ratios]
    return np.array(tossed, dtype=bool).reshape(values.shape)


def draw_bernoulli_exp(exponents: np.ndarray) -> np.ndarray:
    """Draw independent Bernoulli variables with a probability of exactly e^exponent.

    Args:
        exponents: floats <= 0, any shape.

    Returns:
        Booleans of the same shape.

    Raises:
        ValueError: for other exponents.
    """
    return softmax.draw_bernoulli_exp(exponents, secrets.randbits)


def softmax_classes(scores: np.ndarray) -> np.ndarray:
    """Draw a class of each row with a probability of exactly e^score over the row's sum.

    Args:
        scores: floats (queries, classes).

    Returns:
        The classes, (queries,) int64.

    Raises:
        ValueError: for scores that are not finite.
    """
    return softmax.draw_each(scores, secrets.randbits)


def choose_uniformly(wanted: np.ndarray) -> np.ndarray:
    """Draw uniformly, in each row, the index of an entry that is True.

    Args:
        wanted: booleans (queries, classes), at least one True in each row.

    Returns:
        The indices, (queries,) int64.
    """
    numbers = wanted.sum(axis=1).tolist()
    drawn = np.array([secrets.randbelow(number) for number in numbers], dtype=np.int64)
    return (wanted.cumsum(axis=1) <= drawn[:, None]).sum(axis=1)


def fair_bits(shape: int | tuple[int, ...]) -> np.ndarray:
    """Return independent fair bits of this shape, as uint8 0 or 1."""
    size = int(np.prod(shape))
    data = np.frombuffer(secrets.token_bytes(-(-size // 8)), np.uint8)
    return np.unpackbits(data, count=size).reshape(shape)


def add_discrete_gaussian(counts: np.ndarray, sigma: float) -> np.ndarray:
    """Add independent discrete Gaussian noise N_Z(0, sigma^2) to integers.

    Args:
        counts: integers below MOST_VOTES in size, any shape.
        sigma: the noise's scale in votes, in (0, LARGEST_SIGMA).

    Returns:
        The noisy counts, int64, of the same shape.

    Raises:
        ValueError: for other counts or another sigma.

    References:
        docs/noise.md, theorem 8; for more noise than its table holds, Canonne, Kamath
        and Steinke 2020, Algorithm 3, which OpenDP runs in rational arithmetic.
    """
    counts = _check_counts(counts)
    _check(sigma)
    if sigma <= discrete_gaussian_table.LARGEST_SIGMA:
        noise = discrete_gaussian_table.draw(counts.size, float(sigma), secrets.randbits)
        return counts.astype(np.int64) + noise.reshape(counts.shape)
    flat, noisy = counts.ravel(), np.empty(counts.size, dtype=np.int64)
    draw = _gaussian(float(sigma))
    for start in range(0, flat.size, _AT_ONCE):
        chunk = slice(start, start + _AT_ONCE)
        noisy[chunk] = draw(flat[chunk].tolist())
    return noisy.reshape(counts.shape)


def argmax_gaussian(counts: np.ndarray, sigma: float) -> np.ndarray:
    """Draw argmax_j n_j + N(0, sigma^2) of each row, with continuous noise, exactly.

    Args:
        counts: integers (queries, classes) below MOST_VOTES in size.
        sigma: the noise's scale in votes, finite and > 0.

    Returns:
        The classes, (queries,) int64.

    Raises:
        ValueError: for other counts or another sigma.

    References:
        docs/noise.md, theorem 6.

    >>> argmax_gaussian(np.array([[0, 900], [900, 0]]), 1.0)
    array([1, 0])
    """
    counts = _check_counts(counts)
    checks.check_finite(sigma=sigma, above=0)
    return gaussian_argmax.draw_argmax(counts, float(sigma), secrets.randbits)


def argmax_discrete_gaussian(counts: np.ndarray, sigma: float) -> np.ndarray:
    """Draw the class of each row's largest count plus N_Z(0, sigma^2), and fair dice among ties.

    Args:
        counts: integers (queries, classes), as for :func:`add_discrete_gaussian`.
        sigma: as there.

    Returns:
        The classes, (queries,) int64.

    Raises:
        ValueError: as there.

    >>> argmax_discrete_gaussian(np.array([[0, 900], [900, 0]]), 1.0)
    array([1, 0])
    """
    labels = np.empty(len(counts), dtype=np.int64)
    step = max(1, _AT_ONCE // counts.shape[1])
    for start in range(0, len(counts), step):
        chunk = slice(start, start + step)
        labels[chunk] = argmax_fair_ties(add_discrete_gaussian(counts[chunk], sigma))
    return labels


@cache
def _gaussian(sigma: float):
    # OpenDP is imported late because reproducible runs do not need it, and in parts because
    # opendp.prelude also loads scikit-learn, which takes a second.
    from opendp import measurements
    from opendp.domains import atom_domain, vector_domain
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features
    from opendp.typing import i64

    enable_features("contrib")
    space = vector_domain(atom_domain(T=i64)), l2_distance(T=i64)
    return space >> measurements.then_gaussian(sigma)


def argmax_fair_ties(noisy: np.ndarray) -> np.ndarray:
    """Return the index of each row's largest integer, breaking ties uniformly at random.

    Continuous noise never ties. Breaking ties fairly keeps all classes on a par.

    Args:
        noisy: integers (queries, classes).

    Returns:
        The indices, (queries,) int64.
    """
    tied = noisy == noisy.max(axis=1, keepdims=True)
    labels = tied.argmax(axis=1)
    for query in np.flatnonzero(tied.sum(axis=1) > 1):  # ties are rare
        labels[query] = secrets.choice(np.flatnonzero(tied[query]).tolist())
    return labels


def subsets(number: int, size: int, most: int) -> np.ndarray:
    """Return independent uniform subsets of 0..size-1, as int64 (number, most).

    Args:
        number: how many subsets.
        size: of the set.
        most: how many members each subset has.
    """
    drawn = [secrets.SystemRandom().sample(range(size), most) for _ in range(number)]
    return np.array(drawn, dtype=np.int64).reshape(number, most)


def uniform(shape: int | tuple[int, ...]) -> np.ndarray:
    """Return independent uniform float64 in (0, 1), each with 52 bits of the system's entropy."""
    size = int(np.prod(shape))
    bits = np.frombuffer(os.urandom(8 * size), np.uint64) >> np.uint64(12)
    return ((bits.astype(np.float64) + 0.5) * 2.0**-52).reshape(shape)


def normal(shape: int | tuple[int, ...]) -> np.ndarray:
    """Return independent standard Gaussians, float64, each half the sum of four.

    DP-SGD works in floating point throughout, so no exact sampler fits. Summing four samples is the
    known defence against reading a sum's low bits, as in Opacus' secure_mode. It makes the attack
    impractical, which is less than a proof.

    References:
        Holohan and Braghin 2021.
    """
    from scipy.special import ndtri

    shape = tuple(np.atleast_1d(np.asarray(shape, dtype=int)))
    return ndtri(uniform((4, *shape))).sum(axis=0) / 2


def check_mode(noise: str) -> str:
    """Return `noise` if it is one of MODES; raise ValueError otherwise."""
    checks.check_choice(MODES, noise=noise)
    return noise


def seed_of(noise: str, seed: int | None) -> int | None:
    """Return the seed of a rehearsal, 0 unless one is given; None for secure noise.

    Args:
        noise: one of MODES.
        seed: of reproducible noise; None for secure noise, which has no seed.

    Raises:
        ValueError: for another noise, and for a seed of secure noise.

    >>> seed_of("reproducible", None), seed_of("secure", None)
    (0, None)
    """
    if check_mode(noise) == "reproducible":
        return 0 if seed is None else seed
    if seed is not None:
        raise ValueError(f"seed = {seed}: must be None for noise = secure, which has no seed")
    return None


def _check_counts(counts: np.ndarray) -> np.ndarray:
    counts = np.asarray(counts)
    whole = counts.dtype.kind in "iu"
    if not whole or max(counts.max(initial=0), -int(counts.min(initial=0))) >= MOST_VOTES:
        raise ValueError(f"counts of type {counts.dtype}: must be integers below 2^22 in size")
    return counts


def _check(sigma: float) -> None:
    if not 0 < sigma < LARGEST_SIGMA:
        raise ValueError(f"sigma = {sigma}: must be above 0 and below 2^56")
