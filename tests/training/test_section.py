"""How teachers and students are trained: what their parameters may be."""

import pytest
from pydantic import ValidationError

from private_ensembles.training.section import (
    ForestStudent,
    ForestTeachers,
    NetworkStudent,
    PlainTeachers,
)

FOREST = {"n_estimators": 10, "max_features": 1, "min_samples_leaf": 1, "bootstrap": True}
PLAIN = {"model": "mlp", "batch_size": 8, "epochs": 1, "learning_rate": 0.1, "momentum": 0.9}


def test_features_of_a_forest_are_a_share_and_never_a_number_of_features():
    """To scikit-learn, 1.0 is all features and 1 is one of them."""
    share = ForestTeachers(**FOREST).parameters()["max_features"]
    assert (share, type(share)) == (1.0, float)
    with pytest.raises(ValidationError):
        ForestTeachers(**FOREST | {"max_features": 2})


def test_students_may_leave_out_everything_and_hold_what_was_given():
    assert NetworkStudent().to_dict() == ForestStudent().to_dict() == {}
    assert NetworkStudent(epochs=3, widths=[4, 4, 4]).to_dict() == {
        "epochs": 3,
        "widths": [4, 4, 4],
    }


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (NetworkStudent, {"widths": [4, 4]}),
        (NetworkStudent, {"method": "forest"}),
        (ForestStudent, {"method": "supervised"}),
        (PlainTeachers, PLAIN | {"momentum": 1}),
        (PlainTeachers, PLAIN | {"noise_multiplier": 1}),
    ],
)
def test_parameters_of_another_model_or_out_of_range_are_refused(model, values):
    with pytest.raises(ValidationError):
        model(**values)
