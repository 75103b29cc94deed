"""The slices of the configuration that NZC and the ledger depend on, and what is refused."""

import copy

import pytest
import yaml

from private_ensembles.configuration import check as module
from private_ensembles.configuration import nzc as nzc_settings
from private_ensembles.configuration.check import SCHEMA, ConfigError, check

DEFAULT = yaml.safe_load((SCHEMA.parents[2] / "config.yaml").read_text(encoding="utf-8"))


def changed(path, value):
    config = copy.deepcopy(DEFAULT)
    *keys, last = path.split("__")
    section = config
    for key in keys:
        section = section[key]
    section[last] = value
    return config


def test_the_ledger_asks_for_one_noise_function_per_budget():
    wanted = [{"K": 11, "m": 3, "epsilon": 0.0892, "Delta": 1e-4}]
    assert nzc_settings.gammas(check(copy.deepcopy(DEFAULT))) == wanted
    assert nzc_settings.gammas(changed("audit", None)) == []


def test_the_ledger_knows_the_classes_of_every_task():
    found = nzc_settings.audit(check(copy.deepcopy(DEFAULT)))["pate"]
    classes = {name: task["n_classes"] for name, task in found.items()}
    assert classes == {"mnist": 10, "svhn": 10, "adult": 2, "glyph": 150, "digits": 10}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("nzc__tasks__digits__few", 7, "digits.few = 7: must be one of the sizes of nzc"),
        ("nzc__tasks__digits__pool", 797, "digits.pool = 797: must be below datasets.digits-10"),
        ("nzc__tasks__digits__dataset", "digits", "that of a plain task of PATE: mnist-10, svhn"),
        ("nzc__tasks__digits__lnmax", {"scale": 4, "queries": [598]}, "at most nzc.tasks.digits"),
        (
            "nzc__tasks__digits__ensembles",
            [{"K": 5, "epochs": 1}, {"K": 1001, "epochs": 1}],
            r"ensembles[1].K = 1001: must be at most datasets.digits-10.n_train = 1000",
        ),
        (
            "nzc__tasks__digits__ensembles",
            [{"K": 5, "epochs": 1}, {"K": 5, "epochs": 2}],
            "ensembles[1].K = 5: must be a size that is not there yet",
        ),
        ("nzc__ties", "none", "nzc.ties = 'none': must be one of first, last, random"),
        ("nzc__gamma", 0, "nzc.gamma = 0: must be a number > 0"),
        ("audit__budgets__mnist__m", 12, "audit.budgets.mnist.m = 12: must be at most K = 11"),
        ("audit__budgets__mnist__K", 17, "audit.budgets.mnist.K = 17: must be an odd integer"),
        ("audit__budgets__mnist__Delta", 0, "audit.budgets.mnist.Delta = 0: must be a number > 0"),
    ],
)
def test_mistakes_are_one_line(path, value, message):
    with pytest.raises(ConfigError) as error:
        check(changed(path, value))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_what_only_nzc_needs_is_not_asked_of_runs_without_it():
    config = changed("pate__tasks__digits", None)
    with pytest.raises(ConfigError, match="plain task of PATE"):
        check(config)
    check(config | {"papers": ["darrm", "pate"]})
    check(changed("audit", None))


def test_ensembles_train_like_pates_but_for_their_epochs():
    own = DEFAULT["pate"]["tasks"]["mnist"]["teachers"]
    assert module.teachers(DEFAULT, "mnist-10", "plain", 250) == own
    assert module.teachers(DEFAULT, "mnist-10", "plain", 5) == own | {"epochs": 5}
    assert module.teachers(DEFAULT, "mnist-10", "plain", 7) == own
    assert module.teachers(DEFAULT, "mnist", "plain", 5) == DEFAULT["darrm"]["plain_teachers"]
    # PATE's own ensemble is what it was, whatever NZC says about its size.
    small = changed("pate__tasks__mnist__K", 5)
    assert module.teachers(small, "mnist-10", "plain", 5) == own


def test_tasks_are_those_of_the_data_at_hand():
    assert nzc_settings.tasks(DEFAULT) == ["digits"]
    paper = DEFAULT | {"data": "paper"}
    assert nzc_settings.tasks(paper) == ["mnist", "svhn"]
    assert nzc_settings.tasks(paper, lambda dataset: dataset != "svhn") == ["mnist"]
    assert nzc_settings.sizes(DEFAULT, "mnist") == [5, 10, 25, 50, 100, 250]
    assert nzc_settings.labels(DEFAULT, "mnist")["K"] == 250
    assert nzc_settings.student(DEFAULT, "digits")["method"] == "supervised"
