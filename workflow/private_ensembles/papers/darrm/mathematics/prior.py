"""Priors over the teachers' probabilities p_i, and the objectives that they give.

The paper's surrogate objective is E[sum_{l > K/2} (alpha_l - alpha_{K-l}) gamma_l] = sum c_l
gamma_l with p_i in the upper half; the pmf is multilinear in the p_i, so for independent p_i of
mean mu E[alpha_l] is exactly the Binomial(K, mu) pmf and c_l needs no sampling
(docs/method.md, section 1).
"""

from __future__ import annotations

import functools
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import binomial_pmf, pmf

# Points of the sampled objective; a power of two, as Sobol' points want it.
SAMPLES = 1 << 14
_INTERVAL = ("uniform", "common", "absolute-uniform")


@dataclass(frozen=True)
class Prior:
    """What is believed of the p_i.

    kind : `uniform` (independent p_i ~ U[low, high], objective without the absolute value),
        `common` (one p ~ U[low, high] for all teachers), `absolute-uniform` (as uniform, with the
        absolute value of Eq. 196: the true expected error), `empirical` (the observed sizes of
        majorities; `weights` holds the share of queries with l votes for the majority, l = 0..K,
        and `sha256` names the vote cache).
    """

    kind: str
    low: float = 0.0
    high: float = 1.0
    weights: tuple[float, ...] = ()
    sha256: str = ""

    @property
    def name(self) -> str:
        if self.kind == "empirical":
            return f"empirical:{self.sha256}"
        # All digits, so that the name is the prior; 1.0 is written as 1.
        low, high = (repr(end).removesuffix(".0") for end in (self.low, self.high))
        return f"{self.kind}:{low},{high}"


def parse_prior(text: str | Prior) -> Prior:
    """A prior from its name: `uniform:a,b`, `common:a,b` or `absolute-uniform:a,b`.

    0 <= a < b <= 1, and a + b >= 1 for the first two: without it 1 is not the majority label and
    their objective, which has no absolute value, would reward the wrong answer. Raises ValueError
    for any other text; `empirical:...` comes from `empirical_prior` only, since it needs votes.
    """
    if isinstance(text, Prior):
        return text
    kind, _, rest = str(text).partition(":")
    if kind == "empirical":
        raise ValueError(f"prior = {text!r}: an empirical prior is made by empirical_prior(votes)")
    try:
        low, high = (float(part) for part in rest.split(","))
    except ValueError:
        low = high = math.nan
    upper = low + high >= 1 or kind == "absolute-uniform"
    if kind not in _INTERVAL or not (0 <= low < high <= 1 and upper):
        raise ValueError(
            f"prior = {text!r}: must be uniform:a,b or common:a,b with 0 <= a < b <= 1, a + b >= 1,"
            " or absolute-uniform:a,b"
        )
    return Prior(kind, low, high)


def empirical_prior(counts: Sequence[int] | NDArray, K: int, sha256: str) -> Prior:
    """The observed sizes of majorities as a prior, from the number of teachers that said 1.

    counts : (queries,), integers in 0..K; sha256 : of the vote cache, 64 hexadecimal digits.

    Warns: a gamma optimised for it depends on private votes, which its certificate does not
    account for. Use votes that are public, or charge for the choice.
    """
    counts = np.asarray(counts)
    if counts.ndim != 1 or not len(counts) or counts.min() < 0 or counts.max() > K:
        raise ValueError(f"counts: must be a non-empty list of integers in 0..K = {K}")
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise ValueError(f"sha256 = {sha256!r}: must be 64 hexadecimal digits")
    warnings.warn(
        "a gamma for an empirical prior depends on the votes it was estimated from: "
        "unless they are public, its choice is not covered by its certificate",
        stacklevel=2,
    )
    share = np.bincount(np.maximum(counts, K - counts), minlength=K + 1) / len(counts)
    return Prior("empirical", weights=tuple(share.tolist()), sha256=sha256)


def expected_pmf(K: int, prior: Prior) -> NDArray[np.float64]:
    """E[alpha_l], l = 0..K: the expected pmf of the number of teachers that say 1."""
    l = np.arange(K + 1)
    if prior.kind == "empirical":
        if len(prior.weights) != K + 1:
            raise ValueError(f"prior = {prior.name}: of {len(prior.weights) - 1} teachers, not {K}")
        return np.array(prior.weights)
    if prior.kind == "common":
        from scipy.stats import beta  # here, because it takes 0.6 s

        # int Bin(l; K, p) dp over [low, high]: a difference of beta tails over K + 1.
        upper = beta.sf(prior.low, l + 1, K - l + 1) - beta.sf(prior.high, l + 1, K - l + 1)
        return upper / ((K + 1) * (prior.high - prior.low))
    return binomial_pmf(K, (prior.low + prior.high) / 2)


def objective(K: int, prior: Prior) -> NDArray[np.float64]:
    """c_l = E[alpha_l - alpha_{K-l}] for l = (K+1)/2..K, shape ((K+1)/2,), all >= 0.

    Raises ValueError for `absolute-uniform`, whose objective is not linear (`sampled_leads`).
    """
    if prior.kind == "absolute-uniform":
        raise ValueError(f"prior = {prior.name}: its objective is not linear in gamma")
    expected = expected_pmf(K, prior)
    return np.maximum(expected - expected[::-1], 0.0)[(K + 1) // 2 :]


def uniform_points(
    K: int, prior: Prior, samples: int, seed: tuple[int, ...]
) -> NDArray[np.float64]:
    """Scrambled Sobol' points of K independent p_i ~ U[low, high], shape (samples, K).

    Randomised quasi-Monte Carlo: means over them are unbiased for every seed.
    """
    from scipy.stats import qmc

    points = qmc.Sobol(K, rng=np.random.default_rng(list(seed))).random(samples)
    return prior.low + (prior.high - prior.low) * points


@functools.lru_cache(maxsize=8)
def sampled_leads(K: int, low: float, high: float, samples: int = SAMPLES) -> NDArray[np.float64]:
    """alpha_l - alpha_{K-l}, l = (K+1)/2..K, at `uniform_points` with a fixed seed.

    Shape (samples, (K+1)/2); read-only.
    """
    alpha = pmf(uniform_points(K, Prior("uniform", low, high), samples, (0,)))
    leads = (alpha - alpha[:, ::-1])[:, (K + 1) // 2 :]
    leads.flags.writeable = False
    return leads
