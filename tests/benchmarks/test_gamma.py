"""The benchmark of gamma runs, at toy sizes, and its section says what was measured."""

import pytest

from benchmarks import enumeration, gamma

SIZES = {"ENUMERATED": (3, 5), "EXTRAPOLATED": (7,), "GROWTH": (3, 5, 7)}


@pytest.fixture(scope="module")
def measured(toy):
    with toy(gamma, **SIZES):
        yield gamma.measure()


def test_every_part_is_measured(measured):
    enumerated = measured[measured["part"] == "enumeration"].set_index("K")
    searched = measured[measured["part"] == "growth"].set_index("K")
    assert enumerated.loc[5, "rows"] == enumeration.row_count(5) == 792
    assert searched.index.tolist() == [3, 5, 7]
    assert searched["certified"].all()
    assert (searched["certificate_seconds"] < searched["seconds"]).all()
    assert searched.loc[5, "utility"] == pytest.approx(enumerated.loc[5, "utility"], abs=1e-8)
    assert (searched["memory_mib"] >= searched["memory_before_mib"]).all()
    assert (measured["memory_mib"] > 10).all()


def test_section_labels_what_is_extrapolated_and_names_the_machine(measured):
    section = gamma.section(measured)
    assert "**Extrapolated**, not measured" in section
    assert f"| 7 | {enumeration.row_count(7):,} |" in section
    assert "processor: " in section


def test_extrapolation_is_in_proportion_to_the_numbers_in_the_rows(measured):
    enumerated = measured[measured["part"] == "enumeration"].set_index("K", drop=False)
    far = gamma.extrapolated_enumeration(enumerated, 35)
    assert far["rows"] == 26_978_328
    largest = enumerated.loc[5]
    ratio = 26_978_328 * 18 / (792 * 3)
    assert far["solve_seconds"] == pytest.approx(largest["solve_seconds"] * ratio)
    assert far["build_seconds"] <= largest["build_seconds"] * ratio * (1 + 1e-12)
