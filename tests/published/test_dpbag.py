"""DPBag's printed numbers: what ours are compared with, and what explains those that differ."""

import copy
import math

import numpy as np
import pandas as pd
import pytest
import yaml

from private_ensembles.configuration.check import check
from private_ensembles.dpbag.budget import affordable, data_independent_count
from private_ensembles.published.comparison import FOLDER, compare, equals_printed, read_published
from private_ensembles.published.dpbag import EXPLANATIONS, PARAMETERS, notes, reproduced, row_name
from private_ensembles.report.dpbag_tables import affordable_labels

ADULT = (1, 3, 5)
PRINTED = read_published(FOLDER.glob("dpbag_*.csv"))
SAA = PRINTED[PRINTED["row"].str.startswith("SAA") & PRINTED["column"].str.startswith("labels")]
MISPRINT = ("dpbag", "table8", "adult", "SAA n=100", "labels epsilon=1")


def _key(cell):
    return tuple(cell[name] for name in ("paper", "item", "dataset", "row", "column"))


def _count(cell, delta):
    n, epsilon = int(cell["row"].split("=")[1]), int(cell["column"].split("=")[1])
    return data_independent_count(epsilon, 2 / n, delta, 80)


def test_every_label_count_of_saa_is_that_of_delta_1e_3_but_for_one_misprint():
    assert len(SAA) == 30
    for cell in SAA.to_dict("records"):
        agrees = equals_printed(_count(cell, 1e-3).published, cell["published"])
        assert agrees == (_key(cell) != MISPRINT)
        assert not equals_printed(_count(cell, 1e-5).published, cell["published"])
        assert EXPLANATIONS[_key(cell)].holds(cell)


def test_no_noise_gives_the_printed_counts_at_the_printed_delta():
    """Counts T(epsilon) are ceil(c t(epsilon)) for one c > 0: the intervals of c are disjoint."""
    for delta, possible in ((1e-5, False), (1e-3, True)):
        low, high = 0.0, math.inf
        for epsilon, printed in zip(ADULT, (264, 2108, 5269), strict=True):
            unit = affordable(epsilon, 1.0, delta, 80)
            low, high = max(low, (printed - 1) / unit), min(high, printed / unit)
        assert (low < high) == possible


def test_the_misprint_is_printed_right_three_times():
    assert not EXPLANATIONS[MISPRINT].holds(
        dict(zip(("row", "column"), ("SAA n=100", "labels epsilon=7"), strict=True))
    )
    assert EXPLANATIONS[MISPRINT] is not EXPLANATIONS[("dpbag", "table6", *MISPRINT[2:])]


def test_one_record_less_than_the_files_hold_leaves_the_printed_ones(root):
    from private_ensembles.datasets.adult import read_part

    folder = root.parent / "shared" / "data" / "adult"
    if not folder.is_dir():
        pytest.skip("needs UCI Adult in ../shared/data/adult")
    labels = np.concatenate([read_part(folder / name)[1] for name in ("adult.data", "adult.test")])
    assert (len(labels) - 1, int(labels[1:].sum())) == (48841, 11687)
    (cell,) = PRINTED[PRINTED["column"] == "samples"].to_dict("records")
    assert EXPLANATIONS[_key(cell)].holds(cell)
    assert not EXPLANATIONS[_key(cell)].holds(cell | {"published": "48840"})


def _tables():
    students = {"dataset": "adult", "stand_in": False, "n": 50, "k": 10, "epsilon": 1.0}
    row = students | {"delta": 1e-3, "method": "dpbag"}
    for metric, mean in (("accuracy", 0.75), ("auroc", 0.7), ("auprc", 0.4)):
        row |= {f"{metric}_mean": mean, f"{metric}_sd": 0.01}
    table5 = [
        row,
        row | {"delta": 1e-5, "accuracy_mean": 0.1},
        row | {"method": "saa", "k": 1},
        row | {"stand_in": True, "n": 100},
        row | {"method": "npb", "n": 1, "k": 1, "epsilon": None, "delta": None},
    ]
    count = students | {"delta": 1e-3, "accounting": "personalised", "first_exceeding_sd": 0.5}
    table6 = [
        count | {"first_exceeding_mean": 12.0},
        count | {"first_exceeding_mean": None, "epsilon": 5.0},
        count | {"first_exceeding_mean": 11.0, "accounting": "data_independent", "k": 1},
    ]
    return {"table5": pd.DataFrame(table5), "table6": pd.DataFrame(table6)}


def test_our_numbers_are_found_under_the_names_of_the_printed_ones():
    affordable_ = affordable_labels([50, 100], ADULT, [1e-3, 1e-5], noise=2, order_max=80)
    found = reproduced(
        _tables(), affordable_, delta=1e-5, delta_of_counts=1e-3, sizes={"samples": 48842}
    )
    printed = {_key(cell) for cell in PRINTED.to_dict("records")}
    shards = {key for key in found if key[3] == "SAA n=50" and key[1] in ("table4", "table8")}
    assert set(found) - printed == shards | {
        key for key in found if key[:4] == ("dpbag", "table4", "heart-failure", "SAA n=50")
    }
    assert found["dpbag", "table5", "adult", "DPBag n=50 k=10", "accuracy epsilon=1"] == (
        0.75,
        0.01,
    )
    assert found["dpbag", "table5", "adult", "NPB", "auprc"] == (0.4, 0.01)
    assert found["dpbag", "table6", "adult", "DPBag n=50 k=10", "labels epsilon=1"] == (12, 0.5)
    assert ("dpbag", "table6", "adult", "DPBag n=50 k=10", "labels epsilon=5") not in found
    assert found["dpbag", "table2", "heart-failure", "SAA n=100", "labels epsilon=1"][0] == 27
    statuses = compare(PRINTED, found, data="paper", explanations=EXPLANATIONS)
    by_key = {_key(cell): cell["status"] for cell in statuses.to_dict("records")}
    assert (
        by_key["dpbag", "table2", "heart-failure", "SAA n=100", "labels epsilon=1"] == "explained"
    )
    assert by_key["dpbag", "section3", "adult", "data", "samples"] == "explained"
    assert by_key["dpbag", "table1", "heart-failure", "NPB", "accuracy"] == "not_run"
    assert len(by_key) == len(PRINTED) == 591


def test_rows_are_named_as_in_the_tables():
    assert row_name("dpbag_minus", 100, 50) == "DPBag- n=100 k=50"
    assert row_name("saa", 100, 1) == "SAA n=100"
    assert row_name("npb", 1, 1) == "NPB"


@pytest.fixture(scope="module")
def config(root):
    return yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8")) | {"data": "paper"}


def _altered(config, **changes):
    given = copy.deepcopy(config)
    for path, value in changes.items():
        section = given["dpbag"]
        *names, last = path.split("__")
        for name in names:
            section = section[name]
        section[last] = value
    numbers = dict.fromkeys(map(_key, PRINTED.to_dict("records")), (1.0, 0.1))
    return notes(numbers, check(given).dpbag.claims())


def test_the_configuration_has_the_parameters_of_the_printed_numbers(config):
    assert _altered(config) == {}
    assert set(PARAMETERS) == set(check(config).dpbag.claims())


@pytest.mark.parametrize(
    ("path", "value", "touched", "left"),
    [
        ("noise", 3, ("SAA n=50", "DPBag n=50 k=10"), ("NPB", "data")),
        ("logistic__C", 0.1, ("DPBag n=50 k=10", "NPB"), ("data",)),
        ("delta_of_counts", 1e-4, ("DPBag n=50 k=10",), ("NPB", "data")),
        ("scaling", "public", ("DPBag n=50 k=10", "NPB"), ("data",)),
    ],
)
def test_numbers_of_other_parameters_are_not_comparable(config, path, value, touched, left):
    found = _altered(config, **{path: value})
    rows = {key[3] for key in found}
    assert set(touched) <= rows
    assert not set(left) & rows
    assert {note.split(" = ")[0] for note in found.values()} == {
        f"Not the paper's parameters: {path.replace('__', '.')}"
    }
    if path.startswith("logistic"):
        assert not {key for key in found if key[1] in ("table7", "table8")}


def test_more_draws_splits_and_another_tolerance_leave_every_comparison(config):
    more = {"draws": 50, "logistic__seeds": [7], "logistic__tolerance": 1e-8, "epsilon": [1, 2]}
    assert _altered(config, **more) == {}
