"""The benchmark of smooth sensitivity at toy sizes, and its section."""

import dataclasses

import pytest

from benchmarks import smooth_sensitivity as benchmark


def small(case, sample):
    """Fewer queries and teachers; less noise asks for a lower order, or condition C6 fails."""
    sizes = {"queries": 30, "teachers": case.teachers // 5, "classes": min(case.classes, 10)}
    return dataclasses.replace(case, **sizes, sample=sample, sigma2=case.sigma2 / 5, order=4.0)


@pytest.fixture(scope="module")
def measured(toy):
    samples = zip(benchmark.CASES.items(), (30, 30, 30, 5), strict=True)
    cases = {name: small(case, sample) for (name, case), sample in samples}
    # The library's own tests cover it.
    record = lambda name: {"seconds": 2.0, "memory_mib": 90.0}  # noqa: E731
    with toy(benchmark, CASES=cases, measure_record=record):
        yield benchmark.measure()


def test_both_ways_agree(measured):
    reference = measured[measured["part"] == "reference"]
    assert len(reference) == 4
    assert (reference["relative_difference"] < 1e-9).all()
    array = measured[measured["part"] == "array"].set_index("name")
    whole = reference.set_index("name").loc[["MNIST", "SVHN", "Adult"]]
    for name in whole.index:
        assert whole.loc[name, "smooth_sensitivity"] == pytest.approx(
            array.loc[name, "smooth_sensitivity"], rel=1e-9
        )


def test_speedup_is_extrapolated_from_the_sample(measured):
    part = measured[measured["name"] == "Glyph"].set_index("part")
    slow = part.loc["reference", "seconds"]
    assert part.loc["reference", "sample"] == 5
    assert benchmark.speedup(measured, "Glyph") == pytest.approx(
        slow * 30 / 5 / part.loc["array", "seconds"]
    )


def test_section_labels_what_is_extrapolated(measured):
    section = benchmark.section(measured)
    assert "| 5 |" in next(line for line in section.splitlines() if line.startswith("| Glyph"))
    assert "**extrapolated**" in section
    assert "Together 8 s" in section
