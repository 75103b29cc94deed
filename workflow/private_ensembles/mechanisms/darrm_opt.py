"""DaRRM with the optimal gamma, certified, for one p shared by all teachers."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from private_ensembles.darrm.optimize import optimize_gamma
from private_ensembles.mechanisms.noise_function import NoiseFunction

# With independent p_i the objective says nothing about close votes of many teachers.
_PRIOR = "common:0.5,1"


@lru_cache(maxsize=256)
def _optimal(K: int, m: float, epsilon: float, Delta: float, delta: float) -> np.ndarray:
    return optimize_gamma(K, m, epsilon, Delta, delta, prior=_PRIOR).gamma


class OptimalNoise(NoiseFunction):
    """gamma by cutting planes, for any real allowance m and the whole of delta."""

    name = "darrm_opt"

    def allowance(self, task, teacher):
        """The budget over one teacher's epsilon, rounded down; below K, which means no noise."""
        m = task.epsilon / teacher.epsilon * (1 - 1e-12)
        return max(1.0, min(m, math.nextafter(task.n_teachers, 0)))

    def gamma(self, parameters):
        """Certified for (m epsilon, delta)."""
        names = ("m", "teacher_epsilon", "teacher_Delta", "delta")
        return _optimal(int(parameters["K"]), *(float(parameters[name]) for name in names))


MECHANISM = OptimalNoise()
