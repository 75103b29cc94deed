"""How far the paper's Monte-Carlo objectives are from the closed form, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from private_ensembles.darrm.optimize import optimize_gamma
from private_ensembles.darrm.prior import Prior, objective, parse_prior
from private_ensembles.noise.streams import generator
from private_ensembles.papers.darrm import monte_carlo

PRIOR = "uniform:0.5,1"  # whose coefficients the paper's surrogate objective has
# (algorithm, where it samples): Algorithm 4 as printed and on the surrogate's interval, Algorithm 5
# as printed and as its text counts the points.
ESTIMATORS = (
    ("algorithm4", "uniform:0,1"),
    ("algorithm4", PRIOR),
    ("algorithm5", "grid"),
    ("algorithm5", "multisets"),
)


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
    """Errors of the estimated objectives and of the gamma that each of them leads to.

    draws : increasing numbers of draws T; a larger T goes on with the draws of a smaller one.
    repetitions : independent repetitions, each of its own random stream under `seed`.

    Columns: K, m, epsilon, Delta, algorithm, sampling, estimate (`sampled`, or `limit`: the exact
    expectation), draws, repetition, coefficient_error, utility, utility_loss. coefficient_error
    is sum |c_hat - c| / sum c; utility is that of the gamma optimised for c_hat under the true c,
    and utility_loss what it lacks to the bound on every private gamma, relative (3e-9 at best:
    `search.SECOND_OBJECTIVE`). A negative estimated coefficient counts as 0. utility is missing
    if no estimated coefficient is positive.

    Raises ValueError for parameters out of range.
    """
    exact = objective(K, parse_prior(PRIOR))
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
    """(what it is, coefficients) of every estimator's limit and of every sampled estimate."""
    for algorithm, sampling in ESTIMATORS:
        names = {"algorithm": algorithm, "sampling": sampling}
        if algorithm == "algorithm4":
            limit = objective(K, parse_prior(sampling))
        else:
            limit = monte_carlo.algorithm_5_expectation(K, sampling=sampling)
        if limit.sum() < 1e-12:
            limit = np.zeros_like(limit)  # Uniform[0, 1]: rounding is no objective
        yield {**names, "estimate": "limit", "draws": None, "repetition": None}, limit
        for repetition in range(repetitions):
            rng = generator(seed, "objective_study", K, algorithm, sampling, repetition)
            if algorithm == "algorithm4":
                low, high = map(float, sampling.partition(":")[2].split(","))
                p = monte_carlo.algorithm_4_draws(K, draws[-1], rng, low=low, high=high)
            else:
                p = monte_carlo.algorithm_5_draws(K, draws[-1], rng, sampling=sampling)
            for T, mean in zip(draws, monte_carlo.mean_leads(p, draws), strict=True):
                yield (
                    {**names, "estimate": "sampled", "draws": T, "repetition": repetition},
                    mean,
                )
