"""The benchmark of DPBag runs, at toy sizes, and its page says what was measured."""

import pytest

from benchmarks import dpbag


@pytest.fixture(scope="module")
def measured():
    patch = pytest.MonkeyPatch()
    patch.setattr(dpbag, "FOLDERS", ())
    patch.setattr(dpbag, "GRID", ((250, 1),))
    patch.setattr(dpbag, "SAMPLE", 10)
    patch.setattr(dpbag, "DENSE", 16)
    yield dpbag.measure(quick=True)
    patch.undo()


def test_fits_are_closer_to_the_optimum_than_scikit_learn_s(measured):
    row = measured[measured["part"] == "fits"].iloc[0]
    assert row["largest_error"] <= row["proven_distance"] <= 1e-6
    assert row["largest_error"] < row["sklearn_largest_error"]
    assert row["fits"] == 250


def test_page_labels_what_is_extrapolated_and_names_the_records(measured):
    page = dpbag.page(measured)
    assert "**extrapolated**" in page
    assert "- records: drawn at random, of UCI Adult's shape" in page
    assert "| 250 | 1 | 250 |" in page
