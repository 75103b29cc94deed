"""The forest as arrays gives what scikit-learn's own gives."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from private_ensembles.base.streams import stream
from private_ensembles.training.student.forest import Forest, train_forest

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(300, 6)).astype(np.float32)
LABELS = (TABLE[:, 0] + TABLE[:, 1] > 0).astype(np.int64) * 2  # class 1 is never released
INDEX = np.arange(0, 200)


def grow(**parameters):
    return train_forest(TABLE, INDEX, LABELS[INDEX], 3, parameters, seed=1, path=("x",))


@pytest.mark.parametrize("parameters", [{}, {"max_depth": 1}, {"min_samples_leaf": 300}])
def test_scores_are_scikit_learns(parameters):
    mine = grow(n_trees=7, **parameters).scores(TABLE)
    theirs = RandomForestClassifier(
        n_estimators=7,
        random_state=int(stream(1, "x", "forest").generate_state(1)[0]),
        **parameters,
    ).fit(TABLE[INDEX], LABELS[INDEX])
    np.testing.assert_allclose(mine[:, [0, 2]], theirs.predict_proba(TABLE), atol=1e-15)
    assert (mine[:, 1] == 0).all()
    np.testing.assert_allclose(mine.sum(axis=1), 1)


def test_more_rows_than_one_pass_takes():
    forest = grow(n_trees=3)
    many = np.tile(TABLE, (20, 1))
    np.testing.assert_array_equal(forest.scores(many), np.tile(forest.scores(TABLE), (20, 1)))


def test_forest_generalises_and_repeats_itself():
    forest = grow()
    assert (forest.scores(TABLE[200:]).argmax(axis=1) == LABELS[200:]).mean() > 0.9
    np.testing.assert_array_equal(forest.scores(TABLE), grow().scores(TABLE))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"left": np.array([0, 0, 2])}, "children must follow"),
        ({"right": np.array([1, 1, 5])}, "right: must be 0 to 2"),
        ({"roots": np.array([-1])}, "roots: must be 0 to 2"),
        ({"roots": np.array([], int)}, "roots: must be whole numbers, at least one"),
        ({"threshold": np.zeros(2)}, "one per node"),
    ],
)
def test_arrays_that_are_no_forest_are_refused(change, message):
    good = {
        "roots": np.array([0]),
        "left": np.array([1, 1, 2]),
        "right": np.array([2, 1, 2]),
        "feature": np.array([1, 0, 0]),
        "threshold": np.zeros(3),
        "share": np.eye(3),
    }
    assert Forest(**good).scores([[0, -1], [0, 1]]).tolist() == [[0, 1, 0], [0, 0, 1]]
    with pytest.raises(ValueError, match=message):
        Forest(**good | change)


@pytest.mark.parametrize("features", [np.zeros(3), np.full((1, 6), np.nan), np.zeros((2, 3))])
def test_features_of_another_kind_are_refused(features):
    with pytest.raises(ValueError, match="features"):
        grow(n_trees=3).scores(features)
