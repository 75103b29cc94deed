"""Teachers that are private themselves: DaRRM's one label, a committee, and one teacher of a shard.

One label (Lemma 3.4 of DaRRM): with (epsilon, Delta)-DP teachers and a certified gamma it is
(m epsilon, delta)-DP, whichever records the teachers share. Teachers that are trained once
answer every query with the same randomness, so these guarantees do not compose over queries
(docs/darrm.md). Many labels are post-processing of all K teachers, whose composition
covers any number of them. If the budget has room for it, no noise is needed at all.

A person who reaches several shards (`Protection.reach`) is in the data of several teachers.
What is proven of teachers that share all data holds for whichever of them see a record, all of
them included, so it covers any number of shards. On disjoint shards as many teachers compose.

One teacher's cost, for all that it sees of the protected unit, is that of `majority_cost` for
the task's adjacency. For replace_one it is that of group privacy of two, which also holds if
every teacher sees every record.
"""

import math
from abc import abstractmethod

from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import Composition, optimal_composition
from private_ensembles.base.root_search import bisect_integers
from private_ensembles.labels.accounts.account import Account
from private_ensembles.labels.parameters import Cost
from private_ensembles.labels.task import Task
from private_ensembles.papers.darrm.committee_law import Members
from private_ensembles.papers.darrm.law import NoisyMajority, subsampled_cost
from private_ensembles.papers.darrm.majority import Answers
from private_ensembles.papers.darrm.mathematics.certificate import (
    certify_problem,
    scale_to_allowance,
)
from private_ensembles.papers.darrm.mathematics.gamma import check_gamma, gamma_subsampling
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem


def compose_teachers(task: Task, members: int) -> float:
    """Return what that many teachers cost together, an epsilon at the task's delta.

    References:
        Kairouz et al., Theorem 3.3 (`optimal_composition`).
    """
    teacher = task.teacher_cost()
    return optimal_composition(teacher.epsilon, teacher.delta, members, task.budget.delta).epsilon


def refuse_absent_teachers(task: Task) -> str | None:
    """Return why absent ballots are not covered if teachers may be absent, else None."""
    if not task.ensemble.absent:
        return None
    return (
        "proven for teachers whose votes are their own, not for absent ballots that are dealt out: "
        "covered if every teacher votes, for instance an absent one by a coin of its own"
    )


class GammaAccount(Account):
    """DaRRM's gamma for the allowance m of a label; m = K is the plain majority of all teachers."""

    covers_groups = True

    def refusal(self, law, task):
        """Require odd K, and one label unless the budget pays for all teachers."""
        if reason := refuse_absent_teachers(task):
            return reason
        if task.ensemble.teachers % 2 == 0:
            return "for an odd number of teachers"
        if reason := task.teacher_refusal():
            return reason
        all_teachers = compose_teachers(task, task.ensemble.teachers)
        if task.wanted.labels > 1 and all_teachers > task.budget.epsilon:
            return (
                "proven for one label: teachers that are trained once share their randomness "
                f"between queries, and all of them together cost {all_teachers:.4g}"
            )
        return None

    @abstractmethod
    def allowance(self, task: Task, teacher: Composition) -> float:
        """Return the largest m at which one label keeps the budget, in [1, K]."""

    @abstractmethod
    def certified_gamma(self, problem: PrivacyProblem, optimised: ArrayLike) -> NDArray:
        """Return the certified gamma of DaRRM's tables, (K + 1,).

        Args:
            problem: what it must keep.
            optimised: (K + 1,), the gamma that the job `optimize_gamma` has found, if it is needed.
        """

    def find_noise(self, law, task, labels, **free):
        """Return no noise if the budget pays for all teachers, else m and delta of one label."""
        K, teacher = task.ensemble.teachers, task.teacher_cost()
        pays_for_all = compose_teachers(task, K) <= task.budget.epsilon
        m = float(K) if pays_for_all else self.allowance(task, teacher)
        return NoisyMajority(m, labels, K, task.budget.delta, teacher.epsilon, teacher.delta)

    def cost(self, law, task, parameters):
        """Return the cost of all teachers, or of the one label."""
        if parameters.m == task.ensemble.teachers and parameters.gamma is None:
            proven = compose_teachers(task, task.ensemble.teachers)
        else:
            proven = self.label_cost(parameters)
        return Cost(proven, proven)

    def label_cost(self, parameters: NoisyMajority) -> float:
        """Return what one label costs."""
        return allowed_cost(parameters)


def allowed_cost(parameters: NoisyMajority) -> float:
    """Return what one label costs by a gamma that is certified for the allowance m."""
    return parameters.m * parameters.teacher_epsilon * (1 + 1e-15)


class SubsampledAccount(GammaAccount):
    """DaRRM's gamma by subsampling: a label costs at most the composition of m teachers."""

    def allowance(self, task, teacher):
        """Find by bisection the largest m, below K, whose teachers keep the budget."""

        def fits(m: int) -> bool:
            return compose_teachers(task, m) <= task.budget.epsilon

        return float(bisect_integers(fits, task.ensemble.teachers, 1))

    def label_cost(self, parameters):
        """Return the cost of m teachers, or what a given gamma's certificate says."""
        if parameters.gamma is not None:
            return allowed_cost(parameters)
        return subsampled_cost(parameters)

    def certified_gamma(self, problem, optimised):
        """Return the closed form, scaled until its certificate holds in floating point.

        It spends its allowance exactly, so the scaling takes about 1e-12 off.
        """
        return scale_to_allowance(problem, gamma_subsampling(problem.K, problem.m))[0]


class OptimisedAccount(GammaAccount):
    """DaRRM's gamma by cutting planes, for any real allowance m and the whole of delta."""

    def allowance(self, task, teacher):
        """Return the budget over one teacher's epsilon, rounded down; below K (no noise)."""
        m = task.budget.epsilon / teacher.epsilon * (1 - 1e-12)
        return max(1.0, min(m, math.nextafter(task.ensemble.teachers, 0)))

    def certified_gamma(self, problem, optimised):
        """Return the gamma that `optimize_gamma` has found.

        Raises:
            ValueError: it is not private.
        """
        gamma = check_gamma(optimised)
        if not certify_problem(problem, gamma).holds:
            size = f"K = {problem.K}, m = {problem.m}"
            raise ValueError(f"gamma: must be private for {size}, but is not")
        return gamma


class CommitteeAccount(Account):
    """A committee: the composition of its members, for any number of queries and classes."""

    covers_groups = True

    def refusal(self, law, task):
        """Require that the budget pays for one teacher, and that each teacher's votes are known."""
        if task.counts_only:
            return "needs each teacher's votes, not counts"
        if reason := refuse_absent_teachers(task):
            return reason
        return task.teacher_refusal()

    def find_noise(self, law, task, labels, **free):
        """Return the largest committee; for two classes an odd one, which is right as often."""

        def fits(members: int) -> bool:
            return compose_teachers(task, members) <= task.budget.epsilon

        members = task.ensemble.teachers
        if not fits(members):
            members = bisect_integers(fits, members, 1)
        if task.ensemble.classes == 2 and members % 2 == 0:
            members -= 1
        return Members(members, labels)

    def cost(self, law, task, parameters):
        """Return the members' composition, which covers any number of labels."""
        proven = compose_teachers(task, parameters.members)
        return Cost(proven, proven)


class OneTeacher(Account):
    """Disjoint shards: one teacher's cost covers any number of labels, by parallel composition.

    If the protected unit reaches several shards, the composition of as many teachers does.
    """

    covers_groups = True

    def refusal(self, law, task):
        """Require that the teachers whom the unit reaches keep the budget by themselves."""
        if task.protection.reach == 1:
            return task.teacher_refusal()
        cost = compose_teachers(task, task.protection.reach)
        if cost <= task.budget.epsilon:
            return None
        return f"{task.protection.reach} teachers cost {cost:.4g} together, more than the budget"

    def find_noise(self, law, task, labels, **free):
        """Return no noise: the labels are the plain majority's."""
        return Answers(labels)

    def cost(self, law, task, parameters):
        """Return the cost of the teachers whom the unit reaches, for any number of labels."""
        reach = task.protection.reach
        proven = task.teacher_cost().epsilon if reach == 1 else compose_teachers(task, reach)
        return Cost(proven, proven)


subsampled = SubsampledAccount()
optimised = OptimisedAccount()
committee = CommitteeAccount()
one_teacher = OneTeacher()
