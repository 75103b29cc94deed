"""What one label of NZC costs by the paper's claim, and what is true."""

from private_ensembles.labels.accounts.given_noise import GivenNoise
from private_ensembles.labels.parameters import Cost
from private_ensembles.papers.nzc.mathematics.claims_and_truth import (
    claimed_readings,
    proven_epsilon,
)


class ImmutableAccount(GivenNoise):
    """NZC's account: Theorem 4 for one query, gamma read as a scale. It is false (docs/nzc.md)."""

    def cost(self, law, task, parameters):
        """Return the claimed epsilon of one label, and one that it does have."""
        claimed = claimed_readings(parameters.gamma, 1, task.budget.delta)["scale"]
        return Cost(claimed, proven_epsilon(parameters.constant, parameters.gamma))


immutable = ImmutableAccount()
