"""The interface of an account: for a law and a task, what noise costs and which noise is enough."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.parameters import Cost, Parameters
from private_ensembles.labels.task import Task

# If fewer labels are paid for, each may cost more: with many classes, more may then be right.
CAP = {"cap": (0.02, 1.0)}


class NothingProven(ValueError):
    """No secure noise is proven for the budget; `Mechanism.calibrate` says of which mechanism."""


class Account(ABC):
    """What the labels of a law cost together, and which noise keeps a budget.

    Attributes:
        free_parameters: Names of what a planner may choose beside the task, each with its range.
        covers_groups: Whether `find_noise` and `cost` cover as many votes of every query as the
            task's unit may move (`Protection.reach`), from any classes to any. If not, they cover
            one vote, and a task of more is refused.
    """

    free_parameters: Mapping[str, tuple[float, float]] = {}
    covers_groups = False

    @property
    def quantity(self) -> str:
        """The name under which `search_gnmax_sigma` writes one label's sigma; "" if it does not."""
        return ""

    @abstractmethod
    def find_noise(self, law: Law, task: Task, labels: int, **free: float) -> Parameters:
        """Return noise with which that many labels cost at most the task's budget.

        That holds whatever the votes are, because nothing here looks at them.

        Args:
            law: How a label is drawn.
            task: What is wanted, and the budget of all labels together.
            labels: The number of labels that are paid for.
            **free: Values of `free_parameters`, without `cap`.

        Raises:
            NothingProven: No noise is proven for the budget.
        """

    @abstractmethod
    def cost(self, law: Law, task: Task, parameters: Parameters) -> Cost:
        """Return the total epsilon of the labels at the task's delta."""

    def refusal(self, law: Law, task: Task) -> str | None:
        """Return why nothing is proven for the task, or None."""
        return None

    def ensure_proven(self, noise: Parameters, task: Task) -> Parameters:
        """Return one label's noise that another job found, raised if the task needs more of it."""
        return noise

    def guess_noise(self, law: Law, task: Task, labels: int, **free: float) -> Parameters:
        """Return about what `find_noise` does, for a search that asks often."""
        return self.find_noise(law, task, labels, **free)
