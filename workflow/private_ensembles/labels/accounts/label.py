"""Labels charged together for what they release: `accounting.adaptive_composition` finds the noise.

What is proven of parts of a label (its noisy counts, its own epsilon, composed) is where the search
starts, and what is kept if that is less: a `Start` for each law.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from private_ensembles.accounting.adaptive_composition.account import (
    PrivacyCurve,
    adaptive_epsilon,
    privacy_curve,
)
from private_ensembles.accounting.adaptive_composition.scales import (
    explain_nothing_provable,
    grid_fineness,
    least_scale_of_curves,
    loses_all,
    share_of_scale,
)
from private_ensembles.accounting.label_composition import (
    largest_label_epsilon,
    total_label_epsilon,
)
from private_ensembles.audit.rates import selection_rate
from private_ensembles.labels.accounts import groups
from private_ensembles.labels.accounts.account import CAP, Account, NothingProven
from private_ensembles.labels.accounts.gaussian_counts import label_noise_share, noisy_counts_sigma
from private_ensembles.labels.gnmax import analytic_epsilon, single_label_sigma
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.laws.ladder import LeakyLabel
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.laws.selection import SelectionRate
from private_ensembles.labels.noisy_counts import largest_rho, rho_to_epsilon
from private_ensembles.labels.parameters import Cost, Parameters
from private_ensembles.labels.task import Task

# Of the noise that another proof finds, labels are likely to need at least this share.
LIKELY_SHARE = 0.4
# Of more labels that are charged together, time grows too long.
MOST_LABELS = 10_000
# The share of so many labels is known to half of a percent without an account.
_SEVERAL = 200
# What labels cost is looked for from this share of the budget on.
_LEAST = 0.9


class Start(Account):
    """of_coins: the proof holds for the floats of the table, so that it serves coins as well."""

    free_parameters = CAP
    covers_exact_bernoulli = False

    def strip_audit(self, noise: Parameters) -> Parameters:
        """Return the same noise, of which no more is claimed than follows from its scale."""
        return noise

    def settles(self, task: Task, labels: int) -> bool:
        """Return whether this proof is the whole account of so many labels."""
        return labels == 1

    def likely_share(self, task: Task) -> float:
        """Return a share of the noise that labels are likely to need at least."""
        return LIKELY_SHARE


class GaussianStart(Start):
    """One label of two classes and an odd number of teachers: the exact audit. Else the counts."""

    quantity = "sigma_exact"

    def settles(self, task, labels):
        return labels == 1 and task.ensemble.classes == 2 and task.ensemble.teachers % 2 == 1

    def find_noise(self, law, task, labels, **free):
        if self.settles(task, labels):
            sigma = single_label_sigma(
                task.budget.epsilon, task.budget.delta, "exact", task.ensemble.teachers
            )
            return GaussianNoise(sigma)
        if labels == 1:
            return GaussianNoise(
                single_label_sigma(task.budget.epsilon, task.budget.delta, "analytic", 1)
            )
        return GaussianNoise(noisy_counts_sigma(task, labels, "exact"), labels)

    def cost(self, law, task, parameters):
        """Return what is proven of sigma, for continuous noise and for coins."""
        if task.secure and task.ensemble.classes > 2:
            return Cost(math.inf, math.inf)
        labels, sigma = parameters.labels, parameters.sigma
        proven = task.budget.epsilon
        if not self.settles(task, labels) or sigma < self.find_noise(law, task, 1).sigma:
            proven = analytic_epsilon(sigma, task.budget.delta, labels=labels)
        return Cost(proven, proven)

    def likely_share(self, task):
        """Return, of more than two classes, that of very many labels: such a search is dear."""
        return label_noise_share(task.wanted.labels) if task.ensemble.classes > 2 else LIKELY_SHARE


@dataclass(frozen=True)
class SelectionStart(Start):
    """One label of two classes: the largest rate that the exact audit allows.

    It spends the whole of delta as well (`leak`). Else rate label_epsilon / 2: one label of more
    classes costs label_epsilon and no delta, and labels compose by it. bounded_range: moving a vote
    changes every exponent by at most rate, so the loss of class j is rate times a number in [-1, 1]
    minus the same constant for all j: the law is epsilon-bounded-range and costs rho = epsilon^2 /
    8 (Cesar and Rogers 2021; Hoeffding's lemma), four times less than what pure DP alone promises;
    pure composition, if better, is used instead.
    """

    bounded_range: bool = False

    def strip_audit(self, noise):
        """Return the rate alone, without what an audit found of it."""
        return SelectionRate(2 * noise.used_rate, noise.labels)

    def find_noise(self, law, task, labels, **free):
        if labels == 1 and task.ensemble.classes == 2:
            rate = selection_rate(
                task.budget.epsilon,
                task.budget.delta,
                law.label_probabilities,
                task.ensemble.teachers,
            )
            return SelectionRate(task.budget.epsilon, 1, rate, task.budget.delta)
        if labels == 1:
            return SelectionRate(task.budget.epsilon, 1)
        each = largest_label_epsilon(task.budget.epsilon, labels, task.budget.delta)
        if self.bounded_range:
            rho = largest_rho(task.budget.epsilon, task.budget.delta, "improved") / labels
            each = max(math.sqrt(8 * rho) * (1 - 1e-12), each)
        return SelectionRate(each, labels)

    def cost(self, law, task, parameters):
        """Return the audited label's own epsilon, or the composition."""
        each, labels = parameters.label_epsilon, parameters.labels
        if parameters.leak is not None:
            if labels == 1 and parameters.leak <= task.budget.delta:
                return Cost(each, each)
            each = 2 * parameters.used_rate  # what holds without the delta that the audit spends
        if labels == 1 and task.ensemble.classes > 2:
            return Cost(each, each)
        together = total_label_epsilon(each, labels, task.budget.delta)
        if self.bounded_range:
            rho = labels * each**2 / 8 * (1 + 1e-15)
            together = min(rho_to_epsilon(rho, task.budget.delta, "improved"), together)
        return Cost(together, together)


class LadderStart(Start):
    """Optimal composition of labels of which no more is known than (epsilon, delta).

    free: leak, the share of the total delta that the labels spend, each an equal part. One label
    spends all of it.
    """

    free_parameters = {"leak": (0.0, 1.0)} | CAP
    covers_exact_bernoulli = True

    def find_noise(self, law, task, labels, leak=0.5):
        if labels == 1:
            return LeakyLabel(task.budget.epsilon, task.budget.delta, labels)
        each = leak * task.budget.delta / labels * (1 - 1e-9)
        return LeakyLabel(
            largest_label_epsilon(task.budget.epsilon, labels, task.budget.delta, each),
            each,
            labels,
        )

    def cost(self, law, task, parameters):
        each, delta = parameters.label_epsilon, parameters.label_delta
        if parameters.labels > 1 or delta != task.budget.delta:
            each = total_label_epsilon(each, parameters.labels, task.budget.delta, delta)
        return Cost(each, each)


@dataclass(frozen=True)
class LabelAccount(Account):
    """Noise from `start`, shrunk to what all labels together need, by what a moved vote does.

    For two classes the account is of the law's table, so that secure labels, coins of it, are as
    private, however many. composes: more than `MOST_LABELS`, which take too long together, are left
    to the start. refuses: a task for which the account proves nothing is refused, not left to the
    start.

    If the unit that is protected may move several votes (`Protection.reach`), the start is what
    this very account finds for one of them, by group privacy, and it shrinks to what all labels
    together need if all of these votes move: so claims are never above group privacy.
    """

    start: Start
    composes: bool = False
    refuses: bool = False
    covers_groups = True

    @property
    def free_parameters(self):
        """Return what the start takes."""
        return self.start.free_parameters

    @property
    def quantity(self) -> str:
        """Return that of the start."""
        return self.start.quantity

    def charges_together(self, law: Law, task: Task, labels: int) -> bool:
        """Return whether that many labels are charged together; else the start is all there is."""
        settled = task.protection.reach == 1 and self.start.settles(task, labels)
        if settled or (self.composes and labels > MOST_LABELS):
            return False
        return law.has_dominating_pairs(task)

    def refusal(self, law, task):
        """Refuse very many labels, which take too long, and what rounding leaves nothing of."""
        if not self.composes and task.wanted.labels > MOST_LABELS:
            return f"for at most {MOST_LABELS:,} labels"
        if self.refuses and self.charges_together(law, task.single_vote_task(), task.wanted.labels):
            return explain_nothing_provable(
                task.ensemble.classes, task.wanted.labels, task.budget.delta
            )
        return None

    def find_noise(self, law, task, labels, **free):
        if task.protection.reach > 1:
            return self._find_group_noise(law, task, labels, **free)
        start = self.start.find_noise(law, task, labels, **free)
        if not self.charges_together(law, task, labels):
            return start
        share = least_noise_share(self, law, task, start)
        if share < 1 or (task.secure and math.isfinite(share)):
            continuous = task.ensemble.classes > 2 and not task.secure
            return replace(law.scale_noise(start, share), continuous=continuous)
        if self.start.covers_exact_bernoulli:
            return start
        if task.secure:
            raise NothingProven
        return replace(start, continuous=True)

    def _find_group_noise(self, law: Law, task: Task, labels: int, **free: float) -> Parameters:
        """Return noise for several votes that move: by group privacy, or their own pairs."""
        one = groups.divide_budget(task)
        try:
            proven = known = self.find_noise(law, one, labels, **free)
        except NothingProven:
            proven, known = None, self.find_noise(law, replace(one, secure=False), labels, **free)
        if self.charges_together(law, task, int(known.labels)):
            start = self.start.strip_audit(known)
            share = least_noise_share(self, law, task, start)
            if share < 1 or (proven is None and math.isfinite(share)):
                continuous = task.ensemble.classes > 2 and not task.secure
                return replace(law.scale_noise(start, share), continuous=continuous)
        if proven is None:
            raise NothingProven
        return proven

    def guess_noise(self, law, task, labels, **free):
        """Guess by the share of noise that all labels wanted need: a search asks often.

        Of many labels by about that share.
        """
        if task.protection.reach > 1:  # by group privacy, which is near
            return self.guess_noise(law, groups.divide_budget(task), labels, **free)
        start = self.start.find_noise(law, task, labels, **free)
        if not self.charges_together(law, task, labels):
            return start
        share_of = _estimate_noise_share if task.wanted.labels >= _SEVERAL else least_noise_share
        share = share_of(self, law, task, self.start.find_noise(law, task, task.wanted.labels))
        return law.scale_noise(start, share) if math.isfinite(share) else start

    def cost(self, law, task, parameters):
        """Return the least that is proven."""
        if task.protection.reach > 1:
            proven = self._group_cost(law, task, parameters)
            return Cost(proven, proven)
        proven = self.start.cost(law, task, parameters).proven
        if self.charges_together(law, task, int(parameters.labels)):
            proven = min(proven, joint_cost(law, task, parameters))
        return Cost(proven, proven)

    def _group_cost(self, law: Law, task: Task, parameters: Parameters) -> float:
        """Return the lesser of what the pairs of several votes prove, and group privacy."""
        proven = math.inf
        if self.charges_together(law, task, int(parameters.labels)):
            proven = joint_cost(law, task, parameters)

        def single_vote_cost(one: Task) -> float:
            return self.cost(law, one, parameters).proven

        return min(proven, groups.group_cost(single_vote_cost, task))


@lru_cache(maxsize=512)
def least_noise_share(account: LabelAccount, law: Law, task: Task, start: Parameters) -> float:
    """The least share of the noise of `start` that the account proves; infinite if it finds none.

    `least_scale_of_curves` finds it; a share may exceed 1. Where rounding takes all of delta, it is
    not looked for.
    """
    labels, epsilon, delta = int(start.labels), task.budget.epsilon, task.budget.delta
    fineness = grid_fineness(task.ensemble.classes, labels)

    def curve_of(share: float, points: float) -> PrivacyCurve:
        return label_curve(law, task, law.scale_noise(start, share), points)

    try:
        family = law.dominating_pairs(task, start)
        if loses_all(family, labels, epsilon, delta, task.ensemble.classes):
            return math.inf
        about = _estimate_noise_share(account, law, task, start)
        return least_scale_of_curves(curve_of, labels, epsilon, delta, about, fineness=fineness)
    except ValueError:
        return math.inf


@lru_cache(maxsize=512)
def _estimate_noise_share(account: LabelAccount, law: Law, task: Task, start: Parameters) -> float:
    """About the share that `least_share` finds, at most 1: that of a normal law's losses."""
    labels = int(start.labels)
    about = share_of_scale(
        law.dominating_pairs(task, start), labels, task.budget.epsilon, task.budget.delta
    )
    return min(max(about, account.start.likely_share(task)), 1.0)


@lru_cache(maxsize=512)
def joint_cost(law: Law, task: Task, parameters: Parameters) -> float:
    """Return what the labels cost together at the task's delta; at most epsilon if it is kept."""
    labels = int(parameters.labels)
    fineness = grid_fineness(task.ensemble.classes, labels)
    bounds = label_curve(law, task, replace(parameters, continuous=False), fineness)
    kept = bounds.delta(task.budget.epsilon) <= task.budget.delta
    if kept:
        spent = bounds.epsilon(task.budget.delta)
        if spent > _LEAST * task.budget.epsilon:
            return min(task.budget.epsilon, spent)
    family = law.dominating_pairs(task, parameters)
    upper = adaptive_epsilon(family, labels, task.budget.delta, fineness=fineness).upper
    return min(task.budget.epsilon, upper) if kept else upper  # both are proven


@lru_cache(maxsize=64)
def label_curve(law: Law, task: Task, parameters: Parameters, fineness: float) -> PrivacyCurve:
    """Upper bounds around the task's budget: of a scale that was sought the cost is asked, too."""
    family, labels = law.dominating_pairs(task, parameters), int(parameters.labels)
    least = _LEAST * task.budget.epsilon
    return privacy_curve(
        family,
        labels,
        task.budget.epsilon,
        task.budget.delta,
        fineness=fineness,
        lower=False,
        least=least,
    )


class SelectionAccount(LabelAccount):
    """Of more than two classes: charged for the largest loss of a label, 2 rate for a moved vote.

    Secure labels have the very law that this is proven of. If several votes move, a loss is as many
    times as large, so that as many times the noise costs the same (docs/many-labels.md, "Groups").
    """

    def find_noise(self, law, task, labels, **free):
        if task.ensemble.classes == 2:
            return super().find_noise(law, task, labels, **free)
        one = task.single_vote_task()
        noise = self.start.find_noise(law, one, labels)
        if self.charges_together(law, one, labels):
            share = least_noise_share(self, law, one, noise)
            if share < 1:
                noise = law.scale_noise(noise, share)
        return law.scale_noise(noise, groups.group_noise_factor(task.protection.reach))

    def guess_noise(self, law, task, labels, **free):
        if task.ensemble.classes == 2:
            return super().guess_noise(law, task, labels, **free)
        one = super().guess_noise(law, task.single_vote_task(), labels, **free)
        return law.scale_noise(one, groups.group_noise_factor(task.protection.reach))

    def cost(self, law, task, parameters):
        """Return the least that is proven."""
        if task.ensemble.classes == 2:
            return super().cost(law, task, parameters)
        one = law.scale_noise(parameters, groups.single_vote_noise_factor(task.protection.reach))
        return super().cost(law, task.single_vote_task(), one)


gaussian = LabelAccount(GaussianStart(), refuses=True)
gumbel = SelectionAccount(SelectionStart(bounded_range=True), composes=True)
exponential = SelectionAccount(SelectionStart(), composes=True)
ladder = LabelAccount(LadderStart())
