"""Certificates of a noise function that `verify/verify.py` checks without this package.

Every number is written exactly, as a hexadecimal float, and nothing that a checker would have to
believe: gamma and its claim of privacy, and multipliers that bound every private gamma's utility.
Format and theorems: docs/certificates.md.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.certificate_format import build_certificate, write_hexadecimal
from private_ensembles.papers.darrm.mathematics.linear_program import (
    Highs,
    LinearProgram,
    dual_bound,
)
from private_ensembles.papers.darrm.mathematics.objective import (
    CLOSED_FORMS,
    make_objective,
    parse_prior,
)
from private_ensembles.papers.darrm.mathematics.optimize import GammaSolution
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem

# A row that has a multiplier is binding at every optimum, and gamma is an optimum up to the
# search's tolerance: so a row that is farther from binding than this is left out.
NEARLY_BINDING = 1e-2
# The multipliers' tolerance is relative to the utility.
TOLERANCE = 1e-10


def certificates_of_gamma(solution: GammaSolution) -> list[dict]:
    """Return what is proven of an optimised gamma: its privacy and, if possible, its optimality.

    An empirical prior's votes and a sampled objective are not in the file, so nobody could
    recompute the utility: then there is no certificate of optimality.

    >>> from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
    >>> solution = optimize_gamma(K=3, m=1, epsilon=0.1)
    >>> [certificate["kind"] for certificate in certificates_of_gamma(solution)]
    ['gamma_privacy', 'gamma_utility']
    """
    proofs = [certify_privacy(solution.problem, solution.gamma)]
    if solution.prior.partition(":")[0] in CLOSED_FORMS:
        proofs.append(certify_optimality(solution))
    return proofs


def make_gamma_record(solution: GammaSolution) -> dict:
    """Return what the file of an optimised gamma says: the solution and its certificates.

    ``utility_upper_bound`` is the one that the certificate of optimality proves, if there is one,
    and at least the solution's own. So the verifier finds every number beside the certificates in
    them, or works it out of gamma.

    >>> from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
    >>> written = make_gamma_record(optimize_gamma(K=3, m=1, epsilon=0.1))
    >>> write_hexadecimal(written["utility_upper_bound"]) == written["certificates"][1]["utility"]
    True
    """
    written = solution.to_dict() | {"certificates": certificates_of_gamma(solution)}
    for body in written["certificates"]:
        if body["kind"] == "gamma_utility":
            written["utility_upper_bound"] = float.fromhex(body["utility"])
    return written


def certify_privacy(problem: PrivacyProblem, gamma: NDArray[np.float64]) -> dict:
    """Return the claim that DaRRM with this gamma is (m epsilon, delta)-DP.

    Args:
        problem: what is claimed.
        gamma: (K + 1,).

    References:
        DaRRM, Lemma 3.4; docs/method.md, sections 2 and 3.
    """
    statement = _problem_fields(problem) | {"gamma": write_hexadecimal(gamma)}
    return build_certificate("gamma_privacy", "darrm_lemma_3.4", **statement)


def certify_optimality(solution: GammaSolution) -> dict:
    """Return the claim that no private gamma has a larger utility, with multipliers that prove it.

    They are those of the linear program over the assignments that the search knew and that nearly
    bind gamma. Whatever they are, weak duality makes a bound of them.

    References:
        docs/method.md, section 6.
    """
    problem, prior = solution.problem, parse_prior(solution.prior)
    goal = make_objective(problem.K, prior)
    half = solution.gamma[(problem.K + 1) // 2 :]
    assignments = np.array(solution.assignments, dtype=np.int64).reshape(-1, 8)
    rows = np.array([problem.row(counts) for counts in assignments]) / problem.allowance
    rows = rows.reshape(-1, goal.size)
    nearly_binding = rows @ half > 1 - NEARLY_BINDING
    assignments, rows = assignments[nearly_binding], rows[nearly_binding]
    program = LinearProgram(goal.coefficients, np.ones(goal.size), rows, np.ones(len(rows)))
    multipliers = Highs(vertex=True).solve(program, TOLERANCE)[1] if len(rows) else np.zeros(0)
    right_side = (problem.relaxed_allowance + problem.rounding_bound()) / problem.allowance
    bound = dual_bound(replace(program, right=np.full(len(rows), right_side)), multipliers)
    # The bound is that of the row's true coefficients, up to what its rounding added.
    claimed_utility = max(solution.utility_upper_bound, bound + goal.rounding)
    priced_rows = [
        {
            "teachers": counts.tolist(),
            "multiplier": write_hexadecimal(multiplier / problem.allowance),
        }
        for counts, multiplier in zip(assignments, multipliers, strict=True)
        if multiplier > 0
    ]
    interval = {
        "kind": prior.kind,
        "low": write_hexadecimal(prior.low),
        "high": write_hexadecimal(prior.high),
    }
    statement = _problem_fields(problem) | {"prior": interval, "rows": priced_rows}
    return build_certificate(
        "gamma_utility", "weak_duality", **statement, utility=write_hexadecimal(claimed_utility)
    )


def _problem_fields(problem: PrivacyProblem) -> dict:
    """Return the fields of a certificate that state the problem."""
    numbers = {
        name: write_hexadecimal(getattr(problem, name))
        for name in ("m", "epsilon", "Delta", "delta")
    }
    return {"K": problem.K, **numbers}
