"""What one label of DPBag costs by the paper's accountant, and what is proven."""

from private_ensembles.labels.accounts.given_noise import GivenNoise
from private_ensembles.labels.parameters import Cost
from private_ensembles.papers.dpbag.mathematics.label_loss import plain_epsilon

# Exponentials of more than this overflow; nothing but the claim itself is proven there.
_LARGEST_EPSILON = 700.0


class BaggingAccount(GivenNoise):
    """DPBag's account: what the moments accountant starts from, 2 lambda m(x; u), and no delta."""

    def cost(self, law, task, parameters):
        """Return the cost; for a share of 1 the noisy difference of counts proves less."""
        claimed = 2 * parameters.rate * parameters.share
        if parameters.share < 1 or claimed >= _LARGEST_EPSILON:
            return Cost(claimed, claimed)
        return Cost(claimed, min(claimed, plain_epsilon(1, parameters.rate, task.budget.delta)))


bagging = BaggingAccount()
