"""The benchmark of DPBag runs, at toy sizes, and its section says what was measured."""

import pytest

from benchmarks import dpbag


@pytest.fixture(scope="module")
def measured(toy):
    with toy(dpbag, FOLDERS=(), GRID=((250, 1),), SAMPLE=10):
        yield dpbag.measure(quick=True)


def test_fits_are_closer_to_the_optimum_than_scikit_learn_s(measured):
    row = measured[measured["part"] == "fits"].iloc[0]
    assert row["largest_error"] <= row["proven_distance"] <= 1e-6
    assert row["largest_error"] < row["sklearn_largest_error"]
    assert row["fits"] == 250


def test_section_names_the_records(measured):
    section = dpbag.section(measured)
    assert "records: drawn at random, of UCI Adult's shape" in section
    assert "| 250 | 1 | 250 |" in section
    assert "1,000 records at 1,000 queries" in section
