"""One label of two classes that may cost what m of K private teachers cost (DaRRM, section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from private_ensembles.accounting.composition import replace_one_from_add_remove, simple_composition
from private_ensembles.labels.mechanism import Mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.registry import Entry
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
)
from private_ensembles.papers.darrm.committee_law import Members
from private_ensembles.papers.darrm.law import NoisyMajority
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem


@dataclass(frozen=True)
class LabelBudget:
    """One label of two classes may cost what m of K private teachers cost (DaRRM, section 6).

    Attributes:
        K: odd number of teachers.
        m: privacy allowance.
        teacher_epsilon: one private teacher's, for add_remove.
        teacher_Delta: one private teacher's, for add_remove.
        epsilon: of a label, m times the teacher's.
        delta: of a label, m times the teacher's.
        delta_gamma: 1 - (1 - Delta)^m, the delta of DaRRM's labels.
        keyed_hash: no other record moves when one is added or removed, so that the shards serve
            add_remove.
        secure: as in `Task`.
    """

    K: int
    m: int
    teacher_epsilon: float
    teacher_Delta: float
    epsilon: float
    delta: float
    delta_gamma: float
    keyed_hash: bool = True
    secure: bool = False


def make_label_task(entry: Entry, budget: LabelBudget) -> Task:
    """Return the one label of two classes that the budget pays for, and in which model.

    Noise on the votes gets the whole budget. DaRRM claims that all teachers see all data, in their
    accountant's adjacency; so does a committee of m teachers. Without noise on disjoint shards the
    label costs one teacher, for any number of queries. Shards that are cut from a permutation serve
    replace_one, so that cost is one teacher's by group privacy; a keyed hash serves add_remove, at
    the accountant's own cost.

    References:
        docs/method.md, "Private teachers".
    """
    task = Task(
        Ensemble(budget.K, 2), Budget(budget.epsilon, budget.delta), Wanted(1), secure=budget.secure
    )
    if entry.guarantee.teachers == "plain":
        return task
    epsilon, delta = budget.teacher_epsilon, budget.teacher_Delta
    task = replace(task, ensemble=replace(task.ensemble, private=Budget(epsilon, delta)))
    if "shared_data" not in entry.guarantee.privacy_models:
        if budget.keyed_hash:
            return replace(
                task,
                budget=Budget(epsilon, delta),
                protection=replace(task.protection, adjacency="add_remove"),
            )
        group = replace_one_from_add_remove(epsilon, delta)
        return replace(
            task,
            budget=Budget(group.epsilon, group.delta),
            protection=replace(task.protection, adjacency="replace_one"),
        )
    shared = replace(task, protection=Protection.shared(adjacency="add_remove"))
    if entry.guarantee.costs_once:
        cost = simple_composition(epsilon, delta, min(budget.m, budget.K))
        return replace(shared, budget=replace(shared.budget, epsilon=cost.epsilon))
    return replace(shared, budget=replace(shared.budget, delta=budget.delta_gamma))


def calibrate_label(mechanism: Mechanism, budget: LabelBudget, precomputed: Mapping) -> Parameters:
    """Return the parameters of one label within the budget.

    Args:
        mechanism: of the label.
        budget: what the label may cost.
        precomputed: what other jobs have found for it: gamma, the optimised one, and GNMax's sigmas
            by quantity, as `search_gnmax_sigma` writes them. What is missing is calibrated here.
    """
    entry, account = mechanism.entry, mechanism.account
    task = make_label_task(entry, budget)
    if entry.guarantee.teachers == "private" and not entry.guarantee.costs_once:
        epsilon, Delta = budget.teacher_epsilon, budget.teacher_Delta
        problem = PrivacyProblem(budget.K, budget.m, epsilon, Delta, budget.delta_gamma)
        gamma = account.certified_gamma(problem, precomputed.get("gamma"))
        return NoisyMajority(budget.m, 1, budget.K, budget.delta_gamma, epsilon, Delta, gamma=gamma)
    if "shared_data" in entry.guarantee.privacy_models:
        return Members(min(budget.m, budget.K), 1)
    if account.quantity in precomputed:
        parameters = account.ensure_proven(
            mechanism.law.noise_at_scale(precomputed[account.quantity]), task
        )
        mechanism.require_bernoulli_within_delta(task, parameters)
        return parameters
    return mechanism.calibrate(task)


def bound_audited_epsilon(mechanism: Mechanism, task: Task, parameters: Parameters) -> float:
    """Return an epsilon that one label has, for teachers as private as the task says.

    DaRRM's is that of the worst teachers; all other labels cost what their account says.
    """
    if mechanism.guarantee.teachers == "plain" or mechanism.guarantee.costs_once:
        return mechanism.cost(task, parameters).proven
    teacher = {
        "teacher_epsilon": task.ensemble.private.epsilon,
        "teacher_Delta": task.ensemble.private.delta,
    }
    audited = mechanism.law.build_audit(task, replace(parameters, **teacher))
    return audited.worst_inputs(task.budget.delta).epsilon
