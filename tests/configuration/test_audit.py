"""The section `audit`: what the ledger gets, by name or of its own, and what is refused."""

import copy
from pathlib import Path

import pytest
import yaml

from private_ensembles.configuration.check import ConfigError, check

DEFAULT = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text(encoding="utf-8"))


def changed(path, value):
    config = copy.deepcopy(DEFAULT)
    *keys, last = path.split("__")
    section = config
    for key in keys:
        section = section[key]
    section[last] = value
    return config


OWN = {"dataset": "mnist", "m": 3}


def test_the_ledger_asks_for_one_noise_function_per_budget():
    wanted = [{"K": 11, "m": 3, "epsilon": 0.0892, "Delta": 1e-4}]
    assert check(DEFAULT).gammas() == wanted
    assert check(changed("audit", None)).gammas() == []


def test_the_ledger_knows_the_classes_of_every_task():
    found = check(DEFAULT).ledger()["pate"]
    classes = {name: task["n_classes"] for name, task in found.items()}
    assert classes == {"mnist": 10, "svhn": 10, "adult": 2, "glyph": 150, "digits": 10}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("audit__budgets__mnist__m", 12, "audit.budgets.mnist.m = 12: must be at most K = 11"),
        ("audit__budgets__mnist__K", 17, "audit.budgets.mnist.K = 17: must be an odd integer"),
        ("audit__budgets__mnist__Delta", 0, "audit.budgets.mnist.Delta = 0: must be a number > 0"),
        (
            "audit__budgets__mnist__dataset",
            "digits",
            "audit.budgets.mnist.dataset = 'digits': must be one of darrm.datasets: mnist, fashion",
        ),
        (
            "darrm__K",
            21,
            "audit.budgets.mnist.K = 21: must be at most 15 to be audited; left out, it is DaRRM's",
        ),
        (
            "darrm__datasets__mnist__Delta",
            0.05,
            "audit.budgets.mnist.Delta = 0.05: must be below 0.05 to be audited; left out, it is",
        ),
        ("audit__totals__queries", [1001], "totals.queries[0] = 1001: must be an integer >= 1 and"),
    ],
)
def test_mistakes_are_one_line(path, value, message):
    with pytest.raises(ConfigError) as error:
        check(changed(path, value))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_budget_is_darrms_but_for_what_it_says_itself():
    training = {"shard_size": 1024, "batch_size": 32, "epochs": 5, "noise_multiplier": 12}
    darrms = {"K": 11, "m": 3, "epsilon": 0.0892, "Delta": 1e-4, "teachers": training}
    assert check(DEFAULT).ledger()["budgets"] == {"mnist": darrms}
    own = {"K": 5, "epsilon": 0.1, "teachers": None}
    found = check(changed("audit__budgets__mnist", OWN | own)).ledger()["budgets"]["mnist"]
    assert found == darrms | own
    assert list(found) == list(darrms)
    found = check(changed("darrm__private_teachers__epochs", 6)).ledger()["budgets"]["mnist"]
    assert found["teachers"] == training | {"epochs": 6}


def test_totals_are_darrms_but_for_what_they_say_themselves():
    assert check(DEFAULT).ledger()["totals"] == {"queries": [20, 50, 100], "delta_prime": 1e-4}
    own = check(changed("audit__totals__queries", [7])).ledger()["totals"]
    assert own == {"queries": [7], "delta_prime": 1e-4}
