"""Rows of the ledger for DPBag and SAA: one label, and the printed numbers of labels."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from private_ensembles.dpbag.plain import plain_epsilon
from private_ensembles.experiments.ledger_row import LedgerRow, ledger_row
from private_ensembles.mechanisms.dpbag import MECHANISM, BaggingNoise
from private_ensembles.mechanisms.families.task import Task

# With which the printed numbers of labels come out (docs/dpbag.md), and the delta printed.
_PRINTED = {"noise": 2, "delta": 1e-5}
_ROW = re.compile(r"(?P<name>SAA|DPBag) n=(?P<n>\d+)(?: k=(?P<k>\d+))?")
_COLUMN = re.compile(r"labels epsilon=(?P<epsilon>[\d.]+)")


def bagging(settings: Mapping, published: pd.DataFrame) -> Iterator[LedgerRow]:
    """One label of SAA, of DPBag, and of DPBag for a record whose teachers are split evenly.

    settings: n, k, noise (lambda = noise / n), delta. published: DPBag's tables of labels, whose
    rows for n shards follow; they are claims about the printed delta and lambda only. Proven: the
    exact composition of the labels for everyone (`dpbag.plain`), whatever the votes.
    """
    n, k, delta = settings["n"], settings["k"], settings["delta"]
    rate = settings["noise"] / n
    for partitions, share, who in ((1, 1.0, "SAA"), (k, 1.0, "DPBag"), (k, 0.5, "DPBag, m = 1/2")):
        noise = BaggingNoise(n, partitions, rate, share)
        task = Task(1.0, delta, 1, 1, partitions * n, 2)
        cost = MECHANISM.cost(task, noise)
        exact = MECHANISM.audited(task, noise).exact_epsilon(delta)
        row = ledger_row(
            MECHANISM.name,
            f"{who}: one label, n = {n}, k = {partitions}",
            delta=delta,
            privacy_model=task.privacy_model,
            adjacency=task.adjacency,
            claimed_epsilon=cost.claimed,
            proven_epsilon=cost.proven,
            exact_epsilon=exact if math.isfinite(exact) else None,  # Laplace tails underflow
        )
        # A personal cost tells how a record's teachers vote; the others hold for all votes.
        yield row if share < 1 else replace(row, data_dependent=False)
    if {key: settings[key] for key in _PRINTED} == _PRINTED:
        yield from _printed(n, rate, published)


def _printed(n: int, rate: float, published: pd.DataFrame) -> Iterator[LedgerRow]:
    for cell in published[published["dataset"] == "adult"].to_dict("records"):
        row, column = _ROW.fullmatch(cell["row"]), _COLUMN.fullmatch(cell["column"])
        if row is None or column is None or int(row["n"]) != n:
            continue
        labels, personal = int(cell["published"]), row["k"] is not None
        found = ledger_row(
            MECHANISM.name,
            f"adult, {cell['item']}: {labels} labels, {cell['row']}, printed",
            delta=_PRINTED["delta"],
            privacy_model="disjoint_shards",
            adjacency="replace_one",
            claimed_epsilon=float(column["epsilon"]),
            proven_epsilon=plain_epsilon(labels, rate, _PRINTED["delta"]),
        )
        # When a personal budget is spent, and so how many labels there are, depends on the votes.
        yield replace(found, data_dependent=personal, release=not personal)
