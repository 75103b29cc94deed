"""The section `nzc`: its slices, and what is refused."""

import copy
from pathlib import Path

import pytest
import yaml

from private_ensembles.configuration.check import ConfigError, check
from private_ensembles.configuration.root import Configuration

DEFAULT = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text(encoding="utf-8"))


def changed(path, value):
    config = copy.deepcopy(DEFAULT)
    *keys, last = path.split("__")
    section = config
    for key in keys:
        section = section[key]
    section[last] = value
    return config


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("nzc__tasks__digits__few", 7, "digits.few = 7: must be one of the sizes of nzc"),
        ("nzc__tasks__digits__task", "glyph", "must be a plain task of PATE: mnist, svhn, digits"),
        (
            "nzc__tasks__digits__queries",
            [5, 598],
            "nzc.tasks.digits.queries[1] = 598: must be at most pate.tasks.digits.pool = 597",
        ),
        ("nzc__tasks__digits__pool", 5, "nzc.tasks.digits.pool: unknown key; known: task, few"),
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
    ],
)
def test_mistakes_are_one_line(path, value, message):
    with pytest.raises(ConfigError) as error:
        check(changed(path, value))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_pates_pool_leaves_something_to_evaluate_nzcs_students_on():
    config = changed("pate__figure1", None)
    config["pate"]["tasks"]["digits"] |= {"student": None, "pool": 797}
    message = r"pate\.tasks\.digits\.pool = 797: must be below datasets\.digits-10\.n_test = 797"
    with pytest.raises(ConfigError, match=message):
        check(config)
    check(config | {"papers": ["pate"]})


def test_what_only_nzc_needs_is_not_asked_of_runs_without_it():
    config = changed("pate__tasks__digits", None)
    with pytest.raises(ConfigError, match="plain task of PATE"):
        check(config)
    check(config | {"papers": ["darrm", "pate"]})
    check(changed("audit", None))


def test_ensembles_train_like_pates_but_for_their_epochs():
    own = DEFAULT["pate"]["tasks"]["mnist"]["teachers"]
    training = check(DEFAULT).training
    assert training("mnist-10", "plain", 250) == own
    assert training("mnist-10", "plain", 5) == own | {"epochs": 3}
    assert training("mnist-10", "plain", 7) == own
    assert training("mnist", "plain", 5) == DEFAULT["darrm"]["plain_teachers"]
    # PATE's own ensemble is what it was, whatever NZC says about its size.
    small = changed("pate__tasks__mnist__K", 5)
    assert check(small).training("mnist-10", "plain", 5) == own


def test_tasks_are_those_of_the_data_at_hand(monkeypatch):
    nzc = check(DEFAULT).nzc
    assert nzc.running() == ["digits"]
    paper = check(DEFAULT | {"data": "paper"}).nzc
    monkeypatch.setattr(Configuration, "available", lambda self, dataset: True)
    assert paper.running() == ["mnist", "svhn"]
    monkeypatch.setattr(Configuration, "available", lambda self, dataset: dataset != "svhn")
    assert paper.running() == ["mnist"]
    assert nzc.sizes("mnist") == [5, 10, 25, 50, 100, 250]
    assert nzc.labels("mnist")["K"] == 250
    assert nzc.student_of("digits")["method"] == "supervised"


def test_what_a_task_shares_with_pates_is_pates():
    config = changed("pate__tasks__mnist__delta", 1e-7)
    config["pate"]["tasks"]["mnist"] |= {"pool": 9500, "lnmax": {"scale": 7, "queries": [1]}}
    nzc = check(config).nzc
    labels = nzc.labels("mnist")
    assert (labels["pool"], labels["delta"], labels["lnmax"]["scale"]) == (9500, 1e-7, 7)
    assert labels["lnmax"]["queries"] == DEFAULT["nzc"]["tasks"]["mnist"]["queries"]
    assert nzc.student_of("mnist")["pool"] == nzc.facts(["mnist"])["mnist"]["pool"] == 9500
