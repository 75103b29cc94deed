"""Smooth sensitivity of whole vote matrices, against PATE's Algorithms 3-5 query by query.

The matrices have the sizes of PATE's Table 2, drawn from fixed seeds (the authors' votes are not to
be had): each query has a plurality of its own, most of them clear. The query-by-query reference
(benchmarks/smooth_sensitivity_by_query.py) runs on the first queries only if all would take hours,
and is then extrapolated in proportion to the number of queries, which it handles one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.measuring import (
    add_machine,
    clear_caches,
    describe_machine,
    peak_memory,
    run_in_process,
    time_call,
)
from benchmarks.smooth_sensitivity_by_query import ByQuery
from benchmarks.writing import format_section, format_table
from private_ensembles.base import streams as randomness
from private_ensembles.papers.pate.mathematics.confident import confident_gnmax_privacy
from private_ensembles.papers.pate.mathematics.cost_curve import CostCurve
from private_ensembles.papers.pate.mathematics.smooth_sensitivity import smooth_sensitivity

REPETITIONS = 5


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


def draw_votes(name: str, queries: int | None = None) -> np.ndarray:
    """Return a vote matrix like the named one, (queries, classes) int; always the same."""
    case = CASES[name]
    queries = case.queries if queries is None else queries
    source = randomness.generator(0, "benchmark", "smooth-sensitivity", name)
    first = source.beta(4 * case.agreement, 4 * (1 - case.agreement), case.queries)
    other_shares = source.dirichlet(np.full(case.classes - 1, 0.1), case.queries)
    shares = np.c_[first, (1 - first)[:, None] * other_shares][:queries]
    return source.multinomial(case.teachers, shares / shares.sum(axis=1, keepdims=True))


def measure_array(name: str, queries: int | None = None) -> dict:
    """Measure the array code, caches emptied before every repetition."""
    case, counts = CASES[name], draw_votes(name, queries)

    def run():
        clear_caches()
        return smooth_sensitivity(
            counts, CostCurve(case.sigma2, case.order, case.classes), case.beta
        )

    run()  # imports
    timing, value = time_call(run, REPETITIONS)
    return {
        **timing,
        "smooth_sensitivity": value,
        "memory_mib": peak_memory(),
    }


def measure_record(name: str, queries: int | None = None) -> dict:
    """Measure the row of Table 2 in full: cost over all orders, conditions, beta, sigma_SS."""
    case, counts = CASES[name], draw_votes(name, queries)

    def run():
        clear_caches()
        return confident_gnmax_privacy(
            counts,
            case.threshold,
            case.sigma1,
            case.sigma2,
            case.delta,
            conversion="classic",
            formula="paper",
        )

    timing, record = time_call(run)
    return {
        **timing,
        "smooth_sensitivity": record.smooth_sensitivity,
        "memory_mib": peak_memory(),
    }


def measure_reference(name: str, sample: int) -> dict:
    """Measure query by query, on the first `sample` queries; add the array code's value."""
    case, counts = CASES[name], draw_votes(name)[:sample]
    curve = CostCurve(case.sigma2, case.order, case.classes)
    by_query = ByQuery(case.sigma2, case.order, case.classes, curve.log_q0())
    timing, value = time_call(
        lambda: by_query.smooth_sensitivity(counts.tolist(), np.ones(len(counts)), case.beta)
    )
    fast = smooth_sensitivity(counts, curve, case.beta)
    return {
        **timing,
        "sample": len(counts),
        "smooth_sensitivity": value,
        "relative_difference": abs(fast / value - 1),
    }


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return all measurements as a tidy frame: part (array, record, reference), name and the rest.

    quick: without the records, the reference on 20 queries.
    """
    rows = []
    facts = describe_machine("numpy", "scipy")
    for name, case in CASES.items():
        sample = 20 if quick else case.sample
        results = {
            "array": run_in_process(measure_array, name=name),
            "reference": run_in_process(measure_reference, name=name, sample=sample),
        }
        if not quick:
            results["record"] = run_in_process(measure_record, name=name)
        rows += [
            {"part": part, "name": name, "queries": case.queries, **result}
            for part, result in results.items()
        ]
    return add_machine(rows, facts)


def speedup(data: pd.DataFrame, name: str) -> float:
    """Return seconds of the reference on all queries (perhaps extrapolated) per second of ours."""
    part = data[data["name"] == name].set_index("part")
    reference = part.loc["reference"]
    return (
        reference["seconds"]
        * reference["queries"]
        / reference["sample"]
        / part.loc["array", "seconds"]
    )


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    parts = {name: part.set_index("name") for name, part in data.groupby("part")}
    reference = parts["reference"]
    compared = parts["array"].assign(
        name=list(CASES),
        size=[f"{case.queries:,} × {case.classes}" for case in CASES.values()],
        teachers=[case.teachers for case in CASES.values()],
        by_query=reference["seconds"] * reference["queries"] / reference["sample"],
        relative_difference=reference["relative_difference"],
        faster=[speedup(data, name) for name in CASES],
    )
    extrapolated = reference["sample"] < reference["queries"]
    compared["mark"] = extrapolated.map({True: ", **extrapolated**", False: ""})
    columns = {
        "votes like": "{name}",
        "queries × classes": "{size}",
        "teachers": "{teachers:,}",
        "array code (s)": "{seconds:.3g}",
        "query by query (s)": "{by_query:.3g}{mark}",
        "times faster": "{faster:,.0f}",
        "relative difference": "{relative_difference:.1e}",
        "memory (MiB)": "{memory_mib:.0f}",
    }
    text = (
        f"The least of {REPETITIONS} runs with empty caches, and one run query by query "
        "(`benchmarks/smooth_sensitivity_by_query.py`: Algorithms 3–5 of PATE in plain Python). "
        "Votes are synthetic, of the sizes of PATE's Table 2, with its σ, λ and β."
    )
    records = parts.get("record")
    if records is not None:
        compared["record"] = records["seconds"]
        columns["row of Table 2 (s)"] = "{record:.3g}"
        text += (
            " A whole row of Table 2 is `confident_gnmax_privacy(..., conversion='classic', "
            "formula='paper')`: 240 orders, conditions C5 and C6, β and σ_SS. All rows take "
            f"{records['seconds'].sum():.3g} s (target: 15 s) and "
            f"{records['memory_mib'].max():.0f} MiB (target: 1 GiB)."
        )
    table = format_table(columns, compared, words=1)
    return format_section("Smooth sensitivity", "smooth_sensitivity", text, data, table)
