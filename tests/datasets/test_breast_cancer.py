"""scikit-learn's breast cancer data: all records, once, within the ranges that are stated."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer as original

from private_ensembles.datasets.breast_cancer import load_breast_cancer


def test_every_record_is_in_one_part_and_within_the_bounds():
    data = load_breast_cancer("cancer", n_train=400, n_test=169, generator=np.random.default_rng(0))
    parts = np.concatenate([data.train_features, data.test_features])
    labels = np.concatenate([data.train_labels, data.test_labels])
    whole = original()
    found = np.column_stack([parts, labels])
    expected = np.column_stack([whole.data.astype(np.float32), whole.target])
    order = [np.lexsort(table.T) for table in (found, expected)]
    np.testing.assert_array_equal(found[order[0]], expected[order[1]])
    assert (data.lower <= parts).all()
    assert (parts <= data.upper).all()
    assert len(data.test_labels) == 169


@pytest.mark.parametrize(("n_train", "n_test"), [(569, 0), (400, 100), (-1, 570)])
def test_parts_that_do_not_add_up_are_refused(n_train, n_test):
    with pytest.raises(ValueError, match="add up to the 569"):
        load_breast_cancer(
            "cancer", n_train=n_train, n_test=n_test, generator=np.random.default_rng(0)
        )
