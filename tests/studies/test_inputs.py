"""What may stand in studies/config.yaml, and what studies take from the workflow's settings."""

from pathlib import Path

import pytest

from private_ensembles.run.check import check, read_yaml
from private_ensembles.run.configuration import Configuration
from studies.adversaries import inputs as adversaries
from studies.authors_labels import inputs as authors_labels
from studies.authors_votes import inputs as authors_votes
from studies.configuration import Studies, check_or_exit
from studies.equal_budget import inputs as equal_budget
from studies.interactive_students import inputs as interactive_students
from studies.intercept import inputs as intercept
from tests.run.shipped import DEFAULT, ROOT, changed

SETTINGS = check(DEFAULT)
GIVEN = read_yaml(ROOT / "studies" / "config.yaml")["studies"]
ASKED = check_or_exit(GIVEN, SETTINGS)
PAPER = {"data": "paper"}
TWO = "mnist", "svhn"


def test_the_study_of_the_intercept_takes_the_most_shards_of_logistic_teachers():
    ten = {"dpbag.logistic.seeds": list(range(10))}
    wanted = {"n": 250, "k": [10, 50, 100], "seeds": [0, 1, 2, 3, 4]}
    wanted["training"] = {"C": 1, "tolerance": 1e-6, "intercept": "penalised"}
    assert intercept.teacher_settings(check(changed(PAPER | ten)).dpbag) == wanted
    assert intercept.teacher_settings(SETTINGS.dpbag) == {}
    without = check(changed(PAPER | {"dpbag.logistic": None}))
    assert intercept.teacher_settings(without.dpbag) == {}


def test_equal_budgets_are_those_of_the_tasks_that_are_run():
    budgets = equal_budget.budget_settings(SETTINGS.pate, ASKED.equal_budget)
    assert set(budgets) == {"glyph", "digits"}
    assert budgets["digits"]["epsilon"] == [2, 8]
    assert (budgets["digits"]["stand_in"], budgets["glyph"]["synthetic"]) == (True, True)
    assert equal_budget.budget_settings(SETTINGS.pate, None) == {}


def test_students_between_two_rounds_have_parameters_of_their_own():
    (task,) = interactive_students.task_settings(SETTINGS, ASKED.interactive_students).items()
    name, parameters = task
    own = SETTINGS.pate.student("digits")
    assert name == "digits"
    assert parameters["student"]["pool"] == own["pool"]
    epochs = GIVEN["interactive_students"]["digits"]["student_parameters"]["epochs"]
    assert parameters["student"]["parameters"] == own["parameters"] | {"epochs": epochs}
    assert parameters["confident"] == DEFAULT["pate"]["tasks"]["digits"]["confident"]
    assert not {"teachers", "lnmax", "K"} & set(parameters)
    without = check(changed({"pate.tasks.digits.student": None, "pate.figure1": None}))
    assert interactive_students.task_settings(without, ASKED.interactive_students) == {}


def test_the_authors_labels_take_part_where_they_are_at_hand_and_fit(monkeypatch):
    def find_inputs(changes, *at_hand):
        monkeypatch.setattr(Configuration, "is_available", lambda self, name: name in at_hand)
        return authors_labels.find_datasets(check(changed(PAPER | changes)), ASKED.authors_labels)

    files = "mnist-10", "pate-2017"
    assert find_inputs({}, *files) == {"mnist": "pate-2017"}
    assert find_inputs({}, "mnist-10") == find_inputs({}, "pate-2017") == {}
    few = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert find_inputs({"datasets.pate-2017.classes": few}, *files) == {}
    # A pool that lacks queries which the labels are of.
    assert find_inputs({"pate.tasks.mnist.pool": 8999, "nzc.tasks.mnist": None}, *files) == {}
    without = {"pate.tasks.mnist.student": None, "pate.figure1": None, "nzc.tasks.mnist": None}
    assert find_inputs(without, *files) == {}


def test_the_authors_votes_take_part_file_by_file_where_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("data/raw/pate-2018-votes")
    folder.mkdir(parents=True)
    paper = check(changed(PAPER))
    assert authors_votes.find_vote_files(paper, ASKED.authors_votes) == {}
    (folder / "adult_250_teachers.npy").touch()
    adult = {"path": str(folder / "adult_250_teachers.npy"), "kind": "counts"}
    wanted = {"adult": adult}
    assert authors_votes.find_vote_files(paper, ASKED.authors_votes) == wanted
    accounting = authors_votes.accounting_settings(paper, "adult")
    assert (accounting["K"], accounting["n_classes"]) == (250, 2)
    assert accounting["confident"]["queries"] == 1500
    assert authors_votes.find_vote_files(SETTINGS, ASKED.authors_votes) == {}
    assert authors_votes.find_vote_files(paper, None) == {}
    # Where counts are not there, the labels of the teachers serve, in the folder or in a mirror.
    mirror = tmp_path / "mirror"
    (mirror / "pate-2018-votes").mkdir(parents=True)
    (mirror / "pate-2018-votes" / "mnist_250_teachers_labels.npy").touch()
    mnist = {"path": str(folder / "mnist_250_teachers_labels.npy"), "kind": "votes"}
    mnist["git_blob"] = "455dc9c885f70ab82326cc995d43c69c4b8a6550"
    mirrored = check(changed(PAPER | {"data_mirror": str(mirror)}))
    both = {"mnist": mnist, "adult": adult}
    assert authors_votes.find_vote_files(mirrored, ASKED.authors_votes) == both
    assert authors_votes.find_vote_files(paper, ASKED.authors_votes) == wanted
    (folder / "mnist_250_teachers_labels.npy").touch()
    assert authors_votes.find_vote_files(paper, ASKED.authors_votes) == both
    (folder / "mnist_250_teachers.npy").touch()
    counted = authors_votes.find_vote_files(paper, ASKED.authors_votes)["mnist"]
    assert counted == {"path": str(folder / "mnist_250_teachers.npy"), "kind": "counts"}


def test_what_is_known_of_a_download_is_its_hash_in_git():
    downloads = authors_votes.describe_downloads(ASKED.authors_votes)
    folder = "data/raw/pate-2018-votes"
    assert list(downloads) == [f"{folder}/{name}_250_teachers_labels.npy" for name in TWO]
    for name, (path, known) in zip(TWO, downloads.items(), strict=True):
        file = authors_votes.known_file(path, **known)
        assert str(file) == f"pate-2018-votes/{name}_250_teachers_labels.npy"
        assert file.checksum.startswith("git blob ")
        assert all(url.endswith(f"/{file.file}") for url in file.urls)


def test_adversaries_attack_where_they_are_asked_to_and_both_papers_are_run():
    assert adversaries.attack_settings(SETTINGS, ASKED.adversaries) == {}  # embedded
    anywhere = check_or_exit(
        GIVEN | {"adversaries": GIVEN["adversaries"] | {"data": "any"}}, SETTINGS
    ).adversaries
    told = adversaries.attack_settings(SETTINGS, anywhere)
    assert set(told) == {"plain", "private", "settings"}
    read = adversaries.input_files(SETTINGS, told)
    assert read["plain_votes"] == "results/votes/digits-10/kind=plain,K=50,seed=0.npz"
    assert read["private_votes"] == "results/votes/digits/kind=private,K=11,seed=0.npz"
    assert adversaries.attack_settings(check(changed({"papers": ["pate"]})), anywhere) == {}


PAPERS_DATA = check(DEFAULT | {"data": "paper"})


def test_the_file_is_whole_and_null_leaves_a_study_out():
    assert set(GIVEN) == set(Studies.model_fields)
    assert check_or_exit(GIVEN, PAPERS_DATA).to_dict() == GIVEN
    nothing = dict.fromkeys(GIVEN)
    assert check_or_exit(nothing, PAPERS_DATA).to_dict() == nothing


@pytest.mark.parametrize(
    ("study", "key", "value", "message"),
    [
        (
            "best_label",
            "accuracies",
            [0.1],
            "studies.best_label.accuracies[0] = 0.1: must be above",
        ),
        ("many_labels", "lead", 50, "studies.many_labels.lead = 50: must be odd or even as teach"),
        ("many_labels", "epsilon", -1, "studies.many_labels.epsilon = -1: "),
        ("many_labels", "leads", 1, "studies.many_labels.leads = 1: "),
        (
            "authors_labels",
            "mnist",
            "svhn",
            "studies.authors_labels.mnist = 'svhn': must be one",
        ),
        ("authors_labels", "cifar", "x", "studies.authors_labels.cifar = 'cifar': must be one of"),
        (
            "interactive_students",
            "adult",
            GIVEN["interactive_students"]["digits"],
            "studies.interactive_students.adult = 'adult': must be left out: two rounds need",
        ),
        ("authors_votes", "files", {"cifar": "x"}, "studies.authors_votes.files.cifar = 'cifar'"),
        (
            "authors_votes",
            "labels",
            {"mnist": GIVEN["authors_votes"]["labels"]["mnist"] | {"git_blob": "455d"}},
            "studies.authors_votes.labels.mnist.git_blob = '455d': String should match pattern",
        ),
        ("adversaries", "m", 12, "studies.adversaries.m = 12: must be at most darrm.K = 11"),
        ("adversaries", "tasks", ["adult"], "studies.adversaries.tasks[0] = 'adult': must be one"),
    ],
)
def test_a_mistake_is_one_line_with_key_and_value(study, key, value, message):
    changed = GIVEN | {study: GIVEN[study] | {key: value}}
    with pytest.raises(SystemExit) as end:
        check_or_exit(changed, PAPERS_DATA)
    assert str(end.value).startswith(f"error: {message}")
    assert "\n" not in str(end.value)
