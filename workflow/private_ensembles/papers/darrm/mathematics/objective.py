"""What a gamma is worth: priors over the teachers' probabilities p_i, and their objectives.

The paper's surrogate objective is E[sum_{l > K/2} (alpha_l - alpha_{K-l}) gamma_l] = sum c_l
gamma_l with p_i in the upper half; the pmf is multilinear in the p_i, so for independent p_i of
mean mu E[alpha_l] is exactly the Binomial(K, mu) pmf and c_l needs no sampling
(docs/method.md, section 1).

A new prior is an entry of PRIOR_KINDS: configuration, schema, optimiser and expected errors take it
from there. The verifier has formulas of its own (CLOSED_FORMS).
"""

from __future__ import annotations

import functools
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.poisson_binomial import binomial_pmf, pmf
from private_ensembles.papers.darrm.mathematics.privacy_cost import UNIT_ROUNDOFF

# The sampled objective has so many points: a power of two, as Sobol' points want it.
SAMPLES = 1 << 14

# Priors -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prior:
    """What is believed of the p_i.

    Attributes:
        kind: one of PRIOR_KINDS, or `empirical` (the observed sizes of majorities).
        low: least p_i.
        high: largest p_i.
        weights: of an empirical prior, the share of queries with l votes for the majority,
            l = 0..K.
        sha256: of an empirical prior's vote cache.
    """

    kind: str
    low: float = 0.0
    high: float = 1.0
    weights: tuple[float, ...] = ()
    sha256: str = ""

    @property
    def name(self) -> str:
        """Return the text from which `parse_prior` makes this prior."""
        if self.kind == "empirical":
            return f"empirical:{self.sha256}"
        # The name has all digits, so that it is the prior; 1.0 is written as 1.
        low, high = (repr(end).removesuffix(".0") for end in (self.low, self.high))
        return f"{self.kind}:{low},{high}"

    @property
    def is_absolute(self) -> bool:
        """Return whether the objective keeps Eq. 196's absolute value, so that it is not linear."""
        return self.kind in PRIOR_KINDS and PRIOR_KINDS[self.kind].is_absolute


@dataclass(frozen=True)
class PriorKind:
    """A kind of prior over p_i in [low, high], written `kind:low,high`.

    Without the absolute value, low + high >= 1: else 1 is not the majority label, and the objective
    would reward the wrong answer.

    Attributes:
        words: which p_i, for the help of the configuration.
        expected_pmf: E[alpha_l] of K teachers, l = 0..K.
        is_absolute: see `Prior.is_absolute`.
    """

    words: str
    expected_pmf: Callable[[int, Prior], NDArray[np.float64]]
    is_absolute: bool = False


def _independent_pmf(K: int, prior: Prior) -> NDArray[np.float64]:
    """Return Bin(l; K, mu) for p_i of mean mu, l = 0..K: the pmf is multilinear in them."""
    return binomial_pmf(K, (prior.low + prior.high) / 2)


def _common_pmf(K: int, prior: Prior) -> NDArray[np.float64]:
    """Return int Bin(l; K, p) dp over [low, high]: a difference of beta tails over K + 1."""
    from scipy.stats import beta  # late, because it takes 0.6 s

    l = np.arange(K + 1)
    upper = beta.sf(prior.low, l + 1, K - l + 1) - beta.sf(prior.high, l + 1, K - l + 1)
    return upper / ((K + 1) * (prior.high - prior.low))


PRIOR_KINDS = {
    "uniform": PriorKind("independent ones", _independent_pmf),
    "common": PriorKind("one p that all share", _common_pmf),
    "absolute-uniform": PriorKind(
        "independent ones and the true error, with its absolute value",
        _independent_pmf,
        is_absolute=True,
    ),
}
# Kinds whose coefficients `verify/verify.py` works out itself, for certificates of optimality.
CLOSED_FORMS = ("uniform", "common")
_LINEAR, _ABSOLUTE = (
    " or ".join(f"{name}:a,b" for name, kind in PRIOR_KINDS.items() if kind.is_absolute == absolute)
    for absolute in (False, True)
)


def parse_prior(text: str | Prior) -> Prior:
    """Return a prior from its name, `kind:a,b` with a kind of PRIOR_KINDS.

    0 <= a < b <= 1, and a + b >= 1 if the objective has no absolute value (see `PriorKind`).

    Raises:
        ValueError: any other text. `empirical:...` comes from `empirical_prior` only, since it
            needs votes.
    """
    if isinstance(text, Prior):
        return text
    name, _, ends = str(text).partition(":")
    if name == "empirical":
        raise ValueError(f"prior = {text!r}: an empirical prior is made by empirical_prior(votes)")
    try:
        low, high = (float(part) for part in ends.split(","))
    except ValueError:
        low = high = math.nan
    parsed = Prior(name, low, high)
    if name not in PRIOR_KINDS or not (
        0 <= low < high <= 1 and (parsed.is_absolute or low + high >= 1)
    ):
        raise ValueError(
            f"prior = {text!r}: must be {_LINEAR} with 0 <= a < b <= 1, a + b >= 1, or {_ABSOLUTE}"
        )
    return parsed


def empirical_prior(counts: Sequence[int] | NDArray, K: int, sha256: str) -> Prior:
    """Return the observed sizes of majorities as a prior.

    It warns: a gamma optimised for this prior depends on private votes, which its certificate does
    not account for. Use votes that are public, or charge for the choice.

    Args:
        counts: (queries,) int in 0..K, the number of teachers that said 1.
        K: number of teachers.
        sha256: of the vote cache, 64 hexadecimal digits.

    Raises:
        ValueError: counts are empty or out of range, or sha256 is not 64 such digits.
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
    """Return E[alpha_l], l = 0..K: the expected pmf of the number of teachers that say 1.

    Raises:
        ValueError: the prior is empirical and of another number of teachers.
    """
    if prior.kind != "empirical":
        return PRIOR_KINDS[prior.kind].expected_pmf(K, prior)
    if len(prior.weights) != K + 1:
        raise ValueError(f"prior = {prior.name}: of {len(prior.weights) - 1} teachers, not {K}")
    return np.array(prior.weights)


def coefficients(K: int, prior: Prior) -> NDArray[np.float64]:
    """Return c_l = E[alpha_l - alpha_{K-l}] for l = (K+1)/2..K, shape ((K+1)/2,), all >= 0.

    Raises:
        ValueError: the objective is not linear (`Prior.is_absolute`, `sampled_leads`).

    References:
        docs/method.md, section 1.
    """
    if prior.is_absolute:
        raise ValueError(f"prior = {prior.name}: its objective is not linear in gamma")
    expected = expected_pmf(K, prior)
    return np.maximum(expected - expected[::-1], 0.0)[(K + 1) // 2 :]


def uniform_points(
    K: int, prior: Prior, samples: int, seed: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return scrambled Sobol' points of K independent p_i ~ U[low, high], shape (samples, K).

    Means over them are unbiased for every seed (randomised quasi-Monte Carlo).
    """
    from scipy.stats import qmc

    points = qmc.Sobol(K, rng=np.random.default_rng(list(seed))).random(samples)
    return prior.low + (prior.high - prior.low) * points


@functools.lru_cache(maxsize=8)
def sampled_leads(K: int, low: float, high: float, samples: int = SAMPLES) -> NDArray[np.float64]:
    """Return alpha_l - alpha_{K-l}, l = (K+1)/2..K, at `uniform_points` with a fixed seed.

    The shape is (samples, (K+1)/2). The array is read-only.
    """
    # Five numbers: to NumPy (0,) is (0, 0), a seed of the error that is measured afterwards.
    alpha = pmf(uniform_points(K, Prior("uniform", low, high), samples, (0, 0, 0, 0, 1)))
    leads = (alpha - alpha[:, ::-1])[:, (K + 1) // 2 :]
    leads.flags.writeable = False
    return leads


# Objectives ---------------------------------------------------------------------------------------


class LinearObjective:
    """sum c_l gamma_l (DaRRM, Eq. 201 without the factor -1/2), for x = gamma at l = (K+1)/2..K.

    Attributes:
        size: of x.
        total: the utility of gamma = 1, the largest there is.
        rounding: bound on how much larger the utility of an x may be in exact arithmetic, with
            exact c_l.
    """

    def __init__(self, coefficients: NDArray) -> None:
        self.coefficients = coefficients
        self.size = len(coefficients)
        # Each c_l is the difference of two probabilities good to 5 K round-offs of their size.
        self.rounding = 16 * (self.size + 1) * UNIT_ROUNDOFF
        self.total = float(coefficients.sum())

    def value(self, x: NDArray) -> float:
        """Return the utility of x."""
        return float(self.coefficients @ x)

    def gradient(self, x: NDArray) -> NDArray:
        """Return the utility's gradient at x."""
        return self.coefficients


class AbsoluteObjective:
    """E|sum lead_l| - E|sum lead_l (1 - gamma_l)| over sampled leads: twice the error avoided.

    Eq. 196's true expected error, with its absolute value, is concave in gamma as a utility. If the
    lead never changes sign, it equals `LinearObjective`.
    """

    def __init__(self, leads: NDArray) -> None:
        self.leads = leads
        self.size = leads.shape[1]
        self.total = float(np.abs(leads.sum(axis=1)).mean())
        # `value`, and a tangent's slope and height, are sums over the samples, then over l.
        self.rounding = 4 * sum(leads.shape) * UNIT_ROUNDOFF * float(np.abs(leads).mean(0).sum())

    def value(self, x: NDArray) -> float:
        """Return the utility of x."""
        return self.total - float(np.abs(self.leads @ (1 - x)).mean())

    def gradient(self, x: NDArray) -> NDArray:
        """Return a supergradient of the utility at x."""
        return np.sign(self.leads @ (1 - x)) @ self.leads / len(self.leads)


Objective = LinearObjective | AbsoluteObjective


def make_objective(K: int, prior: Prior) -> Objective:
    """Return the objective that a prior gives."""
    if prior.is_absolute:
        return AbsoluteObjective(sampled_leads(K, prior.low, prior.high))
    return LinearObjective(coefficients(K, prior))
