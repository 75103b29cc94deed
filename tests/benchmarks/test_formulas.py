"""What benchmarks work out by formulas of their own."""

import math

import numpy as np
import pandas as pd
import pytest

from benchmarks import auditors, enumeration, gamma, many_labels, right_labels
from benchmarks.auditors import AUDITORS, DELTA, Pair


def coin(chances, runs):
    """Two inputs on which label 1 has these chances."""

    def draw(given, runs, generator):
        return (generator.random(runs) < given).astype(int)

    return Pair(draw, np.array(chances[0]), np.array(chances[1]), (0, 1), runs)


@pytest.mark.parametrize("auditor", AUDITORS)
@pytest.mark.parametrize("chances", [(0.25, 0.75), (0.002, 0.02)])
def test_bounds_lie_below_the_exact_epsilon(auditor, chances):
    p, q = chances
    pairs = ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p))
    exact = max(0.0, *(math.log((a - DELTA) / b) for a, b in pairs if a > DELTA))
    for seed in range(5):
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


@pytest.mark.slow
def test_every_twin_is_unsound_and_nothing_else_but_nzc():
    found = list(auditors.list_subjects((2,)))
    assert len({one.name for one in found}) > 15
    for one in found:
        broken = one.audited.worst_inputs(DELTA).epsilon > one.claimed * (1 + 1e-9)
        assert broken == (one.twin or one.name == "nzc"), one


def test_rows_are_counted_as_multisets_of_corners():
    assert enumeration.row_count(11) == 31_824
    assert enumeration.row_count(11, 4) == 364
    counts = enumeration.multisets(5)
    assert len(counts) == enumeration.row_count(5, 4)
    assert (counts.sum(axis=1) == 5).all()
    assert len(np.unique(counts, axis=0)) == len(counts)


def test_extrapolation_is_in_proportion_to_the_numbers_in_the_rows():
    measured = pd.DataFrame(
        {"K": [3, 5], "rows": [120, 792], "build_seconds": [0.1, 0.2], "solve_seconds": [0.1, 0.4]}
    ).set_index("K", drop=False)
    far = gamma.extrapolated_enumeration(measured, 35)
    assert far["rows"] == 26_978_328
    assert far["solve_seconds"] == pytest.approx(0.4 * 26_978_328 * 18 / (792 * 3))


def test_operations_of_pate_s_network_are_those_of_its_layers():
    torch = pytest.importorskip("torch", reason="networks need PyTorch")
    from benchmarks import arithmetic
    from private_ensembles.training.teachers.models import build_model

    model = build_model("mnist_cnn", (28, 28), 10)
    first, second, last = 2 * 25 * 16 * 24**2, 2 * 25 * 16 * 32 * 8**2, 2 * 512 * 10
    found = arithmetic.count_operations(model, torch.zeros(1, 1, 28, 28))
    assert found == (first + second + last, 2 * first + 3 * (second + last))


def test_what_is_saved_is_shared_out_between_charging_labels_and_the_account():
    found = many_labels.shares_saved({"scale": 6.0, "analytic": 10.0, "label_rdp": 8.0})
    assert found == pytest.approx({"ratio": 0.6, "charging": 0.5, "account": 0.25})


def test_one_teacher_is_right_as_often_as_the_profile_says():
    assert right_labels.teacher_accuracy() == pytest.approx(0.7 * 20 / 22 + 0.3 * 0.5)
