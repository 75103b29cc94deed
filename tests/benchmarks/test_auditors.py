"""The auditors: right where the truth is known, and told apart by what they miss."""

import math

import numpy as np
import pandas as pd
import pytest

from benchmarks import auditors
from benchmarks.auditors import AUDITORS, DELTA, Pair


def coin(chances, runs):
    """Two inputs on which label 1 has these chances."""

    def draw(given, runs, generator):
        return (generator.random(runs) < given).astype(int)

    return Pair(draw, np.array(chances[0]), np.array(chances[1]), (0, 1), runs)


@pytest.mark.parametrize("auditor", AUDITORS)
@pytest.mark.parametrize("chances", [(0.25, 0.75), (0.5, 0.5), (0.002, 0.02), (0.97, 0.99)])
def test_bounds_lie_below_the_exact_epsilon(auditor, chances):
    p, q = chances
    exact = max(
        0.0,
        *(
            math.log((a - DELTA) / b)
            for a, b in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p))
            if a > DELTA
        ),
    )
    for seed in range(20):
        found = AUDITORS[auditor](coin(chances, 20_000), np.random.default_rng(seed))
        assert 0 <= found <= exact + 1e-9


def test_bounds_come_close_where_events_are_likely_and_many_are_drawn():
    found = {
        name: bound(coin((0.25, 0.75), 400_000), np.random.default_rng(0))
        for name, bound in AUDITORS.items()
    }
    exact = math.log((0.75 - DELTA) / 0.25)
    assert 0.97 * exact < found["events"]
    assert 0.9 * exact < found["histogram"]
    # Its event is rare by construction.
    assert 0.8 * exact < found["DP-Sniper"]


def test_every_twin_is_unsound_and_nothing_else_but_nzc():
    found = list(auditors.list_subjects((2,)))
    assert len({one.name for one in found}) > 15
    for one in found:
        broken = one.audited.worst_inputs(DELTA).epsilon > one.claimed * (1 + 1e-9)
        assert broken == (one.twin or one.name == "nzc"), one


def test_the_section_counts_alarms_and_misses():
    facts = {"name": "coin", "n_classes": 2, "claimed": 1.0, "exact_seconds": 0.1, "draws": 10}
    rows = [
        {"twin": twin, "exact": exact, "auditor": auditor, "bound": bound, "alarm": bound > 1}
        for twin, exact in ((False, 1.0), (True, 2.0))
        for auditor, bound in zip(AUDITORS, (0.5, 1.5, 0.0), strict=True)
    ]
    section = auditors.section(pd.DataFrame(rows).assign(seconds=0.1, **facts))
    assert "| events | 10 | 0 of 1 | 1 of 1 |" in section
    assert "| histogram | 10 | 1 of 1 | 0 of 1 |" in section
    assert "for 1 of 1 twins and for 0 of 1 others" in section
