"""The benchmark of smooth sensitivity runs, at toy sizes, and its page says what was measured."""

import dataclasses

import pytest

from benchmarks import smooth_sensitivity as benchmark


@pytest.fixture(scope="module")
def measured():
    patch = pytest.MonkeyPatch()
    small = {
        name: dataclasses.replace(case, queries=30, teachers=case.teachers // 5, sample=sample)
        for (name, case), sample in zip(benchmark.CASES.items(), (30, 30, 30, 5), strict=True)
    }
    small["Glyph"] = dataclasses.replace(small["Glyph"], classes=5)
    for name, case in small.items():
        # Less noise asks for a lower order, or condition C6 fails and the two ways may differ.
        small[name] = dataclasses.replace(case, sigma2=case.sigma2 / 5, order=4.0)
    patch.setattr(benchmark, "CASES", small)
    patch.setattr(
        benchmark, "_in_a_process", lambda what, **facts: getattr(benchmark, what)(**facts)
    )
    patch.setattr(
        benchmark, "measure_record", lambda name: {"seconds": 2.0, "memory_mib": 90.0}
    )  # the library's own tests cover it
    yield benchmark.measure()
    patch.undo()


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


def test_page_labels_what_is_extrapolated(measured):
    page = benchmark.page(measured)
    assert "(from 5 queries)" in page
    assert "**extrapolated**, not measured" in page
    assert "- processor:" in page
    assert "| together | 8 |" in page


def test_votes_are_always_the_same(measured):
    assert (benchmark.votes("MNIST") == benchmark.votes("MNIST")).all()
    assert (benchmark.votes("MNIST", 3) == benchmark.votes("MNIST")[:3]).all()
    assert benchmark.votes("Glyph").shape == (30, 5)
    assert set(benchmark.votes("Adult").sum(axis=1)) == {50}
