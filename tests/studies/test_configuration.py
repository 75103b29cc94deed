"""What may stand in studies/config.yaml, and one line on what may not."""

import pytest

from private_ensembles.configuration.check import check, read_yaml
from studies import configuration
from tests.configuration.shipped import DEFAULT


@pytest.fixture
def given(root):
    return read_yaml(root / "studies" / "config.yaml")["studies"]


def test_the_file_is_whole_and_null_leaves_a_study_out(given):
    assert set(given) == set(configuration.Studies.model_fields)
    assert configuration.check_or_exit(given).plain() == given
    nothing = dict.fromkeys(given)
    assert configuration.check_or_exit(nothing).plain() == nothing


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
    ],
)
def test_a_mistake_is_one_line_with_key_and_value(given, study, key, value, message):
    changed = given | {study: given[study] | {key: value}}
    with pytest.raises(SystemExit) as end:
        configuration.check_or_exit(changed)
    assert str(end.value).startswith(f"error: {message}")
    assert "\n" not in str(end.value)


def test_the_study_of_the_intercept_takes_the_most_shards_of_logistic_teachers():
    paper = check(DEFAULT | {"data": "paper"}).dpbag
    wanted = {"n": 250, "k": [10, 50, 100], "seeds": [0, 1, 2, 3, 4], "C": 1}
    assert configuration.penalised_teachers(paper) == wanted
    assert configuration.penalised_teachers(check(DEFAULT).dpbag) == {}
