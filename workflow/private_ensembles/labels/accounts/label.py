"""Labels charged together for what they release: `accounting.adaptive_composition` finds the noise.

Each law has a `Start`: what is proven of parts of a label, such as its noisy counts or its own
epsilon, and composed. The search starts there, and that proof is kept if it is the better one.
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
from private_ensembles.base.stated_bounds import upper_bound
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

# Labels are likely to need at least this share of the noise that another proof finds.
LIKELY_SHARE = 0.4
# It takes too long to charge more labels together.
MOST_LABELS = 10_000
# The share of noise that so many labels need is known to half of a percent without an account.
_ENOUGH_TO_ESTIMATE = 200
# The search for what labels cost begins at this share of the budget.
_LEAST_SPENT = 0.9


class Start(Account):
    """A proof from parts of a label, at which the search for less noise starts.

    Attributes:
        covers_exact_bernoulli: Whether the proof holds for the floats of the law's table, so that
            it covers secure labels as well, which are exact Bernoulli draws by that table.
    """

    free_parameters = CAP
    covers_exact_bernoulli = False

    def strip_audit(self, noise: Parameters) -> Parameters:
        """Return the same noise without what an audit found, so that only its scale counts."""
        return noise

    def settles(self, task: Task, labels: int) -> bool:
        """Return whether this proof alone is the account of so many labels."""
        return labels == 1

    def likely_share(self, task: Task) -> float:
        """Return the share of the noise that labels are likely to need at least."""
        return LIKELY_SHARE


class GaussianStart(Start):
    """The exact audit of one label of two classes by an odd number of teachers, else the counts."""

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
        """Return what is proven of sigma, for continuous noise and for exact Bernoulli draws."""
        if task.secure and task.ensemble.classes > 2:
            return Cost(math.inf, math.inf)
        labels, sigma = parameters.labels, parameters.sigma
        proven = task.budget.epsilon
        if not self.settles(task, labels) or sigma < self.find_noise(law, task, 1).sigma:
            proven = analytic_epsilon(sigma, task.budget.delta, labels=labels)
        return Cost(proven, proven)

    def likely_share(self, task):
        """Return the share that many labels need if there are more than two classes.

        A search over more than two classes takes long, so it starts near its end.
        """
        return label_noise_share(task.wanted.labels) if task.ensemble.classes > 2 else LIKELY_SHARE


@dataclass(frozen=True)
class SelectionStart(Start):
    """A selection's rate, by the exact audit of one label of two classes or by composition.

    One label of two classes gets the largest rate that the audit allows, and spends all of delta
    (`leak`). Otherwise the rate is label_epsilon / 2: one label of more classes costs label_epsilon
    and no delta, and labels compose by it.

    Attributes:
        bounded_range: Whether moving a vote changes every exponent by at most the rate, so that the
            loss of class j is the rate times a number in [-1, 1] minus the same constant for all j.
            Then the law has epsilon-bounded range and costs rho = epsilon^2 / 8, four times less
            than what pure DP alone promises. Pure composition is used if it is better.

    References:
        Cesar and Rogers 2021; Hoeffding's lemma.
    """

    bounded_range: bool = False

    def strip_audit(self, noise):
        """Return the rate alone, without the epsilon that an audit found for it."""
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
        label_epsilon = largest_label_epsilon(task.budget.epsilon, labels, task.budget.delta)
        if self.bounded_range:
            rho = largest_rho(task.budget.epsilon, task.budget.delta, "improved") / labels
            label_epsilon = max(math.sqrt(8 * rho) * (1 - 1e-12), label_epsilon)
        return SelectionRate(label_epsilon, labels)

    def cost(self, law, task, parameters):
        """Return the audited label's own epsilon, or the composition."""
        label_epsilon, labels = parameters.label_epsilon, parameters.labels
        if parameters.leak is not None:
            if labels == 1 and parameters.leak <= task.budget.delta:
                return Cost(label_epsilon, label_epsilon)
            # This holds without the delta that the audit spends.
            label_epsilon = 2 * parameters.used_rate
        if labels == 1 and task.ensemble.classes > 2:
            return Cost(label_epsilon, label_epsilon)
        total = total_label_epsilon(label_epsilon, labels, task.budget.delta)
        if self.bounded_range:
            rho = labels * label_epsilon**2 / 8 * (1 + 1e-15)
            total = min(rho_to_epsilon(rho, task.budget.delta, "improved"), total)
        return Cost(total, total)


class LadderStart(Start):
    """Optimal composition of labels of which no more is known than (epsilon, delta).

    The free parameter `leak` is the share of the total delta that the labels spend, each an equal
    part. One label spends all of it.
    """

    free_parameters = {"leak": (0.0, 1.0)} | CAP
    covers_exact_bernoulli = True

    def find_noise(self, law, task, labels, leak=0.5):
        if labels == 1:
            return LeakyLabel(task.budget.epsilon, task.budget.delta, labels)
        label_delta = leak * task.budget.delta / labels * (1 - 1e-9)
        return LeakyLabel(
            largest_label_epsilon(task.budget.epsilon, labels, task.budget.delta, label_delta),
            label_delta,
            labels,
        )

    def cost(self, law, task, parameters):
        total, label_delta = parameters.label_epsilon, parameters.label_delta
        if parameters.labels > 1 or label_delta != task.budget.delta:
            total = total_label_epsilon(total, parameters.labels, task.budget.delta, label_delta)
        return Cost(total, total)


@dataclass(frozen=True)
class LabelAccount(Account):
    """Noise of `start`, shrunk to what all labels together need, by the pairs of a moved vote.

    For two classes the account is of the law's table. Secure labels are exact Bernoulli draws by
    that table, so they are as private, however many there are.

    If the unit that is protected may move several votes (`Protection.reach`), the start is what
    this very account finds for one of them, by group privacy. It shrinks to what all labels
    together need if all of these votes move, so claims are never above group privacy.

    Attributes:
        start: The proof from parts of a label.
        composes: Whether more than `MOST_LABELS` labels, which take too long to charge together,
            are left to the start.
        refuses: Whether a task for which the account proves nothing is refused, and not left to
            the start.
    """

    start: Start
    composes: bool = False
    refuses: bool = False
    covers_groups = True

    @property
    def free_parameters(self):
        """The free parameters of the start."""
        return self.start.free_parameters

    @property
    def quantity(self) -> str:
        """The name of one label's sigma, by the start."""
        return self.start.quantity

    def charges_together(self, law: Law, task: Task, labels: int) -> bool:
        """Return whether that many labels are charged together, and not by the start alone."""
        settled = task.protection.reach == 1 and self.start.settles(task, labels)
        if settled or (self.composes and labels > MOST_LABELS):
            return False
        return law.has_dominating_pairs(task)

    def refusal(self, law, task):
        """Return why too many labels are refused, or a budget that rounding uses up; or None."""
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
        single = groups.divide_budget(task)
        try:
            proven = noise = self.find_noise(law, single, labels, **free)
        except NothingProven:
            proven = None
            noise = self.find_noise(law, replace(single, secure=False), labels, **free)
        if self.charges_together(law, task, int(noise.labels)):
            start = self.start.strip_audit(noise)
            share = least_noise_share(self, law, task, start)
            if share < 1 or (proven is None and math.isfinite(share)):
                continuous = task.ensemble.classes > 2 and not task.secure
                return replace(law.scale_noise(start, share), continuous=continuous)
        if proven is None:
            raise NothingProven
        return proven

    def guess_noise(self, law, task, labels, **free):
        """Return the start's noise, shrunk by the share of noise that all labels wanted need.

        If there are many labels, that share is estimated, because a search asks often.
        """
        if task.protection.reach > 1:  # group privacy comes close enough for a guess
            return self.guess_noise(law, groups.divide_budget(task), labels, **free)
        start = self.start.find_noise(law, task, labels, **free)
        if not self.charges_together(law, task, labels):
            return start
        many = task.wanted.labels >= _ENOUGH_TO_ESTIMATE
        find_share = _estimate_noise_share if many else least_noise_share
        share = find_share(self, law, task, self.start.find_noise(law, task, task.wanted.labels))
        return law.scale_noise(start, share) if math.isfinite(share) else start

    def cost(self, law, task, parameters):
        """Return the least cost that is proven."""
        if task.protection.reach > 1:
            proven = self._group_cost(law, task, parameters)
            return Cost(proven, proven)
        proven = self.start.cost(law, task, parameters).proven
        if self.charges_together(law, task, int(parameters.labels)):
            proven = min(proven, joint_cost(law, task, parameters))
        return Cost(proven, proven)

    def _group_cost(self, law: Law, task: Task, parameters: Parameters) -> float:
        """Return the least epsilon that the pairs of several votes or group privacy prove."""
        proven = math.inf
        if self.charges_together(law, task, int(parameters.labels)):
            proven = joint_cost(law, task, parameters)

        def single_vote_cost(single: Task) -> float:
            return self.cost(law, single, parameters).proven

        return min(proven, groups.group_cost(single_vote_cost, task))


@lru_cache(maxsize=512)
def least_noise_share(account: LabelAccount, law: Law, task: Task, start: Parameters) -> float:
    """Return the least share of the noise of `start` that the account proves to keep the budget.

    `least_scale_of_curves` finds it. It is not looked for where rounding takes all of delta.

    Returns:
        The share, which may exceed 1; infinity if none is found.
    """
    labels, epsilon, delta = int(start.labels), task.budget.epsilon, task.budget.delta
    fineness = grid_fineness(task.ensemble.classes, labels)

    def curve_at_share(share: float, fineness: float) -> PrivacyCurve:
        return label_curve(law, task, law.scale_noise(start, share), fineness)

    try:
        pairs = law.dominating_pairs(task, start)
        if loses_all(pairs, labels, epsilon, delta, task.ensemble.classes):
            return math.inf
        guess = _estimate_noise_share(account, law, task, start)
        return least_scale_of_curves(
            curve_at_share, labels, epsilon, delta, guess, fineness=fineness
        )
    except ValueError:
        return math.inf


@lru_cache(maxsize=512)
def _estimate_noise_share(account: LabelAccount, law: Law, task: Task, start: Parameters) -> float:
    """Return about what `least_noise_share` finds, as if losses were normal; at most 1."""
    labels = int(start.labels)
    share = share_of_scale(
        law.dominating_pairs(task, start), labels, task.budget.epsilon, task.budget.delta
    )
    return min(max(share, account.start.likely_share(task)), 1.0)


@upper_bound
@lru_cache(maxsize=512)
def joint_cost(law: Law, task: Task, parameters: Parameters) -> float:
    """Return an upper bound on the epsilon of all labels together, at the task's delta.

    If the labels keep the budget, the task's epsilon is a proven bound as well, and the lesser of
    both is returned.
    """
    labels = int(parameters.labels)
    fineness = grid_fineness(task.ensemble.classes, labels)
    curve = label_curve(law, task, replace(parameters, continuous=False), fineness)
    kept = curve.delta(task.budget.epsilon) <= task.budget.delta
    if kept:
        spent = curve.epsilon(task.budget.delta)
        if spent > _LEAST_SPENT * task.budget.epsilon:
            return min(task.budget.epsilon, spent)
    pairs = law.dominating_pairs(task, parameters)
    upper = adaptive_epsilon(pairs, labels, task.budget.delta, fineness=fineness).upper
    return min(task.budget.epsilon, upper) if kept else upper


@upper_bound
@lru_cache(maxsize=64)
def label_curve(law: Law, task: Task, parameters: Parameters, fineness: float) -> PrivacyCurve:
    """Return upper bounds on the privacy curve of all labels, near the task's budget.

    The curve is kept, because the cost of noise that a search has tried is asked for later.
    """
    return privacy_curve(
        law.dominating_pairs(task, parameters),
        int(parameters.labels),
        task.budget.epsilon,
        task.budget.delta,
        fineness=fineness,
        lower=False,
        least=_LEAST_SPENT * task.budget.epsilon,
    )


class SelectionAccount(LabelAccount):
    """A label account that, for more than two classes, charges the largest loss of a label.

    That loss is 2 rate for a moved vote. Secure labels have the very law that this is proven for.
    If several votes move, a loss is as many times as large, so that as many times the noise costs
    the same (docs/many-labels.md, "Groups").
    """

    def find_noise(self, law, task, labels, **free):
        if task.ensemble.classes == 2:
            return super().find_noise(law, task, labels, **free)
        single = task.single_vote_task()
        noise = self.start.find_noise(law, single, labels)
        if self.charges_together(law, single, labels):
            share = least_noise_share(self, law, single, noise)
            if share < 1:
                noise = law.scale_noise(noise, share)
        return law.scale_noise(noise, groups.group_noise_factor(task.protection.reach))

    def guess_noise(self, law, task, labels, **free):
        if task.ensemble.classes == 2:
            return super().guess_noise(law, task, labels, **free)
        noise = super().guess_noise(law, task.single_vote_task(), labels, **free)
        return law.scale_noise(noise, groups.group_noise_factor(task.protection.reach))

    def cost(self, law, task, parameters):
        """Return the least cost that is proven."""
        if task.ensemble.classes == 2:
            return super().cost(law, task, parameters)
        noise = law.scale_noise(parameters, groups.single_vote_noise_factor(task.protection.reach))
        return super().cost(law, task.single_vote_task(), noise)


gaussian = LabelAccount(GaussianStart(), refuses=True)
gumbel = SelectionAccount(SelectionStart(bounded_range=True), composes=True)
exponential = SelectionAccount(SelectionStart(), composes=True)
ladder = LabelAccount(LadderStart())
