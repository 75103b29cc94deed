"""Printed numbers are compared with those of the papers' own parameters only."""

import copy

import pytest
import yaml

from private_ensembles.papers.compare.declarations import load_paper
from private_ensembles.papers.compare.printed import (
    FOLDER,
    Key,
    key_of,
    read_published,
)
from private_ensembles.papers.compare.reproduced import (
    describe_changed_parameters,
    flatten_settings,
    select_claims,
)
from private_ensembles.run.check import check

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
