"""Noise for releases of real data: the operating system's entropy, and no floating-point samplers.

Who knows the seed of a reproducible run can subtract its noise, and the low bits of a noisy float
can tell what the noise was added to (Mironov 2012). Here coins are exact rational ones, counts get
discrete Gaussian noise from OpenDP, and DP-SGD gets sums of Gaussians from the system's entropy.
"""

import math
import os
import secrets
from functools import cache

import numpy as np

MODES = ("reproducible", "secure")
# Relative error granted to each probability below (measured: some 1e-15; the exponents stay below
# 500 in size, and an exponent's rounding weighs as much as its size).
_ERROR = 1e-11
# Standard deviations of the lead that are summed; what lies beyond is below e^-300.
_REACH = 25


def coins(probabilities: np.ndarray) -> np.ndarray:
    """Toss one coin per probability, any shape: bool, True with exactly the given probability.

    A float is a rational number with a power of two below, so comparing it with a uniform integer
    of as many bits rounds nothing. Raises ValueError for a probability outside [0, 1].
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if not np.all((values >= 0) & (values <= 1)):
        raise ValueError("probabilities: every one must lie in [0, 1]")
    ratios = (float(value).as_integer_ratio() for value in values.flat)
    tossed = [secrets.randbelow(below) < above for above, below in ratios]
    return np.array(tossed, dtype=bool).reshape(values.shape)


def fair_bits(shape: int | tuple[int, ...]) -> np.ndarray:
    """Return independent fair bits, uint8 0 or 1."""
    size = int(np.prod(shape))
    data = np.frombuffer(secrets.token_bytes(-(-size // 8)), np.uint8)
    return np.unpackbits(data, count=size).reshape(shape)


def add_discrete_gaussian(counts: np.ndarray, sigma: float) -> np.ndarray:
    """Add independent discrete Gaussian noise N_Z(0, sigma^2) to whole numbers, any shape: int64.

    OpenDP's exact sampler (Canonne, Kamath & Steinke 2020, Algorithm 3, in rational arithmetic).
    Raises ValueError for counts that are no integers of 31 bits and for sigma not finite and > 0.
    """
    counts = np.asarray(counts)
    _check(sigma)
    if counts.dtype.kind not in "iu" or (counts.size and np.abs(counts).max() >= 1 << 30):
        raise ValueError(f"counts of type {counts.dtype}: must be integers below 2^30 in size")
    noisy = _gaussian(float(sigma))(counts.ravel().tolist())
    return np.array(noisy, dtype=np.int64).reshape(counts.shape)


@cache
def _gaussian(sigma: float):
    import opendp.prelude as dp  # late: half a second that reproducible runs do without

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=int)
    return space >> dp.m.then_gaussian(sigma)


def plurality(counts: np.ndarray, sigma: float) -> np.ndarray:
    """Return each query's class of the largest count after discrete Gaussian noise, int64 (Q,).

    counts: whole numbers (Q, C). Continuous noise never ties; here fair dice decide among classes
    that tie, so that all classes stay on a par.

    Privacy: moving one vote changes two counts by 1, and N_Z(0, sigma^2) has the Gaussian's Renyi
    bound (Canonne, Kamath & Steinke 2020, Proposition 5): (lambda, lambda / sigma^2) as in PATE,
    so a sigma by Renyi bounds serves. One by the analytic Gaussian mechanism does not by
    itself: see `sufficient_sigma`.
    """
    noisy = add_discrete_gaussian(counts, sigma)
    largest = noisy == noisy.max(axis=1, keepdims=True)
    labels = largest.argmax(axis=1)
    for query in np.flatnonzero(largest.sum(axis=1) > 1):  # few, and each needs a die of its own
        labels[query] = secrets.choice(np.flatnonzero(largest[query]).tolist())
    return labels


def gnmax_release(counts_of_ones: np.ndarray, n_teachers: int, sigma: float) -> np.ndarray:
    """Release one label per query by `plurality` on two classes.

    counts_of_ones: integers (Q,) in 0..n_teachers; returns (Q,) uint8.
    """
    ones = np.asarray(counts_of_ones)
    if ones.size and (ones.min() < 0 or ones.max() > n_teachers):
        raise ValueError(f"counts_of_ones: must be in [0, {n_teachers}]")
    return plurality(np.stack([n_teachers - ones, ones], axis=1), sigma).astype(np.uint8)


def gnmax_label_probability(n_teachers: int, sigma: float) -> np.ndarray:
    """Return Pr[`gnmax_release` gives 1 | n of K teachers vote 1] for n = 0..K, shape (K+1,)."""
    difference, weights = _noise_of_lead(sigma, n_teachers)
    lead = 2 * np.arange(n_teachers + 1)[:, None] - n_teachers + difference
    return ((lead > 0) @ weights) + ((lead == 0) @ weights) / 2


def darrm_release(counts: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Release one label per count of ones, DaRRM's Algorithm 1 with exact coins: uint8.

    gamma: floats (K + 1,); the coins have exactly these probabilities, so the certificate of these
    very floats covers the release.
    """
    counts = np.asarray(counts)
    K = len(gamma) - 1
    if counts.size and not (counts.min() >= 0 and counts.max() <= K):
        raise ValueError(f"counts: must lie in 0..K = {K}")
    keep = coins(np.asarray(gamma)[counts])
    return np.where(keep, 2 * counts > K, fair_bits(counts.shape)).astype(np.uint8)


def sufficient_sigma(sigma: float, epsilon: float, delta: float) -> float:
    """Return the first sigma, from the given one upwards, proven for `gnmax_release`.

    The label depends on the noisy lead only, which one moved vote moves by 2; `lead_delta` bounds
    what that costs exactly. Large sigmas are returned as they are or with a factor of 1 + 1e-6 or
    so: there, discrete and continuous noise hardly differ.
    """
    step, found = 0.0, sigma
    while lead_delta(found, epsilon) > delta:
        step = max(1e-6, 2 * step)
        found = sigma * (1 + step)
    return found


def lead_delta(sigma: float, epsilon: float) -> float:
    """Return an upper bound, tight within 1e-9, on the delta of one GNMax label at epsilon.

    The noise of the lead is the difference D of two N_Z(0, sigma^2), and moving a vote moves the
    lead by 2: delta = sum over d of max(0, Pr[D = d] - e^epsilon Pr[D = d + 2]).
    """
    _, weights = _noise_of_lead(sigma, 2)
    here, there = weights[:-2] * (1 + _ERROR), weights[2:] * (1 - _ERROR)
    with np.errstate(over="ignore"):
        excess = here - math.exp(min(epsilon, 700.0)) * there
    tail = math.exp(-300)
    return float(np.maximum(excess, 0).sum() * (1 + _ERROR) + tail)


def _noise_of_lead(sigma: float, margin: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the values d of D, ascending, and Pr[D = d].

    Completing the square in the convolution, Pr[D = d] is proportional to exp(-d^2 / (4 sigma^2))
    times the sum over x of exp(-(x - d/2)^2 / sigma^2), which depends on the parity of d only.
    """
    _check(sigma)
    reach = math.ceil(_REACH * math.sqrt(2) * sigma) + margin + 2
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    parity = [math.fsum(np.exp(-np.square((x - shift) / sigma))) for shift in (0.0, 0.5)]
    weights = np.exp(-np.square(x / (2 * sigma))) * np.where(x % 2 == 0, *parity)
    return x.astype(np.int64), weights / math.fsum(weights)


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
    if noise not in MODES:
        raise ValueError(f"noise = {noise!r}: must be one of {', '.join(MODES)}")
    return noise


def _check(sigma: float) -> None:
    if not (math.isfinite(sigma) and sigma > 0):
        raise ValueError(f"sigma = {sigma}: must be a finite number > 0")
