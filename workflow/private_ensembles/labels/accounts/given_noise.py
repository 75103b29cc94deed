"""Noise that a configuration gives: what one label costs by the paper's claim, and what is true."""

from private_ensembles.base.rounding import round_float_up
from private_ensembles.labels.accounts.account import Account
from private_ensembles.labels.gnmax import analytic_epsilon
from private_ensembles.labels.noisy_counts import discrete_gaussian_epsilon, paper_epsilon
from private_ensembles.labels.parameters import Cost


class GivenNoise(Account):
    """An account of noise that is given: none is found for a budget."""

    def find_noise(self, law, task, labels, **free):
        raise ValueError("noise: it is given, not found for a budget")


class GivenGaussian(GivenNoise):
    """GNMax: one label by the paper's conversion, and exactly for the noise at hand."""

    def cost(self, law, task, parameters):
        claimed = paper_epsilon(1 / parameters.sigma**2, task.budget.delta)
        if task.secure:
            single = parameters.replace_labels(1)
            return Cost(
                claimed,
                discrete_gaussian_epsilon(
                    single.discrete_gaussian_counts, task.budget.epsilon, task.budget.delta
                ),
            )
        return Cost(claimed, analytic_epsilon(parameters.sigma, task.budget.delta))


class GivenLaplace(GivenNoise):
    """LNMax: (2 / scale, 0)-DP, hence at every delta as well."""

    def cost(self, law, task, parameters):
        """Return the cost of one label, as PATE 2017 states it."""
        claimed = 2 / parameters.scale
        return Cost(claimed, round_float_up(claimed))


gaussian = GivenGaussian()
laplace = GivenLaplace()
