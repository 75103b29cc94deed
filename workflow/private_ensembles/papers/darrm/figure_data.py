"""The data behind DaRRM's figures, each a tidy frame; `papers.darrm.figures` draws it."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from private_ensembles.labels.gnmax import least_order, order_grid, sigma_curve
from private_ensembles.papers.darrm.mathematics.error import (
    error_at,
    expected_error,
    expected_error_estimate,
)
from private_ensembles.papers.darrm.mathematics.gamma import (
    gamma_constant,
    gamma_double_subsampling,
    gamma_subsampling,
)
from private_ensembles.papers.darrm.mathematics.privacy_cost import CORNERS, PrivacyProblem
from private_ensembles.papers.darrm.simulations import certify_scaled, unavoidable_error

BOUND = "worst_data_set_bound"
# These are the corners of the feasible region, once around.
_AROUND = ("0,0", "D,0", "H,h", "1,1-D", "1,1", "1-D,1", "h,H", "0,D")
# Errors are drawn at so many points of p: an odd number, so that p = 1/2 is one of them.
_ERROR_POINTS = 201


def gamma_shapes(
    solutions: Iterable[Mapping[str, object]],
    prior: str,
    *,
    subsamples: Sequence[int] | None = None,
    delta_prime: float | None = None,
) -> pd.DataFrame:
    """Return the data behind Figures 2, 6, 7 and 8 of DaRRM.

    Double subsampling is drawn if Delta = 0, as in the paper.

    Args:
        solutions: contents of ``results/darrm/gamma/*.json``, which share K, epsilon and Delta and
            differ in m.
        prior: of the expected errors.
        subsamples: how many teachers gamma_sub draws at each solution (Figure 6); None means m.
        delta_prime: the slack of general composition for gamma_const (Figure 6); None means simple
            composition.

    Returns:
        The columns m, subsamples, family, quantity, x, y, with these quantities::

            gamma           x = l, the number of teachers that say 1; y = gamma(l)
            error           x = p, the probability with which every teacher says 1; y = total
                            variation distance to the majority
            expected_error  x missing; y = mean error under the prior
            scaling         x missing; y = the share by which gamma must be scaled down to be
                            certified: 0, or about 1e-12 if it meets the allowance exactly

        At m = 1 the family ``worst_data_set_bound`` has the bound of Lemma 3.2 as its error.

    Raises:
        ValueError: solutions are of unequal K, epsilon or Delta, or two of the same m.
    """
    solutions = list(solutions)
    shared_settings = {tuple(s[name] for name in ("K", "epsilon", "Delta")) for s in solutions}
    if len(shared_settings) != 1 or len({s["m"] for s in solutions}) != len(solutions):
        raise ValueError("figure: gammas must share K, epsilon and Delta and differ in m")
    p = np.linspace(0, 1, _ERROR_POINTS)
    if not subsamples:
        subsamples = [solution["m"] for solution in solutions]
    frames = []
    for solution, drawn in zip(solutions, subsamples, strict=True):
        K, m = solution["K"], solution["m"]
        epsilon, Delta, delta = solution["epsilon"], solution["Delta"], solution["delta"]
        gammas = {
            "gamma_opt": np.asarray(solution["gamma"], dtype=float),
            "gamma_sub": gamma_subsampling(K, drawn),
            "gamma_const": gamma_constant(K, m, epsilon, Delta, delta, delta_prime=delta_prime),
        }
        if Delta == delta == 0:
            gammas["gamma_dsub"] = gamma_double_subsampling(K, m)
        for family, gamma in gammas.items():
            for quantity, x, y in (
                ("gamma", np.arange(K + 1.0), gamma),
                ("error", p, error_at(gamma, p)),
                ("expected_error", [np.nan], [expected_error(gamma, prior)]),
                ("scaling", [np.nan], [certify_scaled(gamma, m, epsilon, Delta, delta)[0]]),
            ):
                frames.append(_curve_rows(m, drawn, family, quantity, x, y))
        if m == 1:
            frames.append(_curve_rows(m, drawn, BOUND, "error", p, unavoidable_error(K, p)))
    return pd.concat(frames, ignore_index=True)


def _curve_rows(m, subsamples, family, quantity, x, y) -> pd.DataFrame:
    """Return the rows of one quantity of one family."""
    names = {"m": m, "subsamples": subsamples, "family": family, "quantity": quantity}
    return pd.DataFrame(names | {"x": x, "y": y})


def prior_shapes(
    solutions: Mapping[str, Iterable[Mapping[str, object]]], actual: Iterable[str]
) -> pd.DataFrame:
    """Return the data behind Figure 9 of DaRRM: which prior to optimise for.

    Args:
        solutions: ``U`` and ``P`` -> contents of ``results/darrm/gamma/*.json`` optimised for that
            prior, which share K, epsilon and Delta and have the same m in the same order.
        actual: how the p_i are really distributed, a prior's name or ``fixed:p`` (every p_i = p).

    Returns:
        The columns m, family, quantity, x, y, half_width, actual, method, with quantity ``gamma``
        (x = l, y = gamma(l)), ``scaling`` (as in `gamma_shapes`) or ``expected_error`` (y = mean
        error under ``actual``, half_width of its 99 % interval, 0 if exact).

    Raises:
        ValueError: solutions do not match.
    """
    pairs = list(zip(solutions["U"], solutions["P"], strict=True))
    names = ("K", "epsilon", "Delta", "delta", "m")
    if any(u[name] != p[name] for u, p in pairs for name in names):
        raise ValueError("figure9: gammas of the two priors must share K, m, epsilon and Delta")
    rows = []
    for u, p in pairs:
        K, m = u["K"], u["m"]
        epsilon, Delta, delta = u["epsilon"], u["Delta"], u["delta"]
        gammas = {
            "gamma_opt_U": np.asarray(u["gamma"], dtype=float),
            "gamma_opt_P": np.asarray(p["gamma"], dtype=float),
            "gamma_sub": gamma_subsampling(K, m),
            "gamma_const": gamma_constant(K, m, epsilon, Delta, delta),
        }
        for family, gamma in gammas.items():
            points = [{"quantity": "gamma", "x": l, "y": value} for l, value in enumerate(gamma)]
            scaling = certify_scaled(gamma, m, epsilon, Delta, delta)[0]
            points.append({"quantity": "scaling", "y": scaling})
            for distribution in actual:
                error_row = {"quantity": "expected_error", "actual": distribution}
                points.append(error_row | _mean_error(gamma, distribution))
            rows += [{"m": m, "family": family, **row} for row in points]
    columns = ["m", "family", "quantity", "x", "y", "half_width", "actual", "method"]
    return pd.DataFrame(rows, columns=columns)


def _mean_error(gamma: np.ndarray, distribution: str) -> dict[str, object]:
    """Return gamma's mean error if the p_i follow `distribution`: y, half_width, method."""
    kind, _, value = distribution.partition(":")
    if kind == "fixed":
        return {"y": float(error_at(gamma, float(value))), "half_width": 0.0, "method": "exact"}
    estimate = expected_error_estimate(gamma, distribution)
    return {"y": estimate.error, "half_width": estimate.half_width, "method": estimate.method}


def feasible_region(solutions: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Return the data behind Figures 4 and 5 of DaRRM, with what its certificates found.

    Each teacher's probabilities (p, p') of saying 1 on two neighbouring data sets lie in a polygon
    (Lemma 5.1).

    Args:
        solutions: contents of ``results/darrm/gamma/*.json``.

    Returns:
        The columns m, epsilon, Delta, corner (D: Delta; H, h: of Lemma 5.1), p, p_prime, teachers
        (how many of them the certificate places there in the assignment that costs most), with the
        corners of each m, once around.
    """
    rows = []
    for solution in solutions:
        problem = PrivacyProblem(
            solution["K"],
            solution["m"],
            solution["epsilon"],
            solution["Delta"],
            solution["delta"],
        )
        probabilities = dict(zip(CORNERS, problem.corner_probabilities().tolist(), strict=True))
        worst = solution["certificate"]["worst_assignment"]
        facts = {name: solution[name] for name in ("m", "epsilon", "Delta")}
        for corner in _AROUND:
            p, p_prime = probabilities[corner]
            row = facts | {"corner": corner, "p": p, "p_prime": p_prime}
            rows.append(row | {"teachers": worst.get(corner, 0)})
    return pd.DataFrame(rows)


def sigma_search(
    datasets: Iterable[Mapping[str, object]], *, order_max: float, order_step: float
) -> pd.DataFrame:
    """Return the data behind Figure 10 of DaRRM.

    Args:
        datasets: mappings with ``name``, ``epsilon``, ``delta`` of one label.
        order_max: largest Rényi order.
        order_step: between two orders.

    Returns:
        The columns dataset, epsilon, delta, order (Rényi order lambda), sigma_squared (votes
        squared) and role: ``curve``, ``minimum`` (the grid's least) or ``printed_order``
        (lambda_min + 3, which the paper prints beside the minimum's sigma).

    Raises:
        ValueError: no order lies below order_max.
    """
    frames = []
    for dataset in datasets:
        epsilon, delta = dataset["epsilon"], dataset["delta"]
        orders = order_grid(epsilon, delta, order_max=order_max, order_step=order_step)
        if not orders.size:
            raise ValueError(f"order_max = {order_max}: no order below it for {dataset['name']}")
        squares = sigma_curve(epsilon, delta, orders)
        best = int(np.argmin(squares))
        printed = np.array([least_order(epsilon, delta) + 3])
        for role, x, y in (
            ("curve", orders, squares),
            ("minimum", orders[[best]], squares[[best]]),
            ("printed_order", printed, sigma_curve(epsilon, delta, printed)),
        ):
            names = {"dataset": dataset["name"], "epsilon": epsilon, "delta": delta}
            frames.append(pd.DataFrame(names | {"order": x, "sigma_squared": y, "role": role}))
    return pd.concat(frames, ignore_index=True)
