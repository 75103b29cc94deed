"""The privacy ledger: what every mechanism of the papers claims, what is proven, what is true.

Nothing here looks at votes. Exact values are the audit's (`catalogue`), at delta times 1 + 1e-6: a
leak that uses up delta to its last bit must not read as an infinite loss.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from private_ensembles.accounting.composition import optimal_homogeneous, replace_one
from private_ensembles.audit.shared_data import shared_data_epsilon
from private_ensembles.configuration.naming import delta_of, multiply
from private_ensembles.darrm.certificate import scale_to_allowance
from private_ensembles.darrm.gamma import gamma_subsampling
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.darrm.release import label_probability
from private_ensembles.experiments.ledger_bagging import bagging
from private_ensembles.experiments.ledger_many_classes import many_classes
from private_ensembles.experiments.ledger_row import LedgerRow, ledger_row
from private_ensembles.mechanisms.catalogue.entry import ConfidentNoise, Entry, Setting
from private_ensembles.mechanisms.catalogue.every import entries, entries_at_noise
from private_ensembles.nzc.claims import claimed_readings
from private_ensembles.nzc.truth import lead_one_epsilon, proven_epsilon
from private_ensembles.pate.data_independent import exact_data_independent_epsilon

_NEXT = 1 + 1e-6


def ledger(
    settings: Mapping, gammas: Mapping[str, np.ndarray], published: pd.DataFrame
) -> pd.DataFrame:
    """Return the rows of results/privacy_ledger.csv, columns of `audit.LedgerRow`.

    settings: of `configuration.nzc.audit`. gammas: by budget, DaRRM's optimised noise (K + 1,).
    published: `published.read_published` of PATE's Table 1 (of tasks that run with its parameters)
    and DPBag's tables of labels. Raises
    ValueError where a gamma is not private at its budget.
    """
    rows: list[LedgerRow] = []
    for name, budget in settings["budgets"].items():
        rows += _of_budget(name, budget, gammas[name])
    for name, task in settings["pate"].items():
        rows += _of_noise(name, task, settings["student_score"])
        rows += _of_table(name, task, published)
        if task["n_classes"] > 2:
            rows += many_classes(name, task)
    rows += bagging(settings["dpbag"], published[published["paper"] == "dpbag"])
    for name, task in settings["nzc"].items():
        rows += _of_nzc(name, task, settings["mechanism"])
    frame = pd.DataFrame([row.to_dict() for row in rows])
    epsilons = [name for name in frame if name.endswith("_epsilon")]
    frame[epsilons] = frame[epsilons].astype(np.float64)  # not None: whole columns may be empty
    frame["data_dependent"] = frame["data_dependent"].map({True: "yes", False: "no"})
    frame["release"] = frame["release"].map({True: "for release", False: "not for release"})
    return frame


def setting(budget: Mapping, gamma: np.ndarray) -> Setting:
    """Return the catalogue's setting of one budget (K, m, epsilon, Delta) and optimised gamma."""
    K, m, epsilon, Delta = (budget[key] for key in ("K", "m", "epsilon", "Delta"))
    leak = delta_of(m, Delta)
    problem = PrivacyProblem(K, m, epsilon, Delta, leak)
    found = {
        "darrm_sub": scale_to_allowance(problem, gamma_subsampling(K, m))[0],
        "darrm_opt": np.asarray(gamma, dtype=np.float64),
    }
    return Setting(K, multiply(m, epsilon), multiply(m, Delta), epsilon, Delta, leak, found)


def _of_budget(name: str, budget: Mapping, gamma: np.ndarray) -> Iterator[LedgerRow]:
    """One label of two classes by every mechanism that a budget can be spent on."""
    given = setting(budget, gamma)
    where = f"{name}: one label, K = {budget['K']}, m = {budget['m']}"
    for entry in entries(given).values():
        if entry.name != "nzc":  # its rows are made of logarithms: e^(-1e90) is no float
            yield _row(entry, where)
    yield from _replaced(where, budget, given.gamma, given.epsilon)


def _replaced(where, budget, gammas, claimed) -> Iterator[LedgerRow]:
    """The same claims where one record is replaced, which costs a teacher two changes.

    DaRRM defines neighbours so, while DP-SGD's accountants add or remove a record. What a teacher
    costs then: by group privacy of two, and by the replace-one accountant where the budget says how
    the teachers are trained. Bounds only: a teacher may cost less.
    """
    for way, (epsilon, Delta) in _one_replaced(budget).items():
        leak = delta_of(budget["m"], Delta)
        near = min(1.0, leak * _NEXT)
        setting = f"{where}, teachers by {way}"
        for name, gamma in gammas.items():
            yield ledger_row(
                name,
                setting,
                delta=leak,
                privacy_model="shared_data",
                adjacency="replace_one",
                claimed_epsilon=claimed,
                proven_epsilon=shared_data_epsilon(label_probability(gamma), epsilon, Delta, near),
            )
        yield ledger_row(
            "majority_private",
            setting,
            delta=Delta,
            privacy_model="disjoint_shards",
            adjacency="replace_one",
            claimed_epsilon=epsilon,
            proven_epsilon=epsilon,
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


def _of_noise(name: str, task: Mapping, score: float) -> Iterator[LedgerRow]:
    """One query of two classes at the noise of one of PATE's tasks."""
    confident = task["confident"]
    noise = ConfidentNoise(
        task["lnmax"]["scale"],
        *(confident[key] for key in ("threshold", "sigma1", "sigma2")),
        score,
    )
    where = f"{name}: one query, two classes, K = {task['K']}"
    for entry in entries_at_noise(task["K"], task["delta"], noise).values():
        # The bound of one query is the same for all votes; data-dependent are the totals below.
        yield replace(_row(entry, where), data_dependent=False)


def _of_table(name: str, task: Mapping, published: pd.DataFrame) -> Iterator[LedgerRow]:
    """The published total of a task: data-dependent, an expectation; proven: for all data sets."""
    table = published[
        (published["paper"] == "pate")
        & (published["item"] == "table1")
        & (published["dataset"] == name)
        & (published["column"] == "epsilon")
    ]
    totals = {
        f"lnmax-{queries}": ("lnmax", queries, _composed(2 / task["lnmax"]["scale"], queries, task))
        for queries in task["lnmax"]["queries"]
    }
    totals["confident"] = ("confident_gnmax", *_answered([task["confident"]], task))
    if rounds := task.get("two_rounds"):
        both = [rounds["first"], rounds["second"]]
        totals["interactive"] = ("interactive_gnmax", *_answered(both, task))
    # Interactive-GNMax's rounds can be left out.
    for cell in table[table["row"].isin(list(totals))].to_dict("records"):
        mechanism, queries, proven = totals[cell["row"]]
        row = ledger_row(
            mechanism,
            f"{name}: {queries} queries, K = {task['K']}, published total",
            delta=task["delta"],
            privacy_model="disjoint_shards",
            adjacency="replace_one",
            claimed_epsilon=float(cell["published"]),
            proven_epsilon=proven,
        )
        yield replace(row, release=False)  # a cost that tells about the votes


def _composed(epsilon: float, queries: int, task: Mapping) -> float:
    return optimal_homogeneous(epsilon, 0.0, queries, task["delta"]).epsilon


def _answered(rounds: list[Mapping], task: Mapping) -> tuple[int, float]:
    """Queries of all rounds, and what they cost at most, every one answered."""
    rho = sum(
        each["queries"] * (1 / (2 * each["sigma1"] ** 2) + 1 / each["sigma2"] ** 2)
        for each in rounds
    )
    queries = sum(each["queries"] for each in rounds)
    return queries, exact_data_independent_epsilon(rho, task["delta"])


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
                privacy_model="disjoint_shards",
                adjacency="replace_one",
                claimed_epsilon=claimed,
                proven_epsilon=queries * proven,
                exact_epsilon=true if queries == 1 else None,
                lower_epsilon=None if queries == 1 else true,
            )


def _row(entry: Entry, where: str) -> LedgerRow:
    return ledger_row(
        entry.name,
        where,
        delta=entry.delta,
        privacy_model=entry.privacy_model,
        adjacency=entry.adjacency,
        claimed_epsilon=entry.epsilon,
        proven_epsilon=entry.proven,
        exact_epsilon=entry.exact_epsilon(),
    )
