"""DaRRM with gamma by subsampling (Lemma 3.1): the majority of m teachers drawn at random."""

from __future__ import annotations

import math

from private_ensembles.accounting.composition import optimal_homogeneous
from private_ensembles.accounting.root import bisect_integers
from private_ensembles.darrm.certificate import scale_to_allowance
from private_ensembles.darrm.gamma import gamma_subsampling
from private_ensembles.mechanisms.families.noise_function import NoiseFunction


class Subsampling(NoiseFunction):
    """One label is a function of m teachers, whose optimal composition it costs at most."""

    name = "darrm_sub"
    label = "DaRRM, γ by subsampling"
    source = "DaRRM Lemma 3.1"
    order = 50
    proof = "audit.md#private-teachers"
    color = "vermilion"

    def allowance(self, task, teacher):
        """Find by bisection the largest m, below K, whose teachers keep the budget."""

        def fits(m: int) -> bool:
            cost = optimal_homogeneous(teacher.epsilon, teacher.delta, m, task.delta)
            return cost.epsilon <= task.epsilon

        return float(bisect_integers(fits, task.n_teachers, 1))

    def label_cost(self, parameters):
        """Return the cost of m teachers, or what a given gamma's certificate says."""
        if parameters.gamma is not None:
            return super().label_cost(parameters)
        cost = parameters.teacher_epsilon, parameters.teacher_Delta, int(parameters.m)
        return optimal_homogeneous(*cost, parameters.delta).epsilon

    def own_gamma(self, parameters):
        """Return the closed form, made smaller by what rounding its values may cost.

        The exact gamma keeps f <= allowance = e^epsilon - 1 + 2 delta (Lemma 3.4), f is linear in
        gamma, and an error of u = 2^-53 in each value moves it by at most (1 + e^epsilon) u. So
        does gamma (1 - s), rounded, if s allowance is more than a few times that.
        """
        epsilon = self.label_cost(parameters)
        allowance = math.expm1(epsilon) + 2 * parameters.delta
        slack = 2**-50 * (1 + math.exp(epsilon)) / allowance
        return gamma_subsampling(parameters.K, int(parameters.m)) * (1 - slack)

    def gamma_at(self, problem, found):
        """The closed form spends its allowance exactly, so it is scaled (by about 1e-12) until its
        certificate holds in floating point.
        """
        return scale_to_allowance(problem, gamma_subsampling(problem.K, problem.m))[0]


MECHANISM = Subsampling()
