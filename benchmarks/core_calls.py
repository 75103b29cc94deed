"""Ten calls that everything waits for: what each takes, as a ratio to a loop that never changes.

The loop calibrates: a machine that is twice as slow takes twice as long for both, so that ratios of
different machines can be compared, if roughly. CI measures them again and warns of a call that
takes SLOWER times what docs/benchmarks says (`python benchmarks/run.py core_calls --warn`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.measuring import add_machine, clear_caches, describe_machine, time_call
from benchmarks.writing import format_section, format_table
from private_ensembles import (
    Budget,
    Ensemble,
    Rehearsal,
    audit_mechanism,
    certify,
    label_epsilon,
    noise_scale,
    optimize_gamma,
    plan,
    release_labels,
)
from private_ensembles.labels.laws import gumbel
from private_ensembles.papers.pate.mathematics.confident import confident_gnmax_privacy
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp

BUDGET = {"epsilon": 2.0, "delta": 1e-5}
SIZE = {"teachers": 250, "classes": 10}
ROUNDS, SLOWER = 3, 1.5
SHOWN = 6  # of the calls, on the page


def calibration_loop() -> float:
    """Do half a second or so of what the package does most: arrays, products, and Python."""
    random = np.random.default_rng(0)
    values, matrix = random.random(200_000), random.random((300, 300))
    total = 0.0
    for _ in range(25):
        total += float(np.log1p(np.sqrt(values)).sum() + np.sort(values)[1000])
        matrix = matrix @ matrix / np.abs(matrix).max() ** 2
        total += sum(i * 0.5 for i in range(50_000))
    return total


def draw_votes(queries: int) -> np.ndarray:
    """Return counts of votes, (queries, classes) int, most queries clear and some close."""
    random = np.random.default_rng(1)
    shares = random.dirichlet(np.full(SIZE["classes"], 0.3), size=queries)
    return random.multinomial(SIZE["teachers"], shares)


def list_calls() -> dict[str, Callable[[], object]]:
    """Return the calls by name, each as a reader might type it."""
    counts, few_counts = draw_votes(2000), draw_votes(300)
    gamma = optimize_gamma(K=301, m=3, epsilon=0.1, Delta=1e-5).gamma
    allowance = {"m": 3, "epsilon": 0.1, "Delta": 1e-5, "delta": 3e-5}
    label_options, many_labels = (
        {"labels": 500} | SIZE | BUDGET,
        {"labels": 1000, "teachers": 51, "delta": 1e-5},
    )
    budget = Budget(**BUDGET)
    return {
        "plan": lambda: plan(Ensemble(**SIZE), budget, 500),
        "release_labels": lambda: release_labels(
            few_counts, budget, rehearsal=Rehearsal(), anyway=True
        ),
        "noise_scale, gnmax": lambda: noise_scale("gnmax", **label_options),
        "noise_scale, permute_and_flip": lambda: noise_scale("permute_and_flip", **label_options),
        "label_epsilon, gnmax": lambda: label_epsilon("gnmax", 200.0, **many_labels),
        "optimize_gamma": lambda: optimize_gamma(K=101, m=3, epsilon=0.1, Delta=1e-5),
        "certify": lambda: certify(gamma, **allowance),
        "audit_mechanism": lambda: audit_mechanism(
            lambda table: gumbel.label_probabilities(table, 0.5), teachers=25, classes=4, delta=1e-5
        ),
        "gnmax_rdp": lambda: gnmax_rdp(draw_votes(20_000), 40.0, np.arange(2, 200)),
        "confident_gnmax_privacy": lambda: confident_gnmax_privacy(counts, 200, 150, 120, 1e-5),
    }


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Measure each call: seconds, loop_seconds just before it, and ratio, of the fastest round.

    Every round starts with the library's caches empty. quick: one round.
    """
    facts = describe_machine("numpy", "scipy")
    rows = []
    for name, call in list_calls().items():
        rounds = []
        for _ in range(1 if quick else ROUNDS):
            clear_caches()
            loop, _ = time_call(calibration_loop)
            timing, _ = time_call(call)
            rounds.append({"seconds": timing["seconds"], "loop_seconds": loop["seconds"]})
        fastest = min(
            rounds,
            key=lambda timing_of_round: (
                timing_of_round["seconds"] / timing_of_round["loop_seconds"]
            ),
        )
        ratio = fastest["seconds"] / fastest["loop_seconds"]
        rows.append({"call": name, **fastest, "ratio": ratio})
    return add_machine(rows, facts)


def warnings_of(now: pd.DataFrame, stored: pd.DataFrame) -> list[str]:
    """Return a line for each call whose ratio is above SLOWER times the stored one.

    >>> frames = [pd.DataFrame({"call": ["plan"], "ratio": [ratio]}) for ratio in (4.0, 2.0)]
    >>> warnings_of(*frames)
    ['plan takes 4.00 times the calibration loop, where docs/benchmarks/core_calls.csv says 2.00']
    """
    both = now.merge(stored, on="call", suffixes=("_now", "_stored"))
    slower = both[both["ratio_now"] > SLOWER * both["ratio_stored"]]
    return [
        f"{row.call} takes {row.ratio_now:.2f} times the calibration loop, where "
        f"docs/benchmarks/core_calls.csv says {row.ratio_stored:.2f}"
        for row in slower.itertuples()
    ]


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    columns = {
        "call": "{call}",
        "seconds": "{seconds:.2f}",
        "ratio": "{ratio:.2f}",
    }
    return format_section(
        "Ten calls that everything waits for",
        "core_calls",
        f"The slowest {min(SHOWN, len(data))} of {len(data)} calls (arguments: "
        f"`benchmarks/core_calls.py`): seconds, the fastest of {ROUNDS} rounds, and their ratio to "
        "a calibration loop just before it. `python benchmarks/run.py core_calls --warn`, which "
        f"`.ci/run` calls, names each call whose ratio is above {SLOWER:g} times this one.",
        data,
        format_table(columns, data.sort_values("ratio", ascending=False).head(SHOWN), words=1),
    )
