"""Optimising gamma: against the paper's enumeration, over K, and with two solvers.

Every measurement runs in a process of its own (its peak memory is then its own), the seconds are
the least of a few repetitions inside it, and imports are paid before the clock starts. Everything
runs on one thread, so that processor time is what a quiet machine's clock shows; both are kept.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchmarks import enumeration, machine, process
from private_ensembles.darrm.certificate import certify_problem
from private_ensembles.darrm.optimize import optimize_gamma
from private_ensembles.darrm.prior import objective, parse_prior
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.darrm.search import MANY_TEACHERS

EPSILON, DELTA = 0.1, 1e-5  # DaRRM, section 6.1
PRIOR = "uniform:0.5,1"
ENUMERATED = (11, 15, 19, 23)
EXTRAPOLATED = (35, 41)
GROWTH = (11, 35, 101, 201, 501, 1001)
SOLVED_BY_BOTH = (11, 35, 101, 201, 501)
SOLVE_LIMIT = 300.0  # seconds for one solve of the full program
LARGE = 501  # from here on one repetition

_in_a_process = functools.partial(process.in_a_process, "gamma")


def allowance_of(K: int) -> int:
    """m for K teachers: 3 at K = 11 as in the paper, and in proportion to sqrt(K) beyond."""
    return max(1, round(3 * (K / 11) ** 0.5))


def default_solver(K: int) -> str:
    """HiGHS up to where the search goes from the inside, so that no licence matters."""
    return "highs" if K <= MANY_TEACHERS else "auto"


def problem_of(K: int, m: float) -> PrivacyProblem:
    """K teachers of the paper's (epsilon, Delta) with the allowance m."""
    return PrivacyProblem(K, m, EPSILON, DELTA, float(-np.expm1(m * np.log1p(-DELTA))))


# What one process measures: each returns a row of the table. -------------------------------------


def measure_enumeration(K: int, m: float) -> dict:
    """The paper's way: all rows, then one solve."""
    problem, cost = problem_of(K, m), objective(K, parse_prior(PRIOR))

    def build():
        enumeration.multisets.cache_clear()
        return enumeration.all_rows(problem)

    building, rows = process.least("build_", build, 3)
    solving, solved = process.least(
        "solve_", lambda: enumeration.solve(cost, rows, time_limit=SOLVE_LIMIT)
    )
    if not solved:
        solving = dict.fromkeys(solving)
    utility = solved[1] if solved else None
    return {
        "rows": len(rows),
        **building,
        **solving,
        "utility": utility,
        "memory_mib": process.peak(),
    }


def measure_search(K: int, m: float, solver: str, repetitions: int) -> dict:
    """optimize_gamma, certificate included, and certify alone on its result."""
    p = problem_of(K, m)
    optimize_gamma(5, 2, EPSILON, DELTA, solver=solver)  # imports, and Gurobi's licence
    before = process.peak()

    def search():
        process.forget()
        return optimize_gamma(K, p.m, p.epsilon, p.Delta, p.delta, prior=PRIOR, solver=solver)

    searching, solution = process.least("", search, repetitions)

    def certificate():
        process.forget()
        return certify_problem(p, solution.gamma)

    certifying, proof = process.least("certificate_", certificate, repetitions)
    return {
        "solver": solution.solver["name"],
        "version": solution.solver["version"],
        **searching,
        **certifying,
        "cuts": solution.solver["cuts"],
        "rounds": solution.solver["rounds"],
        "memory_mib": process.peak(),
        "memory_before_mib": before,
        "utility": solution.utility,
        "utility_upper_bound": solution.utility_upper_bound,
        "certified": solution.certificate.holds and proof.holds,
        "method": solution.certificate.method,
    }


# The whole benchmark. ----------------------------------------------------------------------------


def measure(*, quick: bool = False, full: bool = False) -> pd.DataFrame:
    """All measurements as a tidy frame: part, K, m and the rest.

    Parts: enumeration; growth, with m in proportion to sqrt(K); growth_fixed, with m = 3 at every
    K, a tight budget that needs more cuts; solvers, Gurobi at the points of growth.
    """
    rows = []
    facts = machine.describe("numpy", "scipy", "highspy", "gurobipy")

    def record(part: str, K: int, what: str, m: float | None = None, **arguments) -> None:
        m = allowance_of(K) if m is None else m
        print(f"{part}: K = {K}, m = {m}", *arguments.values(), file=sys.stderr, flush=True)
        result = _in_a_process(what, K=K, m=m, **arguments)
        rows.append({"part": part, "K": K, "m": m, **result})

    def search(part: str, K: int, solver: str, m: float | None = None) -> None:
        record(part, K, "measure_search", m, solver=solver, repetitions=1 if K >= LARGE else 3)

    largest = 101 if quick else max(GROWTH)
    for K in ENUMERATED[: 1 if quick else None]:
        record("enumeration", K, "measure_enumeration")
    for K in _up_to(largest, sorted({*GROWTH, *ENUMERATED, *EXTRAPOLATED})):
        search("growth", K, default_solver(K))
    for K in _up_to(largest, GROWTH):
        search("growth_fixed", K, default_solver(K), 3)
    for K in _up_to(largest, GROWTH if full else SOLVED_BY_BOTH):
        try:
            search("solvers", K, "gurobi")
        except RuntimeError as error:
            print(f"gurobi left out: {error}", file=sys.stderr)
            break
    data = pd.DataFrame(rows)
    machine.attach(data, facts)
    return data


def _up_to(largest: int, sizes: Sequence[int]) -> list[int]:
    return [size for size in sizes if size <= largest]


def exponent(K, seconds) -> float:
    """Slope of ln(seconds) over ln(K) by least squares."""
    return float(np.polyfit(np.log(np.asarray(K, float)), np.log(np.asarray(seconds, float)), 1)[0])


def extrapolated_enumeration(measured: pd.DataFrame, K: int) -> dict[str, float]:
    """Rows, GiB and seconds that the paper's way would take at K, from smaller sizes.

    Building: in proportion to the numbers in the rows, C(K+7, 7) (K+1)/2, at the lowest measured
    time per number (a convolution costs more per number at larger K: this flatters enumeration).
    Solving: seconds per number in the rows at the largest size measured, taken as constant.
    """
    size = measured["rows"] * (measured["K"] + 1) / 2
    wanted = enumeration.row_count(K) * (K + 1) / 2
    solved = measured["solve_seconds"].notna()
    last = measured.loc[solved, "K"].idxmax()
    build = float((measured["build_seconds"] / size).min() * wanted)
    solve = float(measured.loc[last, "solve_seconds"] / size[last] * wanted)
    return {
        "rows": enumeration.row_count(K),
        "gib": wanted * 8 / 2**30,
        "build_seconds": build,
        "solve_seconds": solve,
        "seconds": build + solve,
    }


def _growth(chosen: pd.DataFrame) -> list[str]:
    """Lines of a table of growth, and its fitted exponents."""
    lines = [
        "| K | m | seconds | of it: one certificate | share | cuts | rounds | peak memory (MiB) "
        "| utility | gap to the upper bound | proof |",
        "|" + " ---: |" * 10 + " --- |",
    ]
    for K, row in chosen.iterrows():
        lines.append(
            f"| {K} | {row['m']:g} | {row['seconds']:.3g} | {row['certificate_seconds']:.2g} | "
            f"{row['certificate_seconds'] / row['seconds']:.1%} | {int(row['cuts'])} | "
            f"{int(row['rounds'])} | {row['memory_mib']:.0f} | {row['utility']:.9f} | "
            f"{row['utility_upper_bound'] - row['utility']:.1e} | {row['method']} |"
        )
    tail = chosen[chosen["K"] >= 101]
    if len(tail) > 2:
        lines += [
            "",
            f"Seconds grow like K^{exponent(tail['K'], tail['seconds']):.2f} over K = "
            f"{tail['K'].min()}–{tail['K'].max()} (least squares; target: no worse than K³).",
        ]
    return lines


def page(data: pd.DataFrame) -> str:
    """The results as a page in Markdown."""
    part = {name: frame.set_index("K", drop=False) for name, frame in data.groupby("part")}
    listed, growth = part["enumeration"], part["growth"]
    facts = machine.attached(data)
    lines = [
        "# Benchmark: optimising γ",
        "",
        "Made by `python benchmarks/run.py gamma --write-docs`; numbers behind it: "
        "[gamma.csv](gamma.csv). Seconds are processor time on one thread, which a busy machine "
        "hardly changes (clock time is in the CSV file); the least of three runs below K = "
        f"{LARGE}, one run from there on. ε = {EPSILON}, Δ = {DELTA:g}, δ = 1 − (1 − Δ)^m, "
        "m = 3·√(K/11) rounded unless said otherwise, prior Uniform[0.5, 1]; every γ is certified.",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
        "## Against the paper's way: every constraint at once",
        "",
        "All C(K+7, 7) corner multisets, their rows built by array operations, one HiGHS solve "
        "(`benchmarks/enumeration.py`).",
        "",
        "| K | rows | build (s) | solve (s) | together (s) | cutting planes, certified (s) "
        "| times faster | utility, all rows | utility, certified γ |",
        "|" + " ---: |" * 9,
    ]
    for K, row in listed.iterrows():
        ours = growth.loc[K]
        total = row["build_seconds"] + row["solve_seconds"]
        lines.append(
            f"| {K} | {int(row['rows']):,} | {row['build_seconds']:.3g} | "
            f"{_or_limit(row['solve_seconds'])} | {_or_limit(total)} | {ours['seconds']:.3g} | "
            f"{_or_limit(total / ours['seconds'])} | {_or_limit(row['utility'], '.9f')} | "
            f"{ours['utility']:.9f} |"
        )
    lines += [
        "",
        "**Extrapolated**, not measured, by the law seconds = constant · C(K+7, 7) · (K+1)/2: the "
        "count of rows is exact, and a number in a row is taken to cost what it cost at the "
        "cheapest (building) or the largest (solving) measured size. No growth beyond that of the "
        "rows is supposed.",
        "",
        "| K | rows | memory of the rows (GiB) | build (s) | solve (s) | together (s) "
        "| cutting planes, certified (s), measured | times faster | building alone, times |",
        "|" + " ---: |" * 9,
    ]
    for K in EXTRAPOLATED:
        far, ours = extrapolated_enumeration(listed, K), growth.loc[K]
        lines.append(
            f"| {K} | {far['rows']:,} | {far['gib']:.3g} | {far['build_seconds']:.3g} | "
            f"{far['solve_seconds']:.3g} | {far['seconds']:.3g} | {ours['seconds']:.3g} | "
            f"{far['seconds'] / ours['seconds']:,.0f} | "
            f"{far['build_seconds'] / ours['seconds']:,.0f} |"
        )
    if len(listed) > 2:
        size = listed["rows"] * (listed["K"] + 1) / 2
        each = [f"{value:.2g}" for value in listed["solve_seconds"] / size * 1e6]
        lines += [
            "",
            f"Measured growth of enumeration over K = {listed['K'].min()}–{listed['K'].max()}: "
            f"K^{exponent(listed['K'], listed['build_seconds']):.1f} for building and "
            f"K^{exponent(listed['K'], listed['solve_seconds']):.1f} for solving; "
            f"seconds of solving per million numbers: {', '.join(each)}.",
        ]
    lines += ["", f"## Growth with K (HiGHS up to {MANY_TEACHERS}, from the inside beyond)"]
    for name, words in (
        ("growth", "m in proportion to √K"),
        (
            "growth_fixed",
            "m = 3 at every K: a tight budget, which needs more cuts",
        ),
    ):
        chosen = part[name]
        lines += ["", f"**{words}.**", "", *_growth(chosen[chosen["K"].isin(GROWTH)])]
    lines += [
        "",
        "Memory is the process's largest, of which "
        f"{growth['memory_before_mib'].median():.0f} MiB are Python and its libraries.",
    ]
    lines += ["", "## Gurobi and HiGHS", ""]
    if "solvers" not in part or set(part["solvers"]["solver"]) != {"gurobi"}:
        return "\n".join([*lines, "Gurobi has no licence here.", ""])
    other = part["solvers"]
    lines += [
        f"Gurobi {other['version'].iloc[0]} with the licence that comes with pip (2,000 rows and "
        f"variables), HiGHS {growth['version'].iloc[0]}.",
        "",
        "| K | Gurobi (s) | HiGHS (s) | rounds | cuts | utilities differ by |",
        "|" + " ---: |" * 6,
    ]
    for K, row in other.iterrows():
        ours = growth.loc[K]
        lines.append(
            f"| {K} | {row['seconds']:.3g} | {ours['seconds']:.3g} | {int(row['rounds'])}, "
            f"{int(ours['rounds'])} | {int(row['cuts'])}, {int(ours['cuts'])} | "
            f"{abs(row['utility'] - ours['utility']):.1e} |"
        )
    return "\n".join([*lines, ""])


def _or_limit(value: float, form: str = ".3g") -> str:
    return f"> {SOLVE_LIMIT:g} s" if pd.isna(value) else format(value, form)
