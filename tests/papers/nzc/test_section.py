"""The section `nzc`: its slices, what is refused, and names of files."""

import pytest

from private_ensembles.base.parameter_names import parameters_of
from private_ensembles.papers.nzc import targets
from private_ensembles.run.check import check
from private_ensembles.run.configuration import Configuration
from tests.run.shipped import DEFAULT, assert_refused, changed


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("nzc.tasks.digits.few", 7, "digits.few = 7: must be one of the sizes of nzc"),
        ("nzc.tasks.digits.task", "glyph", "must be a plain task of PATE: mnist, svhn, digits"),
        (
            "nzc.tasks.digits.queries",
            [5, 598],
            "nzc.tasks.digits.queries[1] = 598: must be at most pate.tasks.digits.pool = 597",
        ),
        ("nzc.tasks.digits.pool", 5, "nzc.tasks.digits.pool: unknown key; known: task, few"),
        (
            "nzc.tasks.digits.ensembles",
            [{"K": 5, "epochs": 1}, {"K": 1001, "epochs": 1}],
            r"ensembles[1].K = 1001: must be at most datasets.digits-10.n_train = 1000",
        ),
        (
            "nzc.tasks.digits.ensembles",
            [{"K": 5, "epochs": 1}, {"K": 5, "epochs": 2}],
            "ensembles[1].K = 5: must be a size that is not there yet",
        ),
        ("nzc.ties", "none", "nzc.ties = 'none': must be one of first, last, random"),
        ("nzc.gamma", 0, "nzc.gamma = 0: must be a number > 0"),
    ],
)
def test_mistakes_are_one_line(path, value, message):
    assert_refused({path: value}, message)


def test_pates_pool_leaves_something_to_evaluate_nzcs_students_on():
    digits = {"pate.tasks.digits.student": None, "pate.tasks.digits.pool": 797}
    changes = {"pate.figure1": None} | digits
    assert_refused(changes, "digits.pool = 797: must be below datasets.digits-10.n_test = 797")
    check(changed(changes | {"papers": ["pate"]}))


def test_what_only_nzc_needs_is_not_asked_of_runs_without_it():
    assert_refused({"pate.tasks.digits": None}, "plain task of PATE")
    check(changed({"pate.tasks.digits": None, "papers": ["darrm", "pate"]}))
    check(changed({"audit": None}))


def test_ensembles_train_like_pates_but_for_their_epochs():
    own = DEFAULT["pate"]["tasks"]["mnist"]["teachers"]
    training = check(DEFAULT).training_parameters
    assert training("mnist-10", "plain", 250) == own
    assert training("mnist-10", "plain", 5) == own | {"epochs": 3}
    assert training("mnist-10", "plain", 7) == own
    assert training("mnist", "plain", 5) == DEFAULT["darrm"]["plain_teachers"]
    # PATE's own ensemble is what it was, whatever NZC says about its size.
    small = changed({"pate.tasks.mnist.K": 5})
    assert check(small).training_parameters("mnist-10", "plain", 5) == own


def test_tasks_are_those_of_the_data_at_hand(monkeypatch):
    nzc = check(DEFAULT).nzc
    assert nzc.running_tasks() == ["digits"]
    paper = check(DEFAULT | {"data": "paper"}).nzc
    monkeypatch.setattr(Configuration, "is_available", lambda self, dataset: True)
    assert paper.running_tasks() == ["mnist", "svhn"]
    monkeypatch.setattr(Configuration, "is_available", lambda self, dataset: dataset != "svhn")
    assert paper.running_tasks() == ["mnist"]
    assert nzc.sizes("mnist") == [5, 10, 25, 50, 100, 250]
    assert nzc.label_settings("mnist")["K"] == 250
    assert nzc.student_settings("digits")["method"] == "supervised"


def test_what_a_task_shares_with_pates_is_pates():
    own = {"delta": 1e-7, "pool": 9500, "lnmax": {"scale": 7, "queries": [1]}}
    changes = {f"pate.tasks.mnist.{key}": value for key, value in own.items()}
    nzc = check(changed(changes)).nzc
    labels = nzc.label_settings("mnist")
    assert (labels["pool"], labels["delta"], labels["lnmax"]["scale"]) == (9500, 1e-7, 7)
    assert labels["lnmax"]["queries"] == DEFAULT["nzc"]["tasks"]["mnist"]["queries"]
    assert (
        nzc.student_settings("mnist")["pool"]
        == nzc.printed_sizes(["mnist"])["mnist"]["pool"]
        == 9500
    )


def test_votes_of_nzc_go_by_their_number_of_teachers():
    nzc = check(DEFAULT).nzc
    task = next(iter(nzc.enabled_tasks()))
    votes = targets.task_vote_files(nzc, task)
    assert [parameters_of(path)["K"] for path in votes.values()] == sorted(votes)
    labels = targets.label_vote_files(nzc, task)
    assert labels == {"many": votes[max(votes)], "few": votes[nzc.tasks[task].few]}
