"""GNMax with sigma by Rényi DP and the classic conversion, as PATE does it."""

from dataclasses import replace

from private_ensembles.mechanisms.families.base import Cost
from private_ensembles.mechanisms.families.gaussian import (
    GaussianMaximum,
    GaussianNoise,
    discrete_cost,
    paper_epsilon,
)
from private_ensembles.pate.gnmax import analytic_epsilon


class GNMax(GaussianMaximum):
    """The published sigma."""

    name = "gnmax"
    label = "GNMax, σ by RDP"
    source = "PATE section 4.1; σ as in DaRRM appendix D.2.1"
    order = 10
    method, conversion = "rdp", "classic"
    aggregator = 1

    def at_noise(self, noise, n_classes):
        """Take Confident-GNMax's labels alone; for two classes the budgets' rows say it all."""
        if n_classes == 2:
            return None
        return GaussianNoise(noise["confident"]["sigma2"])

    def cost_at_noise(self, task, parameters):
        """Return the cost by the paper's conversion, and exactly for the noise at hand."""
        claimed = paper_epsilon(1 / parameters.sigma**2, task.delta)
        if task.secure:
            one = replace(parameters, labels=1)
            return Cost(claimed, discrete_cost(one.moves, task.epsilon, task.delta))
        return Cost(claimed, analytic_epsilon(parameters.sigma, task.delta))


MECHANISM = GNMax()
