"""Splits in single precision send each number where the threshold in double precision does."""

import numpy as np

from private_ensembles.teachers.splits import columns_of, single_below


def test_numbers_go_where_the_threshold_in_double_precision_sends_them():
    source = np.random.default_rng(0)
    numbers = source.normal(size=500).astype(np.float32)
    neighbours = [np.nextafter(numbers, np.float32(side)) for side in (-np.inf, np.inf)]
    numbers = np.concatenate([numbers, *neighbours])
    doubles = numbers.astype(np.float64)
    thresholds = np.concatenate([doubles, *(np.nextafter(doubles, x) for x in (-9, 9))])
    for threshold, single in zip(thresholds, single_below(thresholds), strict=True):
        np.testing.assert_array_equal(numbers <= single, doubles <= threshold)
    assert (thresholds.astype(np.float32) != single_below(thresholds)).any()


def test_columns_are_the_records_in_single_precision():
    features = np.random.default_rng(0).random((5, 3))
    columns = columns_of(features)
    assert columns.dtype == np.float32
    assert columns.flags["C_CONTIGUOUS"]
    np.testing.assert_array_equal(columns, features.astype(np.float32).T)
