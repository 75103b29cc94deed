"""Numbers of ours that have a place among the printed ones, and parameters that have changed."""

import copy
import math

import numpy as np
import pandas as pd
import pytest
import yaml

from private_ensembles.papers.compare import dataset_sizes
from private_ensembles.papers.compare.declarations import Paper, load_paper
from private_ensembles.papers.compare.printed import (
    FOLDER,
    Key,
    key_of,
    read_published,
)
from private_ensembles.papers.compare.reproduced import (
    describe_changed_parameters,
    describe_differences,
    flatten_settings,
    other_readings,
    reproduced_numbers,
    select_claims,
)
from private_ensembles.run.check import check
from private_ensembles.training.data.archive import write_dataset
from private_ensembles.training.data.images import LabelledImages
from private_ensembles.training.data.tabular import TabularDataset

DARRM = load_paper("darrm")


def toy(**changes):
    """A paper with one table of ours."""
    beside = {"table": "table1", "row": "n={n}", "numbers": {"epsilon": "ours"}}
    return Paper.model_validate({"paper": "toy", "beside": [beside | changes]})


def numbers(declared, rows, **run):
    found = reproduced_numbers(declared, {"table1": pd.DataFrame(rows)}, run)
    return {key[1:]: (number.value, number.sd) for key, number in found.items()}


def test_stand_ins_are_never_compared():
    table = pd.DataFrame(
        {
            "dataset": ["digits", "mnist"],
            "stand_in": [1, 0],
            "queries": [20, 20],
            "mechanism": ["gnmax", "gnmax"],
            "accuracy_mean": [0.6, 0.7],
            "accuracy_sd": [0.1, 0.1],
        }
    )
    found = reproduced_numbers(DARRM, {"table1": table}, {})
    assert list(found) == [("darrm", "table1", "mnist", "Q=20", "gnmax")]


def test_rows_are_chosen_by_values_patterns_and_the_runs_own_settings():
    rows = [
        {"dataset": "a", "n": n, "kind": kind, "delta": delta, "ours": 1.0}
        for n, kind, delta in ((1, "x-1", 1e-5), (2, "x-2", 1e-3), (3, "y", 1e-5))
    ]
    chosen = {
        1: {"kind": "x-*", "n": 1},
        2: {"delta": "$mine"},
        3: {"kind": ["z", "y"], "delta": 0.00001},
    }
    for n, where in chosen.items():
        assert numbers(toy(where=where), rows, mine=1e-3) == {
            ("table1", "a", f"n={n}", "epsilon"): (1.0, pytest.approx(math.nan, nan_ok=True))
        }


def test_numbers_come_in_the_printed_unit():
    row = {"dataset": "a", "n": 1, "ours": 0.25, "sd": 0.01, "asked": 12000, "left": 100}
    ours = {
        "accuracy": {"value": "ours", "sd": "sd", "unit": "percent"},
        "rest": {"value": "asked", "less": "left"},
        "thousands": {"value": "asked", "unit": "thousands"},
        "hidden": {"value": "asked", "compared": False},
    }
    found = numbers(toy(numbers=ours), [row])
    assert {key[3]: value for key, (value, _) in found.items()} == {
        "accuracy": 25.0,
        "rest": 11900.0,
        "thousands": 12.0,
    }
    assert found["table1", "a", "n=1", "accuracy"][1] == 1.0


def test_a_column_that_a_key_needs_is_named_and_a_number_that_is_not_there_was_not_computed():
    with pytest.raises(ValueError, match=r"toy\.yaml: our table1 has no column 'n'"):
        numbers(toy(), [{"dataset": "a"}])
    assert numbers(toy(), [{"dataset": "a", "n": 1}]) == {}


def test_what_another_reading_gives_is_kept_apart():
    cause = {"note": "Because {value:.1f}.", "test": "tests/x.py::y"}
    rows = [{"dataset": "a", "n": 1, "ours": 2.0}]
    apart = toy(explains=cause)
    assert numbers(apart, rows) == {}
    ((key, reading),) = other_readings(apart, {"table1": pd.DataFrame(rows)}, {}).items()
    assert key[1:] == ("table1", "a", "n=1", "epsilon")
    assert (reading.ours.value, reading.cause.note) == (2.0, "Because {value:.1f}.")
    assert other_readings(toy(), {"table1": pd.DataFrame(rows)}, {}) == {}


STATED = {"K": 11, "data": {"a": {"epsilon": 0.1, "classes": [5, 8]}, "b": {"epsilon": 0.2}}}


@pytest.mark.parametrize(
    ("ours", "names", "found"),
    [
        ({"K": 11.0}, ["K"], ""),
        ({"K": 5}, ["K"], "K = 5, not 11"),
        ({"K": 5}, ["data"], ""),
        ({}, ["K", "data"], ""),
        ({"data": {"a": {"epsilon": 0.3}}}, ["data.a"], "data.a.epsilon = 0.3, not 0.1"),
        ({"data": {"a": {"epsilon": 0.3}}}, ["data.b", "dat"], ""),
        (
            {"K": 5, "data": {"a": {"classes": [1]}}},
            ["data.a.classes", "K"],
            "K = 5, not 11; data.a.classes = [1], not [5, 8]",
        ),
    ],
)
def test_what_differs_is_named_with_both_values(ours, names, found):
    assert describe_differences(ours, STATED, names) == found


def test_a_number_rests_on_what_the_first_rule_says():
    rules = [
        {"column": "gnmax", "parameters": ["data.{dataset}"]},
        {"table": "table1", "parameters": "K"},
    ]
    toy = Paper.model_validate(
        {"paper": "toy", "beside": [], "parameters": STATED, "rests_on": rules}
    )
    run = {"K": 5, "data": {"b": {"epsilon": 1}}}
    key = Key("toy", "table1", "b", "row", "gnmax")
    assert describe_changed_parameters(toy, key, "table1", run) == "data.b.epsilon = 1, not 0.2"
    assert describe_changed_parameters(toy, key._replace(dataset="a"), "table1", run) == ""
    assert (
        describe_changed_parameters(toy, key._replace(column="other"), "table1", run)
        == "K = 5, not 11"
    )
    assert describe_changed_parameters(toy, key._replace(column="other"), "table2", run) == ""


# Other parameters than the papers' ----------------------------------------------------------------


PRINTED = read_published(FOLDER.glob("*.csv"))
KEYS = [key_of(cell) for cell in PRINTED.to_dict("records")]
TASKS = ["mnist", "svhn", "adult", "glyph"]


@pytest.fixture(scope="module")
def run(root):
    """The papers' settings in a run with changes of the configuration, by dotted names."""
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))

    def run(changes, data="paper"):
        given = copy.deepcopy(config) | {"data": data}
        for path, value in changes.items():
            section = given
            *names, last = path.split(".")
            for name in names:
                section = section[name]
            section[last] = value
        checked = check(given)
        return {
            "darrm": checked.darrm.claims(),
            "dpbag": checked.dpbag.claims(),
            "pate": checked.pate.parameters([*TASKS, "digits"]),
        }

    return run


@pytest.fixture(scope="module")
def altered_by(run):
    """Which of the papers' parameters printed numbers lack after changes, by key."""

    def altered_by(changes, data="paper"):
        made = run(changes, data)
        words = {
            key: describe_changed_parameters(load_paper(key.paper), key, "table1", made[key.paper])
            for key in KEYS
            if key.paper in made
        }
        return {key: what for key, what in words.items() if what}

    return altered_by


def test_the_configuration_has_the_papers_parameters(run, altered_by):
    assert altered_by({}) == {}
    made = run({})
    assert set(flatten_settings(load_paper("darrm").parameters)) <= set(
        flatten_settings(made["darrm"])
    )
    assert set(load_paper("dpbag").parameters) == set(made["dpbag"])


def test_training_that_did_not_happen_makes_nothing_incomparable(altered_by):
    assert altered_by({"darrm.plain_teachers.epochs": 4}, data="embedded") == {}
    assert altered_by({"darrm.private_teachers.learning_rate": 0.1}, data="embedded") == {}
    assert altered_by({"darrm.plain_teachers.epochs": 4}) != {}


def test_more_draws_trainings_queries_and_splits_leave_every_comparison(altered_by):
    more = {"draws": 50, "training_seeds": [7], "queries": [20, 30]}
    assert altered_by({f"darrm.{name}": value for name, value in more.items()}) == {}
    more = {"draws": 50, "logistic.seeds": [7], "logistic.tolerance": 1e-8, "epsilon": [1, 2]}
    assert altered_by({f"dpbag.{name}": value for name, value in more.items()}) == {}


def test_nine_teachers_are_compared_with_no_accuracy_and_no_teacher_s_epsilon(altered_by):
    found = altered_by({"darrm.K": 9})
    assert {key.item for key in found} == {"table1", "table6", "table8", "table10", "section6.2"}
    assert {key.row for key in found if key.item == "section6.2"} == {"private teacher"}
    assert set(found.values()) == {"K = 9, not 11"}


NPB, SIZES = ("table5", "NPB"), ("section3", "data")
BAGGED, SAA = ("table6", "DPBag n=50 k=10"), ("table6", "SAA n=50")


@pytest.mark.parametrize(
    ("path", "value", "touched", "left"),
    [
        (
            "darrm.delta_prime",
            1e-3,
            {("table2", "Q=20"), ("table9", "Q=100")},
            {("table2", "per query")},
        ),
        ("darrm.tables.table1", 5, {("table1", "Q=20")}, {("table6", "Q=20")}),
        ("darrm.figure6.K", 37, {("table3", "M=10")}, {("table1", "Q=20")}),
        ("darrm.prior", "uniform:0.7,1", {("table1", "Q=20"), ("table10", "Q=50")}, set()),
        ("darrm.private_teachers.epochs", 4, {("section6.2", "private teacher")}, set()),
        (
            "darrm.datasets.mnist.epsilon",
            0.09,
            {("table2", "per query"), ("table4", "m=3")},
            {("table3", "M=10")},
        ),
        ("darrm.sigma_search.order_max", 400, {("table4", "m=3")}, {("table1", "Q=20")}),
        ("datasets.fashion-mnist.classes", [0, 1], {("section6.2", "data")}, set()),
        ("dpbag.noise", 3, {SAA, BAGGED}, {NPB, SIZES}),
        ("dpbag.logistic.C", 0.1, {BAGGED, NPB}, {SIZES, ("table7", "NPB")}),
        ("dpbag.delta_of_counts", 1e-4, {BAGGED}, {NPB, SIZES}),
        ("dpbag.scaling", "public", {BAGGED, NPB}, {SIZES}),
    ],
)
def test_a_changed_parameter_touches_what_rests_on_it(altered_by, path, value, touched, left):
    changed = altered_by({path: value})
    found = {(key.item, key.row) for key in changed}
    assert touched <= found
    assert not left & found
    assert {key.paper for key in changed} == {"dpbag" if path.startswith("dpbag") else "darrm"}
    assert all(path.rpartition(".")[2] in what for what in changed.values())


def test_what_a_change_does_not_touch_stays_compared(altered_by):
    key = Key("darrm", "table1", "mnist", "Q=20", "gnmax")
    assert key not in altered_by({"darrm.prior": "uniform:0.7,1"})
    found = altered_by({"darrm.datasets.mnist.epsilon": 0.09})
    assert {key.dataset for key in found} == {"mnist"}


@pytest.mark.parametrize(
    ("task", "path", "value"),
    [
        ("mnist", "K", 249),
        ("svhn", "delta", 1e-5),
        ("adult", "confident.threshold", 299),
        ("glyph", "lnmax.scale", 99),
        ("glyph", "two_rounds.second.sigma1", 1),
    ],
)
def test_a_task_of_other_parameters_is_no_claim_for_the_ledger_either(
    run, altered_by, task, path, value
):
    changes = {f"pate.tasks.{task}.{path}": value}
    assert {key.dataset for key in altered_by(changes)} == {task}
    pate = PRINTED[(PRINTED["paper"] == "pate") & PRINTED["dataset"].isin(TASKS)]
    assert set(select_claims(pate, run(changes)["pate"])["dataset"]) == set(TASKS) - {task}
    assert len(select_claims(pate, run({})["pate"])) == len(pate)


# Sizes of data sets -------------------------------------------------------------------------------


LABELS = np.array([0, 1, 1], dtype=np.uint8)


def counted(folder, data):
    """What is counted of a file that holds the data set."""
    write_dataset(folder / "toy.npz", data)
    return dataset_sizes.count_dataset(folder / "toy.npz")


def test_images_are_counted(tmp_path):
    image = np.zeros((3, 4, 4), dtype=np.uint8)
    data = LabelledImages("toy", image, LABELS, image[:2], LABELS[:2], 16, 2, stand_in=True)
    row = {"dataset": "toy", "stand_in": True, "n_train": 3, "n_test": 2}
    assert counted(tmp_path, data) == dataset_sizes.count_images(data) == row


def test_records_of_both_parts_are_counted_and_those_of_class_1(tmp_path):
    features = np.zeros((3, 2), dtype=np.float32)
    bound = np.zeros(2, dtype=np.float32)
    parts = features, LABELS, features[:2], LABELS[:2]
    data = TabularDataset("toy", *parts, np.array(["a", "b"]), bound, bound, 2)
    row = {"dataset": "toy", "stand_in": False, "features": 2, "samples": 5}
    row |= {"ones": 3, "ones_share": 0.6}
    assert counted(tmp_path, data) == dataset_sizes.count_records(data) == row


def test_what_is_no_data_set_is_refused_by_its_name(tmp_path):
    (tmp_path / "toy.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"toy\.npz: not a readable npz file"):
        dataset_sizes.count_dataset(tmp_path / "toy.npz")
