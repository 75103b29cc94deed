"""The interface of an account: for a law and a task, what noise costs and which noise is enough."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.parameters import Cost, Parameters
from private_ensembles.labels.task import Task

# With fewer labels each may cost more: with many classes, more of them may be right in total.
CAP = {"cap": (0.02, 1.0)}


class NothingProven(ValueError):
    """No secure noise is proven for the budget; `Mechanism.calibrate` says of which mechanism."""


class Account(ABC):
    """free: names of what a planner may choose beside the task, each with its range.

    quantity: under which `search_gnmax_sigma` writes the sigma of one label; "" if it does not.
    groups: `find` and `cost` cover as many votes of every query as the task's unit may move
    (`Protection.reach`), from any classes to any; else one vote, and a task of more is refused.
    """

    free_parameters: Mapping[str, tuple[float, float]] = {}
    quantity = ""
    covers_groups = False

    @abstractmethod
    def find_noise(self, law: Law, task: Task, labels: int, **free: float) -> Parameters:
        """Return parameters with which that many labels cost at most the budget, whatever votes.

        Nothing in it looks at votes. free: arguments from `free`, without `cap`. Raises
        NothingProven if there are none.
        """

    @abstractmethod
    def cost(self, law: Law, task: Task, parameters: Parameters) -> Cost:
        """Return what the labels cost together at the task's delta."""

    def refusal(self, law: Law, task: Task) -> str | None:
        """Return why nothing is proven for the task, or None."""
        return None

    def ensure_proven(self, noise: Parameters, task: Task) -> Parameters:
        """Return one label's noise that another job found, as far as the task needs more of it."""
        return noise

    def guess_noise(self, law: Law, task: Task, labels: int, **free: float) -> Parameters:
        """Return about what `find` does, for a search that asks often."""
        return self.find_noise(law, task, labels, **free)
