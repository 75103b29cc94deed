"""The section `audit`: what the ledger gets, by name or of its own, and what is refused."""

import pytest

from private_ensembles.run.check import check
from tests.run.shipped import DEFAULT, assert_refused, changed

OWN = {"dataset": "mnist", "m": 3}


def test_the_ledger_asks_for_one_noise_function_per_budget():
    wanted = [{"K": 11, "m": 3, "epsilon": 0.0892, "Delta": 1e-4}]
    assert check(DEFAULT).gammas() == wanted
    assert check(changed({"audit": None})).gammas() == []


def test_the_ledger_knows_the_classes_of_every_task():
    found = check(DEFAULT).ledger()["pate"]
    classes = {name: task["n_classes"] for name, task in found.items()}
    assert classes == {"mnist": 10, "svhn": 10, "adult": 2, "glyph": 150, "digits": 10}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("audit.budgets.mnist.m", 12, "audit.budgets.mnist.m = 12: must be at most K = 11"),
        ("audit.budgets.mnist.K", 17, "audit.budgets.mnist.K = 17: must be an odd integer"),
        ("audit.budgets.mnist.Delta", 0, "audit.budgets.mnist.Delta = 0: must be a number > 0"),
        (
            "audit.budgets.mnist.dataset",
            "digits",
            "audit.budgets.mnist.dataset = 'digits': must be one of darrm.datasets: mnist, fashion",
        ),
        (
            "darrm.K",
            21,
            "audit.budgets.mnist.K = 21: must be at most 15 to be audited; left out, it is DaRRM's",
        ),
        (
            "darrm.datasets.mnist.Delta",
            0.05,
            "audit.budgets.mnist.Delta = 0.05: must be below 0.05 to be audited; left out, it is",
        ),
        ("audit.totals.queries", [1001], "totals.queries[0] = 1001: must be an integer >= 1 and"),
    ],
)
def test_mistakes_are_one_line(path, value, message):
    assert_refused({path: value}, message)


def test_a_budget_is_darrms_but_for_what_it_says_itself():
    training = {"shard_size": 1024, "batch_size": 32, "epochs": 5, "noise_multiplier": 12}
    darrms = {"K": 11, "m": 3, "epsilon": 0.0892, "Delta": 1e-4, "teachers": training}
    assert check(DEFAULT).ledger()["budgets"] == {"mnist": darrms}
    own = {"K": 5, "epsilon": 0.1, "teachers": None}
    found = check(changed({"audit.budgets.mnist": OWN | own})).ledger()["budgets"]["mnist"]
    assert found == darrms | own
    assert list(found) == list(darrms)
    found = check(changed({"darrm.private_teachers.epochs": 6})).ledger()["budgets"]["mnist"]
    assert found["teachers"] == training | {"epochs": 6}


def test_totals_are_darrms_but_for_what_they_say_themselves():
    assert check(DEFAULT).ledger()["totals"] == {"queries": [20, 50, 100], "delta_prime": 1e-4}
    own = check(changed({"audit.totals.queries": [7]})).ledger()["totals"]
    assert own == {"queries": [7], "delta_prime": 1e-4}
