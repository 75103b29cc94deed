"""What NZC's labels really cost: delta by lead and tie rule, and the epsilon that is true.

Adding c to the largest count makes the label a function of the exact ArgMax. If one vote moves
it, the output changes with certainty, whatever c and the noise are (docs/nzc.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from private_ensembles import checks
from private_ensembles.accounting.rounding import above
from private_ensembles.audit.divergence import exact_delta
from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.noise.laplace import log_difference_tail
from private_ensembles.nzc.ensembles import leads
from private_ensembles.nzc.mechanism import RELATIVE_ERROR, label_distribution


@dataclass(frozen=True)
class LeadLoss:
    """delta at one epsilon of the histograms with one lead, each against its worst neighbour.

    least, most: over those histograms; histograms: their number.
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


def proven_epsilon(
    constant: float, noise_scale: float, *, noise: str = "laplace", delta: float = 0.0
) -> float:
    """An epsilon that one label does have, rounded up: two counts change, by at most c + 1 each.

    Laplace noise: 2 (c + 1) / scale, for every delta (Dwork & Roth 2014, Theorem 3.6). Gaussian
    noise of standard deviation sigma: rho = (c + 1)^2 / sigma^2 of zero-concentrated differential
    privacy, hence epsilon = rho + 2 sqrt(rho ln(1 / delta)) (Bun & Steinke 2016, Proposition 1.3).
    Raises ValueError for another noise, and for Gaussian noise unless delta is in (0, 1).
    """
    moved = (constant + 1) / noise_scale
    if noise == "laplace":
        return above(2 * moved, 2)
    checks.one_of(("laplace", "gaussian"), noise=noise)
    checks.probability(delta=delta, zero=False, one=False)
    return above(moved**2 + 2 * moved * math.sqrt(-math.log(delta)), 16)


def lead_one_epsilon(
    constant: float, noise_scale: float, delta: float, *, noise: str = "laplace"
) -> float:
    """The exact epsilon at ``delta`` of the histograms in which one class leads by one vote.

    Two classes, odd K. With T = Pr[noise makes up for c + 1] (of order exp(-1e90) at the paper's
    parameters, so in logarithms) a label has probability 1 - T before one vote moves and T after:
    epsilon = max(0, log((1 - T - delta) / T)). A lower bound on the mechanism's epsilon; and its
    exact value wherever it is at least 2 / noise_scale with Laplace noise, since that is all that
    wider leads can cost. Plain floating point. Raises ValueError for an unknown noise, a negative
    constant, noise_scale <= 0, delta outside [0, 1).
    """
    checks.probability(delta=delta, one=False)
    checks.number(constant=constant, at_least=0)
    checks.number(noise_scale=noise_scale, above=0)
    y = (constant + 1) / noise_scale
    if noise == "laplace":
        log_lost = float(log_difference_tail(y))
    elif noise == "gaussian":
        from scipy.special import log_ndtr

        log_lost = float(log_ndtr(-y / math.sqrt(2)))
    else:
        raise ValueError(f"noise = {noise!r}: must be laplace or gaussian")
    room = -math.expm1(log_lost) - delta
    return max(0.0, math.log(room) - log_lost) if room > 0 else 0.0
