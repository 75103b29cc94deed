"""The privacy ledger: what every mechanism of the papers claims, what is proven, what is true.

Nothing here looks at votes. A verdict is made of two numbers, each worked out on its own, or names
the proof that takes the place of the second (`audit.verdicts.verdict`).
"""

import functools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from private_ensembles.accounting.composition import replace_one_from_add_remove
from private_ensembles.audit.audited_labels import AuditedLabel
from private_ensembles.audit.bounds import epsilon_bounds
from private_ensembles.base.parameter_names import m_fold_delta, multiply
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import Mechanism, load_mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.papers.darrm.one_label import (
    LabelBudget,
    bound_audited_epsilon,
    calibrate_label,
    make_label_task,
)
from private_ensembles.papers.dpbag.law import BaggingNoise
from private_ensembles.papers.dpbag.mathematics.label_loss import plain_epsilon
from private_ensembles.papers.ledger.row import ledger_row
from private_ensembles.papers.nzc.mathematics.claims_and_truth import (
    claimed_readings,
    lead_one_epsilon,
    proven_epsilon,
)
from private_ensembles.papers.pate import configured_noise

# The printed numbers of labels come out with this noise (docs/dpbag.md), at the delta printed.
PRINTED = {"noise": 2, "delta": 1e-5}
_ROW = re.compile(r"(?P<name>SAA|DPBag) n=(?P<n>\d+)(?: k=(?P<k>\d+))?")
_COLUMN = re.compile(r"labels epsilon=(?P<epsilon>[\d.]+)")
_REPLACED = "method.md#a-record-that-is-replaced"


def ledger(
    settings: Mapping, gammas: Mapping[str, np.ndarray], published: pd.DataFrame
) -> pd.DataFrame:
    """Return the rows of results/privacy_ledger.csv, with the columns of `row.ledger_row`.

    Args:
        settings: budgets, pate, dpbag, nzc, mechanism and student_score, by name.
        gammas: by budget, DaRRM's optimised noise function, (K + 1,).
        published: as `published.read_published` returns it, PATE's Table 1 (of tasks that run with
            its parameters) and DPBag's tables of labels.

    Raises:
        ValueError: a gamma is not private at its budget.
    """
    rows: list[dict] = []
    for name, budget in settings["budgets"].items():
        rows += _budget_rows(name, budget, gammas[name])
    for name, task in settings["pate"].items():
        noise = {**task, "student_score": settings["student_score"]}
        rows += aggregator_rows(name, noise, 2)
        rows += _published_total_rows(name, task, published)
        if task["n_classes"] > 2:
            rows += aggregator_rows(name, noise, task["n_classes"])
    rows += bagging_rows(settings["dpbag"], published[published["paper"] == "dpbag"])
    for name, task in settings["nzc"].items():
        rows += _nzc_rows(name, task, settings["mechanism"])
    frame = pd.DataFrame(rows)
    numbers = [name for name in frame if name.endswith("_epsilon")]
    frame[numbers] = frame[numbers].astype(np.float64)  # not None: whole columns may be empty
    frame["data_dependent"] = frame["data_dependent"].map({True: "yes", False: "no"})
    frame["release"] = frame["release"].map({True: "for release", False: "not for release"})
    return frame


@dataclass(frozen=True)
class Calibration:
    """A budget, and every mechanism's parameters of one label within it."""

    budget: LabelBudget
    parameters: Mapping[str, Parameters]


def calibrate_budget(budget: Mapping, gamma: np.ndarray) -> Calibration:
    """Return one budget of the configuration, and all mechanisms' parameters for it.

    Args:
        budget: K, m, epsilon and Delta, by name.
        gamma: (K + 1,), the optimised one.

    Raises:
        ValueError: gamma is not private.
    """
    m, epsilon, Delta = budget["m"], budget["epsilon"], budget["Delta"]
    label_budget = LabelBudget(
        budget["K"],
        m,
        epsilon,
        Delta,
        multiply(m, epsilon),
        multiply(m, Delta),
        m_fold_delta(m, Delta),
    )
    optimised = {"gamma": np.asarray(gamma, dtype=np.float64)}
    parameters = {
        name: calibrate_label(load_mechanism(name), label_budget, optimised)
        for name in registry.single_label_mechanisms()
    }
    return Calibration(label_budget, parameters)


def _budget_rows(name: str, budget: Mapping, gamma: np.ndarray) -> Iterator[dict]:
    """Yield one label of two classes by every mechanism that a budget can be spent on."""
    calibration = calibrate_budget(budget, gamma)
    setting = f"{name}: one label, K = {budget['K']}, m = {budget['m']}"
    for mechanism in map(load_mechanism, registry.single_label_mechanisms()):
        task = make_label_task(mechanism.entry, calibration.budget)
        parameters = calibration.parameters[mechanism.name]
        trained_task = _task_as_trained(mechanism, task, budget, task.protection.adjacency)
        proven = mechanism.cost(trained_task, parameters).proven
        yield ledger_row(
            mechanism.name,
            setting,
            delta=task.budget.delta,
            privacy_model=task.protection.privacy_model,
            adjacency=task.protection.adjacency,
            claimed_epsilon=task.budget.epsilon,
            proven_epsilon=proven,
            **_audit_label(mechanism.law.build_audit(trained_task, parameters), task.budget.delta),
        )
    yield from _replaced_record_rows(setting, budget, calibration)


def _audit_label(audited: AuditedLabel, delta: float) -> dict[str, object]:
    """Return what the audit says of one label at delta: the exact epsilon, or what it is at least.

    A leak that uses up delta to its last bit, and probabilities that underflow, leave floats unable
    to tell a large epsilon from an infinite one.
    """
    if audited.assumes_claim:
        return {}
    exact = audited.worst_inputs(delta).epsilon
    if math.isfinite(exact):
        return {"exact_epsilon": exact}
    least = audited.epsilon_lower_bound(delta)
    return {"exact_epsilon" if math.isinf(least) else "lower_epsilon": least}


def _replaced_record_rows(
    setting: str, budget: Mapping, calibration: Calibration
) -> Iterator[dict]:
    """Yield the claims of private teachers if one record is replaced: two changes to a teacher.

    DaRRM defines neighbours so, while DP-SGD's accountants add or remove a record. What a teacher
    costs then follows from add_remove by group privacy of two: of what is stated of the teacher,
    and of the accountant's whole curve if the budget says how the teachers are trained. These are
    bounds: a teacher may cost less. The replace-one accountant's word is a claim without a proof.
    """
    mechanisms = map(load_mechanism, registry.single_label_mechanisms())
    private = [mechanism for mechanism in mechanisms if mechanism.guarantee.teachers == "private"]
    group, Delta = replace_one_from_add_remove(budget["epsilon"], budget["Delta"]), budget["Delta"]
    costs = {"group privacy": (group.epsilon, group.delta)}
    if budget.get("teachers"):
        cost = _teacher_epsilon(budget, "group", Delta), Delta
        costs["group privacy of the accountant's curve"] = cost
    for way, cost in costs.items():
        for mechanism in private:
            yield _replaced_record_row(
                mechanism, f"{setting}, teachers by {way}", cost, budget, calibration
            )
    if budget.get("teachers"):
        cost = _teacher_epsilon(budget, "replace_one", Delta), Delta
        for mechanism in private:
            if mechanism.guarantee.costs_once:
                row_setting = f"{setting}, teachers by the replace-one accountant"
                yield _replaced_record_row(mechanism, row_setting, cost, budget, calibration)


def _replaced_record_row(
    mechanism: Mechanism,
    setting: str,
    cost: tuple[float, float],
    budget: Mapping,
    calibration: Calibration,
) -> dict:
    """Return one label of teachers whose cost is (epsilon, Delta) if a record is replaced."""
    # If everything leaks, a task has no budget; a bit less is as good.
    largest_delta = math.nextafter(1, 0)
    Delta = min(cost[1], largest_delta)
    label_budget = replace(
        calibration.budget,
        teacher_epsilon=cost[0],
        teacher_Delta=Delta,
        delta=min(multiply(budget["m"], Delta), largest_delta),
        delta_gamma=min(m_fold_delta(budget["m"], cost[1]), largest_delta),
    )
    task = make_label_task(mechanism.entry, label_budget)
    trained_task = _task_as_trained(mechanism, task, budget, "replace_one")
    proven = bound_audited_epsilon(mechanism, trained_task, calibration.parameters[mechanism.name])
    return ledger_row(
        mechanism.name,
        setting,
        delta=task.budget.delta,
        privacy_model=task.protection.privacy_model,
        claimed_epsilon=task.budget.epsilon,
        proven_epsilon=proven,
        proof=_REPLACED,
    )


def _task_as_trained(mechanism: Mechanism, task: Task, budget: Mapping, adjacency: str) -> Task:
    """Return the task with what training proves of a teacher, if labels cost no more than that.

    DaRRM's noise is made for teachers as stated; labels without noise cost what their teachers do.
    """
    if not (mechanism.guarantee.costs_once and budget.get("teachers")):
        return task
    way = "add_remove" if adjacency == "add_remove" else "group"
    private = task.ensemble.private
    private = replace(private, epsilon=_teacher_epsilon(budget, way, private.delta))
    return replace(task, ensemble=replace(task.ensemble, private=private))


def _teacher_epsilon(budget: Mapping, way: str, Delta: float) -> float:
    """Return what one teacher costs at Delta by its training, rounded up to nine decimals.

    way: proven for add_remove, or for a replaced record by group privacy of the whole curve
    (`group`); `replace_one`: what that accountant says, whose pair nobody has proven the worst. The
    last bits differ from machine to machine.
    """
    from private_ensembles.training.teachers.accounting import epsilon_group, epsilon_pld
    from private_ensembles.training.teachers.training import poisson_schedule

    teachers = budget["teachers"]
    schedule = poisson_schedule(teachers["shard_size"], teachers["batch_size"], teachers["epochs"])
    training = teachers["noise_multiplier"], schedule.sample_rate, schedule.steps
    if way == "group":
        epsilon = epsilon_group(*training, Delta)
    else:
        epsilon = epsilon_pld(*training, Delta, way)
    return math.ceil(epsilon * 1e9) / 1e9


def aggregator_rows(name: str, noise: Mapping, n_classes: int) -> Iterator[dict]:
    """Yield one query at the noise of one of PATE's tasks, by each of its aggregators.

    A row is exact or a lower bound by whether all histograms could be looked at. The bound of one
    query is the same for all votes; totals are data-dependent.

    Args:
        name: of the task.
        noise: K, delta, the task's sections and student_score, by name.
        n_classes: of the query.
    """
    # The cost of the query is not limited, so that any epsilon serves.
    query = Task(Ensemble(noise["K"], n_classes), Budget(1.0, noise["delta"]), Wanted(1))
    words = "two classes" if n_classes == 2 else f"{n_classes} classes"
    for mechanism in configured_noise.aggregators():
        parameters = configured_noise.configured_parameters(mechanism, noise, n_classes)
        if parameters is None:
            continue
        cost = configured_noise.ACCOUNTS[mechanism.name].cost(mechanism.law, query, parameters)
        if n_classes == 2:
            audit = _audit_label(mechanism.law.build_audit(query, parameters), query.budget.delta)
        else:
            bounds = epsilon_bounds(
                functools.partial(mechanism.law.outcome_distribution, parameters=parameters),
                query.ensemble.teachers,
                n_classes,
                query.budget.delta,
                upper=cost.proven,
                **mechanism.law.numerical_error(query.ensemble.teachers, n_classes, parameters),
            )
            kind = "exact_epsilon" if bounds.exact else "lower_epsilon"
            audit = {kind: bounds.upper if bounds.exact else bounds.lower}
        row = ledger_row(
            mechanism.name,
            f"{name}: one query, {words}, K = {query.ensemble.teachers}",
            delta=query.budget.delta,
            claimed_epsilon=cost.claimed,
            proven_epsilon=cost.proven,
            **audit,
        )
        yield row | {"data_dependent": False}


def _published_total_rows(name: str, task: Mapping, published: pd.DataFrame) -> Iterator[dict]:
    """Yield the published total of a task, a data-dependent expectation.

    What is proven holds for all data sets.
    """
    table = published[
        (published["paper"] == "pate")
        & (published["item"] == "table1")
        & (published["dataset"] == name)
        & (published["column"] == "epsilon")
    ]
    totals = {
        row: (mechanism.name, *cost)
        for mechanism in configured_noise.aggregators()
        for row, cost in configured_noise.printed_totals(mechanism, task).items()
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
        yield row | {"release": False}  # a cost that tells about the votes


def bagging_rows(settings: Mapping, published: pd.DataFrame) -> Iterator[dict]:
    """Yield one label of SAA, of DPBag, and of DPBag for a record whose teachers are split evenly.

    What is proven is the labels' whole loss, composed for everyone, whatever the votes
    (`papers.dpbag.mathematics.label_loss`).

    Args:
        settings: n, k, noise (lambda = noise / n) and delta, by name.
        published: DPBag's tables of labels, whose rows for n shards follow; they are claims about
            the printed delta and lambda only.
    """
    n, k, delta = settings["n"], settings["k"], settings["delta"]
    rate = settings["noise"] / n
    bagged = load_mechanism("dpbag")
    for partitions, share, who in ((1, 1.0, "SAA"), (k, 1.0, "DPBag"), (k, 0.5, "DPBag, m = 1/2")):
        noise = BaggingNoise(n, partitions, rate, share)
        task = Task(Ensemble(partitions * n, 2), Budget(1.0, delta), Wanted(1))
        cost = bagged.cost(task, noise)
        row = ledger_row(
            "dpbag",
            f"{who}: one label, n = {n}, k = {partitions}",
            delta=delta,
            claimed_epsilon=cost.claimed,
            proven_epsilon=cost.proven,
            **_audit_label(bagged.law.build_audit(task, noise), delta),
        )
        # A personal cost tells how a record's teachers vote; the others hold for all votes.
        yield _mark_personal(row, personal=share < 1)
    if {key: settings[key] for key in PRINTED} == PRINTED:
        yield from _printed_count_rows(n, rate, published)


def _printed_count_rows(n: int, rate: float, published: pd.DataFrame) -> Iterator[dict]:
    """Return a row for each count of labels that is printed for n shards."""
    for cell in published[published["dataset"] == "adult"].to_dict("records"):
        match, column = _ROW.fullmatch(cell["row"]), _COLUMN.fullmatch(cell["column"])
        if match is None or column is None or int(match["n"]) != n:
            continue
        labels = int(cell["published"])
        row = ledger_row(
            "dpbag",
            f"adult, {cell['item']}: {labels} labels, {cell['row']}, printed",
            delta=PRINTED["delta"],
            claimed_epsilon=float(column["epsilon"]),
            proven_epsilon=plain_epsilon(labels, rate, PRINTED["delta"]),
        )
        # When a personal budget is spent, and so how many labels there are, depends on the votes.
        yield _mark_personal(row, personal=match["k"] is not None)


def _mark_personal(row: dict, *, personal: bool) -> dict:
    """Return a row that says whether its cost depends on the votes, so that it may not leave."""
    return row | {"data_dependent": personal, "release": row["release"] and not personal}


def _nzc_rows(name: str, task: Mapping, mechanism: Mapping) -> Iterator[dict]:
    """Yield both readings of gamma, for one label and for all, which cost no less than one."""
    constant, printed, delta = mechanism["constant"], mechanism["gamma"], task["delta"]
    noise = mechanism["noise"]
    readings = (("scale", printed, "a scale"), ("inverse_scale", 1 / printed, "an inverse scale"))
    for reading, scale, words in readings:
        for queries in (1, task["pool"]):
            exact = lead_one_epsilon(constant, scale, delta, noise=noise)
            proven = proven_epsilon(constant, scale, noise=noise, delta=delta / queries)
            claimed = claimed_readings(printed, queries, delta, noise=noise)[reading]
            yield ledger_row(
                "nzc",
                f"{name}: labels: {queries}, gamma = {printed:g} read as {words}",
                delta=delta,
                claimed_epsilon=claimed,
                proven_epsilon=queries * proven,
                exact_epsilon=exact if queries == 1 else None,
                lower_epsilon=None if queries == 1 else exact,
            )
