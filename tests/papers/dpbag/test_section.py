"""The section `dpbag`: what is refused, the slices that rules get, and names of files."""

import pytest

from private_ensembles.base.parameter_names import parameters_of
from private_ensembles.papers.dpbag import targets
from private_ensembles.run.check import check
from tests.run.shipped import DEFAULT, assert_refused, changed


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("dpbag.dataset", "mnist", "dataset = 'mnist': must be one of the data sets that are"),
        ("dpbag.dataset", "breast-cance", "tables: adult"),
        ("dpbag.embedded.dataset", "adult", "stand-ins that are tables: breast-cance"),
        ("dpbag.logistic.n", [50, 20000], "dpbag.logistic.n[1] = 20000: must be at most 16280"),
        ("dpbag.embedded.logistic.n", [190], "n[0] = 190: must be at most 189, a third"),
        ("dpbag.logistic.k", [0], "dpbag.logistic.k[0] = 0: must be an integer >= 1"),
        ("dpbag.logistic.tolerance", 0.1, "dpbag.logistic.tolerance = 0.1: must be a number"),
        ("dpbag.logistic.intercept", "none", "must be one of penalised, free"),
        ("dpbag.delta", 0, "dpbag.delta = 0: must be a number >= 1e-100 and < 1"),
        ("dpbag.scaling", "none", "must be one of data, public"),
        ("dpbag.boosted_trees.leafs", 3, "did you mean dpbag.boosted_trees.leaves"),
    ],
)
def test_bad_settings_are_refused_in_one_line(path, value, message):
    assert_refused({path: value}, message)


def test_slices_follow_the_switch_of_the_data():
    assert check(DEFAULT).dpbag.active_section.dataset == "breast-cancer"
    paper = check(DEFAULT | {"data": "paper"}).dpbag
    assert paper.active_section.dataset == "adult"
    assert list(paper.active_section.models()) == ["logistic", "boosted_trees"]
    assert paper.grid("logistic")["k"] == [10, 50, 100]
    wanted = {"C": 1, "tolerance": 1e-6, "intercept": "penalised"}
    assert paper.training("logistic") == wanted
    without = changed({"data": "paper", "dpbag.boosted_trees": None})
    assert list(check(without).dpbag.active_section.models()) == ["logistic"]


def test_the_ledger_takes_the_ensemble_of_a_model_that_is_not_left_out():
    trees = check(changed({"dpbag.logistic": None}))
    assert (trees.ledger()["dpbag"]["n"], trees.ledger()["dpbag"]["k"]) == (150, 100)
    assert check(DEFAULT).ledger()["dpbag"]["n"] == 250
    assert_refused(
        {"dpbag.logistic": None, "dpbag.boosted_trees": None},
        "dpbag.logistic = null: must be given, or boosted_trees: the privacy ledger has a row",
    )


def test_jobs_together_have_every_partition_once():
    changes = {"data": "paper", "dpbag.logistic.k": [60, 7]}
    paper = check(changed(changes)).dpbag
    jobs = [paper.partitions("logistic", first) for first in paper.first_partitions("logistic")]
    assert [number for job in jobs for number in job] == list(range(60))
    assert paper.shards() == [20, 40, 50, 100, 150, 250]


def test_costs_of_bagging_stand_beside_its_counts():
    dpbag = check(DEFAULT).dpbag
    counts = targets.split_files(dpbag, "privacy", "logistic", "breast-cancer", "0")
    costs = targets.split_files(dpbag, "costs", "logistic", "breast-cancer", "0")
    assert list(map(parameters_of, counts)) == list(map(parameters_of, costs))
