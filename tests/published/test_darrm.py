"""DaRRM's printed numbers are compared with those of the paper's own parameters only."""

import copy

import pytest
import yaml

from private_ensembles.configuration.check import check
from private_ensembles.published.declarations import paper
from private_ensembles.published.printed import FOLDER, key_of, read_published
from private_ensembles.published.reproduced import altered as altered_parameters
from private_ensembles.published.reproduced import flat

ACCURACIES = {"table1", "table6", "table8", "table10"}


@pytest.fixture(scope="module")
def config(root):
    given = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    return given | {"data": "paper"}


@pytest.fixture(scope="module")
def keys():
    printed = read_published(FOLDER.glob("darrm_*.csv"))
    return [key_of(cell) for cell in printed.to_dict("records")]


def altered(config, keys, **changes):
    given = copy.deepcopy(config)
    for path, value in changes.items():
        section = given
        *names, last = path.split("__")
        for name in names:
            section = section[name.replace("fashion_mnist", "fashion-mnist")]
        section[last] = value
    run = check(given).darrm.claims()
    found = {key: altered_parameters(paper("darrm"), key, "", run) for key in keys}
    return {key: what for key, what in found.items() if what}


def test_the_configuration_has_the_papers_parameters(config, keys):
    assert altered(config, keys) == {}
    assert set(flat(paper("darrm").parameters)) <= set(flat(check(config).darrm.claims()))


def test_training_that_did_not_happen_makes_nothing_incomparable(config, keys):
    embedded = config | {"data": "embedded"}
    assert altered(embedded, keys, darrm__plain_teachers__epochs=4) == {}
    assert altered(embedded, keys, darrm__private_teachers__learning_rate=0.1) == {}
    assert altered(config, keys, darrm__plain_teachers__epochs=4) != {}


def test_more_draws_trainings_and_queries_leave_every_comparison(config, keys):
    more = {"darrm__draws": 50, "darrm__training_seeds": [7], "darrm__queries": [20, 30]}
    assert altered(config, keys, **more) == {}


def test_nine_teachers_are_compared_with_no_accuracy_and_no_teacher_s_epsilon(config, keys):
    found = altered(config, keys, darrm__K=9)
    items = {key[1] for key in found}
    assert items == {*ACCURACIES, "section6.2"}
    assert {key[3] for key in found if key[1] == "section6.2"} == {"private teacher"}
    assert set(found.values()) == {"K = 9, not 11"}
    note = paper("darrm").altered.format(differences="K = 9, not 11")
    assert note == "Not the paper's parameters: K = 9, not 11."


@pytest.mark.parametrize(
    ("path", "value", "touched"),
    [
        ("darrm__delta_prime", 1e-3, {("table2", "Q=20"), ("table9", "Q=100")}),
        ("darrm__tables__table1", 5, {("table1", "Q=20")}),
        ("darrm__figure6__K", 37, {("table3", "M=10")}),
        ("darrm__prior", "uniform:0.7,1", {("table1", "Q=20"), ("table10", "Q=50")}),
        ("darrm__private_teachers__epochs", 4, {("section6.2", "private teacher")}),
        ("darrm__datasets__mnist__epsilon", 0.09, {("table2", "per query"), ("table4", "m=3")}),
        ("darrm__sigma_search__order_max", 400, {("table4", "m=3")}),
        ("datasets__fashion_mnist__classes", [0, 1], {("section6.2", "data")}),
    ],
)
def test_a_changed_parameter_touches_what_rests_on_it(config, keys, path, value, touched):
    found = {(key[1], key[3]) for key in altered(config, keys, **{path: value})}
    assert touched <= found
    assert len(found) < len({(key[1], key[3]) for key in keys})


def test_what_a_change_does_not_touch_stays_compared(config, keys):
    found = altered(config, keys, darrm__prior="uniform:0.7,1")
    assert ("darrm", "table1", "mnist", "Q=20", "gnmax") not in found
    found = altered(config, keys, darrm__datasets__mnist__epsilon=0.09)
    assert {key[2] for key in found} == {"mnist"}
    found = altered(config, keys, darrm__delta_prime=1e-3)
    assert "per query" not in {key[3] for key in found}
