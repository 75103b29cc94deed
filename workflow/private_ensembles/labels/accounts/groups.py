"""Several votes that move together: what one of them may cost, and what all of them cost.

Group privacy: if labels are (e, d)-DP for one vote of every query that moves, they are (g e, d
(exp(g e) - 1) / (exp(e) - 1))-DP for g votes. It holds for every mechanism and every adversary. An
account that knows more of the mechanism proves a smaller cost. Theorem and proof:
docs/many-labels.md, "Groups".
"""

import math
from collections.abc import Callable
from dataclasses import replace

from private_ensembles.base.limits import LEAST_DELTA, LEAST_EPSILON, MOST_EPSILON
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.base.stated_bounds import lower_bound, upper_bound
from private_ensembles.labels.task import Budget, Task

# Exponentials and a few products round by less than this share.
_ROUNDING = 64 * UNIT_ROUNDOFF
# The search for a group's cost ends after so many steps.
_TRIES = 60
# The exponential of a larger number may overflow.
_LARGEST_EXPONENT = 700.0


def divide_budget(task: Task) -> Task:
    """Return the task of one moved vote whose budget, by group privacy, keeps that of all votes.

    Raises:
        ValueError: The share of one vote is too little for a budget (`refusal`).

    >>> from private_ensembles.labels.task import Ensemble, Protection, Wanted
    >>> size, twice = Ensemble(50, 2), Protection.disjoint(reach=2)
    >>> task = Task(size, Budget(1.0, 1e-5), Wanted(10), twice)
    >>> single = divide_budget(task)
    >>> single.protection.reach, round(single.budget.epsilon, 6), f"{single.budget.delta:.3g}"
    (1, 0.5, '3.78e-06')
    """
    epsilon = task.budget.epsilon / task.protection.reach * (1 - _ROUNDING)
    single = task.single_vote_task()
    return replace(single, budget=Budget(epsilon, single_vote_delta(epsilon, task)))


def refusal(task: Task) -> str | None:
    """Return why one vote's share of the budget is too little to account for, or None."""
    epsilon = task.budget.epsilon / task.protection.reach * (1 - _ROUNDING)
    delta = single_vote_delta(epsilon, task)
    if task.protection.reach == 1 or (epsilon >= LEAST_EPSILON and delta >= LEAST_DELTA):
        return None
    votes, share = task.protection.reach, f"({epsilon:.3g}, {delta:.3g})"
    return f"leaves each of {votes} votes too little of the budget: {share}"


@lower_bound
def single_vote_delta(epsilon: float, task: Task) -> float:
    """Return the delta that one vote may have so that all votes keep the task's delta.

    Args:
        epsilon: The epsilon of one vote.
        task: The task of all votes.

    Returns:
        The delta, rounded down; 0 if the exponential would overflow.
    """
    if task.protection.reach * epsilon > _LARGEST_EXPONENT:
        return 0.0
    growth = math.expm1(task.protection.reach * epsilon) / math.expm1(epsilon)
    return task.budget.delta / growth * (1 - _ROUNDING * (1 + task.protection.reach * epsilon))


@upper_bound
def group_cost(single_vote_cost: Callable[[Task], float], task: Task) -> float:
    """Return an upper bound on the epsilon of all votes that move together, by group privacy.

    The share of one vote in the task's budget is tried first, so that noise that was found for it
    is known to keep the task's budget.

    Args:
        single_vote_cost: The epsilon of a task of one vote, at that task's delta.
        task: The task of all votes, whose delta the bound holds at.

    Returns:
        The bound, or infinity if none is found.
    """
    if refusal(task):
        return math.inf
    single = divide_budget(task)
    for _ in range(_TRIES):
        spent = single_vote_cost(single)
        if spent <= single.budget.epsilon:
            return task.protection.reach * spent * (1 + _ROUNDING)
        # A larger epsilon of one vote leaves less delta for it, so that it costs a little more.
        spent *= 1 + 1e-3
        delta = single_vote_delta(spent, task) if spent <= MOST_EPSILON else 0.0
        if delta < LEAST_DELTA:
            return math.inf
        single = replace(single, budget=Budget(spent, delta))
    return math.inf


@upper_bound
def group_noise_factor(group_size: int) -> float:
    """Return how many times the noise lets a group of votes cost what one did, rounded up."""
    return 1.0 if group_size == 1 else group_size * (1 + _ROUNDING)


@lower_bound
def single_vote_noise_factor(group_size: int) -> float:
    """Return what share of the noise lets one vote cost what the group did, rounded down."""
    return 1.0 if group_size == 1 else (1 - _ROUNDING / 4) / group_size
