"""The benchmark of gamma runs, at toy sizes, and its page says what was measured."""

import pytest

from benchmarks import enumeration, gamma


@pytest.fixture(scope="module")
def measured():
    patch = pytest.MonkeyPatch()
    for name, sizes in (
        ("ENUMERATED", (3, 5)),
        ("EXTRAPOLATED", (7,)),
        ("GROWTH", (3, 5, 7)),
        ("SOLVED_BY_BOTH", (3,)),
    ):
        patch.setattr(gamma, name, sizes)
    # A process per measurement costs seconds of imports; one test below pays them.
    patch.setattr(gamma, "_in_a_process", lambda what, **facts: getattr(gamma, what)(**facts))
    yield gamma.measure()
    patch.undo()


def test_measurements_have_a_process_and_its_peak_memory_of_their_own():
    result = gamma._in_a_process("measure_search", K=3, m=1, solver="highs", repetitions=1)
    assert result["certified"] is True
    assert result["memory_mib"] >= result["memory_before_mib"] > 10
    with pytest.raises(RuntimeError, match="K = 4"):
        gamma._in_a_process("measure_search", K=4, m=1, solver="highs", repetitions=1)


def test_every_part_is_measured(measured):
    enumerated = measured[measured["part"] == "enumeration"].set_index("K")
    searched = measured[measured["part"] == "growth"].set_index("K")
    assert enumerated.loc[5, "rows"] == enumeration.row_count(5) == 792
    assert searched.index.tolist() == [3, 5, 7]
    assert searched["certified"].all()
    assert (searched["certificate_seconds"] < searched["seconds"]).all()
    assert searched.loc[5, "utility"] == pytest.approx(enumerated.loc[5, "utility"], abs=1e-8)
    assert (measured[["memory_mib"]] > 10).all(axis=None)


def test_page_labels_what_is_extrapolated_and_names_the_machine(measured):
    patch = pytest.MonkeyPatch()
    patch.setattr(gamma, "EXTRAPOLATED", (7,))
    page = gamma.page(measured)
    patch.undo()
    assert "**Extrapolated**, not measured" in page
    assert f"| 7 | {enumeration.row_count(7):,} |" in page
    assert "- processor:" in page
    assert "- date:" in page


def test_extrapolation_is_in_proportion_to_the_numbers_in_the_rows(measured):
    enumerated = measured[measured["part"] == "enumeration"].set_index("K", drop=False)
    far = gamma.extrapolated_enumeration(enumerated, 35)
    assert far["rows"] == 26_978_328
    largest = enumerated.loc[5]
    ratio = 26_978_328 * 18 / (792 * 3)
    assert far["solve_seconds"] == pytest.approx(largest["solve_seconds"] * ratio)
    assert far["build_seconds"] <= largest["build_seconds"] * ratio * (1 + 1e-12)
