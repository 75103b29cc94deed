"""Labels that are charged together for what they release: `accounting.adaptive` finds the noise.

What is proven of parts of a label (its noisy counts, its own epsilon, composed) is where the search
starts, and what is kept if that is less.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from private_ensembles.accounting.adaptive.account import Curve, adaptive_epsilon, curve
from private_ensembles.accounting.adaptive.scales import (
    grid_fineness,
    least_scale_of_curves,
    loses_all,
    nothing_left,
    share_of_scale,
)
from private_ensembles.mechanisms.accounts import starts
from private_ensembles.mechanisms.accounts.account import Account, NothingProven
from private_ensembles.mechanisms.accounts.starts import MOST_LABELS, Start
from private_ensembles.mechanisms.laws.law import Law
from private_ensembles.mechanisms.parameters import Cost, Parameters
from private_ensembles.mechanisms.task import Task

# What labels cost is looked for from this share of the budget on.
_LEAST = 0.9


@dataclass(frozen=True)
class LabelAccount(Account):
    """Noise from `start`, shrunk to what all labels together need, by what a moved vote does.

    For two classes the account is of the law's table, so that secure labels, coins of it, are as
    private, however many. composes: more than `MOST_LABELS`, which take too long together, are left
    to the start. refuses: a task for which the account proves nothing is refused, not left to the
    start.
    """

    start: Start
    composes: bool = False
    refuses: bool = False

    @property
    def free(self):
        """Return what the start takes."""
        return self.start.free

    @property
    def quantity(self) -> str:
        """Return that of the start."""
        return self.start.quantity

    def searched(self, task):
        return self.start.searched(task)

    def together(self, law: Law, task: Task, labels: int) -> bool:
        """Return whether that many labels are charged together; else the start is all there is."""
        if self.start.settles(task, labels) or (self.composes and labels > MOST_LABELS):
            return False
        return task.n_classes == 2 or law.pairs_of_many

    def refusal(self, law, task):
        """Refuse very many labels, which take too long, and what rounding leaves nothing of."""
        if reason := self.start.refusal(law, task):
            return reason
        if not self.composes and task.labels > MOST_LABELS:
            return f"for at most {MOST_LABELS:,} labels"
        if self.refuses and self.together(law, task, task.labels):
            return nothing_left(task.n_classes, task.labels, task.delta)
        return None

    def find(self, law, task, labels, **free):
        start = self.start.find(law, task, labels, **free)
        if not self.together(law, task, labels):
            return start
        share = least_share(self, law, task, start)
        if share < 1 or (task.secure and math.isfinite(share)):
            continuous = task.n_classes > 2 and not task.secure
            return replace(law.less_noise(start, share), continuous=continuous)
        if self.start.of_coins:
            return start
        if task.secure:
            raise NothingProven
        return replace(start, continuous=True)

    def guess(self, law, task, labels, **free):
        """Guess by the share of noise that all labels wanted need: a search asks often."""
        start = self.start.find(law, task, labels, **free)
        if not self.together(law, task, labels):
            return start
        share = least_share(self, law, task, self.start.find(law, task, task.labels))
        return law.less_noise(start, share) if math.isfinite(share) else start

    def cost(self, law, task, parameters):
        """Return the least that is proven."""
        proven = self.start.cost(law, task, parameters).proven
        if self.together(law, task, int(parameters.labels)):
            proven = min(proven, cost_together(law, task, parameters))
        return Cost(proven, proven)


@lru_cache(maxsize=512)
def least_share(account: LabelAccount, law: Law, task: Task, start: Parameters) -> float:
    """The least share of the noise of `start` that the account proves; infinite if it finds none.

    `adaptive.least_scale` finds it; a share may exceed 1. Where rounding takes all of delta, it is
    not looked for.
    """
    labels, epsilon, delta = int(start.labels), task.epsilon, task.delta
    fineness = grid_fineness(task.n_classes, labels)

    def curve_of(share: float, points: float) -> Curve:
        return label_curve(law, task, law.less_noise(start, share), points)

    try:
        family = law.pairs(task, start)
        if loses_all(family, labels, epsilon, delta, task.n_classes):
            return math.inf
        about = share_of_scale(family, labels, epsilon, delta)
        about = min(max(about, account.start.likely_share(task)), 1.0)
        return least_scale_of_curves(curve_of, labels, epsilon, delta, about, fineness=fineness)
    except ValueError:
        return math.inf


@lru_cache(maxsize=512)
def cost_together(law: Law, task: Task, parameters: Parameters) -> float:
    """Return what the labels cost together at the task's delta; at most epsilon if it is kept."""
    labels = int(parameters.labels)
    fineness = grid_fineness(task.n_classes, labels)
    bounds = label_curve(law, task, replace(parameters, continuous=False), fineness)
    kept = bounds.delta(task.epsilon) <= task.delta
    if kept:
        spent = bounds.epsilon(task.delta)
        if spent > _LEAST * task.epsilon:
            return min(task.epsilon, spent)
    family = law.pairs(task, parameters)
    upper = adaptive_epsilon(family, labels, task.delta, fineness=fineness).upper
    return min(task.epsilon, upper) if kept else upper  # both are proven


@lru_cache(maxsize=64)
def label_curve(law: Law, task: Task, parameters: Parameters, fineness: float) -> Curve:
    """Upper bounds around the task's budget: of a scale that was sought the cost is asked, too."""
    family, labels = law.pairs(task, parameters), int(parameters.labels)
    least = _LEAST * task.epsilon
    return curve(
        family, labels, task.epsilon, task.delta, fineness=fineness, lower=False, least=least
    )


gaussian = LabelAccount(starts.GaussianStart(), refuses=True)
laplace = LabelAccount(starts.LaplaceStart(), refuses=True)
gumbel = LabelAccount(starts.SelectionStart(bounded_range=True), composes=True)
exponential = LabelAccount(starts.SelectionStart(), composes=True)
ladder = LabelAccount(starts.LadderStart())
optimal = LabelAccount(starts.OptimalStart())
