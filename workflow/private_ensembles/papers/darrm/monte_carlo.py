"""The paper's two Monte-Carlo objectives (DaRRM, Appendix C.2), and how far they are from exact.

Both estimate the coefficients c_l of the linear objective sum_{l > K/2} c_l gamma_l; `objective`
has them in closed form, which is what gamma is optimised for here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.base import checks
from private_ensembles.base.streams import generator
from private_ensembles.papers.darrm.mathematics.objective import Prior, coefficients, parse_prior
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma

# The paper's grid W has so many points.
TAU = 50
SAMPLING = ("grid", "multisets")
# So many numbers are worked on at a time.
_BATCH = 1 << 21
# The paper's surrogate objective has this prior's coefficients.
PRIOR = "uniform:0.5,1"
# These are (algorithm, where it samples): Algorithm 4 as printed and on the surrogate's interval,
# Algorithm 5 as printed and as its text counts the points.
ESTIMATORS = (
    ("algorithm4", "uniform:0,1"),
    ("algorithm4", PRIOR),
    ("algorithm5", "grid"),
    ("algorithm5", "multisets"),
)


def mean_leads(p: NDArray[np.float64], lengths: ArrayLike) -> NDArray[np.float64]:
    """Return means of alpha_l - alpha_{K-l} over the first rows of p.

    With nested samples one pass serves every number of draws.

    Args:
        p: (draws, K) probabilities.
        lengths: increasing numbers of rows, at most draws.

    Returns:
        (lengths, (K+1)/2) means.

    Raises:
        ValueError: lengths do not increase from at least 1 to at most the draws.
    """
    draws, K = p.shape
    edges = np.asarray(lengths, dtype=np.int64)
    if not len(edges) or edges[0] < 1 or edges[-1] > draws or np.any(np.diff(edges) <= 0):
        raise ValueError(f"lengths = {edges.tolist()}: must increase from >= 1 to <= {draws}")
    sums = np.zeros((len(edges), (K + 1) // 2))
    step = max(1, _BATCH // (K + 1))
    for k, (low, high) in enumerate(zip([0, *edges[:-1]], edges, strict=True)):
        for start in range(low, high, step):  # batches bound the memory
            alpha = pmf(p[start : min(start + step, high)])
            sums[k] += (alpha - alpha[:, ::-1])[:, (K + 1) // 2 :].sum(axis=0)
    return np.cumsum(sums, axis=0) / edges[:, None]


def algorithm_4_draws(
    K: int, draws: int, generator: np.random.Generator, *, low: float = 0.0, high: float = 1.0
) -> NDArray[np.float64]:
    """Return p_1..p_K of Algorithm 4, line 3, independent and uniform on [low, high].

    The algorithm's coefficients are `mean_leads` of them. The appendix samples from [0, 1]. Its
    objective has no absolute value, and there alpha_l and alpha_{K-l} have the same law: every
    coefficient has expectation 0, and what the algorithm returns is noise at any number of draws.
    (Eq. 196 has the absolute value; the step to Eq. 197 drops it.) On [0.5, 1], the surrogate of
    C.2.2, its expectation is `objective.coefficients`.

    Args:
        K: odd number of teachers.
        draws: how many points.
        generator: of random numbers.
        low: least p.
        high: largest p.

    Returns:
        (draws, K) probabilities.

    Raises:
        ValueError: not K odd and >= 1, draws >= 1 and 0 <= low < high <= 1.

    References:
        DaRRM, appendix C.2; docs/method.md, section 7.
    """
    _check(K, draws)
    if not 0 <= low < high <= 1:
        raise ValueError(f"low, high = {low}, {high}: must be 0 <= low < high <= 1")
    return low + (high - low) * generator.random((draws, K))


def algorithm_5_draws(
    K: int,
    draws: int,
    generator: np.random.Generator,
    *,
    tau: int = TAU,
    sampling: str = "grid",
) -> NDArray[np.float64]:
    """Return s_1..s_K of Algorithm 5, line 6, from W = {0.5, 0.5 + theta, ..., 1 - theta}.

    With N = T in the algorithm's last line (N is not defined there) its coefficients are P theta^K
    K! times `mean_leads` of these points, the integral over [0.5, 1]^K by the rectangle rule. The
    factor is the same for all l and leaves the optimal gamma alone, but it is not the volume 2^-K:
    P K! = tau (tau+1)...(tau+K-1) > tau^K, since a multiset with repeated points has fewer than K!
    permutations. What does not go away with more draws is the rule itself: W leaves out 1, so its
    points have the mean 0.75 - theta/2, and `algorithm_5_expectation` is the limit.

    Args:
        K: odd number of teachers.
        draws: how many points.
        generator: of random numbers.
        tau: points of W.
        sampling: `grid`, as printed, is uniform on W^K; `multisets` is uniform on the
            P = C(tau+K-1, K) multisets of W, which is how the text counts the points and what the
            factor P supposes.

    Returns:
        (draws, K) probabilities.

    Raises:
        ValueError: not K odd and >= 1, draws >= 1 and tau >= 1, or sampling is unknown.

    References:
        DaRRM, appendix C.2; docs/method.md, section 7.
    """
    _check(K, draws)
    checks.check_integer(tau=tau, at_least=1)
    if sampling == "grid":
        index = generator.integers(0, tau, (draws, K))
    elif sampling == "multisets":
        # This is stars and bars: the K smallest ranks of a random order of tau + K - 1 places are
        # the stars, and the i-th star in order has its place less i bars before it.
        places = np.argpartition(generator.random((draws, tau + K - 1)), K - 1, axis=1)[:, :K]
        index = np.sort(places, axis=1) - np.arange(K)
    else:
        raise ValueError(f"sampling = {sampling!r}: must be one of {', '.join(SAMPLING)}")
    return 0.5 + (0.5 / tau) * index


def algorithm_5_expectation(
    K: int, *, tau: int = TAU, sampling: str = "grid"
) -> NDArray[np.float64]:
    """Return what the coefficients of Algorithm 5 tend to with more draws, exactly.

    grid: the s_i are independent, so Bin(K, mean of W). multisets: the sum over all multisets of
    prod (1 - s + s z) is the complete homogeneous symmetric polynomial h_K in tau linear factors,
    by h_k(x_1..x_j) = h_k(x_1..x_{j-1}) + x_j h_{k-1}(x_1..x_j); its coefficients over P are the
    pmf.

    Args:
        K: odd number of teachers.
        tau: points of W.
        sampling: as in `algorithm_5_draws`.

    Returns:
        ((K+1)/2,) coefficients.

    Raises:
        ValueError: K is not odd, or sampling is unknown.
    """
    _check(K, 1)
    points = 0.5 + (0.5 / tau) * np.arange(tau)
    if sampling == "grid":
        alpha = pmf(np.full(K, points.mean()))
    elif sampling == "multisets":
        # h[k] is divided by its number of terms C(j+k-1, k), so that every row is a pmf.
        h = np.zeros((K + 1, K + 1))
        h[0, 0] = 1.0
        for j, s in enumerate(points, start=1):
            for k in range(1, K + 1):
                with_s = np.zeros(K + 1)
                with_s[: K + 1] = (1 - s) * h[k - 1]
                with_s[1:] += s * h[k - 1, :-1]
                # There are C(j+k-2, k) terms without s and C(j+k-2, k-1) with it.
                h[k] = ((j - 1) * h[k] + k * with_s) / (j - 1 + k)
        alpha = h[K]
    else:
        raise ValueError(f"sampling = {sampling!r}: must be one of {', '.join(SAMPLING)}")
    return (alpha - alpha[::-1])[(K + 1) // 2 :]


def _check(K: int, draws: int) -> None:
    """Raise ValueError unless K is odd and >= 1, and draws >= 1."""
    checks.check_integer(K=K, at_least=1, odd=True)
    checks.check_integer(draws=draws, at_least=1)


def study_objectives(
    K: int,
    m: float,
    epsilon: float,
    Delta: float,
    *,
    draws: Sequence[int],
    repetitions: int,
    seed: int,
    solver: str = "auto",
) -> pd.DataFrame:
    """Return the errors of the estimated objectives and of the gamma that each of them leads to.

    Args:
        K: odd number of teachers.
        m: privacy allowance.
        epsilon: that of one teacher.
        Delta: that of one teacher.
        draws: increasing numbers of draws T; a larger T goes on with the draws of a smaller one.
        repetitions: independent repetitions, each of its own random stream under `seed`.
        seed: of the run.
        solver: see `optimize_gamma`.

    Returns:
        The columns K, m, epsilon, Delta, algorithm, sampling, estimate (`sampled`, or `limit`: the
        exact expectation), draws, repetition, coefficient_error, utility, utility_loss.
        coefficient_error is sum |c_hat - c| / sum c. utility is that of the gamma optimised for
        c_hat under the true c, and utility_loss what it lacks to the bound on every private gamma,
        relative (3e-9 at best, by the solver's own gap). A negative estimated coefficient counts as
        0. utility is missing if no estimated coefficient is positive.

    Raises:
        ValueError: a parameter is out of range.
    """
    exact = coefficients(K, parse_prior(PRIOR))
    bound = optimize_gamma(K, m, epsilon, Delta, prior=PRIOR, solver=solver).utility_upper_bound
    point = {"K": K, "m": m, "epsilon": epsilon, "Delta": Delta}
    rows = []
    for facts, estimated in _estimates(K, draws, repetitions, seed):
        utility = np.nan
        if estimated.max() > 0:
            positive = np.maximum(estimated, 0)
            weights = np.concatenate([np.zeros_like(positive), positive / positive.sum()])
            prior = Prior("empirical", weights=tuple(weights.tolist()), sha256="estimated")
            gamma = optimize_gamma(K, m, epsilon, Delta, prior=prior, solver=solver).gamma
            utility = float(exact @ gamma[(K + 1) // 2 :])
        error = float(np.abs(estimated - exact).sum() / exact.sum())
        loss = 1 - utility / bound
        rows.append(
            {**point, **facts, "coefficient_error": error, "utility": utility, "utility_loss": loss}
        )
    return pd.DataFrame(rows)


def _estimates(
    K: int, draws: Sequence[int], repetitions: int, seed: int
) -> Iterator[tuple[dict, NDArray[np.float64]]]:
    """Yield (what it is, coefficients) of every estimator's limit and sampled estimates."""
    for algorithm, sampling in ESTIMATORS:
        names = {"algorithm": algorithm, "sampling": sampling}
        if algorithm == "algorithm4":
            limit = coefficients(K, parse_prior(sampling))
        else:
            limit = algorithm_5_expectation(K, sampling=sampling)
        if limit.sum() < 1e-12:
            limit = np.zeros_like(limit)  # Uniform[0, 1]: rounding is no objective
        yield {**names, "estimate": "limit", "draws": None, "repetition": None}, limit
        for repetition in range(repetitions):
            rng = generator(seed, "objective_study", K, algorithm, sampling, repetition)
            if algorithm == "algorithm4":
                low, high = map(float, sampling.partition(":")[2].split(","))
                p = algorithm_4_draws(K, draws[-1], rng, low=low, high=high)
            else:
                p = algorithm_5_draws(K, draws[-1], rng, sampling=sampling)
            for T, mean in zip(draws, mean_leads(p, draws), strict=True):
                yield (
                    {**names, "estimate": "sampled", "draws": T, "repetition": repetition},
                    mean,
                )
