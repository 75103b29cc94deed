"""A privacy certificate for any symmetric noise function gamma, whatever its origin.

Theorem (DaRRM, Lemmas 3.4 and 5.1). DaRRM with a symmetric gamma is (m epsilon, delta)-DP for
every choice of K independent (epsilon, Delta)-DP teachers if and only if
f(p, p'; gamma) <= e^{m epsilon} - 1 + 2 delta for every assignment of the eight corners.
A `Certificate` holds an upper bound on the largest f that is valid in floating point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.papers.darrm.mathematics.gamma import check_gamma
from private_ensembles.papers.darrm.mathematics.privacy_cost import (
    PrivacyProblem,
    describe_assignment,
    resolve_delta,
)
from private_ensembles.papers.darrm.mathematics.worst_case import (
    EFFORT,
    WorstCase,
    eight_corner_worst_case,
    three_corner_worst_case,
)


@upper_bound
@dataclass(frozen=True)
class Certificate:
    """What is proven about the privacy cost of one gamma.

    Attributes:
        holds: whether worst_cost <= allowance, that is, DaRRM is (m epsilon, delta)-DP.
        worst_cost: upper bound on f over all feasible (p, p'), rounding errors included.
        allowance: e^{m epsilon} - 1 + 2 delta, rounded down.
        slack: allowance - worst_cost.
        method: which bound was the least: three_corners, monotone_envelope, four_corners,
            eight_corners (exact up to rounding) or series (see `worst_case`).
        rounding_error: the part of worst_cost that pays for floating-point arithmetic.
        attained_cost: f at the worst assignment found, a lower bound on the largest f.
        worst_assignment: number of teachers by corner (p, p').
    """

    holds: bool
    worst_cost: float
    allowance: float
    slack: float
    method: str
    rounding_error: float
    attained_cost: float
    worst_assignment: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict:
        """Return the certificate in plain types, for JSON."""
        return {**asdict(self), "worst_assignment": dict(self.worst_assignment)}


def certify(
    gamma: ArrayLike, m: float, epsilon: float, Delta: float = 0.0, delta: float | None = None
) -> Certificate:
    """Certify that DaRRM with this gamma is (m epsilon, delta)-DP, or show that it cannot be.

    >>> certify([1, 0.5, 0.5, 1], m=1, epsilon=0.1).holds
    False
    >>> certify([0.3, 0.1, 0.1, 0.3], m=1, epsilon=0.1).holds
    True

    Args:
        gamma: shape (K + 1,), values in [0, 1], exactly symmetric around K/2, K odd.
        m: the privacy allowance in [1, K].
        epsilon: that of one teacher.
        Delta: that of one teacher.
        delta: that of the released label; None means 1 - (1 - Delta)^m.

    Returns:
        The `Certificate`, which holds or does not.

    Raises:
        ValueError: gamma has a wrong shape, a value out of range or is asymmetric (the lemma does
            not cover it), or a parameter is out of range (`privacy_cost.PrivacyProblem`).

    References:
        DaRRM, Lemmas 3.4 and 5.1; docs/method.md, sections 2 to 5.
    """
    gamma = check_gamma(gamma)
    problem = PrivacyProblem(len(gamma) - 1, m, epsilon, Delta, resolve_delta(m, Delta, delta))
    return certify_problem(problem, gamma)


def certify_problem(
    problem: PrivacyProblem,
    gamma: NDArray[np.float64],
    known_worst_case: tuple[WorstCase, bool] | None = None,
) -> Certificate:
    """Certify a gamma for a problem that exists already.

    Args:
        problem: what must hold.
        gamma: (K + 1,), as `check_gamma` returns it.
        known_worst_case: gamma's worst case over all corners, if it has been worked out before, as
            `eight_corner_worst_case` returns it.
    """
    half = gamma[(problem.K + 1) // 2 :]
    envelope = np.maximum.accumulate(half)
    distance = float(np.max(envelope - half))
    monotone = np.concatenate([envelope[::-1], envelope])
    worst = three_corner_worst_case(problem, problem.odd_vector(monotone))
    # f is linear in gamma with coefficients of total size at most 1 + c.
    bounds = [
        (
            worst.upper + distance * (1 + problem.c) * (1 + 1e-15),
            "three_corners" if distance == 0 else "monotone_envelope",
            worst.counts,
        )
    ]
    if distance > 0:
        bounds.append(_general_bound(problem, problem.odd_vector(gamma), known_worst_case))
    upper, method, _ = min(bounds, key=lambda bound: bound[0])
    costs = [problem.cost(gamma, counts) for _, _, counts in bounds]
    attained = max(costs)
    rounding = problem.rounding_bound()
    worst_cost = float(np.nextafter(upper + rounding, np.inf))
    return Certificate(
        holds=worst_cost <= problem.allowance,
        worst_cost=worst_cost,
        allowance=problem.allowance,
        slack=problem.allowance - worst_cost,
        method=method,
        rounding_error=rounding,
        attained_cost=attained,
        worst_assignment=describe_assignment(bounds[costs.index(attained)][2]),
    )


def scale_to_allowance(
    problem: PrivacyProblem,
    gamma: NDArray[np.float64],
    known_worst_case: tuple[WorstCase, bool] | None = None,
) -> tuple[NDArray[np.float64], Certificate]:
    """Return gamma as it is if its certificate holds, else scaled down until it does.

    f is linear in gamma and the allowance is positive, so some factor always serves: the ratio of
    the two, less what pays for rounding.

    Args:
        problem: what must hold.
        gamma: (K + 1,).
        known_worst_case: as in `certify_problem`.

    Returns:
        The scaled gamma and its certificate.

    Raises:
        ValueError: gamma is no noise function (`check_gamma`).
    """
    gamma = check_gamma(gamma)
    certificate = certify_problem(problem, gamma, known_worst_case)
    while not certificate.holds:
        # The rounding bound does not shrink with gamma, so it is taken off the allowance.
        rounding = problem.rounding_bound()
        reduced = max(0.0, problem.allowance - 3 * rounding)
        factor = min(reduced / (certificate.worst_cost - certificate.rounding_error), 1 - 2.0**-50)
        gamma = gamma * factor
        # By linearity no second search is needed. The product is off by one round-off per value.
        cost = (certificate.worst_cost - certificate.rounding_error) * factor + 2 * rounding
        certificate = replace(
            certificate,
            holds=cost <= problem.allowance,
            worst_cost=cost,
            slack=problem.allowance - cost,
            rounding_error=2 * rounding,
            attained_cost=certificate.attained_cost * factor,
        )
    return gamma, certificate


def _general_bound(
    problem: PrivacyProblem, g: NDArray[np.float64], known_worst_case: tuple[WorstCase, bool] | None
) -> tuple[float, str, NDArray[np.int64]]:
    """Return the bound that needs no monotone gamma, the known one if there is one.

    Beside it stand the name of its method and the worst assignment met.
    """
    worst, exact = known_worst_case or eight_corner_worst_case(problem, g, effort=EFFORT)
    if problem.Delta == 0:
        return worst.upper, "four_corners", worst.counts
    return worst.upper, "eight_corners" if exact else "series", worst.counts
