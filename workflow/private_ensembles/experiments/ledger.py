"""The privacy ledger: what every mechanism of the papers claims, what is proven, what is true.

Nothing here looks at votes. Exact values are the audit's, at delta times 1 + 1e-6: a
leak that uses up delta to its last bit must not read as an infinite loss.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from private_ensembles import mechanisms
from private_ensembles.accounting.composition import replace_one
from private_ensembles.audit.bounds import epsilon_bounds
from private_ensembles.configuration.naming import delta_of, multiply
from private_ensembles.dpbag.plain import plain_epsilon
from private_ensembles.experiments.ledger_row import LedgerRow, ledger_row
from private_ensembles.mechanisms.dpbag import BaggingNoise
from private_ensembles.mechanisms.families.base import Mechanism, Parameters
from private_ensembles.mechanisms.families.task import Budget, Task
from private_ensembles.nzc.claims import claimed_readings
from private_ensembles.nzc.truth import lead_one_epsilon, proven_epsilon

# With which the printed numbers of labels come out (docs/dpbag.md), and the delta printed.
_PRINTED = {"noise": 2, "delta": 1e-5}
_ROW = re.compile(r"(?P<name>SAA|DPBag) n=(?P<n>\d+)(?: k=(?P<k>\d+))?")
_COLUMN = re.compile(r"labels epsilon=(?P<epsilon>[\d.]+)")


def ledger(
    settings: Mapping, gammas: Mapping[str, np.ndarray], published: pd.DataFrame
) -> pd.DataFrame:
    """Return the rows of results/privacy_ledger.csv, columns of `audit.LedgerRow`.

    settings: of `configuration.nzc.audit`. gammas: by budget, DaRRM's optimised noise (K + 1,).
    published: `published.read_published` of PATE's Table 1 (of tasks that run with its parameters)
    and DPBag's tables of labels. Raises ValueError where a gamma is not private at its budget.
    """
    rows: list[LedgerRow] = []
    for name, budget in settings["budgets"].items():
        rows += _of_budget(name, budget, gammas[name])
    for name, task in settings["pate"].items():
        noise = {**task, "student_score": settings["student_score"]}
        rows += at_noise(name, noise, 2)
        rows += _of_table(name, task, published)
        if task["n_classes"] > 2:
            rows += at_noise(name, noise, task["n_classes"])
    rows += of_bagging(settings["dpbag"], published[published["paper"] == "dpbag"])
    for name, task in settings["nzc"].items():
        rows += _of_nzc(name, task, settings["mechanism"])
    frame = pd.DataFrame(rows)
    epsilons = [name for name in frame if name.endswith("_epsilon")]
    frame[epsilons] = frame[epsilons].astype(np.float64)  # not None: whole columns may be empty
    frame["data_dependent"] = frame["data_dependent"].map({True: "yes", False: "no"})
    frame["release"] = frame["release"].map({True: "for release", False: "not for release"})
    return frame


@dataclass(frozen=True)
class Given:
    """A budget, and every mechanism's parameters of one label within it."""

    budget: Budget
    parameters: Mapping[str, Parameters]


def setting(budget: Mapping, gamma: np.ndarray) -> Given:
    """Return one budget of the configuration (K, m, epsilon, Delta) and all parameters for it.

    gamma: (K + 1,), the optimised one; ValueError where it is not private.
    """
    K, m, epsilon, Delta = (budget[key] for key in ("K", "m", "epsilon", "Delta"))
    cost = multiply(m, epsilon), multiply(m, Delta), delta_of(m, Delta)
    one = Budget(K, m, epsilon, Delta, *cost)
    found = {"gamma": np.asarray(gamma, dtype=np.float64)}
    parameters = {
        mechanism.name: mechanism.for_budget(one, found) for mechanism in mechanisms.of_one_label()
    }
    return Given(one, parameters)


def _of_budget(name: str, budget: Mapping, gamma: np.ndarray) -> Iterator[LedgerRow]:
    """One label of two classes by every mechanism that a budget can be spent on."""
    given = setting(budget, gamma)
    where = f"{name}: one label, K = {budget['K']}, m = {budget['m']}"
    for mechanism in mechanisms.of_one_label():
        task, parameters = mechanism.terms(given.budget), given.parameters[mechanism.name]
        yield ledger_row(
            mechanism.name,
            where,
            delta=task.delta,
            privacy_model=task.privacy_model,
            adjacency=task.adjacency,
            claimed_epsilon=task.epsilon,
            proven_epsilon=min(task.epsilon, mechanism.cost(task, parameters).proven),
            exact_epsilon=mechanism.audited(task, parameters).exact_epsilon(task.delta),
        )
    yield from _replaced(where, budget, given)


def _replaced(where: str, budget: Mapping, given: Given) -> Iterator[LedgerRow]:
    """The same claims of private teachers where one record is replaced: two changes to a teacher.

    DaRRM defines neighbours so, while DP-SGD's accountants add or remove a record. What a teacher
    costs then: by group privacy of two, and by the replace-one accountant where the budget says how
    the teachers are trained. Bounds only: a teacher may cost less.
    """
    private = [one for one in mechanisms.of_one_label() if one.teachers == "private"]
    for way, (epsilon, Delta) in _one_replaced(budget).items():
        # Where everything leaks a task has no budget; a bit less is as good.
        Delta, leak = (min(x, math.nextafter(1, 0)) for x in (Delta, delta_of(budget["m"], Delta)))
        teacher = replace(
            given.budget, teacher_epsilon=epsilon, teacher_Delta=Delta, delta_gamma=leak
        )
        for mechanism in private:
            task = mechanism.terms(teacher)
            yield ledger_row(
                mechanism.name,
                f"{where}, teachers by {way}",
                delta=task.delta,
                privacy_model=task.privacy_model,
                claimed_epsilon=task.epsilon,
                proven_epsilon=mechanism.audited_bound(task, given.parameters[mechanism.name]),
            )


def _one_replaced(budget: Mapping) -> dict[str, tuple[float, float]]:
    """One teacher's (epsilon, Delta) for replace_one, by how it is proven."""
    group = replace_one(budget["epsilon"], budget["Delta"])
    found = {"group privacy": (group.epsilon, group.delta)}
    if training := budget.get("teachers"):
        from private_ensembles.teachers.accounting import epsilon_pld  # late: dp-accounting
        from private_ensembles.teachers.schedule import poisson_schedule

        plan = poisson_schedule(*(training[key] for key in ("shard_size", "batch_size", "epochs")))
        given = training["noise_multiplier"], plan.sample_rate, plan.steps, budget["Delta"]
        # Rounded up to nine decimals: the last bits differ from machine to machine.
        epsilon = math.ceil(epsilon_pld(*given, "replace_one") * 1e9) / 1e9
        found["the replace-one accountant"] = epsilon, budget["Delta"]
    return found


def at_noise(name: str, noise: Mapping, n_classes: int) -> Iterator[LedgerRow]:
    """One query at the noise of one of PATE's tasks, by each of its aggregators.

    noise: K, delta and the task's sections, and student_score. exact or lower: the audit's, by
    whether all histograms could be looked at. The bound of one query is the same for all votes;
    data-dependent are the totals.
    """
    words = "two classes" if n_classes == 2 else f"{n_classes} classes"
    # What it may cost is not limited, so that any epsilon serves.
    one = Task(1.0, noise["delta"], 1, 1, noise["K"], n_classes)
    for mechanism in mechanisms.aggregators():
        parameters = mechanism.at_noise(noise, n_classes)
        if parameters is None:
            continue
        cost = mechanism.cost_at_noise(one, parameters)
        row = ledger_row(
            mechanism.name,
            f"{name}: one query, {words}, K = {one.n_teachers}",
            delta=one.delta,
            claimed_epsilon=cost.claimed,
            **_bounds(mechanism, one, parameters, cost.proven),
        )
        yield replace(row, data_dependent=False)


def _bounds(mechanism: Mechanism, one: Task, parameters: Parameters, proven: float) -> dict:
    """What is proven of one query and what the audit says of it."""
    K, C = one.n_teachers, one.n_classes
    if C == 2:
        exact = mechanism.audited(one, parameters).exact_epsilon(one.delta)
        return {"proven_epsilon": proven, "exact_epsilon": exact}
    found = epsilon_bounds(
        lambda counts: mechanism.outcomes(counts, parameters),
        K,
        C,
        one.delta,
        upper=proven,
        **mechanism.error(K, C, parameters),
    )
    return {
        "proven_epsilon": max(proven, found.upper),
        "exact_epsilon": found.upper if found.exact else None,
        "lower_epsilon": None if found.exact else found.lower,
    }


def _of_table(name: str, task: Mapping, published: pd.DataFrame) -> Iterator[LedgerRow]:
    """The published total of a task: data-dependent, an expectation; proven: for all data sets."""
    table = published[
        (published["paper"] == "pate")
        & (published["item"] == "table1")
        & (published["dataset"] == name)
        & (published["column"] == "epsilon")
    ]
    totals = {
        row: (mechanism.name, *cost)
        for mechanism in mechanisms.aggregators()
        for row, cost in mechanism.printed_totals(task).items()
    }
    # Interactive-GNMax's rounds can be left out.
    for cell in table[table["row"].isin(list(totals))].to_dict("records"):
        mechanism, queries, proven = totals[cell["row"]]
        row = ledger_row(
            mechanism,
            f"{name}: {queries} queries, K = {task['K']}, published total",
            delta=task["delta"],
            claimed_epsilon=float(cell["published"]),
            proven_epsilon=proven,
        )
        yield replace(row, release=False)  # a cost that tells about the votes


def of_bagging(settings: Mapping, published: pd.DataFrame) -> Iterator[LedgerRow]:
    """One label of SAA, of DPBag, and of DPBag for a record whose teachers are split evenly.

    settings: n, k, noise (lambda = noise / n), delta. published: DPBag's tables of labels, whose
    rows for n shards follow; they are claims about the printed delta and lambda only. Proven: the
    exact composition of the labels for everyone (`dpbag.plain`), whatever the votes.
    """
    n, k, delta = settings["n"], settings["k"], settings["delta"]
    bagged = mechanisms.load("dpbag")
    rate = settings["noise"] / n
    for partitions, share, who in ((1, 1.0, "SAA"), (k, 1.0, "DPBag"), (k, 0.5, "DPBag, m = 1/2")):
        noise = BaggingNoise(n, partitions, rate, share)
        task = Task(1.0, delta, 1, 1, partitions * n, 2)
        cost = bagged.cost(task, noise)
        exact = bagged.audited(task, noise).exact_epsilon(delta)
        row = ledger_row(
            "dpbag",
            f"{who}: one label, n = {n}, k = {partitions}",
            delta=delta,
            claimed_epsilon=cost.claimed,
            proven_epsilon=cost.proven,
            exact_epsilon=exact if math.isfinite(exact) else None,  # Laplace tails underflow
        )
        # A personal cost tells how a record's teachers vote; the others hold for all votes.
        yield row if share < 1 else replace(row, data_dependent=False)
    if {key: settings[key] for key in _PRINTED} == _PRINTED:
        yield from _of_labels(n, rate, published)


def _of_labels(n: int, rate: float, published: pd.DataFrame) -> Iterator[LedgerRow]:
    for cell in published[published["dataset"] == "adult"].to_dict("records"):
        row, column = _ROW.fullmatch(cell["row"]), _COLUMN.fullmatch(cell["column"])
        if row is None or column is None or int(row["n"]) != n:
            continue
        labels, personal = int(cell["published"]), row["k"] is not None
        found = ledger_row(
            "dpbag",
            f"adult, {cell['item']}: {labels} labels, {cell['row']}, printed",
            delta=_PRINTED["delta"],
            claimed_epsilon=float(column["epsilon"]),
            proven_epsilon=plain_epsilon(labels, rate, _PRINTED["delta"]),
        )
        # When a personal budget is spent, and so how many labels there are, depends on the votes.
        yield replace(found, data_dependent=personal, release=not personal)


def _of_nzc(name: str, task: Mapping, mechanism: Mapping) -> Iterator[LedgerRow]:
    """Both readings of gamma, for one label and for all; all cost no less than one."""
    constant, printed, delta = mechanism["constant"], mechanism["gamma"], task["delta"]
    noise = mechanism["noise"]
    for reading, scale in (("scale", printed), ("inverse_scale", 1 / printed)):
        for queries in (1, task["pool"]):
            words = "a scale" if reading == "scale" else "an inverse scale"
            true = lead_one_epsilon(constant, scale, delta, noise=noise)
            proven = proven_epsilon(constant, scale, noise=noise, delta=delta / queries)
            claimed = claimed_readings(printed, queries, delta, noise=noise)[reading]
            yield ledger_row(
                "nzc",
                f"{name}: labels: {queries}, gamma = {printed:g} read as {words}",
                delta=delta,
                claimed_epsilon=claimed,
                proven_epsilon=queries * proven,
                exact_epsilon=true if queries == 1 else None,
                lower_epsilon=None if queries == 1 else true,
            )
