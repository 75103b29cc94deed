"""LNMax (PATE, section 3.1) at given noise: the argmax of counts with Laplace noise."""

from private_ensembles.accounting.composition import optimal_homogeneous
from private_ensembles.accounting.rounding import above
from private_ensembles.mechanisms.families.base import Cost
from private_ensembles.mechanisms.families.laplace import LaplaceMaximum, LaplaceNoise


class LNMax(LaplaceMaximum):
    """(2 / scale, 0)-DP, hence at every delta as well."""

    name = "lnmax"
    label = "LNMax"
    source = "PATE section 3.1 (Papernot et al. 2017)"
    order = 61
    color = "green"
    data_dependent = True
    aggregator = 0
    keeps_budget = False

    def at_noise(self, noise, n_classes):
        return LaplaceNoise(noise["lnmax"]["scale"])

    def printed_totals(self, task, secure=False):
        epsilon, found = 2 / task["lnmax"]["scale"], {}
        if secure:
            return found
        for queries in task["lnmax"]["queries"]:
            total = optimal_homogeneous(epsilon, 0.0, queries, task["delta"])
            found[f"lnmax-{queries}"] = queries, total.epsilon
        return found

    def cost(self, task, parameters):
        """Return one label's cost, as PATE 2017 has it."""
        claimed = 2 / parameters.scale
        return Cost(claimed, above(claimed))


MECHANISM = LNMax()
