"""Labels charged for the worst Rényi divergence of one of them: the account before ours.

So Chadha, Jagielski, Papernot, Choquette-Choo and Nasr bound private prediction (ICML 2024). It
charges for labels and not for noisy counts, as `label` does, but adds up the worst of each order,
and no adversary has the worst of all (docs/many-labels.md, "The account before this one").
"""

from dataclasses import dataclass
from functools import lru_cache

from private_ensembles.accounting.adaptive.label_renyi import renyi_epsilon
from private_ensembles.accounting.root import largest_within
from private_ensembles.mechanisms.accounts.account import CAP, Account, NothingProven
from private_ensembles.mechanisms.accounts.gaussian_counts import share_of_labels
from private_ensembles.mechanisms.accounts.label import MOST_LABELS, GaussianStart, Start
from private_ensembles.mechanisms.laws.law import Law
from private_ensembles.mechanisms.parameters import Cost, Parameters
from private_ensembles.mechanisms.task import Task

# Noise is found to this share of itself.
_TOLERANCE = 2e-4


@dataclass(frozen=True)
class RenyiAccount(Account):
    """start: noise of another proof, near which the search begins; no more is taken from it."""

    start: Start
    free = CAP
    groups = True

    def refusal(self, law, task):
        if not law.pairs_known(task):
            return "no pairs of neighbours are known"
        if task.labels > MOST_LABELS:
            return f"for at most {MOST_LABELS:,} labels"
        return None

    def find(self, law, task, labels, **free):
        noise = least_noise(self.start, law, task, labels)
        if noise is None:
            raise NothingProven
        return noise

    def cost(self, law, task, parameters):
        spent = cost_of_labels(law, task, parameters)
        return Cost(spent, spent)


@lru_cache(maxsize=512)
def least_noise(start: Start, law: Law, task: Task, labels: int) -> Parameters | None:
    """Return noise that keeps the budget, near the least that does; None if there is none."""
    known = start.find(law, task, labels)

    def spent(less: float) -> float:
        return renyi_epsilon(law.pairs(task, law.less_noise(known, 1 / less)), labels, task.delta)

    try:
        # Where 1 / less is the share of the noise that is known.
        first = 1 / share_of_labels(labels)
        less = largest_within(spent, task.epsilon, first, relative=_TOLERANCE)
    except ValueError:
        return None
    return law.less_noise(known, 1 / less)


@lru_cache(maxsize=512)
def cost_of_labels(law: Law, task: Task, parameters: Parameters) -> float:
    """Return what the labels cost together at the task's delta."""
    return renyi_epsilon(law.pairs(task, parameters), int(parameters.labels), task.delta)


gaussian = RenyiAccount(GaussianStart())
