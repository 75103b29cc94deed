"""What NZC claims, under both readings of gamma, and what its labels really cost.

Section 3.2 adds Laplace noise of scale 1 / gamma and calls for "a very small gamma"; Table 1 prints
gamma = 1e10. Read as it is defined, the noise has scale 1e-10 and the claim is 3.6e24 for 9,000
queries; read as a scale (as in "LNMax (gamma = 20)", whose noise has scale 20), the theorem's gamma
is 1e-10 and the claim is 9.1e-8, the printed "about 0". For Gaussian noise section 4.2 refers to
PATE's Renyi bounds.

None of it is true. Adding c to the largest count makes the label a function of the exact ArgMax. If
one vote moves it, the output changes with certainty, whatever c and the noise are (docs/nzc.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from private_ensembles.audit.divergence import exact_delta
from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.base import checks
from private_ensembles.base.laplace_tail import log_difference_tail
from private_ensembles.base.rounding import round_float_up
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.papers.nzc.mathematics.ensembles import leads
from private_ensembles.papers.nzc.mathematics.mechanism import RELATIVE_ERROR, label_distribution


def claimed_epsilon(gamma: float, queries: int, delta: float) -> float:
    """Return the claimed total, 4 T gamma^2 + 2 gamma sqrt(2 T ln(1 / delta)), as printed.

    Args:
        gamma: inverse scale of the noise.
        queries: T, the number of labels.
        delta: in (0, 1).

    Raises:
        ValueError: gamma is not finite and > 0, queries < 1, or delta is outside (0, 1).

    References:
        NZC, Theorem 4.

    >>> f"{claimed_epsilon(1e-10, 9000, 1e-5):.1e}", f"{claimed_epsilon(1e10, 9000, 1e-5):.1e}"
    ('9.1e-08', '3.6e+24')
    """
    checks.check_finite(gamma=gamma, above=0)
    checks.check_integer(queries=queries, at_least=1)
    checks.check_probability(delta=delta, zero=False, one=False)
    return 4 * queries * gamma**2 + 2 * gamma * math.sqrt(2 * queries * -math.log(delta))


def claimed_gaussian_epsilon(sigma: float, queries: int, delta: float) -> float:
    """Return the claimed total for Gaussian noise, T / sigma^2 + 2 sqrt(T ln(1 / delta)) / sigma.

    Section 4.2 takes PATE 2018's analysis for granted, by which a label is (lambda, lambda /
    sigma^2)-RDP; this is T of them with the classic conversion at its best real order, 1 + sigma
    sqrt(ln(1 / delta) / T).

    Args:
        sigma: standard deviation of the noise, in votes.
        queries: T, the number of labels.
        delta: in (0, 1).

    Raises:
        ValueError: sigma is not finite and > 0, queries < 1, or delta is outside (0, 1).

    References:
        NZC, section 4.2; PATE 2018, Proposition 8 and Theorem 5.
    """
    checks.check_finite(sigma=sigma, above=0)
    checks.check_integer(queries=queries, at_least=1)
    checks.check_probability(delta=delta, zero=False, one=False)
    return queries / sigma**2 + 2 * math.sqrt(queries * -math.log(delta)) / sigma


def claimed_readings(
    printed_gamma: float, queries: int, delta: float, *, noise: str = "laplace"
) -> dict[str, float]:
    """Return the claimed total with the printed gamma read as ``inverse_scale`` and as ``scale``.

    Args:
        printed_gamma: as the paper's tables print it.
        queries: number of labels.
        delta: in (0, 1).
        noise: ``laplace`` (Theorem 4) or ``gaussian`` (sigma in place of the scale).

    Raises:
        ValueError: the noise is another, or as `claimed_epsilon` raises it.
    """
    checks.check_finite(printed_gamma=printed_gamma, above=0)
    if noise == "gaussian":
        claim, inverse = claimed_gaussian_epsilon, 1 / printed_gamma
    elif noise == "laplace":
        claim, inverse = claimed_epsilon, printed_gamma
    else:
        raise ValueError(f"noise = {noise!r}: must be laplace or gaussian")
    return {
        "inverse_scale": claim(inverse, queries, delta),
        "scale": claim(1 / inverse, queries, delta),
    }


def immutability_constant(
    n_classes: int, failure: float, *, gamma: float | None = None, sigma: float | None = None
) -> float:
    """Return Lemma 1's c, which single noises exceed with probability ``failure`` = tau at most.

    It is log(L / tau) / gamma for Laplace noise of scale 1 / gamma, and sqrt(2 sigma^2 log(2 L /
    tau)) for Gaussian noise. It bounds single noises; the ArgMax compares two, so twice as much is
    needed for the label not to change.

    Args:
        n_classes: L, at least 2.
        failure: tau, in (0, 1).
        gamma: inverse scale of Laplace noise.
        sigma: standard deviation of Gaussian noise.

    Raises:
        ValueError: not exactly one of gamma and sigma is given and positive, n_classes < 2, or
            failure is outside (0, 1).

    References:
        NZC, Lemma 1.
    """
    if (gamma is None) == (sigma is None):
        raise ValueError("gamma, sigma: exactly one of them must be given")
    checks.check_integer(n_classes=n_classes, at_least=2)
    checks.check_probability(failure=failure, zero=False, one=False)
    if gamma is not None:
        checks.check_finite(gamma=gamma, above=0)
        return math.log(n_classes / failure) / gamma
    checks.check_finite(sigma=sigma, above=0)
    return sigma * math.sqrt(2 * math.log(2 * n_classes / failure))


@dataclass(frozen=True)
class LeadLoss:
    """delta at one epsilon of the histograms with one lead, each against its worst neighbour.

    Attributes:
        ties: the rule for ties.
        lead: largest count less the second largest.
        epsilon: at which delta is given.
        least, most: the range of delta over these histograms.
        histograms: their number.
    """

    ties: str
    lead: int
    epsilon: float
    least: float
    most: float
    histograms: int


def delta_by_lead(
    n_teachers: int, n_classes: int, epsilon: float, *, ties: str, **mechanism
) -> list[LeadLoss]:
    """Audit one NZC label over all histograms; one row per lead (largest minus second count).

    mechanism: constant, noise_scale, noise of `nzc.label_distribution`. Raises ValueError as it
    does, and as `audit.enumerate_histograms`.
    """
    histograms = enumerate_histograms(n_teachers, n_classes)
    pairs = neighbour_pairs(histograms)
    matrix, error = label_distribution(histograms, ties=ties, **mechanism)
    worst = np.zeros(len(histograms))
    for row in range(len(histograms)):  # the audit gives the worst of each one's pairs
        own = pairs[(pairs == row).any(axis=1)]
        worst[row] = exact_delta(
            matrix, own, epsilon, relative_error=RELATIVE_ERROR, absolute_error=error
        )
    lead = leads(histograms)
    return [
        LeadLoss(
            ties=ties,
            lead=int(value),
            epsilon=epsilon,
            least=float(worst[lead == value].min()),
            most=float(worst[lead == value].max()),
            histograms=int((lead == value).sum()),
        )
        for value in np.unique(lead)
    ]


@upper_bound
def proven_epsilon(
    constant: float, noise_scale: float, *, noise: str = "laplace", delta: float = 0.0
) -> float:
    """Return an epsilon that one label does have, rounded up.

    Two counts change, by c + 1 each at most.

    Args:
        constant: c, in votes.
        noise_scale: scale of the Laplace noise, or standard deviation of the Gaussian.
        noise: ``laplace`` or ``gaussian``.
        delta: in (0, 1) for Gaussian noise; Laplace noise needs none.

    Returns:
        2 (c + 1) / scale for Laplace noise, for every delta. rho + 2 sqrt(rho ln(1 / delta)) for
        Gaussian noise, which is rho-zCDP with rho = (c + 1)^2 / sigma^2.

    Raises:
        ValueError: the noise is another, or Gaussian and delta is not in (0, 1).

    References:
        Dwork & Roth 2014, Theorem 3.6; Bun & Steinke 2016, Proposition 1.3.
    """
    relative_shift = (constant + 1) / noise_scale
    if noise == "laplace":
        return round_float_up(2 * relative_shift, 2)
    checks.check_choice(("laplace", "gaussian"), noise=noise)
    checks.check_probability(delta=delta, zero=False, one=False)
    return round_float_up(relative_shift**2 + 2 * relative_shift * math.sqrt(-math.log(delta)), 16)


def lead_one_epsilon(
    constant: float, noise_scale: float, delta: float, *, noise: str = "laplace"
) -> float:
    """Return the exact epsilon at ``delta`` of the histograms in which one class leads by one vote.

    Two classes, odd K. With T = Pr[noise makes up for c + 1] (of order exp(-1e90) at the paper's
    parameters, so in logarithms) a label has probability 1 - T before one vote moves and T after:
    epsilon = max(0, log((1 - T - delta) / T)). This is a lower bound on the mechanism's epsilon. It
    is the exact value if it is at least 2 / noise_scale with Laplace noise, since that is all that
    wider leads can cost. Plain floating point.

    Args:
        constant: c, in votes.
        noise_scale: scale of the Laplace noise, or standard deviation of the Gaussian.
        delta: in [0, 1).
        noise: ``laplace`` or ``gaussian``.

    Raises:
        ValueError: the noise is another, the constant is negative, noise_scale <= 0, or delta is
            outside [0, 1).
    """
    checks.check_probability(delta=delta, one=False)
    checks.check_number(constant=constant, at_least=0)
    checks.check_number(noise_scale=noise_scale, above=0)
    y = (constant + 1) / noise_scale
    if noise == "laplace":
        log_lost = float(log_difference_tail(y))
    elif noise == "gaussian":
        log_lost = float(log_ndtr(-y / math.sqrt(2)))
    else:
        raise ValueError(f"noise = {noise!r}: must be laplace or gaussian")
    gain = -math.expm1(log_lost) - delta
    return max(0.0, math.log(gain) - log_lost) if gain > 0 else 0.0
