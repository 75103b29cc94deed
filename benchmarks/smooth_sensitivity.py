"""Smooth sensitivity of whole vote matrices, against PATE's Algorithms 3-5 query by query.

The matrices have the sizes of PATE's Table 2, drawn from fixed seeds (the authors' votes are not to
be had): each query has a plurality of its own, most of them clear. The query-by-query reference
(benchmarks/smooth_sensitivity_by_query.py) runs on the first queries only where it would take hours
and is then extrapolated in proportion to the number of queries, which it handles one by one.
"""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks import machine, process
from benchmarks.smooth_sensitivity_by_query import ByQuery
from private_ensembles.noise import streams as randomness
from private_ensembles.pate.confident import confident_gnmax_privacy
from private_ensembles.pate.cost_curve import CostCurve
from private_ensembles.pate.smooth_sensitivity import smooth_sensitivity

REPETITIONS = 5
_in_a_process = functools.partial(process.in_a_process, "smooth_sensitivity")


@dataclass(frozen=True)
class Case:
    """One row of Table 2: a matrix like its votes, and its printed parameters."""

    queries: int
    classes: int
    teachers: int
    agreement: float  # mean share of the plurality's votes
    threshold: float
    sigma1: float
    sigma2: float
    delta: float
    order: float
    beta: float
    sample: int  # queries that the reference is run on


CASES = {
    "MNIST": Case(640, 10, 250, 0.95, 200, 150, 40, 1e-5, 14, 0.0329, 640),
    "SVHN": Case(8500, 10, 250, 0.85, 300, 200, 40, 1e-6, 7.5, 0.0533, 8500),
    "Adult": Case(1500, 2, 250, 0.85, 300, 200, 40, 1e-5, 15.5, 0.0310, 1500),
    "Glyph": Case(12000, 150, 5000, 0.80, 1000, 500, 100, 1e-8, 20.5, 0.0205, 60),
}


def votes(name: str, queries: int | None = None) -> np.ndarray:
    """A vote matrix like the named one, (queries, classes); always the same."""
    case = CASES[name]
    queries = case.queries if queries is None else queries
    draw = randomness.generator(0, "benchmark", "smooth-sensitivity", name)
    first = draw.beta(4 * case.agreement, 4 * (1 - case.agreement), case.queries)
    rest = draw.dirichlet(np.full(case.classes - 1, 0.1), case.queries)
    shares = np.c_[first, (1 - first)[:, None] * rest][:queries]
    return draw.multinomial(case.teachers, shares / shares.sum(axis=1, keepdims=True))


# What one process measures: each returns a row of the table. -------------------------------------


def measure_array(name: str, queries: int | None = None) -> dict:
    """The array code, caches emptied before every repetition."""
    case, counts = CASES[name], votes(name, queries)

    def run():
        process.forget()
        return smooth_sensitivity(
            counts, CostCurve(case.sigma2, case.order, case.classes), case.beta
        )

    before = process.peak()
    run()  # imports
    timing, value = process.least("", run, REPETITIONS)
    return {
        **timing,
        "smooth_sensitivity": value,
        "memory_mib": process.peak(),
        "memory_before_mib": before,
    }


def measure_record(name: str, queries: int | None = None) -> dict:
    """The row of Table 2 in full: expected cost over all orders, conditions, beta, sigma_SS."""
    case, counts = CASES[name], votes(name, queries)

    def run():
        process.forget()
        return confident_gnmax_privacy(
            counts,
            case.threshold,
            case.sigma1,
            case.sigma2,
            case.delta,
            conversion="classic",
            formula="paper",
        )

    timing, record = process.least("", run)
    return {
        **timing,
        "smooth_sensitivity": record.smooth_sensitivity,
        "memory_mib": process.peak(),
    }


def measure_reference(name: str, sample: int) -> dict:
    """Query by query, on the first `sample` queries, and the array code's value on the same."""
    case, counts = CASES[name], votes(name)[:sample]
    curve = CostCurve(case.sigma2, case.order, case.classes)
    slow = ByQuery(case.sigma2, case.order, case.classes, curve.log_q0())
    timing, value = process.least(
        "", lambda: slow.smooth_sensitivity(counts.tolist(), np.ones(len(counts)), case.beta)
    )
    fast = smooth_sensitivity(counts, curve, case.beta)
    return {
        **timing,
        "sample": len(counts),
        "smooth_sensitivity": value,
        "relative_difference": abs(fast / value - 1),
    }


# The whole benchmark. ----------------------------------------------------------------------------


def measure(*, quick: bool = False, full: bool = False) -> pd.DataFrame:
    """All measurements as a tidy frame: part (array, record, reference), name and the rest.

    quick: without the records, the reference on 20 queries; full: the reference on ten times as
    many queries of Glyph.
    """
    rows = []
    facts = machine.describe("numpy", "scipy")
    for name, case in CASES.items():
        sample = 20 if quick else case.sample * (10 if full and case.sample < case.queries else 1)
        parts = [("array", {}), ("reference", {"sample": sample})]
        for part, arguments in parts if quick else [*parts, ("record", {})]:
            print(f"{part}: {name}", file=sys.stderr, flush=True)
            result = _in_a_process(f"measure_{part}", name=name, **arguments)
            rows.append({"part": part, "name": name, "queries": case.queries, **result})
    data = pd.DataFrame(rows)
    machine.attach(data, facts)
    return data


def speedup(data: pd.DataFrame, name: str) -> float:
    """Seconds of the reference on all queries (extrapolated if need be) per second of ours."""
    part = data[data["name"] == name].set_index("part")
    slow = part.loc["reference"]
    return slow["seconds"] * slow["queries"] / slow["sample"] / part.loc["array", "seconds"]


def page(data: pd.DataFrame) -> str:
    """The results as a page in Markdown."""
    facts = machine.attached(data)
    lines = [
        "# Benchmark: smooth sensitivity",
        "",
        "Made by `python benchmarks/run.py smooth_sensitivity --write-docs`; numbers behind it: "
        "[smooth_sensitivity.csv](smooth_sensitivity.csv). Seconds are processor time on one "
        f"thread, the least of {REPETITIONS} runs with empty caches (reference and whole rows: one "
        "run); clock time is in the CSV file. Votes are synthetic, of the sizes of PATE's Table 2, "
        "with the σ, λ and β printed there, every query counted with weight 1.",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
        "## One smooth sensitivity",
        "",
        "The reference is Algorithms 3–5 of PATE in plain Python on scalars, one query at a time "
        "(`benchmarks/smooth_sensitivity_by_query.py`).",
        "",
        "| votes like | queries × classes | teachers | array code (s) | query by query (s) "
        "| times faster | largest relative difference | memory (MiB) |",
        "| --- |" + " ---: |" * 7,
    ]
    for name, case in CASES.items():
        part = data[data["name"] == name].set_index("part")
        ours, slow = part.loc["array"], part.loc["reference"]
        seconds = slow["seconds"] * slow["queries"] / slow["sample"]
        note = "" if slow["sample"] == slow["queries"] else f" (from {int(slow['sample'])} queries)"
        lines.append(
            f"| {name} | {case.queries:,} × {case.classes} | {case.teachers:,} | "
            f"{ours['seconds']:.3g} | {seconds:.3g}{note} | {speedup(data, name):,.0f} | "
            f"{slow['relative_difference']:.1e} | {ours['memory_mib']:.0f} |"
        )
    lines += [
        "",
        "“From n queries”: **extrapolated**, not measured, in proportion to the number of queries. "
        "The difference is between the two values on the queries that the reference saw. Memory is "
        "the process's largest, of which "
        f"{data['memory_before_mib'].median():.0f} MiB are Python, its libraries and the votes.",
    ]
    whole = data[data["part"] == "record"]
    if len(whole):
        lines += [
            "",
            "## A whole row of Table 2",
            "",
            "`confident_gnmax_privacy(..., conversion='classic', formula='paper')`: expected cost "
            "at 240 orders, conditions C5 and C6 at each, β and σ_SS by the paper's search.",
            "",
            "| votes like | seconds | memory (MiB) |",
            "| --- | ---: | ---: |",
            *(
                f"| {row['name']} | {row['seconds']:.3g} | {row['memory_mib']:.0f} |"
                for _, row in whole.iterrows()
            ),
            f"| together | {whole['seconds'].sum():.3g} | {whole['memory_mib'].max():.0f} |",
        ]
    return "\n".join([*lines, ""])
