"""What may stand in studies/config.yaml, and one line on what may not."""

import pytest

from private_ensembles.run.check import check, read_yaml
from studies import configuration
from tests.run.shipped import DEFAULT, ROOT

SETTINGS = check(DEFAULT | {"data": "paper"})


GIVEN = read_yaml(ROOT / "studies" / "config.yaml")["studies"]


def test_the_file_is_whole_and_null_leaves_a_study_out():
    assert set(GIVEN) == set(configuration.Studies.model_fields)
    assert configuration.check_or_exit(GIVEN, SETTINGS).to_dict() == GIVEN
    nothing = dict.fromkeys(GIVEN)
    assert configuration.check_or_exit(nothing, SETTINGS).to_dict() == nothing


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
        ("adversaries", "m", 12, "studies.adversaries.m = 12: must be at most darrm.K = 11"),
        ("adversaries", "tasks", ["adult"], "studies.adversaries.tasks[0] = 'adult': must be one"),
    ],
)
def test_a_mistake_is_one_line_with_key_and_value(study, key, value, message):
    changed = GIVEN | {study: GIVEN[study] | {key: value}}
    with pytest.raises(SystemExit) as end:
        configuration.check_or_exit(changed, SETTINGS)
    assert str(end.value).startswith(f"error: {message}")
    assert "\n" not in str(end.value)
