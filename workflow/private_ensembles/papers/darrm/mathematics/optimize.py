"""The optimal noise function gamma of DaRRM, by cutting planes, with a privacy certificate.

The program (DaRRM, Eq. 2-3): maximise sum_{l > K/2} c_l gamma_l over symmetric gamma in [0, 1]
subject to f(p, p'; gamma) <= e^{m epsilon} - 1 + 2 delta at every assignment of teachers to the
corners of Lemma 5.1. It is never built in full: assignments enter as they are found violated.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.papers.darrm.mathematics.certificate import Certificate, scale_to_allowance
from private_ensembles.papers.darrm.mathematics.cutting_planes import (
    MANY_TEACHERS,
    CuttingPlaneSearch,
)
from private_ensembles.papers.darrm.mathematics.gamma import mirror_gamma
from private_ensembles.papers.darrm.mathematics.interior_search import InteriorSearch
from private_ensembles.papers.darrm.mathematics.linear_program import solver_named
from private_ensembles.papers.darrm.mathematics.objective import (
    LinearObjective,
    Prior,
    make_objective,
    parse_prior,
)
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem, resolve_delta
from private_ensembles.papers.darrm.mathematics.violations import Cuts


@dataclass(frozen=True)
class GammaSolution:
    """An optimised noise function.

    Attributes:
        problem: what gamma keeps.
        prior: for which it is optimal.
        gamma: (K + 1,), symmetric, certified private.
        utility: sum_{l > K/2} c_l gamma_l (DaRRM Eq. 201 without the factor -1/2); for the prior
            `absolute-uniform` the concave utility of `objective.AbsoluteObjective`, on its samples.
        utility_upper_bound: no private gamma has a larger utility, in exact arithmetic.
        certificate: proof of privacy of exactly this gamma.
        solver: name, version, cuts, rounds, seconds.
        monotone: whether gamma is non-decreasing in |l - K/2|.
        scaling_loss: utility given up so that the certificate holds, relative.
        assignments: teachers per corner of the rows that the search knew.
    """

    problem: PrivacyProblem
    prior: str
    gamma: NDArray[np.float64]
    utility: float
    utility_upper_bound: float
    certificate: Certificate
    solver: dict
    monotone: bool
    scaling_loss: float
    assignments: list[tuple[int, ...]]

    def to_dict(self) -> dict:
        """Return plain types for JSON, in the order of the file in results/darrm/gamma/."""
        return asdict(self.problem) | {
            "prior": self.prior,
            "gamma": [float(value) for value in self.gamma],
            "utility": self.utility,
            "utility_upper_bound": self.utility_upper_bound,
            "monotone": self.monotone,
            "scaling_loss": self.scaling_loss,
            "certificate": self.certificate.to_dict(),
            "solver": self.solver,
        }


def optimize_gamma(
    K: int,
    m: float,
    epsilon: float,
    Delta: float = 0.0,
    delta: float | None = None,
    *,
    prior: str | Prior = "uniform:0.5,1",
    solver: str = "auto",
    monotone: bool = False,
    threads: int = 1,
) -> GammaSolution:
    """Return the gamma of largest utility for which DaRRM is (m epsilon, delta)-DP.

    >>> solution = optimize_gamma(K=11, m=3, epsilon=0.1, Delta=1e-5)
    >>> round(solution.utility, 4), solution.certificate.holds
    (0.8488, True)

    If the utility leaves gamma undetermined, sum(gamma) is maximised among the optima.

    Args:
        K: odd number of (epsilon, Delta)-DP teachers.
        m: privacy allowance in [1, K].
        epsilon: that of one teacher.
        Delta: that of one teacher.
        delta: total failure probability, >= Delta; None means 1 - (1 - Delta)^m.
        prior: of the teachers' probabilities, see `objective.parse_prior`.
        solver: auto, highs or gurobi.
        monotone: restrict to gamma non-decreasing in |l - K/2|, provable by three corners alone.
        threads: of the solver.

    Returns:
        A `GammaSolution` whose certificate holds and whose utility is at least that of the best
        monotone gamma.

    Raises:
        ValueError: a parameter is out of range, or the budget is so small that rounding alone uses
            it up (m epsilon and delta below about 1e-14 K).

    References:
        DaRRM, Eq. 2-3; docs/method.md, section 6.
    """
    started = time.perf_counter()
    problem = PrivacyProblem(K, m, epsilon, Delta, resolve_delta(m, Delta, delta))
    if problem.allowance <= problem.rounding_bound():
        raise ValueError(
            f"m * epsilon = {m * epsilon:.3g}, delta = {problem.delta:.3g}: e^(m epsilon) - 1 + 2 "
            f"delta must be above {problem.rounding_bound():.2g}, the rounding errors at K = {K}"
        )
    parsed = parse_prior(prior)
    goal = make_objective(K, parsed)
    backend, known_rows = solver_named(solver, threads), Cuts(problem)
    name, version = backend.name, backend.version
    if solver == "auto" and K > MANY_TEACHERS and isinstance(goal, LinearObjective):
        # HiGHS' points can jump where the utility weighs nothing (docs/method.md, section 6).
        name, version = "interior", np.__version__
        first = InteriorSearch(problem, goal, known_rows, monotone=True)
        general = InteriorSearch(problem, goal, Cuts(problem), monotone=False)
    else:
        first = CuttingPlaneSearch(problem, goal, backend, known_rows, monotone=True)
        general = CuttingPlaneSearch(problem, goal, backend, known_rows, monotone=False)
    first.run()
    gamma, certificate = scale_to_allowance(problem, mirror_gamma(first.x))
    searches, best = [first], first
    if not np.all(first.x == 1):
        # Unless gamma = 1, the monotone program's bound holds for monotone gamma only.
        general.run(feasible_x=gamma[(K + 1) // 2 :])
        searches.append(general)
        if not monotone:
            other, other_certificate = scale_to_allowance(
                problem, mirror_gamma(general.x), general.proof
            )
            # If both have the same utility, the one with the simpler proof is kept.
            if goal.value(other[(K + 1) // 2 :]) > goal.value(gamma[(K + 1) // 2 :]):
                gamma, certificate, best = other, other_certificate, general
    half = gamma[(K + 1) // 2 :]
    utility, unscaled = goal.value(half), goal.value(best.x)
    return GammaSolution(
        problem=problem,
        prior=parsed.name,
        gamma=gamma,
        utility=utility,
        utility_upper_bound=max(utility, searches[-1].upper_bound),
        certificate=certificate,
        solver={
            "name": name,
            "version": version,
            "cuts": len(searches[-1].known.rows),
            "rounds": sum(search.rounds for search in searches),
            "seconds": round(time.perf_counter() - started, 4),
        },
        monotone=bool(np.all(np.diff(half) >= 0)),
        scaling_loss=max(0.0, 1 - utility / unscaled) if unscaled > 0 else 0.0,
        assignments=sorted(searches[-1].known.names),
    )
