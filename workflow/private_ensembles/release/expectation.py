"""What to expect of labels before one is drawn, and whether it is of use.

All of it is a function of the plan and of the stated profile, which are public: that a release is
stopped, and what is said of it, tells nothing about the votes.

How useful labels are is how much is left of what the teachers know: their plurality without noise
is right on some share of the profile's queries, guessing on another, and the labels come somewhere
in between. *Usefulness* is where, from 0 (no better than guessing) to 1 (as good as without noise).
Below `LEAST_USEFULNESS`, less than half is left, and the release stops unless it is allowed anyway.
Labels that are right less often than one teacher alone get a warning: the ensemble has not paid.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.budgets import disjoint_shards_majority_cost
from private_ensembles.base.limits import MOST_TEACHERS, is_budget
from private_ensembles.base.parameter_names import write_lower_bound, write_upper_bound
from private_ensembles.base.root_search import bisect_integers
from private_ensembles.base.rounding import round_up_in_context, sixty_digits
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.labels.assumed_profile import is_assumed, name_profile
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner import plan_scaling, planning
from private_ensembles.labels.planner.plan_scaling import ScaledPlan
from private_ensembles.labels.planner.ranking import Plan
from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.task import Task

# Labels that are less useful than this are released only if that is allowed (`anyway`).
LEAST_USEFULNESS = 0.5
# Labels are good if this share of them is right.
_GOOD = 0.8
# A change that adds less than this share of right labels is no advice.
_WORTH = 0.05
# At most so many pieces of advice are given.
_MOST = 3
# A budget above these promises little.
_LARGE_EPSILON, _LARGE_DELTA = 10.0, 1e-4


@dataclass(frozen=True)
class Advice:
    """A change that would give more right labels: what to change, and about how many are right."""

    what: str
    correct: float


@dataclass(frozen=True)
class Expectation:
    """What labels are worth on a profile.

    Attributes:
        wanted: How many labels are asked for.
        answers: How many labels are expected.
        correct: How many of them are expected to be right.
        guessing_accuracy: The share of queries on which guessing the commonest class is right.
        teacher_accuracy: The same for one teacher, who guesses if absent.
        plurality_accuracy: The same for the teachers' plurality without noise.
        profile: How teachers agree, on which all of this is expected.
        max_good_labels: The most labels, up to those wanted, of which 80 % would be right; 0 if not
            even one would be, None if it is not known.
        advice: What would help, the best first.
        warnings: What the budget does not promise.
    """

    wanted: int
    answers: float
    correct: float
    guessing_accuracy: float
    teacher_accuracy: float
    plurality_accuracy: float
    profile: ConsensusProfile
    max_good_labels: int | None
    advice: tuple[Advice, ...]
    warnings: tuple[str, ...]

    @property
    def accuracy(self) -> float:
        """Return the share of the labels that is right; that of guessing if there are none."""
        return self.correct / self.answers if self.answers > 0 else self.guessing_accuracy

    @property
    def usefulness(self) -> float:
        """Return the share that is left of what the plurality knows beyond guessing, at least 0.

        It is 0 if the plurality itself is no better than guessing.
        """
        gain = self.plurality_accuracy - self.guessing_accuracy
        return max(0.0, (self.accuracy - self.guessing_accuracy) / gain) if gain > 0 else 0.0

    @property
    def useful(self) -> bool:
        """Whether at least half of it is left."""
        return self.usefulness >= LEAST_USEFULNESS

    def summary_lines(self) -> list[str]:
        """Return what to expect, and what would help: four lines at most."""
        return [self._headline(), *self._advice_text()]

    def cautions(self, *, stops: bool = False) -> list[str]:
        """Return what must not be missed, as a list of texts.

        Args:
            stops: Whether labels of too little use are refused, which says so by itself.
        """
        texts = list(self.warnings)
        if not self.useful and not stops:
            texts.append(self._explain_low_usefulness())
        elif self.useful and self.accuracy < self.teacher_accuracy:
            texts.append(
                "one teacher alone would be right more often than these labels, but its own "
                "answers are not private"
            )
        return texts

    def require_useful(self, *, allow: str) -> None:
        """Refuse labels of too little use.

        Args:
            allow: How to go on all the same, for the message.

        Raises:
            ValueError: If they are; the message is one line.
        """
        if self.useful:
            return
        fewer = "ask for fewer labels"
        if self.max_good_labels is not None and self.max_good_labels > 0:
            fewer = f"ask for at most {self.max_good_labels} labels"
        assumed = is_assumed(vars(self.profile))
        yours = "say how your teachers agree (--profile-from), " if assumed else ""
        raise ValueError(
            f"{self._explain_low_usefulness()}: nothing was drawn or charged; {fewer}, "
            f"change the budget, {yours}or allow it with {allow}"
        )

    def report(self) -> dict:
        """Return the expectation for JSON."""
        return {
            "profile": name_profile(vars(self.profile)),
            "wanted": self.wanted,
            "answers": self.answers,
            "right": self.correct,
            "guessing_right": self.guessing_accuracy * self.answers,
            "one_teacher_right": self.teacher_accuracy * self.answers,
            "plurality_right": self.plurality_accuracy * self.answers,
            "usefulness": self.usefulness,
            "least_usefulness": LEAST_USEFULNESS,
            "useful": self.useful,
            "labels_80_percent_right": self.max_good_labels,
            "advice": [{"what": advice.what, "right": advice.correct} for advice in self.advice],
            "warnings": self.cautions(),
        }

    def _headline(self) -> str:
        asked = "" if round(self.answers) == self.wanted else f", of {self.wanted:,} wanted"
        mixture = vars(self.profile)
        yours = " (for yours: --profile-from)" if is_assumed(mixture) else ""
        return (
            f"expected on {name_profile(mixture)}{yours}: {self.correct:,.0f} of "
            f"{self.answers:,.0f} labels right{asked} ({_percent(self.accuracy)}; one teacher "
            f"alone would be right {_times(self.teacher_accuracy * self.answers)}, "
            f"{self._guess()} {_times(self.guessing_accuracy * self.answers)})"
        )

    def _guess(self) -> str:
        return "guessing" if self.profile.commonest is None else "the commonest class alone"

    def _explain_low_usefulness(self) -> str:
        profile = name_profile(vars(self.profile))
        if self.plurality_accuracy <= self.guessing_accuracy:
            return f"the teachers are no better than guessing on {profile}"
        return (
            f"usefulness = {self.usefulness:.2f}: must be at least {LEAST_USEFULNESS}, or less "
            f"than half is left of what the teachers know on {profile} "
            f"({_percent(self.accuracy)} of the labels would be right, "
            f"{_percent(self.plurality_accuracy)} without noise, "
            f"{_percent(self.guessing_accuracy)} by guessing)"
        )

    def _advice_text(self) -> list[str]:
        texts = []
        if self.max_good_labels == 0:
            texts.append(f"not even a single label would be right {_percent(_GOOD)} of the time")
        elif self.max_good_labels == 1 < self.wanted:
            texts.append(f"a single label would be right {_percent(_GOOD)} of the time")
        elif self.max_good_labels is not None and self.max_good_labels < self.wanted:
            texts.append(
                f"with {self.max_good_labels:,} labels or fewer, {_percent(_GOOD)} would be right"
            )
        texts += [f"{advice.what}: about {advice.correct:,.0f} right" for advice in self.advice]
        return texts[:_MOST]


def expect_labels(task: Task, plan: Plan, seed: int) -> Expectation:
    """Return what labels are worth by a plan that applies; takes a fraction of a second.

    What fewer labels or another budget would give is about right: the noise is scaled, not proven.

    Args:
        task: What is wanted, with its profile.
        plan: A mechanism with its noise.
        seed: The seed of the profile's votes, as the plan had it.

    >>> from private_ensembles.labels.planner.defaults import ASSUMED_PROFILE
    >>> from private_ensembles.labels.profile import ConsensusProfile
    >>> from private_ensembles.labels.task import Budget, Ensemble, Wanted
    >>> profile = ConsensusProfile(7, **ASSUMED_PROFILE)
    >>> task = Task(Ensemble(40, 7), Budget(2, 1e-5), Wanted(300), profile=profile)
    >>> (plan,) = planning.rank_on_profile(task, ["gnmax_analytic"], 0)
    >>> expected = expect_labels(task, plan, 0)
    >>> round(expected.correct), expected.max_good_labels
    (89, 15)
    >>> round(expected.usefulness, 2), expected.useful
    (0.2, False)
    """
    assert task.profile is not None  # a task that is planned has one
    votes, truth = planning.profile_votes(task, seed)
    scaled, answers = ScaledPlan(task, plan), max(plan.answers, 0.0)
    plurality = float((votes.argmax(axis=1) == truth).mean())
    teacher = float(votes[np.arange(len(truth)), truth].mean() / task.ensemble.teachers)
    good = _max_good_labels(scaled, votes, truth)
    twice = _advise_twice_the_budget(scaled, votes, truth)
    del votes  # those of one more teacher are as large, and memory need not hold both
    offered = [_private_teachers(task, plurality), twice, _advise_one_more_teacher(scaled, seed)]
    return Expectation(
        wanted=task.wanted.labels,
        answers=answers,
        correct=plan.correct,
        guessing_accuracy=float(task.profile.frequencies.max()),
        teacher_accuracy=teacher,
        plurality_accuracy=plurality,
        profile=task.profile,
        max_good_labels=good,
        advice=_best_advice(offered, plan.correct),
        warnings=(*budget_warnings(task), *_profile_warnings(task, task.profile)),
    )


def announce_and_check(
    expectation: Expectation,
    *,
    secure: bool,
    anyway: bool,
    allow: str = "anyway=True",
    say: Callable[[str], None] | None = None,
) -> None:
    """Say what to expect, and stop what is of too little use, before a label is drawn.

    Args:
        expectation: What the labels are worth.
        secure: Whether labels are for release; a rehearsal is never stopped.
        anyway: Go on even if labels are of too little use.
        allow: How to set `anyway`, for the message.
        say: Called with each line; None: warnings become Python's.

    Raises:
        ValueError: As `Expectation.require_useful`.
    """
    stops = secure and not anyway
    cautions = expectation.cautions(stops=stops)
    if say is None:
        for text in cautions:
            warnings.warn(text, stacklevel=3)
    else:
        for text in [*expectation.summary_lines(), *(f"warning: {text}" for text in cautions)]:
            say(text)
    if stops:
        expectation.require_useful(allow=allow)


@upper_bound
def max_odds(epsilon: float) -> float:
    """Return by how much the labels multiply the odds of a guess at most: e^epsilon, rounded up.

    It is infinite beyond all floats.

    >>> round(max_odds(2.0), 4)
    7.3891
    """
    with sixty_digits():
        return round_up_in_context(Decimal(epsilon).exp())


@upper_bound
def max_attack_accuracy(epsilon: float, delta: float) -> float:
    """Return how often a bet that was 50:50 is right at most after seeing the labels.

    With (epsilon, delta)-DP no test of two neighbours is right more often than
    (e^epsilon + delta) / (1 + e^epsilon) if both are equally likely, because misses and false
    alarms add up to at least 2 (1 - delta) / (1 + e^epsilon). It is rounded up.

    References:
        Kairouz, Oh and Viswanath 2015, Theorem 2.1.

    >>> round(max_attack_accuracy(2.0, 1e-5), 4), round(max_attack_accuracy(0.0, 0.0), 4)
    (0.8808, 0.5)
    """
    with sixty_digits():
        odds = Decimal(epsilon).exp()
        return min(1.0, round_up_in_context((odds + Decimal(delta)) / (1 + odds)))


def budget_warnings(task: Task) -> list[str]:
    """Return what a large epsilon or delta means, as a list of texts."""
    epsilon, delta, unit, texts = task.budget.epsilon, task.budget.delta, task.protection.unit, []
    if epsilon > _LARGE_EPSILON:
        odds = float(write_upper_bound(max_odds(min(epsilon, 700.0))))
        shown = f"{odds:,.0f}" if odds < 1e15 else f"{odds:g}"
        # Rounded down, as the text says "more than".
        sure = math.floor(10_000 * max_attack_accuracy(_LARGE_EPSILON, 0)) / 100
        texts.append(
            f"epsilon = {epsilon:g}: a bet on one {unit} that was 50:50 may be right more than "
            f"{sure:.2f} % of the time after seeing the labels (odds of {shown} : 1)"
        )
    if delta > 1 / (teachers := task.ensemble.teachers):
        texts.append(
            f"delta = {delta:g}: is above 1/{teachers}, so that it even allows publishing all data "
            f"of one of the {teachers} teachers, chosen at random"
        )
    elif delta > _LARGE_DELTA:
        texts.append(
            f"delta = {delta:g}: it even allows publishing all data of one {unit} in "
            f"{1 / delta:,.0f}, chosen at random; usual is a delta below {_LARGE_DELTA:g} and "
            f"below 1 / number of {unit}s"
        )
    return texts


def _profile_warnings(task: Task, profile: ConsensusProfile) -> list[str]:
    """Return a warning if ballots may be absent and the profile has every teacher vote."""
    if not task.ensemble.absent or profile.absent_share:
        return []
    return [
        "absent_share = 0: votes may be absent, but the profile lacks none, so fewer labels may be "
        "right than it says: state which share is missing, from public data"
    ]


def _max_good_labels(scaled: ScaledPlan, votes: NDArray, truth: NDArray) -> int | None:
    """Return the most labels, up to those wanted, of which 80 % are right; 0 if not even one is.

    None if it is not known how the noise depends on the number of labels.
    """
    plan, wanted = scaled.plan, scaled.task.wanted
    if plan.answers and plan.correct >= _GOOD * plan.answers:
        return wanted.labels

    def are_good(labels: int) -> bool | None:
        task = replace(scaled.task, wanted=replace(wanted, labels=labels))
        correct = plan_scaling.estimate_correct(scaled, task, votes, truth)
        return None if correct is None else correct >= _GOOD * labels

    single = are_good(1)
    if not single:
        return None if single is None else 0
    return bisect_integers(lambda labels: bool(are_good(labels)), wanted.labels, 1)


def _best_advice(offered: Sequence[Advice | None], correct: float) -> tuple[Advice, ...]:
    """Return what would give enough more right labels than there are, the best first."""
    worth = (1 + _WORTH) * correct
    best = [advice for advice in offered if advice is not None and advice.correct > worth]
    return tuple(sorted(best, key=lambda advice: -advice.correct))


def _private_teachers(task: Task, plurality: float) -> Advice | None:
    """Advise teachers that are private themselves: their plurality needs no noise."""
    protection = task.protection
    if task.ensemble.private is not None or protection.shards != "disjoint" or protection.reach > 1:
        return None
    epsilon, delta = task.budget.epsilon, task.budget.delta
    # A record that is replaced costs twice what one that comes or goes does.
    if task.protection.adjacency == "replace_one":
        epsilon = epsilon / 2
        delta = delta / (1 + math.exp(min(epsilon, 700.0)))
    epsilon, delta = (float(write_lower_bound(value, 3)) for value in (epsilon, delta))
    cost = disjoint_shards_majority_cost(epsilon, delta, task.protection.adjacency)
    if cost.epsilon > task.budget.epsilon or cost.delta > task.budget.delta:
        return None
    return Advice(
        f"with teachers as good as these, but trained with DP-SGD at epsilon = {epsilon:g}, delta "
        f"= {delta:g} (adding or removing one {protection.unit})",
        plurality * task.wanted.labels,
    )


def _advise_twice_the_budget(scaled: ScaledPlan, votes: NDArray, truth: NDArray) -> Advice | None:
    budget = scaled.task.budget
    epsilon = 2 * budget.epsilon
    if not is_budget(epsilon, budget.delta):
        return None
    task = replace(scaled.task, budget=replace(budget, epsilon=epsilon))
    correct = plan_scaling.estimate_correct(scaled, task, votes, truth)
    if correct is None:
        return None
    return Advice(f"with twice the budget, epsilon = {epsilon:g}", correct)


def _advise_one_more_teacher(scaled: ScaledPlan, seed: int) -> Advice | None:
    """Advise one more teacher as good as these, with the same noise, if it is on the counts."""
    task, plan = scaled.task, scaled.plan
    assert plan.parameters is not None  # the plan applies
    mechanism = load_mechanism(plan.mechanism)
    scales = mechanism.guarantee.hides_votes and "cap" in mechanism.account.free_parameters
    if not scales or task.ensemble.teachers >= MOST_TEACHERS:
        return None
    larger = replace(task, ensemble=replace(task.ensemble, teachers=task.ensemble.teachers + 1))
    votes, truth = planning.profile_votes(larger, seed)
    _, correct = mechanism.law.expected_answers(votes, truth, larger, plan.parameters)
    return Advice("with one more teacher as good as these", correct)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _times(number: float) -> str:
    return "once" if round(number) == 1 else f"{number:,.0f} times"
