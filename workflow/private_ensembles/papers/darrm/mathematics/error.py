"""Total-variation error of DaRRM (Definition 2.4): pointwise, and expected under a prior."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.papers.darrm.mathematics.gamma import check_gamma
from private_ensembles.papers.darrm.mathematics.objective import (
    Prior,
    coefficients,
    parse_prior,
    uniform_points,
)

# So many independent scramblings, of so many points each, are behind a confidence interval.
REPLICATES = 16
POINTS = 1 << 11


@dataclass(frozen=True)
class ErrorEstimate:
    """An expected error, the half width of its 99 % interval (0 if exact), and how it was found."""

    error: float
    half_width: float
    method: str


def error_of_pmf(gamma: ArrayLike, alpha: ArrayLike) -> NDArray[np.float64]:
    """Return |Pr[DaRRM = 1] - Pr[majority = 1]| for pmfs of the number of teachers that say 1.

    It is |1/2 sum_{l > K/2} (alpha_l - alpha_{K-l}) (1 - gamma_l)|.

    Args:
        gamma: (K + 1,), symmetric, in [0, 1].
        alpha: (..., K + 1) pmfs.

    Returns:
        (...,) errors.

    Raises:
        ValueError: the last axis of alpha is not K + 1, or gamma is no noise function.

    References:
        DaRRM, Eq. 196.
    """
    gamma = check_gamma(gamma)
    alpha = np.asarray(alpha, dtype=np.float64)
    if alpha.shape[-1] != len(gamma):
        raise ValueError(f"alpha: last axis {alpha.shape[-1]} must be K + 1 = {len(gamma)}")
    half = len(gamma) // 2
    lead = alpha[..., half:] - alpha[..., ::-1][..., half:]
    return np.abs(lead @ (1 - gamma[half:])) / 2


def error_at(gamma: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
    """Return the exact error if every teacher says 1 with the same probability p.

    Args:
        gamma: (K + 1,), symmetric, in [0, 1].
        p: any shape, values in [0, 1].

    Returns:
        Errors in p's shape.
    """
    gamma = check_gamma(gamma)
    p = np.asarray(p, dtype=np.float64)
    return error_of_pmf(gamma, _common_pmf(len(gamma) - 1, p))


def expected_error(gamma: ArrayLike, prior: str | Prior = "uniform:0.5,1") -> float:
    """Return the expected error of gamma under a prior, as `expected_error_estimate` finds it.

    >>> expected_error([1, 1, 1, 1]), round(expected_error([0, 0, 0, 0]), 4)
    (0.0, 0.3438)

    Args:
        gamma: (K + 1,), symmetric, in [0, 1].
        prior: of the teachers' p_i.

    Raises:
        ValueError: gamma is no noise function, or the prior is unknown.
    """
    return expected_error_estimate(gamma, prior).error


def expected_error_estimate(
    gamma: ArrayLike, prior: str | Prior = "uniform:0.5,1", *, seed: int = 0
) -> ErrorEstimate:
    """Return the expected error of gamma under a prior, exactly if there is a formula.

    The formula is (sum_l c_l - sum_l c_l gamma_l) / 2 with c_l of `coefficients`. With all
    p_i >= 1/2 the lead alpha_l - alpha_{K-l} is never negative (there is a bijection from the
    (K-l)-subsets of the teachers to the l-subsets that contain them, and each step multiplies the
    weight by p/(1-p) >= 1), so under `uniform:a,b` and `common:a,b` with a >= 1/2 the absolute
    value changes nothing. With a < 1/2 the formula is the paper's surrogate, a lower bound, and the
    method says so.

    `absolute-uniform:a,b` has no formula: the result is the mean over REPLICATES scrambled Sobol'
    sequences of POINTS points, with the error at the teachers' mean p as a control variate (its
    expectation is a one-dimensional integral), and Student's 99 % interval over the replicates.

    Args:
        gamma: (K + 1,), symmetric, in [0, 1].
        prior: of the teachers' p_i.
        seed: of the sampled points.

    Raises:
        ValueError: gamma is no noise function (`check_gamma`), or the prior is unknown
            (`parse_prior`).

    References:
        DaRRM, Eq. 197-201.
    """
    gamma = check_gamma(gamma)
    K = len(gamma) - 1
    noise = 1 - gamma[(K + 1) // 2 :]
    parsed = parse_prior(prior)
    if not parsed.is_absolute:
        exact = parsed.kind == "empirical" or parsed.low >= 0.5
        return ErrorEstimate(
            float(coefficients(K, parsed) @ noise) / 2, 0.0, "exact" if exact else "surrogate"
        )
    from scipy.stats import t

    pmfs, common_pmfs = _sample_pmfs(K, parsed, seed)
    errors = [error_of_pmf(gamma, alpha) for alpha in pmfs]
    controls = [error_of_pmf(gamma, alpha) for alpha in common_pmfs]
    # The factor comes from a sequence of its own, so that the estimate stays unbiased.
    variance = float(controls[-1].var())
    factor = float(np.cov(errors[-1], controls[-1])[0, 1]) / variance if variance > 0 else 0.0
    control_mean = _expect_control(gamma, parsed)
    means = np.array(
        [
            (error - factor * control).mean() + factor * control_mean
            for error, control in zip(errors[:-1], controls[:-1], strict=True)
        ]
    )
    half_width = t.ppf(0.995, REPLICATES - 1) * means.std(ddof=1) / np.sqrt(REPLICATES)
    return ErrorEstimate(float(means.mean()), float(half_width), "quasi_monte_carlo")


# Errors of several gammas under one prior share these.
@functools.lru_cache(maxsize=1)
def _sample_pmfs(
    K: int, prior: Prior, seed: int
) -> tuple[tuple[NDArray[np.float64], ...], tuple[NDArray[np.float64], ...]]:
    """Return pmfs of the votes at every sequence's p, and those if all teachers had their mean.

    Each is (POINTS, K + 1). The last sequence is for the control variate's factor.
    """
    draws = [uniform_points(K, prior, POINTS, (seed, k)) for k in range(REPLICATES + 1)]
    return tuple(map(pmf, draws)), tuple(_common_pmf(K, p.mean(axis=-1)) for p in draws)


def _common_pmf(K: int, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the pmf of K teachers' votes if all say 1 with probability p, (*p.shape, K + 1)."""
    return pmf(np.broadcast_to(p[..., None], (*p.shape, K)))


def _expect_control(gamma: NDArray[np.float64], prior: Prior) -> float:
    """Return E error_at(gamma, mean of the K independent uniform p_i).

    The sum of K standard uniforms has the cardinal B-spline as its density (Irwin-Hall); between
    its knots, and the kink of the error at p = 1/2, the integrand is a polynomial of degree below
    2 K, for which Gauss-Legendre with K points is exact.
    """
    from scipy.interpolate import BSpline

    K = len(gamma) - 1
    density = BSpline.basis_element(np.arange(K + 1.0), extrapolate=False)
    kink = K * (0.5 - prior.low) / (prior.high - prior.low)
    edges = np.unique(np.append(np.arange(K + 1.0), kink if 0 < kink < K else 0.0))
    nodes, weights = np.polynomial.legendre.leggauss(min(K, 32))
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    total = (middle[:, None] + half[:, None] * nodes).ravel()
    weight = (half[:, None] * weights).ravel() * np.nan_to_num(density(total))
    p = prior.low + (prior.high - prior.low) * total / K
    return float(weight @ error_at(gamma, p))
