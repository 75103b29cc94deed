"""Several votes that move together: what one of them may cost, and what all of them cost.

Group privacy: if labels are (e, d)-DP for one vote of every query that moves, they are (g e, d
(exp(g e) - 1) / (exp(e) - 1))-DP for g votes. It holds for every mechanism and every adversary;
accounts that know more say less. Theorem and proof: docs/many-labels.md, "Groups".
"""

import math
from collections.abc import Callable
from dataclasses import replace

from private_ensembles.base.limits import LEAST_DELTA, LEAST_EPSILON, MOST_EPSILON
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.labels.task import Budget, Task

# Of exponentials and a few products.
_ROUNDING = 64 * UNIT_ROUNDOFF
_TRIES = 60
_FURTHEST = 700.0


def divide_budget(task: Task) -> Task:
    """Return the task whose budget one moved vote may cost, so that all of them keep the task's.

    >>> from private_ensembles.labels.task import Ensemble, Protection, Wanted
    >>> size, twice = Ensemble(50, 2), Protection.disjoint(reach=2)
    >>> task = Task(size, Budget(1.0, 1e-5), Wanted(10), twice)
    >>> one = divide_budget(task)
    >>> one.protection.reach, round(one.budget.epsilon, 6), f"{one.budget.delta:.3g}"
    (1, 0.5, '3.78e-06')

    Raises ValueError if that is too little for a budget (`refusal`).
    """
    epsilon = task.budget.epsilon / task.protection.reach * (1 - _ROUNDING)
    one = task.single_vote_task()
    return replace(one, budget=Budget(epsilon, single_vote_delta(epsilon, task)))


def refusal(task: Task) -> str | None:
    """Return that one vote's share of the budget is below what is accounted for, or None."""
    epsilon = task.budget.epsilon / task.protection.reach * (1 - _ROUNDING)
    delta = single_vote_delta(epsilon, task)
    if task.protection.reach == 1 or (epsilon >= LEAST_EPSILON and delta >= LEAST_DELTA):
        return None
    votes, share = task.protection.reach, f"({epsilon:.3g}, {delta:.3g})"
    return f"leaves each of {votes} votes too little of the budget: {share}"


def single_vote_delta(epsilon: float, task: Task) -> float:
    """Return the delta of one vote at its `epsilon` with which all votes keep the task's delta."""
    if task.protection.reach * epsilon > _FURTHEST:
        return 0.0  # the exponential would overflow
    growth = math.expm1(task.protection.reach * epsilon) / math.expm1(epsilon)
    return task.budget.delta / growth * (1 - _ROUNDING * (1 + task.protection.reach * epsilon))


def group_cost(single_vote_cost: Callable[[Task], float], task: Task) -> float:
    """Return an upper bound on what all votes that move together cost, at the task's delta.

    cost_of_one: the epsilon of a task of one vote, at its delta. Infinite if none is found. The
    budget of one vote is tried first, so that what was found for it is known to keep the task's.
    """
    if refusal(task):
        return math.inf
    at = divide_budget(task)
    for _ in range(_TRIES):
        spent = single_vote_cost(at)
        if spent <= at.budget.epsilon:
            return task.protection.reach * spent * (1 + _ROUNDING)
        # A larger epsilon of one vote leaves less delta for it, so that it costs a little more.
        spent *= 1 + 1e-3
        delta = single_vote_delta(spent, task) if spent <= MOST_EPSILON else 0.0
        if delta < LEAST_DELTA:
            return math.inf
        at = replace(at, budget=Budget(spent, delta))
    return math.inf


def group_noise_factor(group_size: int) -> float:
    """Return the factor of noise with which that many votes cost what one did, rounded up."""
    return 1.0 if group_size == 1 else group_size * (1 + _ROUNDING)


def single_vote_noise_factor(group_size: int) -> float:
    """Return the factor of noise with which one vote costs what that many did, rounded down."""
    return 1.0 if group_size == 1 else (1 - _ROUNDING / 4) / group_size
