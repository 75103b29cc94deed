"""Total-variation error of DaRRM (Definition 2.4): pointwise, and expected under a prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.darrm.gamma import check_gamma
from private_ensembles.darrm.prior import Prior, objective, parse_prior, sampled_leads
from private_ensembles.poisson_binomial import pmf

# Independent scramblings behind a confidence interval.
REPLICATES = 16


@dataclass(frozen=True)
class ErrorEstimate:
    """An expected error: `error`, and the half width of its 99 % interval (0 where exact)."""

    error: float
    half_width: float
    method: str


def error_of_pmf(gamma: ArrayLike, alpha: ArrayLike) -> NDArray[np.float64]:
    """|Pr[DaRRM = 1] - Pr[majority = 1]| for the pmf alpha of the number of teachers saying 1.

    gamma : (K + 1,); alpha : (..., K + 1). Returns (...,):
    |1/2 sum_{l > K/2} (alpha_l - alpha_{K-l}) (1 - gamma_l)| (DaRRM, Eq. 196).
    """
    gamma = check_gamma(gamma)
    alpha = np.asarray(alpha, dtype=np.float64)
    if alpha.shape[-1] != len(gamma):
        raise ValueError(f"alpha: last axis {alpha.shape[-1]} must be K + 1 = {len(gamma)}")
    half = len(gamma) // 2
    lead = alpha[..., half:] - alpha[..., ::-1][..., half:]
    return np.abs(lead @ (1 - gamma[half:])) / 2


def error_at(gamma: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
    """Exact error where every teacher says 1 with the same probability p.

    gamma : (K + 1,); p : any shape, values in [0, 1]. Returns p's shape.
    """
    gamma = check_gamma(gamma)
    p = np.asarray(p, dtype=np.float64)
    K = len(gamma) - 1
    return error_of_pmf(gamma, pmf(np.broadcast_to(p[..., None], (*p.shape, K))))


def expected_error(gamma: ArrayLike, prior: str | Prior = "uniform:0.5,1") -> float:
    """Expected error under a prior; the value of `expected_error_estimate`."""
    return expected_error_estimate(gamma, prior).error


def expected_error_estimate(
    gamma: ArrayLike, prior: str | Prior = "uniform:0.5,1", *, seed: int = 0
) -> ErrorEstimate:
    """Expected error of gamma under a prior, exact where a formula exists.

    Exact: (sum_l c_l - sum_l c_l gamma_l) / 2 with c_l of `prior.objective` (DaRRM, Eq. 197-201).
    With all p_i >= 1/2 the lead alpha_l - alpha_{K-l} is never negative (there is a bijection from
    the (K-l)-subsets of the teachers to the l-subsets that contain them, and each step multiplies
    the weight by p/(1-p) >= 1), so under `uniform:a,b` and `common:a,b` with a >= 1/2 the absolute
    value changes nothing. With a < 1/2 the formula is the paper's surrogate, a lower bound, and
    the method says so.

    `absolute-uniform:a,b` has no formula: the mean over REPLICATES scrambled Sobol' sequences, with
    Student's 99 % interval over the replicates. Raises ValueError as `check_gamma`, `parse_prior`.
    """
    gamma = check_gamma(gamma)
    K = len(gamma) - 1
    noise = 1 - gamma[(K + 1) // 2 :]
    parsed = parse_prior(prior)
    if parsed.kind != "absolute-uniform":
        exact = parsed.kind == "empirical" or parsed.low >= 0.5
        return ErrorEstimate(
            float(objective(K, parsed) @ noise) / 2, 0.0, "exact" if exact else "surrogate"
        )
    from scipy.stats import t

    means = np.array(
        [
            np.abs(sampled_leads(K, parsed.low, parsed.high, 1 << 11, (seed, k)) @ noise).mean() / 2
            for k in range(REPLICATES)
        ]
    )
    spread = float(means.std(ddof=1)) / np.sqrt(REPLICATES)
    return ErrorEstimate(
        float(means.mean()), float(t.ppf(0.995, REPLICATES - 1)) * spread, "quasi_monte_carlo"
    )
