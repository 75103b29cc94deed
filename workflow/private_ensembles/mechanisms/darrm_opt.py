"""DaRRM with the optimal gamma, certified, for one p shared by all teachers."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from private_ensembles.darrm.certificate import certify_problem
from private_ensembles.darrm.gamma import check_gamma
from private_ensembles.darrm.optimize import optimize_gamma
from private_ensembles.mechanisms.families.noise_function import NoiseFunction

# With independent p_i the objective says nothing about close votes of many teachers.
_PRIOR = "common:0.5,1"


@lru_cache(maxsize=256)
def _optimal(K: int, m: float, epsilon: float, Delta: float, delta: float) -> np.ndarray:
    return optimize_gamma(K, m, epsilon, Delta, delta, prior=_PRIOR).gamma


class OptimalNoise(NoiseFunction):
    """gamma by cutting planes, for any real allowance m and the whole of delta."""

    name = "darrm_opt"
    label = "DaRRM, γ optimised"
    source = "DaRRM section 5, with the exact objective and a certificate"
    order = 51
    proof = "method.md#2-three-corners-suffice-for-monotone-γ-three_corner_worst_case"
    color = "blue"

    def allowance(self, task, teacher):
        """Return the budget over one teacher's epsilon, rounded down; below K (no noise)."""
        m = task.epsilon / teacher.epsilon * (1 - 1e-12)
        return max(1.0, min(m, math.nextafter(task.n_teachers, 0)))

    def own_gamma(self, parameters):
        """Return the optimal gamma, certified for (m epsilon, delta)."""
        teacher = float(parameters.teacher_epsilon), float(parameters.teacher_Delta)
        return _optimal(parameters.K, float(parameters.m), *teacher, float(parameters.delta))

    def gamma_at(self, problem, found):
        """Return the one that `optimize_gamma` has found; ValueError if it is not private."""
        gamma = check_gamma(found["gamma"])
        if not certify_problem(problem, gamma).holds:
            size = f"K = {problem.K}, m = {problem.m}"
            raise ValueError(f"gamma: must be private for {size}, but is not")
        return gamma


MECHANISM = OptimalNoise()
