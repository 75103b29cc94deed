"""Noise for releases of real data: the operating system's entropy, and no floating-point samplers.

Whoever knows the seed of a reproducible run can compute its noise, and low bits of a noisy float
can tell what the noise was added to (Mironov 2012). Here coins are exact, of a rational number or
of e^x, classes come in exact proportion to e^score, counts get discrete Gaussian noise from OpenDP,
and DP-SGD gets sums of Gaussians from the system's entropy.
"""

import math
import os
import secrets
from functools import cache

import numpy as np

from private_ensembles.base import checks, softmax

MODES = ("reproducible", "secure")
# Units of the fine lattice in one vote, at most, and the bits that sigma has in units, at most.
FINEST = 1 << 40
_BITS_OF_SIGMA = 56
# Numbers that are Python's own at a time, which takes much memory.
_AT_ONCE = 1 << 18
# Votes of one class must be fewer: with noise of 64 sigma they fit 64 bits in any units.
MOST_VOTES = 1 << 22
# Noise of 64 times as much would not fit 64 bits.
LARGEST_SIGMA = 2.0**_BITS_OF_SIGMA


def draw_bernoulli(probabilities: np.ndarray) -> np.ndarray:
    """Toss one coin per probability, any shape: bool, True with exactly the given probability.

    A float is a rational number with a power of two below, so comparing it with a uniform integer
    of as many bits rounds nothing. Raises ValueError for a probability outside [0, 1].
    """
    values = np.asarray(probabilities, dtype=np.float64)
    checks.check_probabilities(probabilities=values)
    ratios = (float(value).as_integer_ratio() for value in values.flat)
    tossed = [secrets.randbelow(below) < above for above, below in ratios]
    return np.array(tossed, dtype=bool).reshape(values.shape)


def draw_bernoulli_exp(exponents: np.ndarray) -> np.ndarray:
    """Toss one coin per exponent <= 0, any shape: bool, True with exactly e^exponent.

    Raises ValueError for other exponents.
    """
    return softmax.draw_bernoulli_exp(exponents, secrets.randbits)


def softmax_classes(scores: np.ndarray) -> np.ndarray:
    """Return a class of each row, int64 (Q,), with exactly e^score over the sum of its row.

    scores: floats (Q, C). Raises ValueError for scores that are not finite.
    """
    return softmax.draw_each(scores, secrets.randbits)


def choose_uniformly(wanted: np.ndarray) -> np.ndarray:
    """Return a place of each row that is True, int64 (Q,), every one with the same probability.

    wanted: bool (Q, C), at least one True in a row.
    """
    numbers = wanted.sum(axis=1).tolist()
    drawn = np.array([secrets.randbelow(number) for number in numbers], dtype=np.int64)
    return (wanted.cumsum(axis=1) <= drawn[:, None]).sum(axis=1)


def fair_bits(shape: int | tuple[int, ...]) -> np.ndarray:
    """Return independent fair bits, uint8 0 or 1."""
    size = int(np.prod(shape))
    data = np.frombuffer(secrets.token_bytes(-(-size // 8)), np.uint8)
    return np.unpackbits(data, count=size).reshape(shape)


def add_discrete_gaussian(counts: np.ndarray, sigma: float) -> np.ndarray:
    """Add independent discrete Gaussian noise N_Z(0, sigma^2) to whole numbers, any shape: int64.

    OpenDP's exact sampler (Canonne, Kamath & Steinke 2020, Algorithm 3, in rational arithmetic).
    Raises ValueError for counts that are not integers below MOST_VOTES in size, which no ensemble
    of as many teachers has, and for sigma not in (0, LARGEST_SIGMA).
    """
    return _add_lattice_noise(counts, sigma, 1)


def fine_units(sigma: float) -> int:
    """Return how many units of the fine lattice make one vote at this noise, a power of two.

    >>> fine_units(40.0) == FINEST, fine_units(2.0**16) == FINEST // 2
    (True, True)

    FINEST if sigma < 2^16, else half as many for each time that sigma doubles, so that sigma stays
    below 2^56 units. Raises ValueError for sigma not in (0, LARGEST_SIGMA).
    """
    _check(sigma)
    return FINEST >> max(0, math.frexp(sigma)[1] - _BITS_OF_SIGMA + FINEST.bit_length() - 1)


def add_fine_gaussian(counts: np.ndarray, sigma: float) -> np.ndarray:
    """Add noise N(0, sigma^2) to whole numbers on a lattice of 1 / `fine_units`: int64, any shape.

    >>> abs(int(add_fine_gaussian(np.array([7]), 1.0)[0]) - 7 * FINEST) < 40 * FINEST
    True

    Returns `fine_units` times the noisy numbers, exactly as :func:`add_discrete_gaussian` draws
    them. The largest of them is the largest of continuous ones except with a probability that
    `accounting.discrete_gaussian.fine_lattice_total_variation` bounds. Raises ValueError as
    :func:`add_discrete_gaussian`.
    """
    return _add_lattice_noise(counts, sigma, fine_units(sigma))


def _add_lattice_noise(counts: np.ndarray, sigma: float, unit: int) -> np.ndarray:
    """Units of the counts plus discrete noise of that many units times sigma."""
    counts = np.asarray(counts)
    _check(sigma)
    if counts.dtype.kind not in "iu" or np.abs(counts).max(initial=0) >= MOST_VOTES:
        raise ValueError(f"counts of type {counts.dtype}: must be integers below 2^22 in size")
    every, noisy = counts.ravel(), np.empty(counts.size, dtype=np.int64)
    draw = _gaussian(float(sigma) * unit)
    for start in range(0, every.size, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        noisy[some] = draw([count * unit for count in every[some].tolist()])
    return noisy.reshape(counts.shape)


@cache
def _gaussian(sigma: float):
    # late: reproducible runs need none of it; opendp.prelude loads scikit-learn as well, a second
    from opendp import measurements
    from opendp.domains import atom_domain, vector_domain
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features
    from opendp.typing import i64

    enable_features("contrib")
    space = vector_domain(atom_domain(T=i64)), l2_distance(T=i64)
    return space >> measurements.then_gaussian(sigma)


def argmax_fair_ties(noisy: np.ndarray) -> np.ndarray:
    """Return the place of each row's largest number, int64 (Q,), with a fair die for ties.

    noisy: whole numbers (Q, C). Continuous noise never ties; with dice all classes stay on a par.
    """
    tied = noisy == noisy.max(axis=1, keepdims=True)
    labels = tied.argmax(axis=1)
    for query in np.flatnonzero(tied.sum(axis=1) > 1):  # few ties, each with its own die
        labels[query] = secrets.choice(np.flatnonzero(tied[query]).tolist())
    return labels


def subsets(number: int, size: int, most: int) -> np.ndarray:
    """Return independent uniform subsets of 0..size-1, `most` places each: int64 (number, most)."""
    drawn = [secrets.SystemRandom().sample(range(size), most) for _ in range(number)]
    return np.array(drawn, dtype=np.int64).reshape(number, most)


def uniform(shape: int | tuple[int, ...]) -> np.ndarray:
    """Return independent uniform numbers in (0, 1), float64 with 52 bits of system entropy."""
    size = int(np.prod(shape))
    bits = np.frombuffer(os.urandom(8 * size), np.uint64) >> np.uint64(12)
    return ((bits.astype(np.float64) + 0.5) * 2.0**-52).reshape(shape)


def normal(shape: int | tuple[int, ...]) -> np.ndarray:
    """Return independent standard Gaussians, float64, each half the sum of four.

    DP-SGD works in floating point throughout, so no exact sampler fits. Summing four samples is the
    known defence against reading a sum's low bits (Holohan & Braghin 2021; Opacus' secure_mode does
    the same): it makes the attack impractical, which is less than a proof.
    """
    from scipy.special import ndtri

    shape = tuple(np.atleast_1d(np.asarray(shape, dtype=int)))
    return ndtri(uniform((4, *shape))).sum(axis=0) / 2


def check_mode(noise: str) -> str:
    """Return `noise` if it is one of MODES; raises ValueError otherwise."""
    checks.check_choice(MODES, noise=noise)
    return noise


def seed_of(noise: str, seed: int | None) -> int | None:
    """Return the seed of a rehearsal, 0 unless one is given; None for secure noise, without one.

    >>> seed_of("reproducible", None), seed_of("secure", None)
    (0, None)

    Raises ValueError for another noise, and for a seed of secure noise.
    """
    if check_mode(noise) == "reproducible":
        return 0 if seed is None else seed
    if seed is not None:
        raise ValueError(f"seed = {seed}: must be None for noise = secure, which has no seed")
    return None


def _check(sigma: float) -> None:
    if not 0 < sigma < LARGEST_SIGMA:
        raise ValueError(f"sigma = {sigma}: must be above 0 and below 2^56")
