"""The paper's simulations around the optimal gamma: parameters, bounds, amplification, sweeps."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import general_composition
from private_ensembles.accounting.poisson_binomial import binomial_table, pmf
from private_ensembles.base.root_search import bisect_integers
from private_ensembles.papers.darrm.mathematics.certificate import Certificate, scale_to_allowance
from private_ensembles.papers.darrm.mathematics.error import expected_error
from private_ensembles.papers.darrm.mathematics.gamma import (
    gamma_constant,
    gamma_double_subsampling,
    gamma_subsampling,
    subsampling_probability,
)
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.mathematics.planes import count_move_terms
from private_ensembles.papers.darrm.mathematics.privacy_cost import (
    LARGEST_EXPONENT,
    UNIT_ROUNDOFF,
    PrivacyProblem,
    resolve_delta,
)

# Nobody notices so little noise (`noiseless_allowance`): one fair coin in a thousand releases.
NEARLY_NO_NOISE = 1e-3


def composition_parameters(
    K: int, subsamples: int, epsilon: float, Delta: float, delta_prime: float
) -> dict[str, float]:
    """Return the parameters of Figure 6, by general composition.

    The majority of `subsamples` of the K teachers costs (m epsilon, delta), that of all K costs
    (tau epsilon, lambda).

    Args:
        K: number of teachers.
        subsamples: how many are drawn.
        epsilon: that of one teacher.
        Delta: that of one teacher.
        delta_prime: the slack of general composition.

    Returns:
        subsamples, m, tau, lambda, epsilon (m times the teacher's) and delta, by name.

    Raises:
        ValueError: a parameter is out of range (`composition.general_composition`).

    References:
        DaRRM, Table 3, Theorem 2.3 and appendix D.1.1.
    """
    subsample_cost = general_composition(epsilon, Delta, subsamples, delta_prime)
    total_cost = general_composition(epsilon, Delta, K, delta_prime)
    return {
        "subsamples": subsamples,
        "m": subsample_cost.epsilon / epsilon,
        "tau": total_cost.epsilon / epsilon,
        "lambda": total_cost.delta,
        "epsilon": subsample_cost.epsilon,
        "delta": subsample_cost.delta,
    }


def unavoidable_error(K: int, p: ArrayLike) -> NDArray[np.float64]:
    """Return |Pr[majority = 1] - p| if each of K teachers says 1 with probability p, in p's shape.

    On some data set every private algorithm errs by this much, if m = 1. It bounds no algorithm on
    a given data set.

    References:
        DaRRM, Lemma 3.2; docs/method.md, section 10.
    """
    p = np.asarray(p, dtype=np.float64)
    alpha = pmf(np.broadcast_to(p[..., None], (*p.shape, K)))
    return np.abs(alpha[..., (K + 1) // 2 :].sum(axis=-1) - p)


def largest_neighbour_probability(
    p: ArrayLike, epsilon: float, delta: float = 0.0
) -> NDArray[np.float64]:
    """Return the largest p' that an (epsilon, delta)-DP mechanism may have on a neighbour of p.

    Both labels are constrained: p' <= e^epsilon p + delta and 1 - p <= e^epsilon (1 - p') + delta.
    """
    p = np.asarray(p, dtype=np.float64)
    return np.minimum(
        np.exp(epsilon) * p + delta, 1 - np.maximum(0, 1 - p - delta) * np.exp(-epsilon)
    )


def certify_scaled(
    gamma: ArrayLike, m: float, epsilon: float, Delta: float = 0.0, delta: float | None = None
) -> tuple[float, Certificate]:
    """Return the share by which gamma must be scaled down to be certified, and that certificate.

    Args:
        gamma: (K + 1,), symmetric, in [0, 1].
        m: the privacy allowance in [1, K].
        epsilon: that of one teacher.
        Delta: that of one teacher.
        delta: that of the label; None means 1 - (1 - Delta)^m.

    Returns:
        The share: 0 if gamma is certified as it is, about 1e-12 if it meets the allowance exactly,
        as closed forms do; if it is more, gamma is not private, or not shown to be. And the
        certificate of the scaled gamma.
    """
    gamma = np.asarray(gamma, dtype=np.float64)
    problem = PrivacyProblem(len(gamma) - 1, m, epsilon, Delta, resolve_delta(m, Delta, delta))
    scaled, certificate = scale_to_allowance(problem, gamma)
    return (1 - scaled.max() / gamma.max() if gamma.max() else 0.0), certificate


def largest_iid_subsampling_loss(K: int, m: int, epsilon: float) -> tuple[float, float]:
    """Return the largest loss of double subsampling over i.i.d. pure teachers, and its p.

    Theorem 4.1 says that it is at most m epsilon. The ratio Pr_p[1] / Pr_p'[1] grows as p' falls,
    so p' is the least that epsilon allows, which leaves one dimension: 4,001 values of p, as dense
    near 0 and 1 as between. All sums are of positive terms, in logarithms: nothing cancels.

    References:
        DaRRM, Theorem 4.1; docs/method.md, section 11.
    """
    from scipy.special import logsumexp

    says_one = subsampling_probability(K, min(2 * m - 1, K))
    l = np.nonzero(says_one)[0]
    weight = np.log(says_one[l])

    p, votes, neighbour_votes = _least_neighbours(K, epsilon)
    loss = logsumexp(votes.take(l, axis=1) + weight, axis=1)
    loss -= logsumexp(neighbour_votes.take(l, axis=1) + weight, axis=1)
    worst = int(np.argmax(loss))
    return float(loss[worst]), float(p[worst])


class _NeighbourVotes(NamedTuple):
    """p (points,), and log Pr[l of K teachers say 1], (points, K + 1), at p and at the least p'."""

    p: NDArray
    votes: NDArray
    neighbour_votes: NDArray


@functools.lru_cache(maxsize=1)  # every m needs the same pair
def _least_neighbours(K: int, epsilon: float) -> _NeighbourVotes:
    """Return the votes at many p and at the least p' that a neighbour of p may have."""
    from scipy.special import gammaln, xlog1py, xlogy

    small = np.logspace(-9, math.log10(0.5), 2000)
    p = np.concatenate([small, 1 - small[::-1], [1.0]])
    # The least p' is the mirror image of the largest step from 1 - p.
    p_prime = 1 - largest_neighbour_probability(1 - p, epsilon)
    p_prime = np.where(p < 0.5, np.maximum(p * math.exp(-epsilon), p_prime), p_prime)
    l = np.arange(K + 1)
    ways = gammaln(K + 1) - (gammaln(l + 1) + gammaln(K - l + 1))
    votes, neighbour_votes = (
        ways + xlogy(l, side) + xlog1py(K - l, -side) for side in (p[:, None], p_prime[:, None])
    )
    return _NeighbourVotes(p, votes, neighbour_votes)


def amplification(K: int, allowances: Iterable[int], epsilon: float) -> Iterator[dict[str, float]]:
    """Yield what drawing 2m - 1 i.i.d. pure teachers costs, beside what Theorem 4.1 says.

    Yields:
        K, m, epsilon, drawn (2m - 1, at most K), composed_loss (drawn * epsilon, by simple
        composition), claimed_loss (m epsilon), largest_loss (found) and p where it was found.
    """
    for m in allowances:
        loss, p = largest_iid_subsampling_loss(K, m, epsilon)
        drawn = min(2 * m - 1, K)
        yield {
            "K": K,
            "m": m,
            "epsilon": epsilon,
            "drawn": drawn,
            "composed_loss": drawn * epsilon,
            "claimed_loss": m * epsilon,
            "largest_loss": loss,
            "p": p,
        }


def relative_cost_and_rounding(
    says_one: ArrayLike, m: float, epsilon: float, Delta: float = 0.0, delta: float | None = None
) -> tuple[float, float]:
    """Return by what factor the release may exceed its claim, and a bound on the rounding error.

    It is the largest Pr_p[1] / (delta + e^{m epsilon} Pr_p'[1]) over the three corners.

    A `Certificate` compares f with its allowance, both near e^{m epsilon} - 1, so a closed form
    that breaks the condition where both probabilities are tiny passes after scaling by a billionth.
    Here every operation adds or multiplies positive numbers: each step is good to a few units in
    the last place, and the second number bounds their product.

    Args:
        says_one: (K + 1,), Pr[release 1 | l teachers say 1] = (1 + sgn(l - K/2) gamma(l)) / 2,
            which must be non-decreasing. Then the three corners are the worst.
        m: the privacy allowance in [1, K].
        epsilon: that of one teacher.
        Delta: that of one teacher.
        delta: that of the label; None means 1 - (1 - Delta)^m.

    Returns:
        The largest ratio, at most 1 if and only if the release is (m epsilon, delta)-DP, and a
        bound on its relative rounding error.

    Raises:
        ValueError: a parameter is out of range (`PrivacyProblem`), or says_one decreases.

    References:
        docs/method.md, section 2.
    """
    s = np.asarray(says_one, dtype=np.float64)
    problem = PrivacyProblem(len(s) - 1, m, epsilon, Delta, resolve_delta(m, Delta, delta))
    if np.any(np.diff(s) < 0):
        raise ValueError("says_one: must not decrease")
    K, D, delta = problem.K, Delta, problem.delta
    high = (math.exp(epsilon) + D) / (math.exp(epsilon) + 1)
    low = (1 - D) / (math.exp(epsilon) + 1)
    # A tail of 1e-19 is nothing beside delta >= Delta; less in Q only makes the result larger.
    weights = binomial_table(K, D, count_move_terms(K, D))
    up, down, worst = s, s, 0.0
    for i in range(K + 1):  # sequential in the number of teachers at H
        if i:
            up = (1 - high) * up[:-1] + high * up[1:]
            down = (1 - low) * down[:-1] + low * down[1:]
        # b of the n others are at (1, 1 - D), n - b at (D, 0).
        n = K - i
        b = np.arange(n + 1)
        P, Q = np.zeros(n + 1), np.zeros(n + 1)
        for t in range(min(weights.shape[1], n + 1)):
            P[: n + 1 - t] += weights[n - b[: n + 1 - t], t] * up[t:]
            Q[t:] += weights[b[t:], t] * down[: n + 1 - t]
        bound = delta + math.exp(m * epsilon) * Q
        possible = P > 0
        if possible.any():
            with np.errstate(divide="ignore"):  # Q below the least float: too large a ratio
                worst = max(worst, float(np.max(P[possible] / bound[possible])))
    return worst, (8 * K + m * epsilon + 64) * UNIT_ROUNDOFF


def double_subsampling_case(K: int, m: int, epsilon: float, Delta: float) -> dict:
    """Return whether gamma_dsub is (m epsilon, 1 - (1 - Delta)^m)-DP for all teachers.

    Theorem 4.1 proves it for i.i.d. pure teachers only.

    Returns:
        K, m, epsilon, Delta, delta, `relative_cost` and its rounding; verdict: `holds` if the cost
        is at most 1 up to its rounding (the closed form meets 1 exactly), else `fails`; scaling and
        method: what the certificate of a use of it asks for (`certify_scaled`).
    """
    cost, rounding = relative_cost_and_rounding(
        subsampling_probability(K, min(2 * m - 1, K)), m, epsilon, Delta
    )
    scaling, certificate = certify_scaled(gamma_double_subsampling(K, m), m, epsilon, Delta)
    return {
        "K": K,
        "m": m,
        "epsilon": epsilon,
        "Delta": Delta,
        "delta": resolve_delta(m, Delta, None),
        "verdict": "holds" if cost <= 1 + rounding else "fails",
        "relative_cost": cost,
        "rounding": rounding,
        "scaling": scaling,
        "method": certificate.method,
    }


def double_subsampling_allowances(K: int, most: int) -> list[int]:
    """Return at most `most` values of m in 1..(K+1)/2, evenly spread from end to end."""
    last = (K + 1) // 2
    return sorted({round(m) for m in np.linspace(1, last, min(most, last))})


def noiseless_allowance(K: int, epsilon: float, Delta: float, noise: float = 0.0) -> int | None:
    """Return the least integer m at which gamma = 1 - noise is private, by bisection.

    delta = 1 - (1 - Delta)^m, so a larger m allows more and the answer is well defined; m = K
    serves always.

    Args:
        K: odd number of teachers.
        epsilon: that of one teacher.
        Delta: that of one teacher.
        noise: 0 is the plain majority, judged by `relative_cost`; above 0, that share of the
            releases is a fair coin, judged by the certificate.

    Returns:
        m, or None if no m serves whose e^{m epsilon} a float can hold.
    """

    def private(m: int) -> bool:
        if noise:
            return certify_scaled(np.ones(K + 1), m, epsilon, Delta)[0] <= noise
        cost, rounding = relative_cost_and_rounding(
            subsampling_probability(K, K), m, epsilon, Delta
        )
        return cost <= 1 + rounding

    low, high = 0, min(K, int(LARGEST_EXPONENT / epsilon))
    if high < K and not (high and private(high)):
        return None
    return bisect_integers(private, low, high)


def low_noise_allowances(K: int, epsilon: float, Delta: float) -> Iterator[dict]:
    """Yield `noiseless_allowance` without noise and nearly so: K, epsilon, Delta, noise, m."""
    for noise in (0.0, NEARLY_NO_NOISE):
        m = noiseless_allowance(K, epsilon, Delta, noise)
        yield {"K": K, "epsilon": epsilon, "Delta": Delta, "noise": noise, "m": m}


def sweep_gamma_families(
    K: int,
    epsilon: float,
    Delta: float,
    allowances: Iterable[int],
    *,
    prior: str,
    solver: str = "auto",
    threads: int = 1,
) -> Iterator[dict]:
    """Yield every gamma family at every m of `allowances`, delta = 1 - (1 - Delta)^m.

    Args:
        K: odd number of teachers.
        epsilon: that of one teacher.
        Delta: that of one teacher.
        allowances: values of m.
        prior: for which gamma is optimised.
        solver: see `optimize_gamma`.
        threads: of the solver.

    Yields:
        One mapping per family and m: K, m, epsilon, Delta, delta, prior, family (gamma_opt,
        gamma_sub, gamma_dsub, gamma_const), expected_error, error_bound (no private gamma has a
        smaller expected error; gamma_opt only), scaling and method of `certify_scaled`, monotone,
        seconds, gamma (list, l = (K+1)/2..K).

    Raises:
        ValueError: a parameter is out of range.
    """
    for m in allowances:
        started = time.perf_counter()
        solution = optimize_gamma(K, m, epsilon, Delta, prior=prior, solver=solver, threads=threads)
        gammas = {
            "gamma_opt": solution.gamma,
            "gamma_sub": gamma_subsampling(K, m),
            "gamma_dsub": gamma_double_subsampling(K, m),
            "gamma_const": gamma_constant(K, m, epsilon, Delta),
        }
        gap = solution.utility_upper_bound - solution.utility
        for family, gamma in gammas.items():
            optimal = family == "gamma_opt"
            scaling, certificate = (
                (0.0, solution.certificate) if optimal else certify_scaled(gamma, m, epsilon, Delta)
            )
            error = expected_error(gamma, prior)
            half = gamma[(K + 1) // 2 :]
            yield {
                "K": K,
                "m": m,
                "epsilon": epsilon,
                "Delta": Delta,
                "delta": solution.problem.delta,
                "prior": prior,
                "family": family,
                "expected_error": error,
                "error_bound": max(0.0, error - gap / 2) if optimal else None,
                "scaling": float(scaling),
                "method": certificate.method,
                "monotone": bool(np.all(np.diff(half) >= 0)),
                "seconds": round(time.perf_counter() - started, 3),
                "gamma": [float(value) for value in half],
            }
