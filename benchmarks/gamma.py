"""Optimising gamma: against the paper's enumeration of all constraints, and over K.

Every measurement runs in a process of its own, on one thread, with imports paid before the clock
starts; the seconds are the least of a few repetitions inside it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks import enumeration
from benchmarks.measuring import (
    add_machine,
    clear_caches,
    describe_machine,
    peak_memory,
    run_in_process,
    time_call,
)
from benchmarks.writing import format_section, format_table
from private_ensembles.papers.darrm.mathematics.certificate import certify_problem
from private_ensembles.papers.darrm.mathematics.objective import coefficients, parse_prior
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem

EPSILON, DELTA = 0.1, 1e-5  # DaRRM, section 6.1
PRIOR = "uniform:0.5,1"
ENUMERATED = (11, 15, 19, 23)
EXTRAPOLATED = (35, 41)
GROWTH = (11, 35, 101, 201, 501, 1001)
SHOWN = (11, 23, 35, 41), (11, 101, 501, 1001)  # of either table, on the page
SOLVE_LIMIT = 300.0  # seconds for one solve of the full program
LARGE = 501  # from here on one repetition


def allowance_of(K: int) -> int:
    """Return m for K teachers: 3 at K = 11 as in the paper, and in proportion to sqrt(K) beyond."""
    return max(1, round(3 * (K / 11) ** 0.5))


def problem_of(K: int, m: float) -> PrivacyProblem:
    """Return the problem of K teachers with the paper's (epsilon, Delta) and the allowance m."""
    return PrivacyProblem(K, m, EPSILON, DELTA, float(-np.expm1(m * np.log1p(-DELTA))))


def measure_enumeration(K: int, m: float) -> dict:
    """Measure the paper's way: all rows, then one solve; NaN if SOLVE_LIMIT is too short."""
    problem, cost = problem_of(K, m), coefficients(K, parse_prior(PRIOR))

    def build():
        enumeration.multisets.cache_clear()
        return enumeration.all_rows(problem)

    build_timing, rows = time_call(build, 3)
    solve_timing, solution = time_call(
        lambda: enumeration.solve(cost, rows, time_limit=SOLVE_LIMIT)
    )
    return {
        "rows": len(rows),
        "build_seconds": build_timing["seconds"],
        "solve_seconds": solve_timing["seconds"] if solution else float("nan"),
        "utility": solution[1] if solution else float("nan"),
        "memory_mib": peak_memory(),
    }


def measure_search(K: int, m: float, repetitions: int) -> dict:
    """Measure optimize_gamma, certificate included, and certify alone on its result."""
    problem = problem_of(K, m)
    optimize_gamma(5, 2, EPSILON, DELTA)  # imports
    memory_before = peak_memory()

    def search():
        clear_caches()
        return optimize_gamma(
            K, problem.m, problem.epsilon, problem.Delta, problem.delta, prior=PRIOR
        )

    search_timing, solution = time_call(search, repetitions)

    def certificate():
        clear_caches()
        return certify_problem(problem, solution.gamma)

    certificate_timing, proof = time_call(certificate, repetitions)
    return {
        **search_timing,
        "certificate_seconds": certificate_timing["seconds"],
        "memory_mib": peak_memory(),
        "memory_before_mib": memory_before,
        "utility": solution.utility,
        "utility_upper_bound": solution.utility_upper_bound,
        "certified": solution.certificate.holds and proof.holds,
        "method": solution.certificate.method,
    }


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Return all measurements as a tidy frame: part, K, m and the rest.

    Parts: enumeration; growth, with m in proportion to sqrt(K); growth_fixed, with m = 3 at every
    K, a tight budget. quick: at most 101 teachers.
    """
    facts = describe_machine("numpy", "scipy", "highspy")
    rows = []
    largest = 101 if quick else max(GROWTH)
    for K in ENUMERATED[: 1 if quick else None]:
        m = allowance_of(K)
        measured = run_in_process(measure_enumeration, K=K, m=m)
        rows.append({"part": "enumeration", "K": K, "m": m, **measured})
    sizes = sorted({*GROWTH, *ENUMERATED, *EXTRAPOLATED})
    points = [("growth", K, allowance_of(K)) for K in sizes]
    points += [("growth_fixed", K, 3) for K in GROWTH]
    for part, K, m in points:
        if largest >= K:
            repetitions = 1 if K >= LARGE else 3
            measured = run_in_process(measure_search, K=K, m=m, repetitions=repetitions)
            rows.append({"part": part, "K": K, "m": m, **measured})
    return add_machine(rows, facts)


def fit_exponent(data: pd.DataFrame) -> float:
    """Return the slope of ln(seconds) over ln(K) by least squares."""
    return float(np.polyfit(np.log(data["K"]), np.log(data["seconds"]), 1)[0])


def extrapolated_enumeration(measured: pd.DataFrame, K: int) -> dict[str, float]:
    """Return rows, GiB and seconds that the paper's way would take at K, from smaller sizes.

    Building: in proportion to the numbers in the rows, C(K+7, 7) (K+1)/2, at the lowest measured
    time per number (a convolution costs more per number at larger K: this flatters enumeration).
    Solving: seconds per number in the rows at the largest size measured, taken as constant.
    """
    size = measured["rows"] * (measured["K"] + 1) / 2
    rows = enumeration.row_count(K)
    numbers = rows * (K + 1) / 2
    build = float((measured["build_seconds"] / size).min() * numbers)
    rates = (measured["solve_seconds"] / size).dropna()
    solve = float(rates.iloc[-1] * numbers)
    return {
        "K": K,
        "rows": rows,
        "gib": numbers * 8 / 2**30,
        "build_seconds": build,
        "solve_seconds": solve,
        "seconds": build + solve,
    }


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    parts = {name: frame.set_index("K", drop=False) for name, frame in data.groupby("part")}
    enumerated, growth = parts["enumeration"], parts["growth"]
    enumerated = enumerated.assign(
        seconds=enumerated["build_seconds"] + enumerated["solve_seconds"],
        gib=enumerated["rows"] * (enumerated["K"] + 1) / 2 * 8 / 2**30,
        kind="measured",
    )
    enumerated.loc[enumerated["seconds"].isna(), "kind"] = f"no solution in {SOLVE_LIMIT:g} s"
    extrapolated = pd.DataFrame([extrapolated_enumeration(enumerated, K) for K in EXTRAPOLATED])
    extrapolated = extrapolated.astype({"K": int}).set_index("K", drop=False)
    both = pd.concat([enumerated, extrapolated.assign(kind="**extrapolated**")])
    both = both.assign(ours=growth["seconds"]).dropna(subset="ours")
    difference = (enumerated["utility"] - growth["utility"]).abs().max()
    return format_section(
        "Optimising γ",
        "gamma",
        f"Seconds of one certified γ at ε = {EPSILON}, Δ = {DELTA:g}, δ = 1 − (1 − Δ)^m and the "
        f"prior Uniform[0.5, 1]: the least of three runs, or one run from K = {LARGE} on.",
        data,
        "**Against the paper's way**, one linear program with a row for each of the C(K+7, 7) "
        "corner multisets (`benchmarks/enumeration.py`; m = 3·√(K/11), rounded). Both utilities "
        f"agree to {difference:.0e}. Seconds are extrapolated by the number and length of the "
        "rows, at the rates of the cheapest (building) and the largest (solving) measured size.",
        format_table(
            {
                "K": "{K}",
                "rows": "{rows:,.0f}",
                "memory of the rows (GiB)": "{gib:.2g}",
                "all rows (s)": "{seconds:.3g}, {kind}",
                "ours (s)": "{ours:.3g}",
                "times faster": "{faster:,.0f}",
            },
            both[both["K"].isin(SHOWN[0])].assign(faster=both["seconds"] / both["ours"]),
        ),
        *_format_growth(growth, parts["growth_fixed"]),
    )


def _format_growth(growth: pd.DataFrame, fixed: pd.DataFrame) -> list[str]:
    """Return a table of growth with K for either kind of m, and the fitted exponents."""
    growth, fixed = (part[part["K"].isin(GROWTH)] for part in (growth, fixed))
    both = growth.assign(seconds_fixed=fixed["seconds"], memory_mib_fixed=fixed["memory_mib"])
    columns = {
        "K": "{K}",
        "m": "{m:g}",
        "seconds": "{seconds:.3g}",
        "memory (MiB)": "{memory_mib:.0f}",
        "m = 3: seconds": "{seconds_fixed:.3g}",
        "m = 3: memory (MiB)": "{memory_mib_fixed:.0f}",
    }
    parts = pd.concat([growth, fixed])
    text = (
        "**Growth with K**, with m in proportion to √K, and with m = 3 at every K, a tight budget. "
        "No upper bound on every private γ's utility is above ours by more than "
        f"{(parts['utility_upper_bound'] - parts['utility']).max():.1e}. Memory is the process's, "
        f"of which {growth['memory_before_mib'].median():.0f} MiB are Python and its libraries."
    )
    large = [part[part["K"] >= 101] for part in (growth, fixed)]
    if len(large[0]) > 2:
        exponents = " and ".join(f"K^{fit_exponent(part):.2f}" for part in large)
        text += f" From K = 101 on seconds grow like {exponents} (target: no worse than K³)."
    return [text, format_table(columns, both[both["K"].isin(SHOWN[1])])]
